package chatapp2

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	gotypes "go/types"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files")

// golden is a valid message, and the file below testdata/golden that holds its JSON, without its ending. The folder of a file
// is the sealed interface whose kinds it shows, or "envelope".
type golden struct {
	name    string
	message Message
}

// goldenTo is a message with nothing but a content.
func goldenTo(content Content) Message { return Message{To: "+639171234567", Content: content} }

func goldenMessages() []golden {
	return slices.Concat(
		goldenEnvelopes(), goldenContents(), goldenHeaders(), goldenActions(), goldenCards(), goldenComponents(), goldenParameters(),
	)
}

func TestGoldenFiles(t *testing.T) {
	folder := filepath.Join("testdata", "golden")
	if *update {
		require.NoError(t, os.RemoveAll(folder))
	} else { // other tests read the files
		t.Parallel()
	}
	written := map[string]bool{}
	for _, g := range goldenMessages() {
		file := filepath.Join(folder, filepath.FromSlash(g.name)+".json")
		assert.False(t, written[file], "%s is the file of two messages", g.name)
		written[file] = true
		raw, err := json.Marshal(g.message)
		require.NoError(t, err, g.name)
		var got bytes.Buffer
		require.NoError(t, json.Indent(&got, raw, "", "  "), g.name)
		got.WriteByte('\n')
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
			continue
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err, "go test ./chatapp2 -update writes it")
		assert.Equal(t, string(want), got.String(), g.name)
	}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			assert.True(t, written[path], "%s is the file of no message", path)
		}
		return err
	}))
}

func TestGoldenMessagesAreValid(t *testing.T) {
	t.Parallel()
	for _, g := range goldenMessages() {
		assert.Empty(t, problemsOf(g.message), g.name)
	}
}

func TestCallRejectsAPointer(t *testing.T) {
	t.Parallel()
	for _, g := range goldenMessages() {
		for place := range goldenPlaces(g.message) {
			n, kind := -1, ""
			byPointer := goldenEdited(g.message, func(v reflect.Value) bool {
				if !goldenIsSealed(v) {
					return false
				}
				if n++; n != place {
					return false
				}
				kind = v.Elem().Type().String()
				pointer := reflect.New(v.Elem().Type())
				pointer.Elem().Set(v.Elem())
				v.Set(pointer)
				return true
			})
			var problems []wire.Problem
			require.NotPanics(t, func() { problems = problemsOf(byPointer) }, g.name)
			found := slices.IndexFunc(problems, func(p wire.Problem) bool {
				return strings.Contains(p.Reason, "not a pointer: "+kind+"{…}, not &"+kind+"{…}")
			})
			if assert.GreaterOrEqual(t, found, 0, "%s: a pointer to %s: %v", g.name, kind, problems) {
				assert.False(t, problems[found].Limit, g.name)
				assert.NoError(t, validResolve(reflect.ValueOf(byPointer), problems[found].Field), g.name)
			}
			_, err := json.Marshal(byPointer)
			assert.ErrorContains(t, err, "not a pointer", g.name)
		}
	}
}

// Decoding makes values, so that a type switch over values sees each case.
func TestDecodedMessageEqualsItsLiteral(t *testing.T) {
	t.Parallel()
	for _, g := range goldenMessages() {
		raw, err := json.Marshal(g.message)
		require.NoError(t, err, g.name)
		var decoded Message
		require.NoError(t, json.Unmarshal(raw, &decoded), g.name)
		literal := goldenEdited(g.message, func(v reflect.Value) bool {
			if v.Type() == reflect.TypeFor[URLButton]() {
				v.FieldByName("OneTimeCode").SetBool(false) // which JSON does not say
			}
			return false
		})
		if literal.To == "" { // JSON does not say which field had the user ID
			literal.To = literal.Recipient
			literal.Recipient = ""
		}
		if goldenHasOpenData(literal) { // of which JSON knows no Go types
			continue
		}
		assert.Equal(t, literal, decoded, g.name)
		assert.True(t, reflect.DeepEqual(literal, decoded), g.name)
	}
}

