package codec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

func TestEncode(t *testing.T) {
	t.Parallel()
	for name, tt := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := parse(t, tt.overlay)
			var pair codec.KeyPair
			if tt.pair {
				pair = pairOf(key, secret)
			}
			send := codec.CompileSend(c, operation(c, tt.message.op()), sendURL, pair)
			request, problems := send.Encode(tt.message.call(), false)
			require.Empty(t, problems)
			checkRequest(t, c, tt.message, pair, request)
			for range 10 {
				again, _ := codec.CompileSend(c, operation(c, tt.message.op()), sendURL, pair).Encode(tt.message.call(), false)
				require.Equal(t, request, again, "the same message, other bytes")
			}
			checkGolden(t, "requests", name, readable(tt.overlay, codec.ContentType(operation(c, tt.message.op()).Encoding), request))
		})
	}
}

func TestEncodeHasNoOtherGoldenFiles(t *testing.T) {
	t.Parallel()
	checkGoldenFiles(t, "requests", requests)
}

func TestEncodeKeepsNumbersOfConstants(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"1.50", "12345678901234567890", "0.1000", "1e400", "-0.0", "1E+2"} {
		constants := `"constants": {"n": ` + number + `}`
		assert.Contains(t, string(written(t, `{"sms.send": {`+constants+`}}`, minimal()).Body), `"n":`+number+`}`)
		assert.Equal(t, number, parseForm(t, string(written(t, `{"sms.send": {"encoding": "form", `+constants+`}}`, minimal()).Body)).Get("n"))
		assert.Equal(t, number, parseForm(t, written(t, `{"sms.send": {"encoding": "query", `+constants+`}}`, minimal()).URL.RawQuery).Get("n"))
	}
}

func TestEncodeKeepsCallbackByteForByte(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		callback, "https://example.com/%s/%i?%tr", "https://example.com?a=%20b%2Fc%zz%", "https://example.com/?q=<\"'>&amp;\\u0026#f%d",
		"https://example.com/статус?х=你好+%2B",
	} {
		m := text{CallbackURL: url}
		var body struct{ DLRCallback string }
		require.NoError(t, json.Unmarshal(written(t, `{}`, m).Body, &body))
		assert.Equal(t, url, body.DLRCallback)
		var nested struct{ DLR struct{ URL string } }
		require.NoError(t, json.Unmarshal(written(t, `{"sms.send": {"fields": {"callback": "dlr.url"}}}`, m).Body, &nested))
		assert.Equal(t, url, nested.DLR.URL)
		assert.Equal(t, url, parseForm(t, string(written(t, `{"sms.send": {"encoding": "form"}}`, m).Body)).Get("dlrCallback"))
		assert.Equal(t, url, parseForm(t, written(t, `{"sms.send": {"encoding": "query"}}`, m).URL.RawQuery).Get("dlrCallback"))
	}
}

func TestEncodeOrder(t *testing.T) {
	t.Parallel()
	m := two{
		object: `{"z":1,"a":{"y":"<&>","b":[]},"m":1.50}`, extra: map[string]any{"q": 1, "c": 2},
		delivery: delivery{callback: "https://example.com", reference: "r"},
	}
	const object, delivery = `"z":1,"a":{"y":"<&>","b":[]},"m":1.50`, `"dlrCallback":"https://example.com","dlrReport":1,"referenceId":"r"`
	for overlay, want := range map[string]string{
		`{}`: `{` + object + `,` + delivery + `,"c":2,"q":1}`,
		overlay2(`"constants": {"k": 1, "j": 2}`):                                   `{` + object + `,` + delivery + `,"j":2,"k":1,"c":2,"q":1}`,
		overlay2(`"fields": {"callback": "x.url", "reference": "x.y.ref"}`):         `{` + object + `,"x":{"url":"https://example.com","y":{"ref":"r"}},"dlrReport":1,"c":2,"q":1}`,
		overlay2(`"wrap": "x.y", "constants": {"x.z": 1}`):                          `{"x":{"y":{` + object + `,"c":2,"q":1},"z":1},` + delivery + `}`,
		overlay2(`"with": {"callback": {"w": 1, "v": 2}, "reference": {"c.c": 3}}`): `{` + object + `,"dlrCallback":"https://example.com","v":2,"w":1,"referenceId":"r","c":{"c":3}}`,
	} {
		m := m
		if strings.Contains(overlay, `"c.c"`) {
			m.extra = nil
		}
		assert.Equal(t, want, string(written(t, overlay, m).Body), overlay)
	}
	assert.Equal(t, `{"to":"12345","B":4,"a":2,"b":3,"c":1}`, string(written(t, `{}`, text{To: "12345"}.with(map[string]any{"c": 1, "a": 2, "b": 3, "B": 4})).Body))
}

