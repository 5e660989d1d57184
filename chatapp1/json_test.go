package chatapp1_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/sms"
)

// generic decodes a JSON object, with numbers as they are written.
func generic(t testing.TB, data []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var object map[string]any
	require.NoError(t, decoder.Decode(&object), "%s", data)
	return object
}

func TestMessageJSON(t *testing.T) {
	t.Parallel()
	type row struct {
		message chatapp1.Message
		stored  string
	}
	everything := complete(to.CallToAction(chatapp1.CallToAction{Text: "a", ImageURL: "b", Caption: "c", URL: "<d>"})).WithMarketing()
	everything.Extra = map[string]any{"campaign": "spring"}
	rows := map[string]row{
		"nothing":            {chatapp1.Message{}, `{}`},
		"no payload":         {chatapp1.Message{ChannelID: "c", To: "12345"}, `{"channelID":"c","to":"12345"}`},
		"an empty text":      {chatapp1.Message{Payload: chatapp1.Text{}}, `{"payload":{"type":"text"}}`},
		"an empty image":     {chatapp1.Message{Payload: chatapp1.Image{}}, `{"payload":{"type":"image"}}`},
		"an empty video":     {chatapp1.Message{Payload: chatapp1.Video{}}, `{"payload":{"type":"video"}}`},
		"an empty button":    {chatapp1.Message{Payload: chatapp1.CallToAction{}}, `{"payload":{"type":"callToAction"}}`},
		"an empty template":  {chatapp1.Message{Payload: chatapp1.Template{}}, `{"payload":{"type":"template"}}`},
		"an empty raw":       {chatapp1.Message{Payload: chatapp1.Raw{}}, `{"payload":{"type":"raw"}}`},
		"no parameters":      {chatapp1.Message{Payload: chatapp1.Template{Params: map[string]string{}}}, `{"payload":{"type":"template","params":{}}}`},
		"an empty parameter": {chatapp1.Message{Payload: chatapp1.Template{ID: "t", Params: map[string]string{"": "", "a": ""}}}, `{"payload":{"type":"template","id":"t","params":{"":"","a":""}}}`},
		"a large size":       {chatapp1.Message{Payload: chatapp1.Video{URL: "v", Size: math.MaxInt64}}, `{"payload":{"type":"video","url":"v","size":9223372036854775807}}`},
		"a size below zero":  {chatapp1.Message{Payload: chatapp1.Video{URL: "v", Size: -1}}, `{"payload":{"type":"video","url":"v","size":-1}}`},
		"an empty fallback":  {chatapp1.Message{Fallback: &sms.Fallback{}}, `{"fallback":{"from":"","text":""}}`},
		"half a fallback":    {chatapp1.Message{Fallback: &sms.Fallback{Text: "x"}}, `{"fallback":{"from":"","text":"x"}}`},
		"everything": {
			everything,
			`{"channelID":"channel-1","to":"+639171234567","payload":{"type":"callToAction","text":"a","imageURL":"b","caption":"c","url":"<d>"},
			"ttl":"10m0s","fallback":{"from":"ACME","text":"Order 17 is ready"},"callbackURL":"` + callback + `","referenceID":"order-17","marketing":true,"extra":{"campaign":"spring"}}`,
		},
		"names of the message in raw": {chatapp1.Message{To: "1", Payload: chatapp1.Raw{Fields: map[string]any{"to": "2", "type": "x"}}}, `{"to":"1","payload":{"type":"raw","fields":{"to":"2","type":"x"}}}`},
		"nested fields": {
			chatapp1.Message{Payload: chatapp1.Raw{Fields: map[string]any{
				"o": map[string]any{"p": []any{true, nil, "x", map[string]any{}, []any{}}}, "": nil,
				"n": json.Number("1.50"), "big": json.Number("123456789012345678901234567890"), "huge": json.Number("1e400"), "minus": json.Number("-0"),
			}}},
			`{"payload":{"type":"raw","fields":{"o":{"p":[true,null,"x",{},[]]},"":null,"n":1.50,"big":123456789012345678901234567890,"huge":1e400,"minus":-0}}}`,
		},
	}
	for text, d := range map[string]time.Duration{
		"1s": time.Second, "1.5s": 1500 * time.Millisecond, "1ns": 1, "-250ms": -250 * time.Millisecond, "336h0m0s": 14 * 24 * time.Hour,
		"2562047h47m16.854775807s": math.MaxInt64, "-2562047h47m16.854775808s": math.MinInt64,
	} {
		rows["a lifetime of "+text] = row{chatapp1.Message{TTL: d}, `{"ttl":"` + text + `"}`}
		rows["a video of "+text] = row{chatapp1.Message{Payload: chatapp1.Video{URL: "v", Duration: d}}, `{"payload":{"type":"video","url":"v","duration":"` + text + `"}}`}
	}
	for name, tt := range rows {
		for field, value := range reflect.ValueOf(tt.message).Fields() {
			assert.False(t, name == "everything" && value.IsZero(), "everything lacks %s", field.Name)
		}
		raw, err := json.Marshal(tt.message)
		require.NoError(t, err, name)
		assert.Equal(t, generic(t, []byte(tt.stored)), generic(t, raw), name)
		var back chatapp1.Message
		require.NoError(t, json.Unmarshal(raw, &back), name)
		assert.Equal(t, tt.message, back, name)
		again, err := json.Marshal(back)
		require.NoError(t, err, name)
		assert.Equal(t, string(raw), string(again), "%s: the same message is the same bytes", name)
	}
	for name, tt := range messages {
		raw, err := json.Marshal(tt.message)
		require.NoError(t, err, name)
		var back chatapp1.Message
		require.NoError(t, json.Unmarshal(raw, &back), name)
		assert.Equal(t, tt.message, back, name)
	}
}

