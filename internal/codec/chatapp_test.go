package codec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// describing keeps what a channel describes.
type describing struct {
	wire.Doer

	call wire.Call
}

func (d *describing) Send(_ context.Context, call wire.Call) (wire.Receipt, error) {
	d.call = call
	return wire.Receipt{}, nil
}

// callOf gives the call that the channel of a message makes of it.
func callOf(t testing.TB, message any) wire.Call {
	t.Helper()
	d := new(describing)
	var err error
	switch m := message.(type) {
	case chatapp1.Message:
		_, err = chatapp1.NewService(d).Send(t.Context(), m)
	case chatapp2.Message:
		_, err = chatapp2.NewService(d).Send(t.Context(), m)
	default:
		require.FailNow(t, "no message")
	}
	require.NoError(t, err)
	return d.call
}

func tableFor(c contract.Contract, op wire.Operation) codec.Table {
	if op == wire.ChatApp1Send {
		return codec.Table{Send: c.ChatApp1Send.Send, Fields: c.ChatApp1Send.Fields, TTL: c.ChatApp1Send.TTL}
	}
	return codec.Table{Send: c.ChatApp2Send.Send, Fields: c.ChatApp2Send.Fields, TTL: c.ChatApp2Send.TTL, Wrap: c.ChatApp2Send.Wrap}
}

func compileFor(t testing.TB, c contract.Contract, op wire.Operation, pair codec.KeyPair) *codec.Request {
	t.Helper()
	r, err := codec.CompileRequest(tableFor(c, op), tableFor(contract.Default(), op), pair)
	require.NoError(t, err)
	return r
}

// encodeCall writes a call under an overlay, without credentials.
func encodeCall(t testing.TB, overlay string, call wire.Call) (codec.Encoded, []wire.Problem) {
	t.Helper()
	return compileFor(t, parse(t, overlay), call.Op, nil).Encode(call)
}

var (
	draft    = chatapp1.New("channel-1", "+639171234567")
	fallback = sms.Fallback{From: "ACME", Text: "Your order 17 is ready <&>"}
	video    = chatapp1.Video{URL: "https://example.com/v.mp4?a=1&b=2", ThumbnailURL: "https://example.com/t.jpg", Duration: 90 * time.Second, Size: math.MaxInt64}
	button   = chatapp1.CallToAction{Text: "Sale <50%>", ImageURL: "https://example.com/i.jpg", Caption: "Shop & save", URL: "https://example.com/?a=1&b=2"}
	template = chatapp1.Template{ID: "order_ready", Language: "en", Params: map[string]string{"z": "last", "name": "Ana \"空\" <&>", "amount": "1.50"}}
	odd      = `1 < 2 && 3 > 2; <b>"quoted"</b> \ / ' 你好 😀` + "\u2028\n\x00"
)

// served gives a message of chat app 1 everything that it may have besides its payload.
func served(m chatapp1.Message) chatapp1.Message {
	return m.WithTTL(10 * time.Minute).WithFallback(fallback).WithCallback(callback).WithReference("order-17")
}

func to(content chatapp2.Content) chatapp2.Message {
	return chatapp2.Message{To: "+639171234567", Content: content}
}

// equipped gives a message of chat app 2 everything that it may have besides its content.
func equipped(content chatapp2.Content) chatapp2.Message {
	m := to(content)
	m.ReplyTo, m.CallbackData = "wamid.HBg", "a=1&b=<2>"
	m.TTL, m.Fallback, m.CallbackURL, m.ReferenceID = 10*time.Minute, &fallback, callback, "order-17"
	return m
}

func withExtra(m chatapp2.Message, extra map[string]any) chatapp2.Message {
	m.Extra = extra
	return m
}