func TestEncodeEmpty(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		overlay string
		message message
		want    string
	}{
		{`{}`, text{}, `{}`},
		{`{}`, two{}, `{}`},
		{`{}`, two{delivery: delivery{reference: "r"}}, `{"referenceId":"r"}`},
		{`{}`, two{object: `{"a":1}`}, `{"a":1}`},
		{`{}`, two{extra: map[string]any{"b": 2}}, `{"b":2}`},
		{overlay2(`"wrap": "m"`), two{}, `{"m":{}}`},
		{overlay2(`"wrap": "m"`), two{extra: map[string]any{"b": 2}}, `{"m":{"b":2}}`},
		{overlay2(`"constants": {"c": 3}`), two{}, `{"c":3}`},
		{overlay2(`"encoding": "form", "wrap": "m"`), two{}, `m=%7B%7D`},
		{overlay2(`"encoding": "form"`), two{}, ``},
	} {
		assert.Equal(t, tt.want, string(written(t, tt.overlay, tt.message).Body), "%s %+v", tt.overlay, tt.message)
	}
}

// everyField is, for each field of each kind of message, a message that uses it.
var everyField = []struct {
	concept, field string
	message        message
}{
	{"from", "From", complete()},
	{"to", "To", complete()},
	{"text", "Text", complete()},
	{"callback", "CallbackURL", complete()},
	{"reference", "ReferenceID", complete()},
	{"channel", "ChannelID", text1("v4lue")},
	{"to", "To", text1("v4lue")},
	{"text", "Payload.Body", text1("v4lue")},
	{"image", "Payload.URL", image1("https://example.com/v4lue")},
	{"video", "Payload.URL", video1("v", "t", time.Second, 1)},
	{"thumbnail", "Payload.ThumbnailURL", video1("v", "t", time.Second, 1)},
	{"duration", "Payload.Duration", video1("v", "t", time.Second, 1)},
	{"size", "Payload.Size", video1("v", "t", time.Second, 1)},
	{"caption", "Payload.Caption", button1("t", "i", "c", "u")},
	{"url", "Payload.URL", button1("t", "i", "c", "u")},
	{"template", "Payload.ID", orderReady},
	{"params", "Payload.Params", orderReady},
	{"language", "Payload.Language", orderReady},
	{"ttl", "TTL", text1("x").with(everything)},
	{"fallbackFrom", "Fallback.From", text1("x").with(everything)},
	{"fallbackText", "Fallback.Text", raw1(map[string]any{"sticker": 1}).with(everything)},
	{"callback", "CallbackURL", text1("x").with(everything)},
	{"ttl", "TTL", ready.with(everything)},
	{"fallbackFrom", "Fallback.From", ready.with(everything)},
	{"fallbackText", "Fallback.Text", ready.with(everything)},
	{"callback", "CallbackURL", ready.with(everything)},
	{"reference", "ReferenceID", ready.with(everything)},
}

func TestEncodeRefusesFieldThatTheServiceLacks(t *testing.T) {
	t.Parallel()
	for _, tt := range everyField {
		for _, encoding := range []string{"json", "form", "query"} {
			overlay := fmt.Sprintf(`{%q: {"encoding": %q, "fields": {%q: ""}}}`, tt.message.op(), encoding, tt.concept)
			request, problems := encode(t, overlay, tt.message)
			assert.Zero(t, request, overlay)
			assert.Equal(t, []wire.Problem{{
				Field: tt.field, Reason: `must be absent: the contract says that the service has no such field (fields.` + tt.concept + ` is "")`,
			}}, problems, overlay)
		}
	}
}