// goldenHasOpenData reports whether a message has data of any shape, or raw JSON that is not written as it is encoded.
func goldenHasOpenData(m Message) bool {
	open := len(m.Extra) > 0
	goldenEdited(m, func(v reflect.Value) bool {
		_, raw := reflect.TypeAssert[json.RawMessage](v)
		open = open || raw || v.Type() == reflect.TypeFor[any]() && !v.IsNil() && v.Elem().Kind() != reflect.String
		return false
	})
	return open
}

func TestCallRejectsNil(t *testing.T) {
	t.Parallel()
	for _, g := range goldenMessages() {
		places := goldenPlaces(g.message)
		for place := range places {
			for what, nothing := range map[string]func(reflect.Value) reflect.Value{
				"nil":           func(v reflect.Value) reflect.Value { return reflect.Zero(v.Type()) },
				"a nil pointer": func(v reflect.Value) reflect.Value { return reflect.Zero(reflect.PointerTo(v.Elem().Type())) },
			} {
				n, isHeader := -1, false
				broken := goldenEdited(g.message, func(v reflect.Value) bool {
					if !goldenIsSealed(v) {
						return false
					}
					if n++; n != place {
						return false
					}
					isHeader = v.Type() == reflect.TypeFor[Header]()
					v.Set(nothing(v))
					return true
				})
				require.NotPanics(t, func() {
					problems := problemsOf(broken)
					assert.True(t, isHeader && what == "nil" || len(problems) > 0, "%s: %s at place %d is not rejected", g.name, what, place)
				}, "%s: %s at place %d", g.name, what, place)
				require.NotPanics(t, func() { _, _ = json.Marshal(broken) }, "%s: %s at place %d", g.name, what, place)
			}
		}
	}
}

func TestGoldenFilesShowEveryKind(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{} // "Content Text", if a file in the folder of the interface has it
	for _, g := range goldenMessages() {
		folder, _, _ := strings.Cut(g.name, "/")
		goldenEdited(g.message, func(v reflect.Value) bool {
			if goldenIsSealed(v) && folder == goldenFolder(v.Type().Name()) {
				shown[v.Type().Name()+" "+v.Elem().Type().Name()] = true
			}
			return false
		})
	}
	kinds := goldenKinds(t)
	assert.ElementsMatch(t, []string{"Content", "Header", "Action", "CardAction", "Component", "Parameter"}, goldenKeys(kinds),
		"a sealed interface that the tests do not know")
	for sealed, names := range kinds {
		for _, name := range names {
			assert.True(t, shown[sealed+" "+name], "no file in testdata/golden/%s shows a %s", goldenFolder(sealed), name)
		}
	}
}

func TestGoldenFilesShowEveryField(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	seen := map[reflect.Type]bool{}
	for _, g := range goldenMessages() {
		goldenEdited(g.message, func(v reflect.Value) bool {
			if v.Kind() != reflect.Struct || v.Type().PkgPath() != reflect.TypeFor[Message]().PkgPath() {
				return false
			}
			seen[v.Type()] = true
			for i := range v.NumField() {
				if !v.Field(i).IsZero() {
					shown[v.Type().Name()+"."+v.Type().Field(i).Name] = true
				}
			}
			return false
		})
	}
	var names []string
	for kind := range seen {
		names = append(names, kind.Name())
		for field := range kind.Fields() {
			if field.IsExported() {
				assert.True(t, shown[kind.Name()+"."+field.Name], "no golden file shows %s.%s", kind.Name(), field.Name)
			}
		}
	}
	for name, object := range goldenExported(t) {
		if _, isStruct := object.Type().Underlying().(*gotypes.Struct); isStruct && name != "Member" {
			assert.Contains(t, names, name, "no golden file shows a %s", name)
		}
	}
}

// Who knows the platform finds the type for a message on the page of the package.
func TestDocumentationListsEveryKind(t *testing.T) {
	t.Parallel()
	set, files := goldenSource(t)
	page, err := doc.NewFromFiles(set, files, "github.com/messaging-service/messaging-go/chatapp2")
	require.NoError(t, err)
	kinds := goldenKinds(t)
	for _, sealed := range page.Types {
		for _, name := range kinds[sealed.Name] {
			assert.Regexp(t, `\b`+name+`\b`, sealed.Doc, "the documentation of %s", sealed.Name)
			if sealed.Name != "Header" { // which the overview leaves to Interactive
				assert.Regexp(t, `\b`+name+`\b`, page.Doc, "the overview of the package")
			}
		}
	}
}

