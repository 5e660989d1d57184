package chatapp2

import (
	"encoding/json"
	"reflect"
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

	Is       bool              `at:"is"`
	Number   int               `at:"number"`
	Long     int64             `at:"long"`
	Quoted   int64             `at:"quoted,text"`
	Real     float64           `at:"real"`
	Maybe    *int              `at:"maybe"`
	List     []readInside      `at:"list"`
	Object   readInside        `at:"object"`
	Texts    map[string]string `at:"texts"`
	Any      any               `at:"any"`
	Raw      json.RawMessage   `at:"raw"`
	Time     time.Time         `at:"deep.er.time"`
	Duration time.Duration     `at:"deep.duration"`
	Version  string            `at:"version,default=3"`
	Missing  int               `at:"missing!,optional"`
	Spelled  struct {
		Name string `at:"name"`
	} `at:"spelled,or=name"`
	One     string       `at:"set[type=one].text"`
	Two     int          `at:"set[type=two].number"`
	Wrapped []readInside `at:"wrapped[each type=in index=#].inside"`
	Not     string
}

func readAllShapes() *shapes {
	s := &shapes{structs: map[reflect.Type]*shape{}}
	s.structOf(reflect.TypeFor[readAll]())
	return s
}

// with returns the document of a value that has nothing but a few members. All values of these tests have the first three.
func readDocument(members string) string {
	return `{"always":0,"version":"3","missing":0` + members + `}`
}

func TestReadByTags(t *testing.T) {
	t.Parallel()
	with := func(change func(all *readAll)) readAll {
		var all readAll
		change(&all)
		return all
	}
	for members, tt := range map[string]struct {
		fit  fit
		want readAll
	}{
		``:                                  {exact, readAll{}},
		`,"text":"a","is":true`:             {exact, with(func(all *readAll) { all.Text, all.Is = "a", true })},
		`,"number":"2","real":"1.5e2"`:      {exact, with(func(all *readAll) { all.Number, all.Real = 2, 150 })},
		`,"text":null,"is":false,"text":""`: {exact, readAll{}},
		`,"quoted":"7"`:                     {exact, readAll{Quoted: 7}},
		`,"quoted":7`:                       {exact, readAll{Quoted: 7}},
		`,"maybe":0`:                        {exact, readAll{Maybe: new(0)}},
		`,"list":[{"always":1},{"always":2,"text":"b"}]`: {exact, readAll{List: []readInside{{Always: 1}, {2, "b"}}}},
		`,"list":[]`:                                  {exact, readAll{List: []readInside{}}},
		`,"texts":{"a":"b"}`:                          {exact, readAll{Texts: map[string]string{"a": "b"}}},
		`,"any":{"a":[1.50]}`:                         {exact, readAll{Any: map[string]any{"a": []any{json.Number("1.50")}}}},
		`,"raw":{"b":1.50,"a":[]}`:                    {exact, readAll{Raw: json.RawMessage(`{"a":[],"b":1.50}`)}},
		`,"deep":{"er":{"time":"60"},"duration":1.5}`: {exact, readAll{Time: time.Unix(60, 0).UTC(), Duration: 90 * time.Second}},
		`,"deep":{"er":{}}`:                           {exact, readAll{}},
		`,"spelled":"a"`:                              {exact, with(func(all *readAll) { all.Spelled.Name = "a" })},
		`,"spelled":{"name":"a"}`:                     {exact, with(func(all *readAll) { all.Spelled.Name = "a" })},
		`,"set":[{"type":"TWO","number":2},{"type":"one","text":"a"}]`: {exact, readAll{One: "a", Two: 2}},
		`,"set":[]`: {exact, readAll{}},
		`,"wrapped":[{"type":"IN","index":0,"inside":{"always":5}}]`: {exact, readAll{Wrapped: []readInside{{Always: 5}}}},
		`,"future":1`:                       {partial, readAll{}},
		`,"future":null`:                    {partial, readAll{}},
		`,"Text":"a"`:                       {partial, readAll{}},
		`,"Not":"a"`:                        {partial, readAll{}},
		`,"deep":{"future":1,"duration":1}`: {partial, readAll{Duration: time.Minute}},
		`,"list":[{"always":1,"future":1}]`: {partial, readAll{List: []readInside{{Always: 1}}}},
		`,"number":0`:                       {misfit, readAll{}}, // which would not be written
		`,"object":{"always":0}`:            {misfit, readAll{}},
		`,"text":1`:                         {misfit, readAll{}},
		`,"is":"true"`:                      {misfit, readAll{}},
		`,"long":1.5`:                       {misfit, readAll{}},
		`,"long":9223372036854775808`:       {misfit, readAll{Long: 1<<63 - 1}},
		`,"real":"NaN"`:                     {misfit, readAll{}},
		`,"list":{}`:                        {misfit, readAll{}},
		`,"list":[null]`:                    {misfit, readAll{List: []readInside{{}}}},
		`,"list":[{}]`:                      {misfit, readAll{List: []readInside{{}}}},
		`,"texts":{"a":1}`:                  {misfit, readAll{Texts: map[string]string{"a": ""}}},
		`,"deep":{"er":{"time":"soon"}}`:    {misfit, readAll{}},
		`,"deep":[]`:                        {misfit, readAll{}},
		`,"set":[{"type":"one","text":"a"},{"type":"one","text":"b"}]`: {misfit, readAll{One: "a"}},
		`,"set":[{"type":"one","text":"a"},{"type":"three"}]`:          {misfit, readAll{One: "a"}},
		`,"set":[{"type":"one"}]`:                                      {misfit, readAll{}},
		`,"wrapped":[{"type":"in","index":1,"inside":{"always":5}}]`:   {misfit, readAll{Wrapped: []readInside{{Always: 5}}}},
		`,"wrapped":[{"type":"out","index":0,"inside":{"always":5}}]`:  {misfit, readAll{Wrapped: []readInside{{Always: 5}}}},
		`,"wrapped":[{"index":0,"inside":{"always":5}}]`:               {misfit, readAll{Wrapped: []readInside{{Always: 5}}}},
	} {
		document := readDocument(members)
		s := readAllShapes()
		var got readAll
		f := reader{shapes: s}.value(new(shape), decode([]byte(document)), reflect.ValueOf(&got).Elem())
		assert.Equal(t, tt.fit, f, document)
		assert.Equal(t, tt.want, got, document)
	}
	for _, document := range []string{`{}`, `{"always":null,"version":"3"}`, `{"always":0}`, `[]`, `"x"`} {
		var got readAll
		assert.Equal(t, misfit, reader{shapes: readAllShapes()}.value(new(shape), decode([]byte(document)), reflect.ValueOf(&got).Elem()), document)
	}
	var got readAll
	assert.Equal(t, exact, reader{shapes: readAllShapes()}.value(new(shape), decode([]byte(`{"always":0,"version":"3"}`)), reflect.ValueOf(&got).Elem()))
}