func TestEncodeRequiredField(t *testing.T) {
	t.Parallel()
	call := wire.Call{Fields: []wire.Field{
		{Concept: "from", Name: "From", Required: true, Reason: "odd"},
		{Concept: "to", Name: "To", Required: true, Text: "12345"},
		{Concept: "callback", Name: "CallbackURL", Reason: "odd"},
	}}
	for _, encoding := range []string{"json", "form", "query"} {
		_, problems := compile(t, `{"sms.send": {"encoding": "`+encoding+`"}}`, "sms.send", false).Encode(call, true)
		assert.Equal(t, []wire.Problem{{Field: "From", Reason: "required, but absent"}}, problems, encoding)

		_, problems = compile(t, `{"sms.send": {"encoding": "`+encoding+`", "fields": {"from": ""}}}`, "sms.send", false).Encode(call, false)
		assert.Empty(t, problems, "the service has no such field")
	}
}

func TestEncodeReportsEveryProblem(t *testing.T) {
	t.Parallel()
	m := text{From: "\xff", To: "12345", Text: "x", ReferenceID: "r"}.with(map[string]any{"to": 1, "f": func() {}, "s": "\xff", "\xff": 1})
	call := m.call()
	call.Fields[1].Reason = "is odd"
	call.Problems = []wire.Problem{{Field: "Message", Reason: "too long", Limit: true}, {Field: "Other", Reason: "odd"}}
	send := compile(t, `{"sms.send":{"fields":{"reference":""}}}`, "sms.send", false)
	_, problems := send.Encode(call, false)
	assert.Equal(t, []string{"From", "To", "ReferenceID", "Message", "Other", `Extra["f"]`, `Extra["s"]`, `Extra["to"]`, `Extra["\xff"]`}, fieldsOf(problems))
	assert.Equal(t, "must be valid UTF-8, and is not at byte 0", problems[0].Reason)
	assert.Equal(t, "is odd", problems[1].Reason)

	_, problems = send.Encode(call, true)
	assert.NotContains(t, fieldsOf(problems), "Message", "lenient")
	assert.Contains(t, fieldsOf(problems), "Other")
	assert.Len(t, call.Problems, 2)

	two := ready.with(everything).adding(map[string]any{"f": func() {}, "sms_from": 4})
	_, problems = encode(t, overlay2(`"fields": {"reference": ""}, "constants": {"to": 1, "type": 2}, "ttl": "ms"`), two)
	assert.Equal(t, []string{"ReferenceID", `Extra["f"]`, `Extra["sms_from"]`, "Message", "Message"}, fieldsOf(problems))
}

func TestEncodeTTL(t *testing.T) {
	t.Parallel()
	const longest = time.Duration(math.MaxInt64)
	read := map[string]func(codec.Request) string{
		`"encoding": "json"`: func(r codec.Request) string {
			var body struct{ TTL json.RawMessage }
			require.NoError(t, json.Unmarshal(r.Body, &body))
			return string(body.TTL)
		},
		`"encoding": "form"`:  func(r codec.Request) string { return parseForm(t, string(r.Body)).Get("ttl") },
		`"encoding": "query"`: func(r codec.Request) string { return parseForm(t, r.URL.RawQuery).Get("ttl") },
	}
	for _, tt := range []struct {
		unit string
		ttl  time.Duration
		want string // "": refused
		name string
	}{
		{"s", 0, "", ""},
		{"ms", 0, "", ""},
		{"m", 0, "", ""},
		{"s", time.Second, "1", ""},
		{"s", 10 * time.Minute, "600", ""},
		{"s", 14 * 24 * time.Hour, "1209600", ""},
		{"s", longest.Truncate(time.Second), "9223372036", ""},
		{"s", 1500 * time.Millisecond, "", "seconds"},
		{"s", 1, "", "seconds"},
		{"s", longest, "", "seconds"},
		{"ms", time.Millisecond, "1", ""},
		{"ms", time.Second, "1000", ""},
		{"ms", 1500 * time.Millisecond, "1500", ""},
		{"ms", longest.Truncate(time.Millisecond), "9223372036854", ""},
		{"ms", time.Microsecond, "", "milliseconds"},
		{"ms", time.Second + 1, "", "milliseconds"},
		{"m", time.Minute, "1", ""},
		{"m", 24 * time.Hour, "1440", ""},
		{"m", 90 * time.Second, "", "minutes"},
		{"m", time.Second, "", "minutes"},
		{"m", longest.Truncate(time.Minute), "153722867", ""},
	} {
		for _, m := range []message{text1("x").with(delivery{ttl: tt.ttl}), text2("x").with(delivery{ttl: tt.ttl})} {
			for entries, get := range read {
				overlay := fmt.Sprintf(`{%q: {"ttl": %q, %s}}`, m.op(), tt.unit, entries)
				request, problems := encode(t, overlay, m)
				if tt.name == "" {
					require.Empty(t, problems, "%s %v", overlay, tt.ttl)
					assert.Equal(t, tt.want, get(request), "%s %v", overlay, tt.ttl)
					continue
				}
				assert.Zero(t, request)
				assert.Equal(t, []wire.Problem{{
					Field: "TTL", Reason: "must be a whole number of " + tt.name + ", the unit of the contract, got " + tt.ttl.String(),
				}}, problems, overlay)
			}
		}
	}
	_, problems := encode(t, `{}`, text1("x").with(delivery{ttl: -time.Second}))
	assert.Equal(t, []wire.Problem{{Field: "TTL", Reason: "must not be negative, got -1s"}}, problems)
	_, problems = encode(t, overlay1(`"ttl": "ms"`), video1("v", "", 1500*time.Millisecond, 0))
	assert.Equal(t, []wire.Problem{{Field: "Payload.Duration", Reason: "must be a whole number of seconds, the unit of the contract, got 1.5s"}}, problems)
}