var (
	ready = chatapp2.Template{Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana <&>", "42")}}
	list  = chatapp2.Interactive{Header: chatapp2.HeaderText{Text: "Times"}, Body: "When & where?", Footer: "<any>", Action: chatapp2.List{
		Button: "Choose", Sections: []chatapp2.Section{{Title: "Today", Rows: []chatapp2.Row{{ID: "1", Title: "9 & 10", Description: "a<b"}, {ID: "2", Title: "11"}}}},
	}}
	tomorrow = map[string]any{
		"zebra": 1, "apple": "<&> \u2028", "price": json.Number("1.50"), "meta": map[string]any{"b": nil, "a": true}, "none": nil, "a.b": "a dot is a dot", "空 \"": "odd name",
	}
)

const (
	renamed1 = `"channel": "sender", "to": "msisdn", "text": "message", "image": "imageUrl", "video": "clip", "thumbnail": "preview", "duration": "length", "size": "bytes",
		"caption": "label", "url": "link", "template": "tpl", "params": "values", "language": "lang", "ttl": "lifetime", "fallbackFrom": "sender2", "fallbackText": "text2",
		"callback": "hook", "reference": "ref"`
	nested1 = `"channel": "sender.id", "to": "recipient.number", "text": "content.text", "image": "content.image", "video": "content.video.url", "thumbnail": "content.video.thumbnail",
		"duration": "content.video.duration", "size": "content.video.size", "caption": "content.button.caption", "url": "content.button.url", "template": "content.template.id",
		"params": "content.template.params", "language": "content.template.language", "ttl": "options.ttl", "fallbackFrom": "options.fallback.sms.from", "fallbackText": "options.fallback.sms.text",
		"callback": "options.dlr.url", "reference": "options.ref"`
	swapped2 = `"ttl": "referenceId", "fallbackFrom": "sms_text", "fallbackText": "sms_from", "callback": "ttl", "reference": "dlrCallback"`
	nested2  = `"ttl": "options.ttl", "fallbackFrom": "options.sms.from", "fallbackText": "options.sms.text", "callback": "dlr.url", "reference": "options.ref"`
)

func overlay1(entries string) string { return `{"chatapp1.send": {` + entries + `}}` }
func overlay2(entries string) string { return `{"chatapp2.send": {` + entries + `}}` }

// A chat-app request is a golden file of its own name, as in requests.
var chatAppRequests = map[string]struct {
	overlay string
	pair    bool // a key and a secret go with it
	message any
}{
	"1-json-text":                 {message: draft.Text("Your order 17 is ready")},
	"1-json-text-complete":        {message: served(draft.Text("Your order 17 is ready"))},
	"1-json-image":                {message: served(draft.Image("https://example.com/i.jpg?a=1&b=<2>"))},
	"1-json-video":                {message: served(draft.Video(video))},
	"1-json-video-bare":           {message: draft.Video(chatapp1.Video{URL: "https://example.com/v.mp4"})},
	"1-json-call-to-action":       {message: served(draft.CallToAction(button))},
	"1-json-call-to-action-bare":  {message: draft.CallToAction(chatapp1.CallToAction{Text: "Sale", Caption: "Shop", URL: "https://example.com"})},
	"1-json-template":             {message: served(draft.Template(template))},
	"1-json-template-bare":        {message: draft.Template(chatapp1.Template{ID: "welcome"})},
	"1-json-raw":                  {message: served(draft.Raw(map[string]any{"sticker": map[string]any{"z": 1, "a": "<&>"}, "a.b": []any{nil, true}, "carousel": json.RawMessage(`[{"x":1.50}]`)}))},
	"1-json-raw-alone":            {message: draft.Raw(map[string]any{"text": "x", "image": "y", "templateId": 7, "caption": true})},
	"1-json-odd-characters":       {message: draft.Text(odd)},
	"1-json-lifetime-alone":       {message: draft.Text("x").WithTTL(time.Second)},
	"1-json-callback-alone":       {message: draft.Text("x").WithCallback(callback)},
	"1-json-fallback-alone":       {message: draft.Text("x").WithFallback(fallback)},
	"1-json-renamed-text":         {overlay: overlay1(`"fields": {` + renamed1 + `}`), message: served(draft.Text(odd))},
	"1-json-renamed-video":        {overlay: overlay1(`"fields": {` + renamed1 + `}`), message: served(draft.Video(video))},
	"1-json-renamed-button":       {overlay: overlay1(`"fields": {` + renamed1 + `}`), message: served(draft.CallToAction(button))},
	"1-json-renamed-template":     {overlay: overlay1(`"fields": {` + renamed1 + `}`), message: served(draft.Template(template))},
	"1-json-nested-text":          {overlay: overlay1(`"fields": {` + nested1 + `}`), message: served(draft.Text("x"))},
	"1-json-nested-image":         {overlay: overlay1(`"fields": {` + nested1 + `}`), message: draft.Image("https://example.com/i.jpg")},
	"1-json-nested-video":         {overlay: overlay1(`"fields": {` + nested1 + `}`), message: served(draft.Video(video))},
	"1-json-nested-button":        {overlay: overlay1(`"fields": {` + nested1 + `}`), message: served(draft.CallToAction(button))},
	"1-json-nested-template":      {overlay: overlay1(`"fields": {` + nested1 + `}`), message: served(draft.Template(template))},
	"1-json-nested-raw":           {overlay: overlay1(`"fields": {` + nested1 + `}`), message: served(draft.Raw(map[string]any{"content": map[string]any{"sticker": 1}, "from": "the default name is free", "options.ttl": 7}))},
	"1-json-ttl-ms":               {overlay: overlay1(`"ttl": "ms"`), message: draft.Text("x").WithTTL(1500 * time.Millisecond)},
	"1-json-ttl-m":                {overlay: overlay1(`"ttl": "m"`), message: served(draft.Text("x"))},
	"1-json-ttl-nested-m":         {overlay: overlay1(`"ttl": "m", "fields": {"ttl": "options.lifetime"}`), message: served(draft.Text("x"))},
	"1-json-with-replaced":        {overlay: overlay1(`"with": {"callback": {"dlr.level": "full", "hooked": true}, "ttl": {"onExpiry": "sms"}, "fallbackText": {"fallback": 1}}`), message: served(draft.Text("x"))},
	"1-json-with-replaced-unused": {overlay: overlay1(`"with": {"callback": {"dlr.level": "full"}, "ttl": {"onExpiry": "sms"}, "fallbackText": {"fallback": 1}}`), message: draft.Text("x")},
	"1-json-with-dropped":         {overlay: overlay1(`"with": {"callback": {}}`), message: served(draft.Text("x"))},
	"1-json-constants":            {overlay: overlay1(`"constants": {"app.name": "<billing>", "test": true, "n": 1.50}`), message: served(draft.Text("x"))},
	"1-json-dropped":              {overlay: overlay1(`"fields": {"ttl": "", "fallbackFrom": "", "fallbackText": "", "callback": "", "reference": "", "language": "", "params": ""}`), message: draft.Template(chatapp1.Template{ID: "welcome"})},
	"1-json-pair":                 {pair: true, message: served(draft.Text("x"))},
	"1-json-pair-nested":          {overlay: `{"auth": {"keyPair": {"key": "auth.key", "secret": "auth.secret"}}}`, pair: true, message: served(draft.Text("x"))},
	"1-json-pair-in-query":        {overlay: `{"auth": {"keyPair": {"in": "query"}}}`, pair: true, message: served(draft.Image("https://example.com/i.jpg"))},
	"1-form-text":                 {overlay: overlay1(`"encoding": "form"`), message: served(draft.Text(odd))},
	"1-form-video":                {overlay: overlay1(`"encoding": "form"`), message: served(draft.Video(video))},
	"1-form-button":               {overlay: overlay1(`"encoding": "form"`), message: served(draft.CallToAction(button))},
	"1-form-template":             {overlay: overlay1(`"encoding": "form"`), message: served(draft.Template(template))},
	"1-form-template-bare":        {overlay: overlay1(`"encoding": "form"`), message: draft.Template(chatapp1.Template{ID: "welcome"})},
	"1-form-raw":                  {overlay: overlay1(`"encoding": "form"`), message: served(draft.Raw(map[string]any{"text": "a & b", "n": 1.5, "on": true, "a.b": json.Number("1.50")}))},
	"1-form-renamed":              {overlay: overlay1(`"encoding": "form", "ttl": "ms", "fields": {` + renamed1 + `}`), message: served(draft.Template(template))},
	"1-form-dotted":               {overlay: overlay1(`"encoding": "form", "fields": {` + nested1 + `}`), message: served(draft.Video(video))},
	"1-form-with":                 {overlay: overlay1(`"encoding": "form", "constants": {"app": "x"}, "with": {"callback": {"level": 2}, "ttl": {"onExpiry": "sms"}}`), pair: true, message: served(draft.Text("x"))},
	"1-form-with-unused":          {overlay: overlay1(`"encoding": "form", "with": {"callback": {"level": 2}, "ttl": {"onExpiry": "sms"}}`), message: draft.Text("x")},
	"1-query-template":            {overlay: overlay1(`"encoding": "query"`), pair: true, message: served(draft.Template(template))},
	"1-query-ttl-m":               {overlay: overlay1(`"encoding": "query", "ttl": "m"`), message: served(draft.Image("https://example.com/i.jpg"))},

	"2-json-text":                    {message: to(chatapp2.Text{Body: "Your order 17 is ready", PreviewURL: true})},
	"2-json-text-complete":           {message: equipped(chatapp2.Text{Body: odd})},
	"2-json-template":                {message: equipped(ready)},
	"2-json-interactive":             {message: to(list)},
	"2-json-raw":                     {message: to(chatapp2.Raw{Type: "sticker_pack", JSON: json.RawMessage(` { "id" : 1.50 , "a.b" : "<&>" } `)})},
	"2-json-extra":                   {message: withExtra(equipped(chatapp2.Text{Body: "x"}), tomorrow)},
	"2-json-callback-alone":          {message: chatapp2.Message{To: "+639171234567", Content: chatapp2.Text{Body: "x"}, CallbackURL: callback}},
	"2-json-names-swapped":           {overlay: overlay2(`"fields": {` + swapped2 + `}`), message: equipped(ready)},
	"2-json-nested":                  {overlay: overlay2(`"fields": {` + nested2 + `}`), message: withExtra(equipped(list), tomorrow)},
	"2-json-nested-unused":           {overlay: overlay2(`"fields": {` + nested2 + `}`), message: to(list)},
	"2-json-dropped":                 {overlay: overlay2(`"fields": {"ttl": "", "fallbackFrom": "", "fallbackText": "", "callback": "", "reference": ""}`), message: to(chatapp2.Raw{Type: "ttl", JSON: json.RawMessage(`7`)})},
	"2-json-ttl-ms":                  {overlay: overlay2(`"ttl": "ms"`), message: equipped(chatapp2.Text{Body: "x"})},
	"2-json-ttl-m":                   {overlay: overlay2(`"ttl": "m"`), message: equipped(chatapp2.Text{Body: "x"})},
	"2-json-constants":               {overlay: overlay2(`"constants": {"app.name": "<billing>", "test": true}`), message: equipped(chatapp2.Text{Body: "x"})},
	"2-json-with-replaced":           {overlay: overlay2(`"with": {"callback": {"report": {"level": 1.50}}, "reference": {"once": true}}`), message: equipped(chatapp2.Text{Body: "x"})},
	"2-json-with-replaced-unused":    {overlay: overlay2(`"with": {"callback": {"report": 1}}`), message: to(chatapp2.Text{Body: "x"})},
	"2-json-pair":                    {pair: true, message: equipped(chatapp2.Text{Body: "x"})},
	"2-json-pair-alone":              {pair: true, message: to(chatapp2.Text{Body: "x"})},
	"2-json-pair-nested":             {overlay: `{"auth": {"keyPair": {"key": "auth.key", "secret": "auth.secret"}}}`, pair: true, message: withExtra(equipped(ready), tomorrow)},
	"2-json-pair-in-query":           {overlay: `{"auth": {"keyPair": {"in": "query"}}}`, pair: true, message: to(chatapp2.Raw{Type: "apiKey", JSON: json.RawMessage(`{}`)})},
	"2-json-wrap":                    {overlay: overlay2(`"wrap": "message"`), message: to(chatapp2.Text{Body: odd})},
	"2-json-wrap-complete":           {overlay: overlay2(`"wrap": "message"`), pair: true, message: equipped(ready)},
	"2-json-wrap-extra":              {overlay: overlay2(`"wrap": "message"`), message: withExtra(equipped(chatapp2.Text{Body: "x"}), tomorrow)},
	"2-json-wrap-names-of-contract":  {overlay: overlay2(`"wrap": "message", "constants": {"app": 1}`), pair: true, message: withExtra(equipped(chatapp2.Raw{Type: "ttl", JSON: json.RawMessage(`{}`)}), map[string]any{"referenceId": "own", "message": 1, "app": 2, "apiKey": 3, "dlrReport": 4})},
	"2-json-wrap-dotted":             {overlay: overlay2(`"wrap": "payload.message"`), message: equipped(list)},
	"2-json-wrap-dotted-in-parent":   {overlay: overlay2(`"wrap": "payload.message", "ttl": "m", "fields": {"ttl": "payload.ttl", "reference": "payload.meta.ref"}, "constants": {"payload.v": 2}`), message: withExtra(equipped(ready), map[string]any{"payload": 1})},
	"2-json-wrap-name-of-the-inside": {overlay: overlay2(`"wrap": "to", "fields": {"reference": "type"}`), message: equipped(chatapp2.Text{Body: "x"})},
	"2-json-wrap-with-unused":        {overlay: overlay2(`"wrap": "message", "with": {"callback": {"report": 1}}`), message: to(chatapp2.Text{Body: "x"})},
	"2-form-text":                    {overlay: overlay2(`"encoding": "form"`), message: equipped(chatapp2.Text{Body: odd, PreviewURL: true})},
	"2-form-template":                {overlay: overlay2(`"encoding": "form"`), message: equipped(ready)},
	"2-form-extra":                   {overlay: overlay2(`"encoding": "form"`), message: withExtra(to(chatapp2.Text{Body: "x"}), map[string]any{"n": 1.5, "on": true, "a.b": "c&d"})},
	"2-form-raw":                     {overlay: overlay2(`"encoding": "form"`), message: to(chatapp2.Raw{Type: "odd", JSON: json.RawMessage(`[1.50, null, "<&>"]`)})},
	"2-form-raw-scalars":             {overlay: overlay2(`"encoding": "form"`), message: to(chatapp2.Raw{Type: "odd", JSON: json.RawMessage(`1.50`)})},
	"2-form-renamed":                 {overlay: overlay2(`"encoding": "form", "ttl": "ms", "fields": {` + nested2 + `}, "constants": {"app": "a&b"}`), pair: true, message: equipped(list)},
	"2-form-with-unused":             {overlay: overlay2(`"encoding": "form", "with": {"callback": {"report": 1}}`), message: to(chatapp2.Text{Body: "x"})},
	"2-form-wrap":                    {overlay: overlay2(`"encoding": "form", "wrap": "message"`), message: equipped(chatapp2.Text{Body: odd})},
	"2-form-wrap-dotted":             {overlay: overlay2(`"encoding": "form", "wrap": "payload.message"`), pair: true, message: equipped(ready)},
	"2-form-wrap-extra":              {overlay: overlay2(`"encoding": "form", "wrap": "message"`), message: withExtra(to(list), tomorrow)},
	"2-query-text":                   {overlay: overlay2(`"encoding": "query"`), message: equipped(chatapp2.Text{Body: odd})},
	"2-query-wrap":                   {overlay: overlay2(`"encoding": "query", "wrap": "message", "ttl": "m"`), pair: true, message: withExtra(equipped(ready), tomorrow)},
}

func TestChatAppRequestsAreThoseOfTheGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range chatAppRequests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overlay := tt.overlay
			if overlay == "" {
				overlay = `{}`
			}
			c := parse(t, overlay)
			var pair codec.KeyPair
			if tt.pair {
				pair = pairOf(c, key, secret)
			}
			call := callOf(t, tt.message)
			r := compileFor(t, c, call.Op, pair)
			encoded, problems := r.Encode(call)
			require.Empty(t, problems)
			checkCall(t, tableFor(c, call.Op), call, pair, encoded)
			for range 10 {
				again, _ := r.Encode(callOf(t, tt.message))
				require.Equal(t, encoded, again, "the same message, other bytes")
			}

			readable := golden(strings.Join(strings.Fields(overlay), " "), encoded)
			file := filepath.Join("testdata", "chatapps", name+".golden")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(readable), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "run the test with -update")
			assert.Equal(t, string(want), readable)
		})
	}
}

