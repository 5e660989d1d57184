package webhook_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// How long a comparison takes is nothing that a test can measure, so this one reads the source: what a secret is made of
// goes to package crypto/subtle alone, and all secrets are compared, whichever is right.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	t.Parallel()
	source := readSource(t)
	uses := map[string]int{}
	source.inspect(func(node ast.Node, around []ast.Node) {
		where := source.set.Position(node.Pos())
		switch node := node.(type) {
		case *ast.RangeStmt:
			if source.field(node.X) == "secret.words" {
				uses["all of them"]++
				assert.Empty(t, source.branches(node), "where the loop over the secrets goes another way when one is right")
			}
		case *ast.SelectorExpr:
			field := source.field(node)
			switch field {
			case "secretWord.filled":
				assert.Equal(t, "subtle.ConstantTimeCompare", called(around, 1), "what the content of a secret is used for, %s", where)
			case "secretWord.length":
				assert.Equal(t, "subtle.ConstantTimeLessOrEq", called(around, 1), "what the length of a secret is used for, %s", where)
			case "secret.first": // a function, whose result is the secret
				assert.Contains(t, []string{"url.QueryEscape", "url.PathEscape"}, called(around, 2), "what a secret itself is used for, %s", where)
			}
			uses[field]++
		}
	})
	assert.Equal(t, 1, uses["all of them"])
	for _, field := range []string{"secretWord.filled", "secretWord.length", "secret.first"} {
		assert.Positive(t, uses[field], field)
	}
}

// packageSource is the source of the package, as far as it can be told without other packages.
type packageSource struct {
	set   *token.FileSet
	files []*ast.File
	types types.Info
}

func readSource(t *testing.T) packageSource {
	t.Helper()
	s := packageSource{set: token.NewFileSet(), types: types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}}
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(s.set, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		s.files = append(s.files, file)
	}
	config := types.Config{Importer: noPackages{}, Error: func(error) {}}
	_, _ = config.Check("webhook", s.set, s.files, &s.types)
	return s
}

// noPackages imports packages that declare nothing.
type noPackages struct{}

func (noPackages) Import(path string) (*types.Package, error) {
	imported := types.NewPackage(path, filepath.Base(path))
	imported.MarkComplete()
	return imported, nil
}

// field gives the field that an expression selects, as type.field, or "".
func (s packageSource) field(expression ast.Expr) string {
	selector, ok := expression.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	selected, ok := s.types.Selections[selector]
	if !ok || selected.Kind() != types.FieldVal {
		return ""
	}
	of := selected.Recv()
	if pointer, ok := of.(*types.Pointer); ok {
		of = pointer.Elem()
	}
	if named, ok := of.(*types.Named); ok {
		return named.Obj().Name() + "." + selector.Sel.Name
	}
	return ""
}

// inspect visits every node of every function but the one that makes secrets, with those around it, the innermost last.
func (s packageSource) inspect(visit func(node ast.Node, around []ast.Node)) {
	for _, file := range s.files {
		var around []ast.Node
		ast.Inspect(file, func(node ast.Node) bool {
			if node == nil {
				around = around[:len(around)-1]
				return true
			}
			if function, ok := node.(*ast.FuncDecl); ok && function.Name.Name == "newSecret" {
				return false
			}
			visit(node, around)
			around = append(around, node)
			return true
		})
	}
}

// branches lists where one of several ways may be taken within a node.
func (s packageSource) branches(within ast.Node) []string {
	var found []string
	ast.Inspect(within, func(node ast.Node) bool {
		branch := false
		switch node := node.(type) {
		case *ast.IfStmt, *ast.SwitchStmt, *ast.ReturnStmt, *ast.BranchStmt:
			branch = true
		case *ast.BinaryExpr:
			branch = node.Op == token.LAND || node.Op == token.LOR
		}
		if branch {
			found = append(found, s.set.Position(node.Pos()).String())
		}
		return true
	})
	return found
}

// called gives the function of another package, as package.Name, that the node so many outwards is a call of, or "".
func called(around []ast.Node, outwards int) string {
	if len(around) < outwards {
		return ""
	}
	call, ok := around[len(around)-outwards].(*ast.CallExpr)
	if !ok {
		return ""
	}
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	from, ok := function.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return from.Name + "." + function.Sel.Name
}