func TestEncodeSendsConstantsOnlyWithTheirField(t *testing.T) {
	t.Parallel()
	for _, wrap := range []string{"", "message"} {
		for _, encoding := range []string{"json", "form", "query"} {
			for _, entries := range []string{``, `, "with": {"callback": {"dlrLevel": 2}}`, `, "constants": {"app": 1}`, `, "fields": {"callback": "hook"}`} {
				for i, d := range []delivery{{reference: "r"}, {callback: "https://example.com/dlr"}} {
					for _, m := range []message{text1("x").with(d), text2("x").with(d)} {
						overlay := `"encoding": "` + encoding + `"` + entries
						if m.op() == "chatapp2.send" {
							overlay += `, "wrap": "` + wrap + `"`
						}
						request := written(t, `{"`+m.op()+`": {`+overlay+`}}`, m)
						assert.Equal(t, i == 1, strings.Contains(string(request.Body)+request.URL.RawQuery, "dlr"), "%s %s", overlay, request.Body)
					}
				}
			}
		}
	}
}

func TestEncodeRefusesExtraWithNameOfContract(t *testing.T) {
	t.Parallel()
	const absent = "text image video thumbnail duration fileSize caption action templateId templateParams templateLanguage"
	for name, tt := range map[string]struct {
		overlay string
		pair    bool
		message message
		taken   string
		free    string
	}{
		"default names":                {message: minimal(), taken: "from to text", free: "From sender apiKey apiSecret dlrCallback referenceId dlrReport"},
		"default names, fields set":    {message: complete(), taken: "from to text dlrCallback referenceId", free: "From sender dlrReport"},
		"renamed fields, empty":        {overlay: `{"sms.send": {"fields": {"reference": "ref", "callback": "url"}}}`, message: minimal(), taken: "ref url", free: "referenceId dlrCallback"},
		"renamed field":                {overlay: `{"sms.send": {"fields": {"from": "sender"}}}`, message: minimal(), taken: "sender", free: "from"},
		"parent of a nested field":     {overlay: `{"sms.send": {"fields": {"from": "sender.id"}}}`, message: minimal(), taken: "sender", free: "from id sender.id"},
		"constant":                     {overlay: `{"sms.send": {"constants": {"app": 1}}}`, message: minimal(), taken: "app"},
		"parent of a nested constant":  {overlay: `{"sms.send": {"constants": {"app.name": 1}}}`, message: minimal(), taken: "app", free: "name app.name"},
		"entry of with":                {overlay: `{"sms.send": {"with": {"callback": {"report": 1}, "reference": {"once.only": true}}}}`, message: minimal(), taken: "once report", free: "dlrReport"},
		"with dropped":                 {overlay: `{"sms.send": {"with": {"callback": {}}}}`, message: minimal(), free: "dlrReport"},
		"field dropped":                {overlay: `{"sms.send": {"fields": {"reference": ""}}}`, message: minimal(), free: "referenceId"},
		"key pair in body":             {pair: true, message: minimal(), taken: "apiKey apiSecret", free: "apikey"},
		"nested key pair":              {overlay: `{"auth": {"keyPair": {"key": "auth.key", "secret": "auth.secret"}}}`, pair: true, message: minimal(), taken: "auth", free: "key apiKey"},
		"form":                         {overlay: `{"sms.send": {"encoding": "form", "fields": {"from": "sender.id"}, "constants": {"app.name": 1}}}`, pair: true, message: minimal(), taken: "apiKey apiSecret app.name sender.id to", free: "sender from app dlrReport"},
		"query":                        {overlay: `{"auth": {"keyPair": {"in": "query"}}, "sms.send": {"encoding": "query", "fields": {"from": "sender[id]"}}}`, pair: true, message: minimal(), taken: "apiKey apiSecret sender[id]", free: "sender from"},
		"raw":                          {message: raw1(nil), taken: "from to", free: "From sticker dlrReport dlrCallback referenceId sms_from sms_text ttl " + absent},
		"raw, renamed":                 {overlay: overlay1(`"fields": {"text": "message", "channel": "text", "reference": "caption", "caption": "label", "callback": ""}`), message: raw1(nil), taken: "caption text to", free: "message from referenceId dlrCallback dlrReport image action"},
		"raw, nested":                  {overlay: overlay1(`"fields": {"channel": "text.from", "text": "body", "image": "media.image", "video": "media.video", "ttl": "options.ttl", "language": "options.language"}`), message: raw1(nil), taken: "options text to", free: "media media.image options.ttl from ttl image body"},
		"raw, constants":               {overlay: overlay1(`"fields": {"image": "", "video": "", "caption": ""}, "constants": {"image": "always", "video.kind": 1}, "with": {"callback": {"caption": true}}`), message: raw1(nil), taken: "caption image video", free: "text dlrReport kind video.kind"},
		"raw, form":                    {overlay: overlay1(`"encoding": "form", "fields": {"channel": "text.from"}`), message: raw1(nil), taken: "text.from to", free: "from " + absent},
		"chat app 2":                   {message: two{delivery: everything}, taken: "dlrCallback referenceId sms_from sms_text ttl", free: "to dlrReport from apiKey TTL text message"},
		"chat app 2, renamed":          {overlay: overlay2(`"fields": {"ttl": "to", "reference": "type"}`), message: two{}, taken: "to type", free: "ttl referenceId"},
		"chat app 2, nested":           {overlay: overlay2(`"fields": {"ttl": "template.ttl"}`), message: two{}, taken: "template", free: "ttl template.ttl"},
		"chat app 2, dropped":          {overlay: overlay2(`"fields": {"ttl": "", "callback": ""}`), message: two{delivery: delivery{reference: "r"}}, taken: "referenceId", free: "ttl dlrCallback dlrReport"},
		"chat app 2, constant":         {overlay: overlay2(`"constants": {"type": 1, "context.app": 2}`), message: two{}, taken: "context type", free: "to app"},
		"chat app 2, with":             {overlay: overlay2(`"with": {"callback": {"text": 1}}`), message: two{}, taken: "text", free: "dlrReport"},
		"chat app 2, pair in body":     {overlay: `{"auth": {"keyPair": {"key": "type", "secret": "context.secret"}}}`, pair: true, message: two{}, taken: "context type", free: "apiKey"},
		"chat app 2, pair in query":    {overlay: `{"auth": {"keyPair": {"in": "query", "key": "to"}}}`, pair: true, message: two{}, free: "to apiSecret"},
		"chat app 2, form":             {overlay: overlay2(`"encoding": "form", "fields": {"ttl": "template.ttl"}, "constants": {"app.name": "x"}`), message: two{}, taken: "app.name template.ttl", free: "dlrReport template app ttl"},
		"chat app 2, all in the query": {overlay: `{"auth": {"keyPair": {"in": "query", "key": "to"}}, "chatapp2.send": {"encoding": "query"}}`, pair: true, message: two{delivery: delivery{ttl: time.Minute}}, taken: "apiSecret to ttl", free: "apiKey"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			send := compile(t, tt.overlay, tt.message.op(), tt.pair)
			base := tt.message.call()
			field := "Extra"
			if base.ExtraField != "" {
				field = base.ExtraField // the fields of a raw payload
			}
			all := map[string]any{}
			for name := range strings.FieldsSeq(tt.taken) {
				all[name] = "v4lue"
				call := base
				call.Extra = map[string]any{name: "v4lue", "other": 1}
				request, problems := send.Encode(call, true)
				assert.Zero(t, request)
				assert.Equal(t, []wire.Problem{{
					Field:  field + `["` + name + `"]`,
					Reason: "the contract uses this name; set the field of the message instead, or change the contract",
				}}, problems)
				if base.Members != nil {
					call = base
					call.Members = []wire.Member{{Name: "a", Value: []byte(`1`)}, {Name: name, Value: []byte(`"v4lue"`)}}
					request, problems := send.Encode(call, true)
					assert.Zero(t, request)
					assert.Equal(t, []wire.Problem{{
						Field: "Message", Reason: "its key " + strconv.Quote(name) + " is a name of the contract, and neither may " +
							"overwrite the other; change that name, or set wrap to put the message under a key of its own",
					}}, problems)
				}
			}
			for name := range strings.FieldsSeq(tt.free) {
				call := base
				call.Extra = map[string]any{name: "v4lue"}
				_, problems := send.Encode(call, false)
				assert.Empty(t, problems, name)
				if base.Members != nil {
					call.Extra, call.Members = nil, []wire.Member{{Name: name, Value: []byte(`"v4lue"`)}}
					_, problems := send.Encode(call, false)
					assert.Empty(t, problems, name)
				}
			}
			call := base
			call.Extra = all
			_, problems := send.Encode(call, false)
			assert.Len(t, problems, len(all), "each collision is named")
			assert.True(t, slices.IsSorted(fieldsOf(problems)), "in a fixed order")
		})
	}
}

