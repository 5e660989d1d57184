package shape

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type readInside struct {
	Always int    `at:"always!"`
	Text   string `at:"text"`
}

type readAll struct {
	readInside

	Is      bool            `at:"is"`
	Number  int             `at:"number"`
	Long    int64           `at:"long"`
	Quoted  int64           `at:"quoted,text"`
	Real    float64         `at:"real"`
	Maybe   *int            `at:"maybe"`
	List    []readInside    `at:"list"`
	Object  readInside      `at:"object"`
	Pointer *readInside     `at:"pointer"`
	Any     any             `at:"any"`
	Raw     json.RawMessage `at:"raw"`
	Time    time.Time       `at:"deep.er.time"`
	Version string          `at:"version,default=3"`
	One     string          `at:"set[type=one].text"`
	Two     int             `at:"set[type=two].number"`
	Only    string          `at:"only[]"`
	Wrapped []readInside    `at:"wrapped[each type=in index=#].inside"`
	Not     string          `at:"-,max=1"`
}

// readDocument returns the document of a value that has nothing but a few members. All values of these tests have the first two.
func readDocument(members string) string {
	return `{"always":0,"version":"3"` + members + `}`
}

func TestReadByTags(t *testing.T) {
	t.Parallel()
	with := func(change func(all *readAll)) readAll {
		var all readAll
		change(&all)
		return all
	}
	for members, tt := range map[string]struct {
		fit  Fit
		want readAll
	}{
		``:                                  {Exact, readAll{}},
		`,"text":"a","is":true`:             {Exact, with(func(all *readAll) { all.Text, all.Is = "a", true })},
		`,"number":"2","real":"1.5e2"`:      {Exact, with(func(all *readAll) { all.Number, all.Real = 2, 150 })},
		`,"text":null,"is":false,"text":""`: {Exact, readAll{}},
		`,"maybe":0`:                        {Exact, readAll{Maybe: new(0)}},
		`,"pointer":{"always":1}`:           {Exact, readAll{Pointer: &readInside{Always: 1}}},
		`,"list":[{"always":1},{"always":2,"text":"b"}]`: {Exact, readAll{List: []readInside{{Always: 1}, {2, "b"}}}},
		`,"list":[]`:                      {Exact, readAll{List: []readInside{}}},
		`,"any":{"a":[1.50]}`:             {Exact, readAll{Any: map[string]any{"a": []any{json.Number("1.50")}}}},
		`,"raw":{"b":1.50,"a":[]}`:        {Exact, readAll{Raw: json.RawMessage(`{"a":[],"b":1.50}`)}},
		`,"deep":{"er":{"time":"60000"}}`: {Exact, readAll{Time: time.Unix(60, 0).UTC()}},
		`,"deep":{"er":{}}`:               {Exact, readAll{}},
		`,"set":[{"type":"TWO","number":2},{"type":"one","text":"a"}]`: {Exact, readAll{One: "a", Two: 2}},
		`,"set":[]`:     {Exact, readAll{}},
		`,"only":["a"]`: {Exact, readAll{Only: "a"}},
		`,"wrapped":[{"type":"IN","index":0,"inside":{"always":5}}]`: {Exact, readAll{Wrapped: []readInside{{Always: 5}}}},
		`,"future":1`:    {Partial, readAll{}},
		`,"future":null`: {Partial, readAll{}},
		`,"Text":"a"`:    {Partial, readAll{}},
		`,"Not":"a"`:     {Partial, readAll{}},
		`,"deep":{"future":1,"er":{"time":60000}}`: {Partial, readAll{Time: time.Unix(60, 0).UTC()}},
		`,"list":[{"always":1,"future":1}]`:        {Partial, readAll{List: []readInside{{Always: 1}}}},
		`,"number":0`:                              {Misfit, readAll{}}, // which would not be written
		`,"object":{"always":0}`:                   {Misfit, readAll{}},
		`,"text":1`:                                {Misfit, readAll{}},
		`,"is":"true"`:                             {Misfit, readAll{}},
		`,"long":1.5`:                              {Misfit, readAll{}},
		`,"long":9223372036854775808`:              {Misfit, readAll{Long: 1<<63 - 1}},
		`,"real":"NaN"`:                            {Misfit, readAll{}},
		`,"list":{}`:                               {Misfit, readAll{}},
		`,"list":[null]`:                           {Misfit, readAll{List: []readInside{{}}}},
		`,"list":[{}]`:                             {Misfit, readAll{List: []readInside{{}}}},
		`,"deep":{"er":{"time":"soon"}}`:           {Misfit, readAll{}},
		`,"deep":[]`:                               {Misfit, readAll{}},
		`,"set":[{"type":"one","text":"a"},{"type":"one","text":"b"}]`: {Misfit, readAll{One: "a"}},
		`,"set":[{"type":"one","text":"a"},{"type":"three"}]`:          {Misfit, readAll{One: "a"}},
		`,"set":[{"type":"one"}]`:                                      {Misfit, readAll{}},
		`,"only":[]`:                                                   {Misfit, readAll{}},
		`,"only":[null]`:                                               {Misfit, readAll{}},
		`,"only":["a","b"]`:                                            {Misfit, readAll{}},
		`,"wrapped":[{"type":"in","index":1,"inside":{"always":5}}]`:   {Misfit, readAll{Wrapped: []readInside{{Always: 5}}}},
		`,"wrapped":[{"type":"out","index":0,"inside":{"always":5}}]`:  {Misfit, readAll{Wrapped: []readInside{{Always: 5}}}},
		`,"wrapped":[{"index":0,"inside":{"always":5}}]`:               {Misfit, readAll{Wrapped: []readInside{{Always: 5}}}},
	} {
		document := readDocument(members)
		var got readAll
		f := New(readAll{}).Read(Decode([]byte(document)), &got)
		assert.Equal(t, tt.fit, f, document)
		assert.Equal(t, tt.want, got, document)
	}
	for _, document := range []string{`{}`, `{"always":null,"version":"3"}`, `{"always":0}`, `[]`, `"x"`} {
		var got readAll
		assert.Equal(t, Misfit, New(readAll{}).Read(Decode([]byte(document)), &got), document)
	}
}