func TestEveryGoldenFileOfAChatAppHasItsRequest(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "chatapps", "*"))
	require.NoError(t, err)
	assert.Len(t, files, len(chatAppRequests))
	for _, file := range files {
		assert.Contains(t, chatAppRequests, strings.TrimSuffix(filepath.Base(file), ".golden"))
	}
}

// units are those in which a contract may measure a lifetime.
var units = map[contract.TTLUnit]time.Duration{
	contract.TTLMilliseconds: time.Millisecond, contract.TTLSeconds: time.Second, contract.TTLMinutes: time.Minute,
}

// conceptsOf gives the names of a contract's fields by their concepts, as its JSON has them.
func conceptsOf(t *testing.T, fields any) map[string]string {
	t.Helper()
	raw, err := json.Marshal(fields)
	require.NoError(t, err)
	var concepts map[string]string
	require.NoError(t, json.Unmarshal(raw, &concepts))
	return concepts
}

// rawMembers gives the members of an object as they are written.
func rawMembers(t *testing.T, object []byte) map[string]any {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(object, &members), "%s", object)
	all := map[string]any{}
	for name, raw := range members {
		all[name] = raw
	}
	return all
}

// unescaped is json.Marshal without the escapes that HTML needs.
func unescaped(t *testing.T, value any) json.RawMessage {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(value))
	return json.RawMessage(strings.TrimSpace(b.String()))
}

