package chatapp2

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

type jsonFilled struct {
	Media

	Text    string            `json:"text,omitzero"`
	Yes     bool              `json:"yes,omitzero"`
	Maybe   *bool             `json:"maybe,omitzero"`
	Int     int               `json:"int,omitzero"`
	Long    int64             `json:"long,omitzero,string"`
	Pointer *int64            `json:"pointer,omitzero"`
	Degrees float64           `json:"degrees,omitzero"`
	Where   *float64          `json:"where,omitzero"`
	Texts   []string          `json:"texts,omitzero"`
	Inner   *jsonFilled       `json:"inner,omitzero"`
	All     []jsonFilled      `json:"all,omitzero"`
	Map     map[string]string `json:"map,omitzero"`
	Any     any               `json:"any,omitzero"`
	Raw     json.RawMessage   `json:"raw,omitzero"`
	Amount  OrderAmount       `json:"amount,omitzero"`
	Untold  string
}

func TestAValueIsFilledInOnlyWhereAllOfItIsHeld(t *testing.T) {
	t.Parallel()
	const most = math.MaxInt64
	for body, want := range map[string]jsonFilled{
		`null`: {},
		`{}`:   {},
		`{"text":null,"int":null,"maybe":null,"texts":null,"inner":null,"map":null,"any":null,"raw":null,"amount":null}`: {},
		`{"id":"1","link":"x"}`:                 {Media: Media{ID: "1", Link: "x"}},
		`{"text":"x"}`:                          {Text: "x"},
		`{"text":""}`:                           {},
		`{"yes":true,"maybe":false}`:            {Yes: true, Maybe: new(false)},
		`{"int":7,"long":"8","pointer":"9"}`:    {Int: 7, Long: 8, Pointer: new(int64(9))},
		`{"int":"-7","long":8,"pointer":0}`:     {Int: -7, Long: 8, Pointer: new(int64(0))},
		`{"long":9223372036854775807}`:          {Long: most},
		`{"degrees":1.5,"where":"-0.5"}`:        {Degrees: 1.5, Where: new(-0.5)},
		`{"degrees":1e2,"where":-3}`:            {Degrees: 100, Where: new(-3.0)},
		`{"texts":["a",""]}`:                    {Texts: []string{"a", ""}},
		`{"texts":[]}`:                          {Texts: []string{}},
		`{"inner":{"text":"x","inner":{}}}`:     {Inner: &jsonFilled{Text: "x", Inner: &jsonFilled{}}},
		`{"all":[{},{"int":1}]}`:                {All: []jsonFilled{{}, {Int: 1}}},
		`{"map":{"a":"b"}}`:                     {Map: map[string]string{"a": "b"}},
		`{"any":{"a":[1.50,null]}}`:             {Any: map[string]any{"a": []any{json.Number("1.50"), nil}}},
		`{"raw":{"b":1.50,"a":"<c>"}}`:          {Raw: json.RawMessage(`{"a":"<c>","b":1.50}`)},
		`{"amount":{"value":"1","offset":100}}`: {Amount: OrderAmount{Value: 1, Offset: 100}},
		`{"amount":{}}`:                         {Amount: OrderAmount{noValue: true}},
	} {
		var got jsonFilled
		assert.True(t, fill(jsonTree(t, []byte(body)), &got), body)
		assert.Equal(t, want, got, body)
	}
}

