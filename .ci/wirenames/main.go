// Command wirenames fails where production code spells a wire name of the default contract: those belong in internal/table/default.json
// alone. It reads the module in the current directory.
//
// A wire name is a path, or a name in camel case, snake case or brackets, that default.json holds and that is no concept of
// the table. Plain words such as "to" and "status" are not looked for: they are concepts, or words of the platform too.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const defaults = "internal/table/default.json"

// exempt are the folders that may spell every wire name: what is no production code of the library.
var exempt = []string{"examples", ".ci", ".git", "internal/benchmarks", "internal/oracle", "tools"}

// platform are names that the platform of chat app 2 uses in its own messages, and that columns of tables have, with the packages that read
// and write those.
var (
	platform        = []string{"message_id", "mime_type", "from_user_id", "reference_id", "phone_number", "total_amount", "delivery_status", "created_at"}
	platformFolders = []string{"chatapp2", "cmd", "messagingriver", "messagingtest", "webhook"}
)

// ordinary are names of callbacks that a program also has for its own things, such as columns.
var ordinary = []string{"created_at", "delivery_status", "DeliveryStatus", "errorMessage"}

var (
	distinctive = regexp.MustCompile(`^/.+|[a-z][A-Z]|[a-z]_[a-z]|\[`)
	word        = regexp.MustCompile(`[\w/\[\]-]+`)
)

func main() {
	names, err := wireNames()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	found, err := search(names)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if len(found) > 0 {
		fmt.Println(strings.Join(found, "\n"))
		fmt.Println("a wire name belongs in " + defaults + " alone: code speaks in concepts")
		os.Exit(1)
	}
	fmt.Printf("good: %d wire names, each in %s only\n", len(names), defaults)
}

// wireNames returns the names in default.json that code must not spell.
func wireNames() (map[string]bool, error) {
	raw, err := os.ReadFile(defaults)
	if err != nil {
		return nil, err
	}
	var table any
	if err := json.Unmarshal(raw, &table); err != nil {
		return nil, fmt.Errorf("%s: %w", defaults, err)
	}
	names, concepts := map[string]bool{}, map[string]bool{}
	collect(table, "", names, concepts)
	for name := range names {
		if concepts[name] || !distinctive.MatchString(name) || slices.Contains(ordinary, name) {
			delete(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no wire names", defaults)
	}
	return names, nil
}

// collect adds the parts of every text to names, and every key to concepts. What is sent beside a field, or always, has names
// as keys.
func collect(value any, key string, names, concepts map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for k, inner := range v {
			if key == "constants" || key == "with" {
				if fields, ok := inner.(map[string]any); ok {
					for name := range fields {
						names[name] = true
					}
					continue
				}
				names[k] = true
				continue
			}
			concepts[k] = true
			collect(inner, k, names, concepts)
		}
	case []any:
		for _, inner := range v {
			collect(inner, key, names, concepts)
		}
	case string:
		for part := range strings.SplitSeq(v, ".") {
			names[part] = true
		}
	}
}

// search returns the places where production code spells one of the names.
func search(names map[string]bool) (found []string, err error) {
	set := token.NewFileSet()
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if slices.Contains(exempt, path) || entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, _, _ := strings.Cut(path, "/")
		keys := map[ast.Node]bool{} // of log attributes, which are names of this library
		ast.Inspect(file, func(node ast.Node) bool {
			if key := logKey(node); key != nil {
				keys[key] = true
			}
			literal, ok := node.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING || keys[literal] {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				text = literal.Value
			}
			for _, name := range word.FindAllString(text, -1) {
				if !names[name] || slices.Contains(platform, name) && slices.Contains(platformFolders, folder) {
					continue
				}
				found = append(found, fmt.Sprintf("%s: %s", set.Position(literal.Pos()), name))
			}
			return true
		})
		return nil
	})
	return found, err
}

// logKey returns the key of a call such as slog.String, or nil.
func logKey(node ast.Node) ast.Node {
	call, ok := node.(*ast.CallExpr)
	if !ok || len(call.Args) < 2 {
		return nil
	}
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	if pkg, ok := function.X.(*ast.Ident); !ok || pkg.Name != "slog" {
		return nil
	}
	return call.Args[0]
}