// expected gives what a request must hold: under names of the contract, in which a dot may nest, and under names in which it
// does not. It is made from the body's own JSON and the tables, by no code of the codec.
func expected(t *testing.T, table codec.Table, call wire.Call, pair codec.KeyPair) (names, literal, query map[string]any) {
	t.Helper()
	own, defaults := conceptsOf(t, table.Fields), map[string]string{}
	for concept, name := range conceptsOf(t, tableFor(contract.Default(), call.Op).Fields) {
		defaults[name] = concept
	}
	names, literal, query = map[string]any{}, map[string]any{}, map[string]any{}
	for name, value := range rawMembers(t, unescaped(t, call.Body)) {
		concept, known := defaults[name]
		if !known {
			require.Equal(t, "dlrReport", name)
			continue
		}
		if concept == "ttl" {
			value = json.RawMessage(strconv.FormatInt(int64(call.TTL/units[table.TTL]), 10))
		}
		names[own[concept]] = value
		maps.Copy(names, table.With[concept])
	}
	maps.Copy(names, table.Constants)
	if call.Message != nil {
		literal = rawMembers(t, call.Message)
	}
	maps.Copy(literal, call.Extra)
	if call.Message != nil && table.Wrap != "" {
		names[table.Wrap] = literal
		literal = map[string]any{}
	}
	if pair != nil {
		place, members := pair()
		in := names
		if place == contract.KeyPairInQuery {
			in = query
		}
		for _, member := range members {
			in[member.Name] = member.Value
		}
	}
	return names, literal, query
}

// checkCall reads a request back: everything stands under its name, and nothing else is there.
func checkCall(t *testing.T, table codec.Table, call wire.Call, pair codec.KeyPair, encoded codec.Encoded) {
	t.Helper()
	names, literal, query := expected(t, table, call, pair)
	raw := encoded.Query
	switch table.Encoding {
	case contract.EncodingJSON:
		assert.Equal(t, "application/json", encoded.ContentType)
		assert.Equal(t, formOf(t, query), parseForm(t, encoded.Query))
		assert.Equal(t, objectOf(t, names, literal), decode(t, encoded.Body))
		assertNamesComeOnce(t, encoded.Body)
		for _, c := range []string{`\u003c`, `\u003e`, `\u0026`} {
			assert.NotContains(t, string(encoded.Body), c, "an escape that only HTML needs")
		}
		return
	case contract.EncodingForm:
		assert.Equal(t, "application/x-www-form-urlencoded", encoded.ContentType)
		assert.Equal(t, formOf(t, query), parseForm(t, encoded.Query))
		raw = string(encoded.Body)
	case contract.EncodingQuery:
		assert.Empty(t, encoded.ContentType)
		assert.Empty(t, encoded.Body)
		maps.Copy(names, query)
	}
	got := parseForm(t, raw)
	if inside, ok := names[table.Wrap]; ok && call.Message != nil {
		assert.Equal(t, decode(t, unescaped(t, inside)), decode(t, []byte(got.Get(table.Wrap))), "the message under its key")
		assertNamesComeOnce(t, []byte(got.Get(table.Wrap)))
		names[table.Wrap] = got.Get(table.Wrap)
	}
	want := url.Values{}
	for _, all := range []map[string]any{names, literal} {
		for name, value := range all {
			require.NotContains(t, want, name)
			want.Set(name, inForm(t, value))
		}
	}
	assert.Equal(t, want, got)
}

// inForm is a value as a form holds it: a text without quotes, everything else as its JSON.
func inForm(t *testing.T, value any) string {
	t.Helper()
	raw, ok := value.(json.RawMessage)
	if !ok {
		return fmt.Sprint(value)
	}
	if text, ok := decode(t, raw).(string); ok {
		return text
	}
	return string(raw)
}

// longest is the longest duration that there is.
const longest = time.Duration(math.MaxInt64)

