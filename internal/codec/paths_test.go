package codec

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFindRefusesCutDocument(t *testing.T) {
	p := compiled("status", "data.id", "data", "data.list.1.x", "n", "t", "f", "z")
	for _, whole := range []string{
		`{"status":"ok","data":{"id":"m-1","list":[{"x":1},{"x":-0.5e+10},[]],"o":{}},"n":null,"t":true,"f":false,"z":""}`,
		"{ \"d\\u0061ta\" : { \"\\u0069d\" : \"\\ud83d\\ude00\\n\\\"é😀\" } , \"x\" : [ null , true , false , \"\\u00e9\" , { \"y\" : [ 1.5E-7 , 0 ] } ] }",
		`[[],{},"",0.0,{"a":[{"b":{}}]}]`,
		`"a text"`, `true`, `false`, `null`,
	} {
		require.NoError(t, find(p, whole))
		require.ErrorIs(t, find(p, " "), errEmpty)
		for end := 1; end < len(whole); end++ {
			err := find(p, whole[:end])
			require.ErrorIs(t, err, errCut, "%q", whole[:end])
		}
	}
	for _, number := range []string{"-", "1.", "1e", "1e+", "-0."} {
		require.ErrorIs(t, find(p, number), errCut, number)
	}
}

func TestFind(t *testing.T) {
	const doc = `{"o":{"a":1,"b":[2]},"l":[1,{"x":"y"}],"s":"t","e":"\u0074","n":-1.50,"b":true,"z":null,"":{"":"empty"}}`
	for path, want := range map[string]struct {
		kind kind
		raw  string
	}{
		"o": {object, `{"a":1,"b":[2]}`}, "l": {array, `[1,{"x":"y"}]`}, "s": {text, "t"}, "e": {escapedText, `"\u0074"`},
		"n": {number, "-1.50"}, "b": {boolean, "true"}, "z": {null, "null"}, "o.a": {number, "1"}, "o.b.0": {number, "2"}, "l.1.x": {text, "y"},
		".": {text, "empty"}, "l.00": {}, "l.2": {}, "l.-1": {}, "l.x": {}, "s.0": {}, "z.x": {}, "o.c": {}, "o.a.b": {}, "O": {},
	} {
		p := compiled(path)
		text, found, err := p.find([]byte(doc), nil, nil)
		require.NoError(t, err)
		assert.Equal(t, want.kind, found[0].kind, path)
		assert.Equal(t, want.raw, text[found[0].start:found[0].end], path)
	}
}

func TestFindDepth(t *testing.T) {
	p := compiled(strings.Repeat("0.", 127)+"0", strings.Repeat("0.", 100)+"a") // as deep as a contract can say
	for _, depth := range []int{maxDepth, maxDepth + 1} {
		for _, innermost := range []string{`{"a":1}`, "[1]"} {
			doc := strings.Repeat("[", depth-1) + innermost + strings.Repeat("]", depth-1)
			err := find(p, doc)
			require.Equal(t, json.Valid([]byte(doc)), err == nil, "depth %d: %v", depth, err)
			if depth > maxDepth {
				require.ErrorIs(t, err, errDepth)
			}
		}
	}
}

func compiled(list ...string) *paths {
	p := compilePaths(map[string][]string{"": list}, nil)
	return &p
}

// find discards what it finds.
func find(p *paths, doc string) error {
	_, _, err := p.find([]byte(doc), nil, nil)
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
		text, found, err := p.find(doc, nil, nil)
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
			if present != (got.kind != absent) {
				t.Fatalf("%q: present is %t, got the kind %d", path, present, got.kind)
			}
			if !present {
				if got.start != got.end || got.word(text) != "" {
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
	raw := doc[got.start:got.end]
	asText, scalar := "", true
	ok := false
	switch want := want.(type) {
	case nil:
		ok, scalar = got.kind == null, false
	case bool:
		ok, asText = got.kind == boolean, strconv.FormatBool(want)
	case json.Number:
		ok, asText = got.kind == number, want.String()
	case string:
		ok, asText = got.kind == text || got.kind == escapedText, want
	case map[string]any:
		ok, scalar = got.kind == object && reflect.DeepEqual(decoded(t, raw), any(want)), false
	case []any:
		ok, scalar = got.kind == array && reflect.DeepEqual(decoded(t, raw), any(want)), false
	}
	if !ok || got.word(doc) != asText || got.scalar() != scalar {
		t.Errorf("%q: got the kind %d, %q, scalar %t; want %#v", path, got.kind, raw, got.scalar(), want)
	}
}
