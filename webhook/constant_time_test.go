package webhook

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// How long a comparison takes is nothing that a test can measure, so this one reads the source: hashes of secrets go to package
// crypto/subtle alone, and all secrets are compared, whichever is right.
func TestSecretComparison(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "proof.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	compared := 0
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Name.Name != "matchesAny" {
			continue
		}
		ast.Inspect(function, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.IfStmt, *ast.SwitchStmt, *ast.BranchStmt:
				assert.Fail(t, "a branch where secrets are compared")
			case *ast.RangeStmt:
				ast.Inspect(node.Body, func(node ast.Node) bool {
					_, returns := node.(*ast.ReturnStmt)
					assert.False(t, returns, "a return before all secrets were compared")
					return true
				})
			case *ast.CallExpr:
				if called, ok := node.Fun.(*ast.SelectorExpr); ok {
					compared++
					assert.Contains(t, []string{"ConstantTimeCompare", "Sum256"}, called.Sel.Name)
				}
			case *ast.BinaryExpr:
				_, constant := node.Y.(*ast.BasicLit)
				assert.True(t, constant && node.Op == token.EQL, "only the result is compared")
			}
			return true
		})
	}
	assert.Equal(t, 2, compared)
}

func TestSecretMatches(t *testing.T) {
	t.Parallel()
	words := []string{"new-of-16-characters", "old-of-16-characters"}
	s, problem := newSecret("WithSecret", "key", words)
	require.NoError(t, problem)
	words[0], words[1] = "changed", "changed"
	for value, want := range map[string]bool{
		"new-of-16-characters": true, "old-of-16-characters": true, "": false, "new-of-16-character": false,
		"new-of-16-characters-": false, "new-of-16-characters\x00": false, "changed": false,
	} {
		assert.Equal(t, want, s.matches(value), value)
	}
	assert.Equal(t, "new-of-16-characters", s.first())
}