func TestExtraTakesThePlaceOfADefaultConstant(t *testing.T) {
	t.Parallel()
	for overlay, want := range map[string]string{
		`{}`: `{"from":"ACME","to":"12345","text":"Hi","dlrCallback":"https://example.com","dlrReport":2}`,
		`{"sms.send": {"constants": {"dlrReport": 1}}}`:                "",
		`{"sms.send": {"with": {"callback": {"dlrReport": 3}}}}`:       "",
		`{"sms.send": {"with": {"callback": {"dlrReport.level": 3}}}}`: "",
	} {
		request, problems := encode(t, overlay, text{From: "ACME", To: "12345", Text: "Hi", CallbackURL: "https://example.com"}.with(map[string]any{"dlrReport": 2}))
		assert.Equal(t, want, string(request.Body), overlay)
		assert.Equal(t, want == "", len(problems) == 1, "%s: %v", overlay, problems)
	}
	request, problems := encode(t, `{"sms.send": {"constants": {"dlrReport": 1}}}`, text{From: "ACME", To: "12345", Text: "Hi", CallbackURL: "https://example.com"})
	assert.Empty(t, problems)
	assert.Equal(t, `{"from":"ACME","to":"12345","text":"Hi","dlrCallback":"https://example.com","dlrReport":1}`, string(request.Body))
}

