package chatapp2

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type readInside struct {
	Always int    `json:"always"`
	Text   string `json:"text,omitzero"`
}

type readAll struct {
	readInside

	Is     bool              `json:"is,omitzero"`
	Number int               `json:"number,omitzero"`
	Long   int64             `json:"long,omitzero"`
	Real   float64           `json:"real,omitzero"`
	Maybe  *int              `json:"maybe,omitzero"`
	List   []readInside      `json:"list,omitzero"`
	Object readInside        `json:"object,omitzero"`
	Texts  map[string]string `json:"texts,omitzero"`
	Any    any               `json:"any,omitzero"`
	Raw    json.RawMessage   `json:"raw,omitzero"`
	Not    string            `json:"-"`
}

func TestRead(t *testing.T) {
	t.Parallel()
	with := func(change func(all *readAll)) readAll {
		var all readAll
		change(&all)
		return all
	}
	for document, tt := range map[string]struct {
		fit  fit
		want readAll
	}{
		`{"always":0}`:                                               {exact, readAll{}},
		`{"always":1,"text":"a","is":true}`:                          {exact, readAll{readInside: readInside{1, "a"}, Is: true}},
		`{"always":"1","number":"2","real":"1.5e2"}`:                 {exact, readAll{readInside: readInside{Always: 1}, Number: 2, Real: 150}},
		`{"always":0,"text":null,"is":false,"text":""}`:              {exact, readAll{}},
		`{"always":0,"maybe":0}`:                                     {exact, with(func(all *readAll) { all.Maybe = new(0) })},
		`{"always":0,"list":[{"always":1},{"always":2,"text":"b"}]}`: {exact, readAll{List: []readInside{{Always: 1}, {2, "b"}}}},
		`{"always":0,"list":[]}`:                                     {exact, readAll{List: []readInside{}}},
		`{"always":0,"texts":{"a":"b"}}`:                             {exact, readAll{Texts: map[string]string{"a": "b"}}},
		`{"always":0,"any":{"a":[1.50]}}`:                            {exact, readAll{Any: map[string]any{"a": []any{json.Number("1.50")}}}},
		`{"always":0,"raw":{"b":1.50,"a":[]}}`:                       {exact, readAll{Raw: json.RawMessage(`{"a":[],"b":1.50}`)}},
		`{"always":0,"future":1}`:                                    {partial, readAll{}},
		`{"always":0,"Text":"a"}`:                                    {partial, readAll{}},
		`{"always":0,"Not":"a"}`:                                     {partial, readAll{}},
		`{"always":0,"list":[{"always":1,"future":1}]}`:              {partial, readAll{List: []readInside{{Always: 1}}}},
		`{}`:                                 {misfit, readAll{}},
		`{"always":null}`:                    {misfit, readAll{}},
		`{"always":0,"number":0}`:            {misfit, readAll{}}, // which would not be written
		`{"always":0,"object":{"always":0}}`: {misfit, readAll{}},
		`{"always":0,"text":1}`:              {misfit, readAll{}},
		`{"always":0,"is":"true"}`:           {misfit, readAll{}},
		`{"always":1.5}`:                     {misfit, readAll{}},
		`{"always":9223372036854775808}`:     {misfit, readAll{readInside: readInside{Always: 1<<63 - 1}}},
		`{"always":0,"real":"NaN"}`:          {misfit, readAll{}},
		`{"always":0,"list":{}}`:             {misfit, readAll{}},
		`{"always":0,"list":[null]}`:         {misfit, readAll{List: []readInside{{}}}},
		`{"always":0,"texts":{"a":1}}`:       {misfit, readAll{Texts: map[string]string{"a": ""}}},
		`[]`:                                 {misfit, readAll{}},
		`"x"`:                                {misfit, readAll{}},
		`null`:                               {misfit, readAll{}},
	} {
		value, err := decode([]byte(document))
		require.NoError(t, err, document)
		got, f := readAs[readAll](value)
		assert.Equal(t, tt.fit, f, document)
		assert.Equal(t, tt.want, got, document)
	}
}
