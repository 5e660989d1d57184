// Command exported counts the exported names of packages: types, functions, constants and variables, without methods and fields.
// Its arguments are the folders of the packages.
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
)

func main() {
	total := 0
	for _, folder := range os.Args[1:] {
		count, err := countPackage(folder)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Printf("%-24s %4d\n", folder, count)
		total += count
	}
	fmt.Printf("%-24s %4d\n", "all", total)
}

func countPackage(folder string) (int, error) {
	pkg, err := build.ImportDir(folder, 0)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return 0, err
		}
		for _, declaration := range file.Decls {
			count += countNames(declaration)
		}
	}
	return count, nil
}

func countNames(declaration ast.Decl) int {
	count := 0
	switch declaration := declaration.(type) {
	case *ast.FuncDecl:
		if declaration.Recv == nil && declaration.Name.IsExported() {
			count++
		}
	case *ast.GenDecl:
		for _, spec := range declaration.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					count++
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() {
						count++
					}
				}
			}
		}
	}
	return count
}
