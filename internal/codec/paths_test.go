package codec

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
		p := compiled(path)
		text, found, _, err := p.find([]byte(doc), nil, nil)
		require.NoError(t, err)
		at := found[p.places[""][0]]
		assert.Equal(t, want.kind, at.Kind, path)
		assert.Equal(t, want.raw, text[at.Start:at.End], path)
	}
}

func TestFindDepth(t *testing.T) {
	p := compiled(strings.Repeat("0.", 127)+"0", strings.Repeat("0.", 100)+"a") // as deep as a contract can say
	for _, depth := range []int{jsonscan.MaxDepth, jsonscan.MaxDepth + 1} {
		for _, innermost := range []string{`{"a":1}`, "[1]"} {
			doc := strings.Repeat("[", depth-1) + innermost + strings.Repeat("]", depth-1)
			err := find(p, doc)
			require.Equal(t, json.Valid([]byte(doc)), err == nil, "depth %d: %v", depth, err)
			if depth > jsonscan.MaxDepth {
				require.ErrorIs(t, err, jsonscan.ErrDepth)
			}
		}
	}
}

func compiled(list ...string) *paths {
	p := compilePaths(map[string][]string{"": list})
	return &p
}

// find discards what it finds.
func find(p *paths, doc string) error {
	_, _, _, err := p.find([]byte(doc), nil, nil)
	return err
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
		{"\ufeff[1,2,3]", "0\n2\n3\n01\n-1"},
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
		names := strings.Split(list, "\n")
		p := compiled(names...)
		text, found, _, err := p.find(doc, nil, nil)
		plain := strings.TrimPrefix(string(doc), "\ufeff")
		if valid := json.Valid([]byte(plain)); valid != (err == nil) {
			t.Fatalf("valid is %t, but the error is %v", valid, err)
		}
		if err != nil {
			return
		}
		document := decoded(t, plain)
		for i, path := range names {
			want, present := reference(document, path)
			got := found[p.places[""][i]]
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

func check(t *testing.T, path, doc string, got value, want any) {
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
