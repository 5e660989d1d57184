package jsonscan_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

func TestCheckCutDocument(t *testing.T) {
	for _, whole := range []string{
		`{"status":"ok","data":{"id":"m-1","list":[{"x":1},{"x":-0.5e+10},[]],"o":{}},"n":null,"t":true,"f":false,"z":""}`,
		"{ \"d\\u0061ta\" : { \"\\u0069d\" : \"\\ud83d\\ude00\\n\\\"é😀\" } , \"x\" : [ null , true , false , { \"y\" : [ 1.5E-7 , 0 ] } ] }",
		`[[],{},"",0.0,{"a":[{"b":{}}]}]`,
		`"a text"`, `true`, `false`, `null`,
	} {
		require.NoError(t, jsonscan.Check([]byte(whole)))
		for end := 1; end < len(whole); end++ {
			require.ErrorIs(t, jsonscan.Check([]byte(whole[:end])), jsonscan.ErrCut, "%q", whole[:end])
		}
	}
	for _, number := range []string{"-", "1.", "1e", "1e+", "-0."} {
		require.ErrorIs(t, jsonscan.Check([]byte(number)), jsonscan.ErrCut, number)
	}
}

func TestCheckFault(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for doc, want := range map[string]error{
		"": jsonscan.ErrEmpty, " \n": jsonscan.ErrEmpty, "<html>": jsonscan.ErrSyntax, `{"a":1}{}`: jsonscan.ErrSyntax, "01": jsonscan.ErrSyntax,
		nested(jsonscan.MaxDepth): nil, nested(jsonscan.MaxDepth + 1): jsonscan.ErrDepth,
		`[` + strings.Repeat(`[],{},{"a":[]},`, jsonscan.MaxDepth) + `0]`: nil, // much, and not deep
	} {
		assert.Equal(t, want, jsonscan.Check([]byte(doc)), "%.20q", doc)
	}
}

func TestMembers(t *testing.T) {
	for doc, want := range map[string][]jsonscan.Member{
		` { "a" : 1 , "b":{"a": [ 2 ]} } `: {{"a", []byte(`1`), false, false}, {"b", []byte(`{"a": [ 2 ]}`), false, false}},
		`{"a":1,"b":2,"\u0061":1,"a":3}`:   {{"a", []byte(`1`), false, false}, {"b", []byte(`2`), false, false}, {"a", []byte(`1`), true, false}, {"a", []byte(`3`), true, true}},
		`{"a":1,"b":tru`:                   {{"a", []byte(`1`), false, false}},
		`{}`:                               {},
		`[1]`:                              nil,
		`"a"`:                              nil,
		``:                                 nil,
	} {
		assert.Equal(t, want, jsonscan.Members([]byte(doc)), doc)
	}
}

func TestMembersReportsRepeatedNameAmongMany(t *testing.T) {
	for _, count := range []int{1, 15, 16, 17, 18, 100} {
		for again := range count {
			var doc strings.Builder
			doc.WriteByte('{')
			for i := range count {
				doc.WriteString(strconv.Quote("name-"+strconv.Itoa(i)) + ":0,")
			}
			doc.WriteString(strconv.Quote("name-"+strconv.Itoa(again)) + ":1}")
			all := jsonscan.Members([]byte(doc.String()))
			isAgain := func(m jsonscan.Member) bool { return m.Again }
			assert.Equal(t, count, slices.IndexFunc(all, isAgain), "%d of %d", again, count)
			assert.True(t, all[count].Differs, "%d of %d", again, count)
		}
	}
}

func TestElements(t *testing.T) {
	for doc, want := range map[string][]string{
		` [ 1 , {"a":[1]},[],"x" ] `: {"1", `{"a":[1]}`, "[]", `"x"`},
		`[1,2,tru`:                   {"1", "2"},
		`[]`:                         nil,
		`{"a":1}`:                    nil,
		`1`:                          nil,
		``:                           nil,
	} {
		var got []string
		for element := range jsonscan.Elements([]byte(doc)) {
			got = append(got, string(element))
		}
		assert.Equal(t, want, got, doc)
	}
	for element := range jsonscan.Elements([]byte(`[1,2]`)) {
		require.Equal(t, "1", string(element))
		break
	}
}

func TestWord(t *testing.T) {
	for doc, want := range map[string]string{
		`"a"`: "a", ` "\u0061\n" `: "a\n", "\"\xff\"": "\ufffd", `-1.50`: "-1.50", `true`: "true", `""`: "",
	} {
		word, ok := jsonscan.Word([]byte(doc))
		assert.True(t, ok, doc)
		assert.Equal(t, want, word, doc)
	}
	for _, doc := range []string{`null`, `{}`, `[1]`, ``, `x`, `1 2`, `"a`} {
		word, ok := jsonscan.Word([]byte(doc))
		assert.False(t, ok, doc)
		assert.Empty(t, word, doc)
	}
}

// FuzzCheck compares the reader with encoding/json: both accept the same documents, and find the same in them.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"b":[1,-0.5e+10,{}]},"a":"\ud83d\ude00","":null}`, `[[],{},"",0.0]`, "\"\xff\xc0\xaf\"", "\"\x1f\"", `nul`, `{"a":01}`, ` "x" `, `{"a"}`, `[1,]`,
		`{"a":"x`, "\ufeff1", `"\x"`, `{"\ud800":1,"\ud801":2}`, strings.Repeat("[", 100) + strings.Repeat("]", 100),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		err := jsonscan.Check(doc)
		if valid := json.Valid(doc); valid != (err == nil) {
			t.Fatalf("valid is %t, but the error is %v", valid, err)
		}
		members, first := map[string]json.RawMessage{}, map[string]bool{}
		for _, m := range jsonscan.Members(doc) {
			if m.Again != first[m.Name] {
				t.Fatalf("%q: again is %t", m.Name, m.Again)
			}
			members[m.Name], first[m.Name] = m.Value, true
		}
		var elements []json.RawMessage
		for element := range jsonscan.Elements(doc) {
			elements = append(elements, element)
		}
		if err != nil {
			return
		}
		var wantMembers map[string]json.RawMessage
		if json.Unmarshal(doc, &wantMembers) == nil && wantMembers != nil {
			assert.Equal(t, wantMembers, members)
		}
		var wantElements []json.RawMessage
		if json.Unmarshal(doc, &wantElements) == nil && len(wantElements) > 0 {
			assert.Equal(t, wantElements, elements)
		}
		var text string
		if word, ok := jsonscan.Word(doc); ok && json.Unmarshal(doc, &text) == nil {
			assert.Equal(t, text, word)
		}
	})
}