// What is written is what the tags say, and reads as the same value.
func TestWriteByTags(t *testing.T) {
	t.Parallel()
	for members, all := range map[string]readAll{
		``:                                   {},
		`,"is":true,"quoted":"7"`:            {Is: true, Quoted: 7},
		`,"real":1.5,"maybe":0`:              {Real: 1.5, Maybe: new(0)},
		`,"pointer":{"always":0,"text":"a"}`: {Pointer: &readInside{Text: "a"}},
		`,"list":[],"object":{"always":0,"text":"a"}`:                  {List: []readInside{}, Object: readInside{Text: "a"}},
		`,"any":[1],"raw":{"a":1}`:                                     {Any: []any{json.Number("1")}, Raw: json.RawMessage(`{"a": 1}`)},
		`,"deep":{"er":{"time":60000}}`:                                {Time: time.Unix(60, 0).UTC()},
		`,"set":[{"type":"one","text":"a"},{"type":"two","number":2}]`: {One: "a", Two: 2},
		`,"set":[{"type":"two","number":2}]`:                           {Two: 2},
		`,"only":["a"]`:                                                {Only: "a"},
		`,"wrapped":[{"type":"in","index":0,"inside":{"always":5}},{"type":"in","index":1,"inside":{"always":6}}]`: {Wrapped: []readInside{{Always: 5}, {Always: 6}}},
	} {
		s := New(readAll{})
		w := s.NewWriter(nil)
		w.Value(all)
		require.NoError(t, w.Err)
		assert.JSONEq(t, readDocument(members), string(w.Out))
		var back readAll
		require.Equal(t, Exact, s.Read(Decode(w.Out), &back), "%s", w.Out)
		back.Raw = all.Raw // which is written without white space
		assert.Equal(t, all, back)
	}
}
