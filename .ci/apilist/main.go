// Command apilist prints the exported declarations of packages, without comments, function bodies and what is not exported.
// Its arguments are pairs of an import path and a folder.
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var emptyLines = regexp.MustCompile(`\n\s*\n+`)

func main() {
	arguments := os.Args[1:]
	for len(arguments) >= 2 {
		if err := list(arguments[0], arguments[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		arguments = arguments[2:]
	}
}

// list prints one package, its declarations sorted by their text.
func list(path, folder string) error {
	found, err := build.ImportDir(folder, 0)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	var declarations []string
	for _, name := range found.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.FileExports(file)
		for _, declaration := range file.Decls {
			for _, part := range split(declaration) {
				var text strings.Builder
				if err := printer.Fprint(&text, set, part); err != nil {
					return err
				}
				// What was left out leaves empty lines.
				declarations = append(declarations, emptyLines.ReplaceAllString(text.String(), "\n"))
			}
		}
	}
	slices.Sort(declarations)
	fmt.Printf("package %s // %s\n\n%s\n\n", found.Name, path, strings.Join(declarations, "\n"))
	return nil
}

// split returns a declaration without its body, or one for each type and variable of a group. Constants stay together,
// because their values may follow from each other.
func split(declaration ast.Decl) []ast.Decl {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !ast.IsExported(receiver(d.Recv.List[0].Type)) {
			return nil
		}
		d.Body = nil
		return []ast.Decl{d}
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return nil
		}
		if d.Tok == token.CONST {
			return []ast.Decl{d}
		}
		var parts []ast.Decl
		for _, spec := range d.Specs {
			parts = append(parts, &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{spec}})
		}
		return parts
	}
	return nil
}

// receiver returns the name of a method's type.
func receiver(of ast.Expr) string {
	switch t := of.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