// goldenFolder is the folder of the files that show the kinds of a sealed interface.
func goldenFolder(sealed string) string {
	if sealed == "CardAction" {
		return "card"
	}
	return strings.ToLower(sealed)
}

// goldenIsSealed reports whether a place holds one of the kinds of a sealed interface.
func goldenIsSealed(v reflect.Value) bool {
	return v.Kind() == reflect.Interface && !v.IsNil() && v.Type().PkgPath() == reflect.TypeFor[Message]().PkgPath()
}

// goldenPlaces counts the places that hold one of the kinds of a sealed interface.
func goldenPlaces(m Message) int {
	n := 0
	goldenEdited(m, func(v reflect.Value) bool {
		if goldenIsSealed(v) {
			n++
		}
		return false
	})
	return n
}

// goldenEdited returns a copy of a message that shares nothing with it, after edit has seen every place in it from the outside
// in. Where edit reports true it has changed the place, and what is in it is not looked at.
func goldenEdited(m Message, edit func(v reflect.Value) bool) Message {
	goldenEdit(reflect.ValueOf(&m).Elem(), edit)
	return m
}

func goldenEdit(v reflect.Value, edit func(v reflect.Value) bool) {
	if edit(v) {
		return
	}
	inside := func(old reflect.Value) reflect.Value {
		fresh := reflect.New(old.Type()).Elem()
		fresh.Set(old)
		goldenEdit(fresh, edit)
		return fresh
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(inside(v.Elem()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			v.Set(inside(v.Elem()).Addr())
		}
	case reflect.Slice:
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			fresh.Index(i).Set(inside(v.Index(i)))
		}
		if !v.IsNil() {
			v.Set(fresh)
		}
	case reflect.Map:
		fresh := reflect.MakeMap(v.Type())
		for key, value := range v.Seq2() {
			fresh.SetMapIndex(key, inside(value))
		}
		if !v.IsNil() {
			v.Set(fresh)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type() != reflect.TypeFor[time.Time]() {
				goldenEdit(v.Field(i), edit)
			}
		}
	}
}

// goldenSource returns the source of the package.
func goldenSource(t *testing.T) (*token.FileSet, []*ast.File) {
	t.Helper()
	set := token.NewFileSet()
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var files []*ast.File
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, source, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	require.NotEmpty(t, files)
	return set, files
}

// goldenExported returns the exported types of the package as its source has them. What other packages declare is left open.
func goldenExported(t *testing.T) map[string]*gotypes.TypeName {
	t.Helper()
	set, files := goldenSource(t)
	config := gotypes.Config{Importer: goldenImporter{}, Error: func(error) {}}
	checked, _ := config.Check("chatapp2", set, files, nil)
	all := map[string]*gotypes.TypeName{}
	for _, name := range checked.Scope().Names() {
		if object, ok := checked.Scope().Lookup(name).(*gotypes.TypeName); ok && object.Exported() {
			all[name] = object
		}
	}
	return all
}

// goldenKinds returns the exported types that implement each sealed interface, by its name.
func goldenKinds(t *testing.T) map[string][]string {
	t.Helper()
	all := goldenExported(t)
	kinds := map[string][]string{}
	for sealed, object := range all {
		definition, ok := object.Type().Underlying().(*gotypes.Interface)
		if !ok {
			continue
		}
		for name, kind := range all {
			if _, ok := kind.Type().Underlying().(*gotypes.Interface); !ok && gotypes.Implements(gotypes.NewPointer(kind.Type()), definition) {
				kinds[sealed] = append(kinds[sealed], name)
			}
		}
		require.Greater(t, len(kinds[sealed]), 2, "what implements %s was not found", sealed)
	}
	return kinds
}

func goldenKeys(m map[string][]string) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

// goldenImporter knows no package: none declares what a sealed interface names.
type goldenImporter struct{}

func (goldenImporter) Import(path string) (*gotypes.Package, error) {
	p := gotypes.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}