func TestLifetimeIsAWholeNumberOfTheContractsUnit(t *testing.T) {
	t.Parallel()
	read := map[string]func(*testing.T, codec.Encoded) string{
		`"encoding": "json"`: func(t *testing.T, e codec.Encoded) string {
			t.Helper()
			var body struct{ TTL json.RawMessage }
			require.NoError(t, json.Unmarshal(e.Body, &body))
			return string(body.TTL)
		},
		`"constants": {"x": 1}`: func(t *testing.T, e codec.Encoded) string { // is written another way than the default
			t.Helper()
			var body struct{ TTL json.RawMessage }
			require.NoError(t, json.Unmarshal(e.Body, &body))
			return string(body.TTL)
		},
		`"encoding": "form"`: func(t *testing.T, e codec.Encoded) string {
			t.Helper()
			return parseForm(t, string(e.Body)).Get("ttl")
		},
		`"encoding": "query"`: func(t *testing.T, e codec.Encoded) string {
			t.Helper()
			return parseForm(t, e.Query).Get("ttl")
		},
	}
	for _, tt := range []struct {
		unit contract.TTLUnit
		ttl  time.Duration
		want string // "": refused
		name string
	}{
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
		for _, message := range []any{draft.Text("x").WithTTL(tt.ttl), chatapp2.Message{To: "12345", Content: chatapp2.Text{Body: "x"}, TTL: tt.ttl}} {
			for entries, get := range read {
				call := callOf(t, message)
				overlay := fmt.Sprintf(`{%q: {"ttl": %q, %s}}`, call.Op, tt.unit, entries)
				encoded, problems := encodeCall(t, overlay, call)
				if tt.want != "" {
					require.Empty(t, problems, "%s %v", overlay, tt.ttl)
					assert.Equal(t, tt.want, get(t, encoded), "%s %v", overlay, tt.ttl)
					continue
				}
				assert.Zero(t, encoded)
				assert.Equal(t, []wire.Problem{{
					Field: "TTL", Reason: "must be a whole number of " + tt.name + ", the unit of the contract, got " + tt.ttl.String(),
				}}, problems, overlay)
			}
		}
	}
}

func TestLifetimeOfZeroIsAbsentInEveryUnit(t *testing.T) {
	t.Parallel()
	for _, message := range []any{draft.Text("x"), to(chatapp2.Text{Body: "x"})} {
		for _, unit := range []string{"s", "ms", "m"} {
			for _, encoding := range []string{"json", "form", "query"} {
				call := callOf(t, message)
				encoded, problems := encodeCall(t, fmt.Sprintf(`{%q: {"ttl": %q, "encoding": %q}}`, call.Op, unit, encoding), call)
				require.Empty(t, problems)
				assert.NotContains(t, string(encoded.Body)+encoded.Query, "ttl")
			}
		}
	}
}

// droppable are the fields of a chat app's message by concept, as a user knows them, and a message that uses each.
var droppable = []struct {
	concept, field string
	message        any
}{
	{"channel", "ChannelID", draft.Text("v4lue")},
	{"to", "To", draft.Text("v4lue")},
	{"text", "Payload.Body", draft.Text("v4lue")},
	{"image", "Payload.URL", draft.Image("https://example.com/v4lue")},
	{"video", "Payload.URL", draft.Video(video)},
	{"thumbnail", "Payload.ThumbnailURL", draft.Video(video)},
	{"duration", "Payload.Duration", draft.Video(video)},
	{"size", "Payload.Size", draft.Video(video)},
	{"text", "Payload.Text", draft.CallToAction(button)},
	{"image", "Payload.ImageURL", draft.CallToAction(button)},
	{"caption", "Payload.Caption", draft.CallToAction(button)},
	{"url", "Payload.URL", draft.CallToAction(button)},
	{"template", "Payload.ID", draft.Template(template)},
	{"params", "Payload.Params", draft.Template(template)},
	{"language", "Payload.Language", draft.Template(template)},
	{"ttl", "TTL", served(draft.Text("v4lue"))},
	{"fallbackFrom", "Fallback.From", served(draft.Text("v4lue"))},
	{"fallbackText", "Fallback.Text", served(draft.Raw(map[string]any{"sticker": "v4lue"}))},
	{"callback", "CallbackURL", served(draft.Text("v4lue"))},
	{"reference", "ReferenceID", served(draft.Text("v4lue"))},
	{"ttl", "TTL", equipped(chatapp2.Text{Body: "v4lue"})},
	{"fallbackFrom", "Fallback.From", equipped(chatapp2.Text{Body: "v4lue"})},
	{"fallbackText", "Fallback.Text", equipped(chatapp2.Text{Body: "v4lue"})},
	{"callback", "CallbackURL", equipped(ready)},
	{"reference", "ReferenceID", equipped(ready)},
}

func TestUsingAFieldThatTheChatAppLacksIsAProblemOfTheUsersField(t *testing.T) {
	t.Parallel()
	for _, tt := range droppable {
		call := callOf(t, tt.message)
		for _, entries := range []string{`"encoding": "json"`, `"encoding": "form"`, `"encoding": "query"`, `"constants": {"x": 1}`} {
			overlay := fmt.Sprintf(`{%q: {"fields": {%q: ""}, %s}}`, call.Op, tt.concept, entries)
			r := compileFor(t, parse(t, overlay), call.Op, nil)
			encoded, problems := r.Encode(call)
			assert.Zero(t, encoded, overlay)
			assert.Equal(t, []wire.Problem{{
				Field: tt.field, Reason: `must be absent: the contract says that the service has no such field (fields.` + tt.concept + ` is "")`,
			}}, problems, overlay)
			assert.True(t, r.Lacks(call.Body, tt.field), overlay)
		}
	}
}

func TestFieldThatTheChatAppLacksMayBeEmpty(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		concept, name  string
		message, using any // without the field, and with it
	}{
		{"caption", "caption", draft.CallToAction(chatapp1.CallToAction{Text: "Sale", URL: "https://example.com"}), draft.CallToAction(button)},
		{"text", "text", draft.CallToAction(chatapp1.CallToAction{Caption: "Shop", URL: "https://example.com"}), draft.CallToAction(button)},
		{"channel", "from", chatapp1.New("", "12345").Text("x"), draft.Text("x")},
		{"fallbackFrom", "sms_from", draft.Text("x").WithFallback(sms.Fallback{Text: "y"}), draft.Text("x").WithFallback(fallback)},
		{"fallbackFrom", "sms_from", chatapp2.Message{To: "12345", Content: chatapp2.Text{Body: "x"}, Fallback: &sms.Fallback{Text: "y"}}, equipped(ready)},
	} {
		for _, encoding := range []string{"json", "form", "query"} {
			call := callOf(t, tt.message)
			overlay := fmt.Sprintf(`{%q: {"fields": {%q: ""}, "encoding": %q}}`, call.Op, tt.concept, encoding)
			r := compileFor(t, parse(t, overlay), call.Op, nil)
			require.Len(t, call.Problems, 1)
			assert.True(t, call.Problems[0].Absent && r.Lacks(call.Body, call.Problems[0].Field), "%+v", call.Problems)
			encoded, problems := r.Encode(call)
			assert.Empty(t, problems, overlay)
			assert.NotContains(t, string(encoded.Body)+encoded.Query, tt.name, overlay)

			_, problems = r.Encode(callOf(t, tt.using))
			assert.Len(t, problems, 1, overlay)
		}
	}
}