func TestMessageJSONWithinOtherValues(t *testing.T) {
	t.Parallel()
	type job struct {
		Due      time.Time
		Messages []chatapp1.Message
		Next     *chatapp1.Message
		ByName   map[string]chatapp1.Message
	}
	next := complete(to.Image("https://cdn.example.com/a.png"))
	stored := job{
		Due: time.Date(2026, 10, 3, 9, 0, 0, 0, time.UTC), Messages: []chatapp1.Message{to.Text("one"), complete(to.Text("two"))}, Next: &next,
		ByName: map[string]chatapp1.Message{"a": to.Template(chatapp1.Template{ID: "t"})},
	}
	raw, err := json.Marshal(stored)
	require.NoError(t, err)
	var back job
	require.NoError(t, json.Unmarshal(raw, &back))
	assert.Equal(t, stored, back)
}

func TestMessageJSONDoesNotLoseAnything(t *testing.T) {
	t.Parallel()
	for body, says := range map[string]string{
		`{"sender":"SECRET"}`:                                              `unknown key "sender"`,
		`{"To":"1","to":"SECRET"}`:                                         `"to" comes twice`,
		`{"to":"1","to":"SECRET"}`:                                         `"to" comes twice`,
		`{"to":639171234567}`:                                              `"to" must hold a string`,
		`{"ttl":600}`:                                                      `"ttl" must hold a duration such as "1m30s"`,
		`{"ttl":"SECRET"}`:                                                 `a duration must be such as "1m30s"`,
		`{"ttl":"600"}`:                                                    `a duration must be such as "1m30s"`,
		`{"fallback":"SECRET"}`:                                            `"fallback" must hold an object`,
		`{"fallback":{"sender":"SECRET"}}`:                                 `unknown key "sender"`,
		`{"payload":"SECRET"}`:                                             `"payload" must be an object with a type`,
		`{"payload":{"type":7}}`:                                           `"payload" must be an object with a type`,
		`{"payload":{"body":"SECRET"}}`:                                    `"payload" must be an object with a type`,
		`{"payload":{"type":"SECRET"}}`:                                    `"payload" must have one of the types callToAction`,
		`{"payload":{"type":"Text","body":"SECRET"}}`:                      `"payload" must have one of the types callToAction`,
		`{"payload":{"type":"text","url":"SECRET"}}`:                       `unknown key "url"`,
		`{"payload":{"type":"text","body":"a","body":"SECRET"}}`:           `"body" comes twice`,
		`{"payload":{"type":"text","body":"a","Body":"SECRET"}}`:           `comes twice`,
		`{"payload":{"type":"text","type":"image"}}`:                       `"type" comes twice`,
		`{"payload":{"type":"template","params":{"a":"1","a":"SECRET"}}}`:  `"a" comes twice`,
		`{"payload":{"type":"raw","fields":{"a":[{"b":1,"b":"SECRET"}]}}}`: `"b" comes twice`,
		`{"fallback":{"text":"a","text":"SECRET"}}`:                        `"text" comes twice`,
		`{"fallback":{"text":"a","Text":"SECRET"}}`:                        `"Text" comes twice`,
		`{"extra":{"a":1,"a":"SECRET"}}`:                                   `"a" comes twice`,
		`{"extra":{"a":1,"A":{"a":2}}}`:                                    "",
		`{"payload":{"type":"image","body":"SECRET"}}`:                     `unknown key "body"`,
		`{"payload":{"type":"video","size":1.5}}`:                          `"size" must hold a whole number`,
		`{"payload":{"type":"template","params":{"a":7}}}`:                 `"params" must hold a string`,
		`{"payload":{"type":"template","params":{"a":null}}}`:              "",
		"{\"payload\":{\"type\":\"text\",\"body\":\"caf\xe9\"}}":           "valid UTF-8",
		`["SECRET"]`: "want a JSON object",
		`{"to":null,"payload":null,"fallback":null,"ttl":null}`: "",
	} {
		m := to.Text("old")
		err := json.Unmarshal([]byte(body), &m)
		if says == "" {
			require.NoError(t, err, body)
			assert.NotEqual(t, to.Text("old"), m, "the message is replaced")
			continue
		}
		require.ErrorContains(t, err, "chatapp1: the message cannot be decoded: ", body)
		require.ErrorContains(t, err, says, body)
		assert.NotContains(t, err.Error(), "SECRET", body)
		assert.NotContains(t, err.Error(), "639171234567", body)
		assert.Equal(t, to.Text("old"), m, "%s: an error changes nothing", body)
	}
	for _, body := range []string{``, `{`, `{"to":"SECRET"} {}`} {
		require.Error(t, new(chatapp1.Message).UnmarshalJSON([]byte(body)), body)
	}
	for name, m := range map[string]chatapp1.Message{
		"a text":          to.Text("caf\xe9"),
		"a fallback":      to.Text("x").WithFallback(sms.Fallback{Text: "caf\xe9"}),
		"a parameter":     to.Template(chatapp1.Template{Params: map[string]string{"a": "caf\xe9"}}),
		"a raw text":      to.Raw(map[string]any{"a": []any{"caf\xe9"}}),
		"a function":      to.Raw(map[string]any{"a": func() {}}),
		"no number":       to.Raw(map[string]any{"a": math.NaN()}),
		"no JSON number":  to.Raw(map[string]any{"a": json.Number("+639171234567")}),
		"a channel of Go": to.Raw(map[string]any{"a": make(chan int)}),
	} {
		_, err := json.Marshal(m)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "caf", name)
		assert.NotContains(t, err.Error(), "639171234567", name)
	}
}