func TestEncodeRefusesExtraWithNameOfMember(t *testing.T) {
	t.Parallel()
	for _, overlay := range []string{`{}`, overlay2(`"wrap": "message"`), overlay2(`"encoding": "form"`)} {
		_, problems := encode(t, overlay, text2("x").adding(map[string]any{"type": 1, "other": 2}))
		assert.Equal(t, []wire.Problem{{Field: `Extra["type"]`, Reason: "the message has a member of this name"}}, problems, overlay)
	}
}

func TestEncodeWrappedMessageMayHaveAnyName(t *testing.T) {
	t.Parallel()
	m := two{
		object:   `{"ttl":1,"sms_from":2,"dlrReport":3,"referenceId":4,"app":5,"apiKey":6,"apiSecret":7,"message":8,"payload":9}`,
		extra:    map[string]any{"sms_text": 1, "dlrCallback": []any{2}, "payload.message": nil},
		delivery: everything,
	}
	for _, wrap := range []string{"message", "payload.message"} {
		for _, encoding := range []string{"json", "form", "query"} {
			c := parse(t, overlay2(`"encoding": "`+encoding+`", "constants": {"app": "x"}, "wrap": "`+wrap+`"`))
			pair := pairOf("k", "s")
			request, problems := codec.CompileSend(c, &c.ChatApp2Send, sendURL, pair).Encode(m.call(), false)
			require.Empty(t, problems)
			checkRequest(t, c, m, pair, request)
		}
	}
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("v4lue") }

