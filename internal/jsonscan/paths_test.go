package jsonscan_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

func TestFind(t *testing.T) {
	const doc = `{"o":{"a":1,"b":[2]},"l":[1,{"x":"y"}],"s":"t","e":"\u0074","n":-1.50,"b":true,"z":null,"":{"":"empty"}}`
	for path, want := range map[string]struct {
		kind jsonscan.Kind
		raw  string
	}{
		"o": {jsonscan.Object, `{"a":1,"b":[2]}`}, "l": {jsonscan.List, `[1,{"x":"y"}]`}, "s": {jsonscan.String, "t"}, "e": {jsonscan.Escaped, `"\u0074"`},
		"n": {jsonscan.Number, "-1.50"}, "b": {jsonscan.Boolean, "true"}, "z": {jsonscan.Null, "null"}, "o.a": {jsonscan.Number, "1"}, "o.b.0": {jsonscan.Number, "2"}, "l.1.x": {jsonscan.String, "y"},
		".": {jsonscan.String, "empty"}, "l.00": {}, "l.2": {}, "l.-1": {}, "l.x": {}, "s.0": {}, "z.x": {}, "o.c": {}, "o.a.b": {}, "O": {},
	} {
		values, w, err := find(path, doc)
		require.NoError(t, err)
		assert.Equal(t, want.kind, values[0].Kind, path)
		assert.Equal(t, want.raw, doc[values[0].Start:values[0].End], path)
		assert.False(t, w.Repeats)
	}
}

func TestFindDepth(t *testing.T) {
	paths := strings.Repeat("0.", 127) + "0\n" + strings.Repeat("0.", 100) + "a" // as deep as a contract can say
	for _, depth := range []int{jsonscan.MaxDepth, jsonscan.MaxDepth + 1} {
		for _, innermost := range []string{`{"a":1}`, "[1]"} {
			doc := strings.Repeat("[", depth-1) + innermost + strings.Repeat("]", depth-1)
			_, _, err := find(paths, doc)
			require.Equal(t, json.Valid([]byte(doc)), err == nil, "depth %d: %v", depth, err)
			if depth > jsonscan.MaxDepth {
				require.ErrorIs(t, err, jsonscan.ErrDepth)
			}
		}
	}
}

// What a person wrote into a text that nobody escaped comes behind the member that the service wrote.
func TestFindTakesTheFirstOfSeveralMembers(t *testing.T) {
	for doc, want := range map[string]struct {
		value            string
		repeats, differs bool
	}{
		`{"a":{"b":1},"x":1,"x":2}`:       {"1", false, false},
		`{"a":{"b":1,"b":2}}`:             {"1", true, true},
		`{"a":{"b":"1","b":"1"}}`:         {"1", true, false},
		`{"a":{"b":"1","\u0062":1}}`:      {"1", true, true},
		`{"a":{"b":1},"a":{"b":2}}`:       {"1", true, true},
		`{"a":{"b":1},"a":{"b":1}}`:       {"1", true, false},
		`{"a":{"b":1},"a":null}`:          {"1", true, true},
		`{"a":null,"a":{"b":1}}`:          {"", true, true},
		`{"a":[{"b":1},{"b":2}],"a.b":1}`: {"", false, false},
	} {
		values, w, err := find("a.b", doc)
		require.NoError(t, err, doc)
		assert.Equal(t, want.value, values[0].Word(doc), doc)
		assert.Equal(t, want.repeats, w.Repeats, doc)
		assert.Equal(t, want.differs, w.Differs, doc)
	}
}

func TestFindPassesListsOn(t *testing.T) {
	var p jsonscan.Paths
	p.AddList("rows", 7)
	p.AddList("rows", 8)
	p.Add("n")
	var numbers []int
	w := jsonscan.NewWalker([]byte(`{"rows":[1,2],"n":3}`))
	w.List = func(number int) {
		numbers = append(numbers, number)
		w.Skip()
	}
	_, err := p.Find(w, nil)
	require.NoError(t, err)
	assert.Equal(t, []int{7}, numbers)
}

func TestText(t *testing.T) {
	const doc = `{"a":"x","b":{"c":12,"d":"y"},"e":true}`
	var p jsonscan.Paths
	slots := p.Add("e", "b.c", "absent", "a", "a")
	found, err := p.Find(jsonscan.NewWalker([]byte(doc)), make([]jsonscan.Value, 2, 20))
	require.NoError(t, err)
	text := p.Text([]byte(doc), found)
	assert.Equal(t, "true12x", text)
	var words []string
	for _, slot := range slots {
		words = append(words, found[slot].Word(text))
	}
	assert.Equal(t, []string{"true", "12", "", "x", "x"}, words)
}