func TestOnlyAFieldOfTheBodyThatHasNoNameIsLacking(t *testing.T) {
	t.Parallel()
	dropped := compileFor(t, parse(t, overlay1(`"fields": {"text": "", "fallbackFrom": "", "channel": "sender.id"}`)), wire.ChatApp1Send, nil)
	text, image := callOf(t, draft.Text("x")).Body, callOf(t, draft.Image("https://example.com")).Body
	assert.True(t, dropped.Lacks(text, "Payload.Body"))
	assert.True(t, dropped.Lacks(image, "Fallback.From"), "a field of what is embedded")
	for _, field := range []string{"Payload.URL", "Payload.Text", "ChannelID", "To", "Fallback.Text", "FallbackFrom", "Text", "Delivery", "DLRReport", "Payload", ""} {
		assert.False(t, dropped.Lacks(text, field), field)
	}
	assert.False(t, dropped.Lacks(image, "Payload.Body"), "the name of a field that this body does not have")
	standard := compileFor(t, contract.Default(), wire.ChatApp1Send, nil)
	assert.False(t, standard.Lacks(text, "Payload.Body"))
}

func TestEveryFieldThatTheChatAppLacksIsNamedBesideOtherProblems(t *testing.T) {
	t.Parallel()
	message := withExtra(equipped(chatapp2.Text{Body: "x"}), map[string]any{"f": func() {}})
	message.TTL = 1500 * time.Millisecond
	for _, encoding := range []string{"json", "form", "query"} {
		call := callOf(t, message)
		_, problems := encodeCall(t, overlay2(`"encoding": "`+encoding+`", "fields": {"fallbackFrom": "", "reference": ""}, "constants": {"to": 1}`), call)
		assert.ElementsMatch(t, []string{"Fallback.From", "ReferenceID", "TTL", `Extra["f"]`, "Message"}, fieldsOf(problems), encoding)
	}
}

func TestWhatGoesWithACallbackGoesWithNothingElse(t *testing.T) {
	t.Parallel()
	for _, wrap := range []string{"", "message"} {
		for _, encoding := range []string{"json", "form", "query"} {
			for _, extra := range []string{``, `, "with": {"callback": {"dlrLevel": 2}}`, `, "constants": {"app": 1}`, `, "fields": {"callback": "hook"}`} {
				for op, messages := range map[string][2]any{
					"chatapp1.send": {draft.Text("x").WithReference("r"), draft.Text("x").WithCallback(callback)},
					"chatapp2.send": {
						chatapp2.Message{To: "12345", Content: chatapp2.Text{Body: "x"}, ReferenceID: "r"},
						chatapp2.Message{To: "12345", Content: chatapp2.Text{Body: "x"}, CallbackURL: callback},
					},
				} {
					overlay := `"encoding": "` + encoding + `"` + extra
					if op == "chatapp2.send" {
						overlay += `, "wrap": "` + wrap + `"`
					}
					for i, message := range messages {
						encoded, problems := encodeCall(t, `{"`+op+`": {`+overlay+`}}`, callOf(t, message))
						require.Empty(t, problems)
						assert.Equal(t, i == 1, strings.Contains(string(encoded.Body)+encoded.Query, "dlr"), "%s %s", overlay, encoded.Body)
					}
				}
			}
		}
	}
}

func TestRawMayUseTheNameOfAFieldThatItDoesNotHave(t *testing.T) {
	t.Parallel()
	absent := []string{"text", "image", "video", "thumbnail", "duration", "fileSize", "caption", "action", "templateId", "templateParams", "templateLanguage"}
	for name, tt := range map[string]struct {
		entries       string
		taken, allows []string
	}{
		"default": {``, []string{"from", "to", "ttl", "sms_from", "sms_text", "dlrCallback", "dlrReport", "referenceId"}, append([]string{"From", "sticker"}, absent...)},
		"renamed": {
			`"fields": {"text": "message", "channel": "text", "reference": "caption", "caption": "label", "callback": ""}`,
			[]string{"text", "caption", "to", "dlrReport"},
			[]string{"message", "from", "referenceId", "dlrCallback", "image", "action"},
		},
		"nested": {
			`"fields": {"channel": "text.from", "text": "body", "image": "media.image", "video": "media.video", "ttl": "options.ttl", "language": "options.language"}`,
			[]string{"text", "options", "to"},
			[]string{"media", "media.image", "options.ttl", "from", "ttl", "image", "body"},
		},
		"constants": {
			`"fields": {"image": "", "video": "", "caption": ""}, "constants": {"image": "always", "video.kind": 1}, "with": {"callback": {"caption": true}}`,
			[]string{"image", "video", "caption"},
			[]string{"text", "dlrReport", "kind", "video.kind"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := compileFor(t, parse(t, overlay1(tt.entries)), wire.ChatApp1Send, nil)
			for _, field := range tt.taken {
				encoded, problems := r.Encode(callOf(t, draft.Raw(map[string]any{field: "v4lue", "other": 1})))
				assert.Zero(t, encoded)
				assert.Equal(t, []wire.Problem{{
					Field:  `Payload.Fields["` + field + `"]`,
					Reason: "the contract uses this name; set the field of the message instead, or change the contract",
				}}, problems)
			}
			for _, field := range tt.allows {
				encoded, problems := r.Encode(callOf(t, draft.Raw(map[string]any{field: "v4lue"})))
				require.Empty(t, problems, field)
				members := rawMembers(t, encoded.Body)
				assert.Equal(t, json.RawMessage(`"v4lue"`), members[field], "%s", encoded.Body)
			}
		})
	}
	for _, encoding := range []string{"form", "query"} { // where a dot is part of a name
		r := compileFor(t, parse(t, overlay1(`"encoding": "`+encoding+`", "fields": {"channel": "text.from"}`)), wire.ChatApp1Send, nil)
		for _, field := range append([]string{"from"}, absent...) {
			_, problems := r.Encode(callOf(t, draft.Raw(map[string]any{field: "x"})))
			assert.Empty(t, problems, field)
		}
		_, problems := r.Encode(callOf(t, draft.Raw(map[string]any{"text.from": "x", "to": "y"})))
		assert.Equal(t, []string{`Payload.Fields["text.from"]`, `Payload.Fields["to"]`}, fieldsOf(problems))
	}
}

func TestFieldsOfARawThatCannotBeSentAreProblemsUnderTheNameThatAUserKnows(t *testing.T) {
	t.Parallel()
	fields := map[string]any{"": 1, "f": func() {}, "s": "v4lue\xff", "\xff": 1, "n": math.NaN(), "fine": 1}
	_, problems := encodeCall(t, `{}`, callOf(t, draft.Raw(fields)))
	assert.Equal(t, []string{`Payload.Fields[""]`, `Payload.Fields["f"]`, `Payload.Fields["n"]`, `Payload.Fields["s"]`, `Payload.Fields["\xff"]`}, fieldsOf(problems))
	_, problems = encodeCall(t, overlay1(`"encoding": "form"`), callOf(t, draft.Raw(map[string]any{"list": []any{"v4lue"}, "none": nil, "fine": "x"})))
	assert.Equal(t, []string{`Payload.Fields["list"]`, `Payload.Fields["none"]`}, fieldsOf(problems))
	for _, p := range problems {
		assert.NotContains(t, p.Reason, "v4lue")
	}
}