// decodeError matches the errors of decoding, which repeat no value.
var decodeError = regexp.MustCompile(`^chatapp1: the message cannot be decoded: (want a JSON object( in valid UTF-8)?|a duration must be such as "1m30s"|unknown key ("[^0-9 ]{0,80}"|\(a key that is not shown\))|("[^0-9 ]{0,80}"|\(a key that is not shown\)) comes twice|"[A-Za-z]+" (must hold (a string|an object|a whole number|a duration such as "1m30s")|must be an object with a type|must have one of the types callToAction, image, raw, template, text, video))$`)

func FuzzUnmarshal(f *testing.F) {
	for _, tt := range messages {
		raw, err := json.Marshal(tt.message)
		require.NoError(f, err)
		f.Add(raw)
	}
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{`, `"x"`, `{"to":1}`, `{"to":null,"payload":{"type":"text","body":"Hi"}}`, `{"ttl":"600"}`, `{"ttl":"1h"}`, `{"ttl":"-1ns"}`, `{"ttl":"9223372036854775808ns"}`,
		`{"payload":{"type":"video","url":"v","duration":"90s","size":12}}`, `{"payload":{"type":"video","size":1e3}}`, `{"payload":{"type":"template","params":{}}}`,
		`{"payload":{"type":"raw","fields":{"a":{"b":[1.50,"2",null,true,{}]},"":0,"n":1e400}}}`, `{"fallback":{}}`, `{"fallback":{"text":"x"}}`, `{"To":"A","to":"B"}`, `{"to":"A","to":"B"}`,
		"{\"to\":\"\xff\"}", `{"to":"\ud800"}`, `{"\u0074o":"1"}`,
		`{"payload":{"type":"text","body":"a","body":"b"}}`, `{"fallback":{"text":"a","text":"b"}}`, `{"extra":{"a":[{"b":1,"b":2}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second chatapp1.Message
		if err := first.UnmarshalJSON(data); err != nil {
			if !decodeError.MatchString(err.Error()) {
				t.Fatalf("the error repeats what it read: %v", err)
			}
			return
		}
		raw, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("decoded and cannot be encoded: %v", err)
		}
		if err := json.Unmarshal(raw, &second); err != nil {
			t.Fatalf("encoded and cannot be decoded: %v", err)
		}
		if again, err := json.Marshal(second); err != nil || string(again) != string(raw) {
			t.Fatalf("%s became %s (%v)", raw, again, err)
		}
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("%#v became %#v", first, second)
		}
	})
}