// find returns the values at paths, one a line.
func find(paths, doc string) ([]jsonscan.Value, *jsonscan.Walker, error) {
	var p jsonscan.Paths
	slots := p.Add(strings.Split(paths, "\n")...)
	w := jsonscan.NewWalker([]byte(doc))
	found, err := p.Find(w, nil)
	values := make([]jsonscan.Value, len(slots))
	for i, slot := range slots {
		values[i] = found[slot]
	}
	return values, w, err
}

// reference returns what encoding/json finds at a path.
func reference(doc any, path string) (any, bool) {
	if path == "" {
		return doc, true
	}
	for name := range strings.SplitSeq(path, ".") {
		switch at := doc.(type) {
		case map[string]any:
			member, ok := at[name]
			if !ok {
				return nil, false
			}
			doc = member
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || strconv.Itoa(i) != name || i < 0 || i >= len(at) {
				return nil, false
			}
			doc = at[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

func decoded(t *testing.T, raw string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	var document any
	if err := d.Decode(&document); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return document
}

// FuzzFind checks the scanner against encoding/json: it accepts the same documents, and finds the same at each path.
func FuzzFind(f *testing.F) {
	for _, seed := range []struct{ doc, paths string }{
		{`{"status":"ok","data":{"id":"m"}}`, "data.id\nid\nstatus\ndata"},
		{`{"data":{"id":"a"},"data":{"x":1},"id":null}`, "data.id\ndata.x\nid"},
		{`{"messages":[{"id":"a"},{"id":1.50e-7}]}`, "messages.0.id\nmessages.1.id\nmessages.2\nmessages"},
		{`{"messages":{"0":{"id":"a"}},"messages":[{}]}`, "messages.0.id\nmessages.0"},
		{`[1,2,3]`, "0\n2\n3\n01\n-1"},
		{`{"\u0069d":"\ud83d\ude00","":{"":"e"}}`, "id\n.\n"},
		{"{\"\xff\":\"\xc0\xaf\xed\xa0\x80\"}", "\ufffd\n\xff"},
		{`{"a":"\ud800","a":"\udc00x"}`, "a\na"},
		{`{"a":{"b":{"c":[[[{"d":true}]]]}}}`, "a.b.c.0.0.0.d\na.b\na.b.c.0"},
		{` {"a" : [ ] , "b" : { } } `, "a\nb\na.0\nb.x"},
		{`{"a":01}`, "a"},
		{`{"a":-0,"b":1E400,"c":0.10}`, "a\nb\nc"},
		{`{"a":"x`, "a"},
		{`{"a":1}{"a":2}`, "a"},
		{`"text"`, "\na"},
		{`nul`, "a"},
		{`{"a":tru}`, "a"},
		{"\"\x1f\"", ""},
		{strings.Repeat("[", 100) + strings.Repeat("]", 100), "0.0.0.0"},
	} {
		f.Add([]byte(seed.doc), seed.paths)
	}
	f.Fuzz(func(t *testing.T, doc []byte, list string) {
		text := string(doc)
		found, w, err := find(list, text)
		if valid := json.Valid(doc); valid != (err == nil) {
			t.Fatalf("valid is %t, but the error is %v", valid, err)
		}
		if err != nil || w.Repeats { // encoding/json takes the last of several members
			return
		}
		document := decoded(t, text)
		for i, path := range strings.Split(list, "\n") {
			want, present := reference(document, path)
			got := found[i]
			if present != (got.Kind != jsonscan.Absent) {
				t.Fatalf("%q: present is %t, got the kind %d", path, present, got.Kind)
			}
			if !present {
				if got.Start != got.End || got.Word(text) != "" {
					t.Errorf("%q: absent, got %+v", path, got)
				}
				continue
			}
			check(t, path, text, got, want)
		}
	})
}

func check(t *testing.T, path, doc string, got jsonscan.Value, want any) {
	t.Helper()
	raw := doc[got.Start:got.End]
	asText, scalar := "", true
	ok := false
	switch want := want.(type) {
	case nil:
		ok, scalar = got.Kind == jsonscan.Null, false
	case bool:
		ok, asText = got.Kind == jsonscan.Boolean, strconv.FormatBool(want)
	case json.Number:
		ok, asText = got.Kind == jsonscan.Number, want.String()
	case string:
		ok, asText = got.Kind == jsonscan.String || got.Kind == jsonscan.Escaped, want
	case map[string]any:
		ok, scalar = got.Kind == jsonscan.Object && reflect.DeepEqual(decoded(t, raw), any(want)), false
	case []any:
		ok, scalar = got.Kind == jsonscan.List && reflect.DeepEqual(decoded(t, raw), any(want)), false
	}
	if !ok || got.Word(doc) != asText || got.IsScalar() != scalar {
		t.Errorf("%q: got the kind %d, %q, scalar %t; want %#v", path, got.Kind, raw, got.IsScalar(), want)
	}
}