// service is what a channel adds to a message in the shape of another platform.
type service struct{ wire.Delivery }

func serviceCall(message string, extra map[string]any) wire.Call {
	return wire.Call{Op: wire.ChatApp2Send, Body: &service{}, Message: []byte(message), Extra: extra}
}

func TestKeyOfAMessageMayNotTakeANameOfTheContract(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		overlay string
		pair    bool
		taken   []string
		free    []string
	}{
		"default":              {overlay: `{}`, taken: []string{"ttl", "sms_from", "sms_text", "dlrCallback", "dlrReport", "referenceId"}, free: []string{"to", "from", "apiKey", "TTL", "text", "message"}},
		"renamed":              {overlay: overlay2(`"fields": {"ttl": "to", "reference": "type"}`), taken: []string{"to", "type"}, free: []string{"ttl", "referenceId"}},
		"nested":               {overlay: overlay2(`"fields": {"ttl": "template.ttl"}`), taken: []string{"template"}, free: []string{"ttl", "template.ttl"}},
		"dropped":              {overlay: overlay2(`"fields": {"ttl": "", "callback": ""}`), taken: []string{"dlrReport", "referenceId"}, free: []string{"ttl", "dlrCallback"}},
		"constant":             {overlay: overlay2(`"constants": {"type": 1, "context.app": 2}`), taken: []string{"type", "context"}, free: []string{"to", "app"}},
		"with":                 {overlay: overlay2(`"with": {"callback": {"text": 1}}`), taken: []string{"text"}, free: []string{"dlrReport"}},
		"pair in body":         {overlay: `{"auth": {"keyPair": {"key": "type", "secret": "context.secret"}}}`, pair: true, taken: []string{"type", "context"}, free: []string{"apiKey"}},
		"pair in query":        {overlay: `{"auth": {"keyPair": {"in": "query", "key": "to"}}}`, pair: true, free: []string{"to", "apiSecret"}},
		"form":                 {overlay: overlay2(`"encoding": "form", "fields": {"ttl": "template.ttl"}, "constants": {"app.name": "x"}`), taken: []string{"template.ttl", "app.name", "dlrReport"}, free: []string{"template", "app", "ttl"}},
		"query, pair in query": {overlay: `{"auth": {"keyPair": {"in": "query", "key": "to"}}, "chatapp2.send": {"encoding": "query"}}`, pair: true, taken: []string{"to", "apiSecret", "ttl"}, free: []string{"apiKey"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := parse(t, tt.overlay)
			var pair codec.KeyPair
			if tt.pair {
				pair = pairOf(c, "k", "s")
			}
			r := compileFor(t, c, wire.ChatApp2Send, pair)
			for _, field := range tt.taken {
				want := []wire.Problem{{
					Field: "Message", Reason: "its key " + strconv.Quote(field) + " is a name of the contract, and neither may " +
						"overwrite the other; change that name, or set wrap to put the message under a key of its own",
				}}
				encoded, problems := r.Encode(serviceCall(`{"a":1,"`+field+`":"v4lue","b":{}}`, nil))
				assert.Zero(t, encoded)
				assert.Equal(t, want, problems)

				encoded, problems = r.Encode(serviceCall(`{"a":1}`, map[string]any{field: "v4lue"}))
				assert.Zero(t, encoded)
				assert.Equal(t, []string{`Extra["` + field + `"]`}, fieldsOf(problems))
			}
			for _, field := range tt.free {
				for _, call := range []wire.Call{serviceCall(`{"`+field+`":"v4lue"}`, nil), serviceCall(`{}`, map[string]any{field: "v4lue"})} {
					encoded, problems := r.Encode(call)
					require.Empty(t, problems, field)
					checkCall(t, tableFor(c, wire.ChatApp2Send), call, pair, encoded)
				}
			}
		})
	}
}

func TestEveryKeyThatCollidesIsNamed(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"json", "form", "query"} {
		_, problems := encodeCall(t, overlay2(`"encoding": "`+encoding+`"`), serviceCall(`{"ttl":1,"to":2,"referenceId":{"ttl":3}}`, map[string]any{"sms_from": 4}))
		require.Equal(t, []string{`Extra["sms_from"]`, "Message", "Message"}, fieldsOf(problems), encoding)
		assert.Contains(t, problems[1].Reason, `"ttl"`)
		assert.Contains(t, problems[2].Reason, `"referenceId"`)
	}
}

func TestNothingCollidesWithAMessageUnderAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	const message = `{"ttl":1,"sms_from":2,"dlrReport":3,"referenceId":4,"app":5,"apiKey":6,"apiSecret":7,"message":8,"payload":9}`
	extra := map[string]any{"sms_text": 1, "dlrCallback": []any{2}, "payload.message": nil}
	for _, wrap := range []string{"message", "payload.message"} {
		for _, encoding := range []string{"json", "form", "query"} {
			c := parse(t, overlay2(`"encoding": "`+encoding+`", "constants": {"app": "x"}, "wrap": "`+wrap+`"`))
			pair := pairOf(c, "k", "s")
			call := wire.Call{
				Op: wire.ChatApp2Send, TTL: time.Minute, Message: []byte(message), Extra: extra,
				Body: &service{wire.NewDelivery(time.Minute, callback, "order-17").WithFallback("A", "B")},
			}
			encoded, problems := compileFor(t, c, wire.ChatApp2Send, pair).Encode(call)
			require.Empty(t, problems)
			checkCall(t, tableFor(c, wire.ChatApp2Send), call, pair, encoded)
		}
	}
}

func TestExtraWithinAWrappedMessageMustStillBeJSON(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"json", "form", "query"} {
		_, problems := encodeCall(t, overlay2(`"encoding": "`+encoding+`", "wrap": "message"`),
			serviceCall(`{}`, map[string]any{"": 1, "f": func() {}, "s": "v4lue\xff", "list": []any{1, "x"}, "none": nil, "\xff": 1}))
		assert.Equal(t, []string{`Extra[""]`, `Extra["f"]`, `Extra["s"]`, `Extra["\xff"]`}, fieldsOf(problems), encoding)
	}
}