func TestAValueThatIsNotHeldWholeIsNotFilledIn(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`7`, `"x"`, `true`, `[]`,
		`{"other":1}`, `{"other":null}`, `{"Text":"x"}`, `{"TEXT":"x"}`, `{"Untold":"x"}`, `{"hidden":"x"}`, `{"":"x"}`, `{"Media":{}}`, `{"text":"x","other":1}`,
		`{"text":1}`, `{"text":true}`, `{"text":["x"]}`, `{"text":{}}`, `{"id":1}`,
		`{"yes":"true"}`, `{"yes":1}`, `{"maybe":"x"}`, `{"maybe":0}`, `{"maybe":[]}`, `{"maybe":{}}`,
		`{"int":1.5}`, `{"int":1e2}`, `{"int":"x"}`, `{"int":" 1"}`, `{"int":"0x1"}`, `{"int":"1_0"}`, `{"int":true}`, `{"long":9223372036854775808}`, `{"pointer":"x"}`, `{"pointer":[]}`, `{"pointer":{}}`,
		`{"degrees":"NaN"}`, `{"degrees":"Inf"}`, `{"degrees":"0x1p3"}`, `{"degrees":"1_0"}`, `{"degrees":"1e999"}`, `{"where":true}`,
		`{"texts":"a"}`, `{"texts":{}}`, `{"texts":[1]}`, `{"texts":[null]}`, `{"texts":["a",["b"]]}`,
		`{"inner":[]}`, `{"inner":"x"}`, `{"inner":{"other":1}}`, `{"inner":{"inner":{"int":"x"}}}`, `{"all":[{"other":1}]}`, `{"all":[null]}`, `{"all":{}}`,
		`{"map":{"a":1}}`, `{"map":{"a":null}}`, `{"map":[]}`, `{"map":"x"}`,
		`{"amount":{"value":1.5}}`, `{"amount":{"other":1}}`, `{"amount":[]}`, `{"amount":1}`,
	} {
		var got jsonFilled
		assert.False(t, fill(jsonTree(t, []byte(body)), &got), body)
	}
}

func TestAPointerIsLeftAloneByWhatItDoesNotHold(t *testing.T) {
	t.Parallel()
	for _, value := range []any{"x", json.Number("1.5"), true, []any{}, map[string]any{"other": json.Number("1")}} {
		var number *int64
		assert.False(t, fill(value, &number))
		assert.Nil(t, number)
		var inner *jsonFilled
		assert.False(t, fill(value, &inner))
		assert.Nil(t, inner)
	}
}

func TestFillingGoesByTheTagsOfEveryTypeOfThePackage(t *testing.T) {
	t.Parallel()
	for _, value := range []any{
		Text{},
		Image{},
		Video{},
		Audio{},
		Document{},
		Sticker{},
		Contact{},
		Pin{},
		List{},
		CTAURL{},
		Product{},
		ProductList{},
		CatalogMessage{},
		AddressMessage{},
		VoiceCall{},
		OrderDetails{},
		OrderPayment{},
		TapTarget{},
		GIF{},
		locationBody{},
		reactionBody{},
		flowBody{},
		templateBody{},
		orderStatusBody{},
		currencyBody{},
		dateTimeBody{},
		catalogBody{},
	} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(value)) {
			if field.Anonymous || !field.IsExported() {
				continue
			}
			assert.NotEmpty(t, field.Tag.Get("json"), "%T.%s", value, field.Name)
			assert.Contains(t, field.Tag.Get("json"), ",omitzero", "%T.%s", value, field.Name)
		}
	}
}

func TestMembersAreReadUntilNoneIsLeft(t *testing.T) {
	t.Parallel()
	read := func(body string) *members { return membersOf(jsonTree(t, []byte(body))) }
	assert.True(t, read(`null`).whole(), "nothing is an empty object")
	assert.True(t, read(`{}`).whole())
	assert.True(t, read(`{"a":null}`).whole(), "null is absent")
	assert.False(t, read(`{"a":1}`).whole())
	for _, other := range []string{`[]`, `"x"`, `1`, `true`} {
		assert.False(t, read(other).whole(), other)
	}

	tree := jsonTree(t, []byte(`{"a":1}`))
	m := membersOf(tree)
	assert.Equal(t, json.Number("1"), m.take("a"))
	assert.Nil(t, m.take("a"))
	assert.True(t, m.whole())
	assert.Equal(t, map[string]any{"a": json.Number("1")}, tree, "what is read stays as it was")

	m = read(`{"type":"TEXT","name":"Flow"}`)
	assert.Equal(t, "text", m.word("type"))
	m.is("name", "flow")
	assert.True(t, m.whole())
	m = read(`{"name":"other"}`)
	m.is("name", "flow")
	assert.False(t, m.whole())
	m = read(`{"type":1}`)
	assert.Empty(t, m.word("type"))
	assert.False(t, m.whole())

	m = read(`{"list":[1],"none":null}`)
	assert.Len(t, m.list("list"), 1)
	assert.Nil(t, m.list("none"))
	assert.Nil(t, m.list("absent"))
	assert.True(t, m.whole())
	m = read(`{"list":{}}`)
	assert.Nil(t, m.list("list"))
	assert.False(t, m.whole())

	var n int
	m = read(`{"n":"x"}`)
	m.into("n", &n)
	assert.False(t, m.whole())
}