func TestEncodeRefusesExtraThatIsNotJSON(t *testing.T) {
	t.Parallel()
	cycle := map[string]any{}
	cycle["self"] = cycle
	for _, overlay := range []string{`{}`, `{"sms.send": {"fields": {"from": "sender.id"}}}`} {
		for _, value := range []any{
			make(chan int), func() {}, math.NaN(), math.Inf(1),
			failing{},
			map[string]any{"deep": failing{}},
			json.RawMessage(`{"v4lue`),
			json.Number("v4lue"), complex(1, 2), cycle, "v4lue\xff",
			[]any{"v4lue\xff"},
		} {
			request, problems := encode(t, overlay, minimal().with(map[string]any{"odd": value, "fine": 1, "odder": value}))
			assert.Zero(t, request)
			require.Equal(t, []string{`Extra["odd"]`, `Extra["odder"]`}, fieldsOf(problems), "%T", value)
			assert.NotContains(t, problems[0].Reason, "v4lue")
			assert.Contains(t, problems[0].Reason, "cannot be encoded as JSON")
		}
	}
	for _, encoding := range []string{"json", "form", "query"} {
		_, problems := encode(t, overlay2(`"encoding": "`+encoding+`", "wrap": "message"`),
			two{extra: map[string]any{"": 1, "f": func() {}, "s": "v4lue\xff", "list": []any{1, "x"}, "none": nil, "\xff": 1}})
		assert.Equal(t, []string{`Extra[""]`, `Extra["f"]`, `Extra["s"]`, `Extra["\xff"]`}, fieldsOf(problems), encoding)
	}
}

func TestEncodeRefusesExtraWithoutName(t *testing.T) {
	t.Parallel()
	for _, overlay := range []string{`{}`, `{"sms.send": {"fields": {"from": ""}}}`, `{"sms.send": {"encoding": "form"}}`, `{"sms.send": {"encoding": "query"}}`} {
		request, problems := encode(t, overlay, text{}.with(map[string]any{"": "v4lue"}))
		assert.Zero(t, request)
		assert.Equal(t, []wire.Problem{{Field: `Extra[""]`, Reason: "a field needs a name"}}, problems, overlay)
	}
}

func TestEncodeFormHoldsOnlyScalars(t *testing.T) {
	t.Parallel()
	type word string
	type count int32
	type yes bool
	for _, encoding := range []string{"form", "query"} {
		overlay := `{"sms.send": {"encoding": "` + encoding + `"}}`
		for _, tt := range []struct {
			value any
			want  string
		}{
			{"a&b", "a&b"},
			{"", ""},
			{word("w"), "w"},
			{true, "true"},
			{yes(false), "false"},
			{1, "1"},
			{int8(-8), "-8"},
			{int64(math.MinInt64), "-9223372036854775808"},
			{uint8(8), "8"},
			{uint64(math.MaxUint64), "18446744073709551615"},
			{count(3), "3"},
			{float32(0.1), "0.1"},
			{1.5, "1.5"},
			{json.Number("1.50"), "1.50"},
		} {
			request := written(t, overlay, minimal().with(map[string]any{"x": tt.value}))
			assert.Equal(t, []string{tt.want}, parseForm(t, string(request.Body)+request.URL.RawQuery)["x"], "%T", tt.value)
		}
		for _, value := range []any{
			nil,
			[]string{"v4lue"},
			map[string]string{"v4lue": "v4lue"},
			struct{ V string }{"v4lue"},
			&struct{}{}, []byte("v4lue"),
			json.RawMessage("1"), json.Number("v4lue"), math.NaN(), math.Inf(-1), func() {}, make(chan int), complex(1, 2),
		} {
			request, problems := encode(t, overlay, minimal().with(map[string]any{"x": value, "y": value}))
			assert.Zero(t, request)
			require.Equal(t, []string{`Extra["x"]`, `Extra["y"]`}, fieldsOf(problems), "%T", value)
			assert.Contains(t, problems[0].Reason, encoding)
			assert.NotContains(t, problems[0].Reason, "v4lue")
		}
	}
}