// What is written is what the tags say, and reads as the same value.
func TestWriteByTags(t *testing.T) {
	t.Parallel()
	for members, all := range map[string]readAll{
		``:                        {},
		`,"is":true,"quoted":"7"`: {Is: true, Quoted: 7},
		`,"real":1.5,"maybe":0`:   {Real: 1.5, Maybe: new(0)},
		`,"list":[],"object":{"always":0,"text":"a"}`: {List: []readInside{}, Object: readInside{Text: "a"}},
		`,"texts":{"a":"<"},"any":[1],"raw":{"a":1}`:  {Texts: map[string]string{"a": "<"}, Any: []any{json.Number("1")}, Raw: json.RawMessage(`{"a": 1}`)},
		`,"deep":{"er":{"time":60},"duration":1.5},"spelled":{"name":"a"}`: {Time: time.Unix(60, 0).UTC(), Duration: 90 * time.Second, Spelled: struct {
			Name string `at:"name"`
		}{"a"}},
		`,"set":[{"type":"one","text":"a"},{"type":"two","number":2}]`:                                             {One: "a", Two: 2},
		`,"set":[{"type":"two","number":2}]`:                                                                       {Two: 2},
		`,"wrapped":[{"type":"in","index":0,"inside":{"always":5}},{"type":"in","index":1,"inside":{"always":6}}]`: {Wrapped: []readInside{{Always: 5}, {Always: 6}}},
	} {
		s := readAllShapes()
		w := &writer{shapes: s}
		w.value(new(shape), reflect.ValueOf(all))
		require.NoError(t, w.err)
		assert.JSONEq(t, readDocument(members), string(w.out))
		var back readAll
		require.Equal(t, exact, reader{shapes: s}.value(new(shape), decode(w.out), reflect.ValueOf(&back).Elem()), "%s", w.out)
		back.Raw = all.Raw // which is written without white space
		assert.Equal(t, all, back)
	}
}