func TestMessageOfAnotherPlatformStandsFirstAndInItsOwnOrder(t *testing.T) {
	t.Parallel()
	call := serviceCall(`{"z":1,"a":{"y":"<&>","b":[]},"m":1.50}`, map[string]any{"q": 1, "c": 2})
	call.Body = &service{wire.NewDelivery(0, "", "r")}
	for overlay, want := range map[string]string{
		`{}`: `{"c":2,"q":1,"z":1,"a":{"y":"<&>","b":[]},"m":1.50,"referenceId":"r"}`,
		overlay2(`"fields": {"reference":"ref"}`): `{"c":2,"q":1,"ref":"r","z":1,"a":{"y":"<&>","b":[]},"m":1.50}`,
		overlay2(`"wrap": "x.y"`):                 `{"referenceId":"r","x":{"y":{"c":2,"q":1,"z":1,"a":{"y":"<&>","b":[]},"m":1.50}}}`,
	} {
		encoded, problems := encodeCall(t, overlay, call)
		require.Empty(t, problems)
		assert.Equal(t, want, string(encoded.Body), overlay)
	}
}

func TestMessageOrServiceMayBeEmpty(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		overlay string
		message string
		body    service
		extra   map[string]any
		want    string
	}{
		{`{}`, `{}`, service{}, nil, `{}`},
		{`{}`, `{}`, service{wire.NewDelivery(0, "", "r")}, nil, `{"referenceId":"r"}`},
		{`{}`, `{"a":1}`, service{}, nil, `{"a":1}`},
		{`{}`, `{}`, service{}, map[string]any{"b": 2}, `{"b":2}`},
		{overlay2(`"wrap": "m"`), `{}`, service{}, nil, `{"m":{}}`},
		{overlay2(`"wrap": "m"`), `{}`, service{}, map[string]any{"b": 2}, `{"m":{"b":2}}`},
		{overlay2(`"constants": {"c": 3}`), `{}`, service{}, nil, `{"c":3}`},
		{overlay2(`"encoding": "form", "wrap": "m"`), `{}`, service{}, nil, `m=%7B%7D`},
		{overlay2(`"encoding": "form"`), `{}`, service{}, nil, ``},
	} {
		encoded, problems := encodeCall(t, tt.overlay, wire.Call{Op: wire.ChatApp2Send, Body: &tt.body, Message: []byte(tt.message), Extra: tt.extra})
		require.Empty(t, problems)
		assert.Equal(t, tt.want, string(encoded.Body), "%s %s", tt.overlay, tt.message)
	}
}

func TestChatAppRequestsAreWrittenByManyAtOnce(t *testing.T) {
	t.Parallel()
	for _, overlay := range []string{
		`{}`, `{"chatapp1.send": {"fields": {"text": "a.b"}}, "chatapp2.send": {"fields": {"ttl": "a.b"}}}`, `{"chatapp1.send": {"encoding": "form"}, "chatapp2.send": {"encoding": "form"}}`,
		overlay2(`"wrap": "payload.message"`), overlay2(`"encoding": "query", "wrap": "m"`),
	} {
		c := parse(t, overlay)
		one, two := compileFor(t, c, wire.ChatApp1Send, pairOf(c, "k", "s")), compileFor(t, c, wire.ChatApp2Send, nil)
		var all sync.WaitGroup
		for i := range 8 {
			text := strings.Repeat(strconv.Itoa(i), 50*i+1)
			calls := map[*codec.Request]wire.Call{
				one: callOf(t, served(draft.Template(chatapp1.Template{ID: "t", Params: map[string]string{"a": text, "b": text}}))),
				two: callOf(t, withExtra(equipped(chatapp2.Text{Body: text}), map[string]any{"n": i})),
			}
			all.Go(func() {
				for r, call := range calls {
					first, problems := r.Encode(call)
					if !assert.Empty(t, problems) {
						return
					}
					kept := string(first.Body) + first.Query
					assert.Contains(t, kept, text)
					for range 30 {
						again, _ := r.Encode(call)
						assert.Equal(t, kept, string(again.Body)+again.Query)
					}
					assert.Equal(t, kept, string(first.Body)+first.Query, "written over")
				}
			})
		}
		all.Wait()
	}
}

func TestRequestLeavesACallAsItIs(t *testing.T) {
	t.Parallel()
	for _, overlay := range []string{`{}`, overlay2(`"fields": {"ttl": "a.b"}`), overlay2(`"wrap": "m"`), overlay2(`"encoding": "form"`), overlay2(`"encoding": "form", "wrap": "m"`)} {
		call := callOf(t, withExtra(equipped(chatapp2.Text{Body: "x"}), map[string]any{"d": 1, "c": "x"}))
		message, body, extra := string(call.Message), unescaped(t, call.Body), maps.Clone(call.Extra)
		encoded, problems := encodeCall(t, overlay, call)
		require.Empty(t, problems)
		for i := range encoded.Body {
			encoded.Body[i] = 'x' // it belongs to who asked for it
		}
		assert.Equal(t, message, string(call.Message), overlay)
		assert.Equal(t, body, unescaped(t, call.Body), overlay)
		assert.Equal(t, extra, call.Extra, overlay)
	}
}

func TestExtraIsCalledAsTheCallSays(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": `Extra["ttl"]`, "Payload.Fields": `Payload.Fields["ttl"]`} {
		call := serviceCall(`{}`, map[string]any{"ttl": 1})
		call.ExtraName = name
		_, problems := encodeCall(t, `{}`, call)
		assert.Equal(t, []string{want}, fieldsOf(problems))
	}
}

func TestConstantOfAChatAppThatAFormCannotHoldIsRefusedWhenCompiled(t *testing.T) {
	t.Parallel()
	for _, op := range []wire.Operation{wire.ChatApp1Send, wire.ChatApp2Send} {
		c := parse(t, `{"`+op.String()+`": {"encoding": "form", "with": {"ttl": {"policy": ["v4lue"]}}}}`)
		_, err := codec.CompileRequest(tableFor(c, op), tableFor(contract.Default(), op), nil)
		require.ErrorContains(t, err, "with.ttl.policy")
		assert.NotContains(t, err.Error(), "v4lue")
	}
}

// The golden files must not miss a kind of payload.
func TestEveryPayloadOfChatApp1HasAGoldenFileInEveryShape(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for name, tt := range chatAppRequests {
		if m, ok := tt.message.(chatapp1.Message); ok {
			encoding := strings.Split(name, "-")[1]
			seen[encoding+" "+fmt.Sprintf("%T", m.Payload)] = true
		}
	}
	for _, payload := range []string{"Text", "Image", "Video", "CallToAction", "Template", "Raw"} {
		assert.True(t, seen["json chatapp1."+payload], "%v", slices.Sorted(maps.Keys(seen)))
	}
}