func TestEncodeRefusesValueThatIsNotJSON(t *testing.T) {
	t.Parallel()
	for _, value := range []any{map[string]string{"a": "v4lue\xff"}, map[string]string{"v4lue\xff": "a"}, failing{}} {
		call := wire.Call{Fields: []wire.Field{{Concept: "params", Name: "Payload.Params", Value: value}}}
		request, problems := compile(t, `{}`, "chatapp1.send", false).Encode(call, false)
		assert.Zero(t, request)
		require.Equal(t, []string{"Payload.Params"}, fieldsOf(problems))
		assert.NotContains(t, problems[0].Reason, "v4lue")
	}
}

func TestEncodeConcurrently(t *testing.T) {
	t.Parallel()
	for _, overlay := range []string{
		`{}`,
		`{"sms.send": {"fields": {"text": "sms.text"}}, "chatapp1.send": {"fields": {"text": "a.b"}}, "chatapp2.send": {"fields": {"ttl": "a.b"}}}`,
		`{"sms.send": {"encoding": "form"}, "chatapp1.send": {"encoding": "form"}, "chatapp2.send": {"encoding": "form"}}`,
		overlay2(`"wrap": "payload.message"`), overlay2(`"encoding": "query", "wrap": "m"`),
	} {
		sends := map[string]*codec.Send{}
		for _, op := range []string{"sms.send", "chatapp1.send", "chatapp2.send"} {
			sends[op] = compile(t, overlay, op, op != "chatapp2.send")
		}
		var all sync.WaitGroup
		for i := range 8 {
			body := strings.Repeat(strconv.Itoa(i), 50*i+1)
			all.Go(func() {
				for _, m := range []message{
					withText(body).with(map[string]any{"n": i}), template1("t", "", map[string]string{"a": body, "b": body}).with(everything),
					text2(body).with(everything).adding(map[string]any{"n": i}),
				} {
					call := m.call()
					first, problems := sends[m.op()].Encode(call, false)
					if !assert.Empty(t, problems) {
						return
					}
					kept := string(first.Body) + first.URL.RawQuery
					assert.Contains(t, kept, body)
					for range 30 {
						again, _ := sends[m.op()].Encode(m.call(), false)
						assert.Equal(t, kept, string(again.Body)+again.URL.RawQuery)
						clear(again.Body) // it belongs to the caller
					}
					assert.Equal(t, kept, string(first.Body)+first.URL.RawQuery, "written over")
					assert.Equal(t, m.call(), call, "changed")
				}
			})
		}
		all.Wait()
	}
}

func TestKeyPairDoesNotPrint(t *testing.T) {
	t.Parallel()
	c := parse(t, `{}`)
	pair := pairOf("v4lue", "v4lue")
	send := codec.CompileSend(c, &c.SMSSend, sendURL, pair)
	for _, value := range []any{pair, struct{ Pair codec.KeyPair }{pair}, *send, send} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			printed := fmt.Sprintf(verb, value)
			assert.NotContains(t, printed, "v4lue", verb)
			assert.NotContains(t, printed, fmt.Sprintf("%x", "v4lue"), verb)
		}
	}
}

func FuzzEncode(f *testing.F) {
	f.Add("ACME", "Hi <&>", "https://example.com/?a=%i", "order-17", "flash", "a\nb")
	f.Add("\x01\x1f\x7f", "\u2028 😀 \\ \"", "", "\xff", "", "\u00e9")
	tables := []*table.Table{
		parse(f, `{}`), parse(f, `{"sms.send": {"encoding": "form"}}`),
		parse(f, `{"sms.send": {"fields": {"from": "a.b", "text": "a.c.d", "reference": "r"}, "constants": {"a.c.e": [1]}}}`),
		parse(f, `{"sms.send": {"fields": {"from": "m.0.a", "text": "m.1.0", "reference": "m.1.1"}, "constants": {"m.2": {}}}}`),
	}
	f.Fuzz(func(t *testing.T, from, body, callback, reference, name, value string) {
		for _, c := range tables {
			m := text{From: from, To: "12345", Text: body, CallbackURL: callback, ReferenceID: reference}.with(map[string]any{name: value})
			request, problems := codec.CompileSend(c, &c.SMSSend, sendURL, nil).Encode(m.call(), false)
			if len(problems) == 0 {
				checkRequest(t, c, m, nil, request)
			} else {
				require.Zero(t, request)
			}
		}
	})
}
