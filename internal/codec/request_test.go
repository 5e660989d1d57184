package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files")

// message has the shape of an SMS under the names of the default contract.
type message struct {
	From        string `json:"from,omitzero"        url:"from,omitempty"`
	To          string `json:"to,omitzero"          url:"to,omitempty"`
	Text        string `json:"text,omitzero"        url:"text,omitempty"`
	CallbackURL string `json:"dlrCallback,omitzero" url:"dlrCallback,omitempty"`
	DLRReport   int    `json:"dlrReport,omitzero"   url:"dlrReport,omitempty"`
	ReferenceID string `json:"referenceId,omitzero" url:"referenceId,omitempty"`
}

const callback = "https://example.com/dlr?id=%i&s=%s&kind=%tr&rate=100%&a=b+c&sum=%25d%20x"

func minimal() *message {
	return &message{From: "ACME", To: "+639171234567", Text: "Your order 17 is ready"}
}

func complete() *message {
	m := minimal()
	m.CallbackURL, m.DLRReport, m.ReferenceID = callback, 1, "order-17"
	return m
}

func withText(text string) *message {
	m := minimal()
	m.Text = text
	return m
}

// concepts gives the values of a message by the concepts of the contract.
func (m *message) concepts() map[string]string {
	return map[string]string{"from": m.From, "to": m.To, "text": m.Text, "callback": m.CallbackURL, "reference": m.ReferenceID}
}

func namesOf(c contract.Contract) map[string]string {
	f := c.SMSSend.Fields
	return map[string]string{"from": f.From, "to": f.To, "text": f.Text, "callback": f.Callback, "reference": f.Reference}
}

func parse(t testing.TB, overlay string) contract.Contract {
	t.Helper()
	c, err := contract.Parse([]byte(overlay))
	require.NoError(t, err)
	return c
}

func tableOf(c contract.Contract) codec.Table {
	return codec.Table{Send: c.SMSSend.Send, Fields: c.SMSSend.Fields}
}

func pairOf(c contract.Contract, key, secret string) codec.KeyPair {
	place := c.Auth.KeyPair
	return func() (contract.KeyPairPlace, [2]codec.Member) {
		return place.In, [2]codec.Member{{Name: place.Key, Value: key}, {Name: place.Secret, Value: secret}}
	}
}

func compile(t testing.TB, c contract.Contract, pair codec.KeyPair) *codec.Request {
	t.Helper()
	r, err := codec.CompileRequest(tableOf(c), tableOf(contract.Default()), pair)
	require.NoError(t, err)
	return r
}

// encode writes a message that has no problems.
func encode(t testing.TB, r *codec.Request, m *message, extra map[string]any) codec.Encoded {
	t.Helper()
	encoded, problems := r.Encode(wire.Call{Body: m, Extra: extra})
	require.Empty(t, problems)
	return encoded
}

// A request is a golden file of its own name: overlay, content type, query and body.
var requests = map[string]struct {
	overlay string
	pair    bool // a key and a secret go with it
	message *message
	extra   map[string]any
}{
	"json-default":             {message: minimal()},
	"json-default-complete":    {message: complete()},
	"json-default-empty":       {message: &message{}},
	"json-default-callback":    {message: &message{CallbackURL: callback, DLRReport: 1}},
	"json-no-html-escapes":     {message: withText(`1 < 2 && 3 > 2; <b>"quoted"</b> \ / '`)},
	"json-scripts":             {message: withText("Größe 5 · мир · 你好 · مرحبا · 😀👩‍👩‍👧 · e\u0301")},
	"json-line-separators":     {message: withText("a\u2028b\u2029c")},
	"json-control-characters":  {message: withText("a\nb\r\tc\x00d\x1be\x7ff\b\f")},
	"json-default-no-encoding": {overlay: `{"sms.send": {"encoding": "json"}}`, message: complete()},

	"json-renamed": {
		overlay: `{"sms.send": {"fields": {"from": "sender", "to": "msisdn", "text": "message", "callback": "callbackUrl", "reference": "ref"}}}`,
		message: complete(),
	},
	"json-renamed-one":          {overlay: `{"sms.send": {"fields": {"text": "message"}}}`, message: complete()},
	"json-renamed-no-escapes":   {overlay: `{"sms.send": {"fields": {"text": "message"}}}`, message: withText("<&> \u2028 你好 \" \\ \n")},
	"json-names-swapped":        {overlay: `{"sms.send": {"fields": {"from": "to", "to": "from"}}}`, message: complete()},
	"json-names-odd":            {overlay: `{"sms.send": {"fields": {"from": "<from> & \"co\"", "to": "空 к", "text": "te\\xt/[0]", "reference": "a b"}}}`, message: complete()},
	"json-name-of-another":      {overlay: `{"sms.send": {"fields": {"from": "dlrCallback", "callback": "from"}}}`, message: complete()},
	"json-nested":               {overlay: `{"sms.send": {"fields": {"from": "sender.id"}}}`, message: complete()},
	"json-nested-deep":          {overlay: `{"sms.send": {"fields": {"text": "a.b.c.d.e"}}}`, message: complete()},
	"json-nested-two-in-one":    {overlay: `{"sms.send": {"fields": {"from": "sms.sender.id", "text": "sms.text", "to": "sms.recipient", "reference": "sms.sender.ref"}}}`, message: complete()},
	"json-nested-all-absent":    {overlay: `{"sms.send": {"fields": {"from": "sms.sender", "text": "sms.text"}}}`, message: &message{To: "12345"}},
	"json-field-dropped":        {overlay: `{"sms.send": {"fields": {"reference": ""}}}`, message: minimal()},
	"json-callback-dropped":     {overlay: `{"sms.send": {"fields": {"callback": ""}}}`, message: minimal()},
	"json-every-field-dropped":  {overlay: `{"sms.send": {"fields": {"from": "", "to": "", "text": "", "callback": "", "reference": ""}}}`, message: &message{}},
	"json-constant-string":      {overlay: `{"sms.send": {"constants": {"app": "billing <&>\u2028"}}}`, message: minimal()},
	"json-constant-number":      {overlay: `{"sms.send": {"constants": {"a": 1.50, "b": 12345678901234567890, "c": 1e400, "d": -0.0, "e": 0}}}`, message: minimal()},
	"json-constant-boolean":     {overlay: `{"sms.send": {"constants": {"test": true, "flash": false}}}`, message: minimal()},
	"json-constant-object":      {overlay: `{"sms.send": {"constants": {"options": {"z": 1.50, "a.b": "<&>", "n": null, "list": [{"b": 2, "a": 1}]}, "none": {}}}}`, message: minimal()},
	"json-constant-list":        {overlay: `{"sms.send": {"constants": {"tags": ["b", 1.50, true, null, ["c"], {"d": "e"}], "none": []}}}`, message: minimal()},
	"json-constant-nested":      {overlay: `{"sms.send": {"constants": {"app.name": "billing", "app.version.major": 2, "zone": "eu"}}}`, message: minimal()},
	"json-constant-in-parent":   {overlay: `{"sms.send": {"fields": {"from": "sms.from"}, "constants": {"sms.kind": "text"}}}`, message: minimal()},
	"json-constant-old-name":    {overlay: `{"sms.send": {"fields": {"from": "sender"}, "constants": {"from": "billing"}}}`, message: minimal()},
	"json-constant-dlr-report":  {overlay: `{"sms.send": {"with": {"callback": {}}, "constants": {"dlrReport": 7}}}`, message: complete()},
	"json-constants-alone":      {overlay: `{"sms.send": {"constants": {"b": 1, "a": 2}}}`, message: &message{}},
	"json-with-replaced":        {overlay: `{"sms.send": {"with": {"callback": {"report": "full", "level": 1.50}}}}`, message: complete()},
	"json-with-replaced-unused": {overlay: `{"sms.send": {"with": {"callback": {"report": "full"}}}}`, message: minimal()},
	"json-with-dropped":         {overlay: `{"sms.send": {"with": {"callback": {}}}}`, message: complete()},
	"json-with-another-field":   {overlay: `{"sms.send": {"with": {"reference": {"idempotent": true}}}}`, message: complete()},
	"json-with-another-unused":  {overlay: `{"sms.send": {"with": {"reference": {"idempotent": true}}}}`, message: &message{To: "12345", CallbackURL: callback, DLRReport: 1}},
	"json-with-nested":          {overlay: `{"sms.send": {"fields": {"callback": "dlr.url"}, "with": {"callback": {"dlr.level": {"deep": [1]}, "dlr.on": true}}}}`, message: complete()},
	"json-with-nested-unused":   {overlay: `{"sms.send": {"fields": {"callback": "dlr.url"}, "with": {"callback": {"dlr.on": true}}}}`, message: minimal()},
	"json-with-kept-on-rename":  {overlay: `{"sms.send": {"fields": {"callback": "hook"}}}`, message: complete()},

	"json-pair-in-body":           {pair: true, message: complete()},
	"json-pair-in-body-alone":     {pair: true, message: &message{}},
	"json-pair-in-body-renamed":   {overlay: `{"auth": {"keyPair": {"key": "<user>", "secret": "pass&word"}}}`, pair: true, message: minimal()},
	"json-pair-in-body-rewritten": {overlay: `{"sms.send": {"fields": {"from": "sender.id"}}}`, pair: true, message: complete()},
	"json-pair-nested":            {overlay: `{"auth": {"keyPair": {"key": "auth.key", "secret": "auth.secret"}}}`, pair: true, message: complete()},
	"json-pair-nested-in-parent":  {overlay: `{"auth": {"keyPair": {"key": "sms.key", "secret": "secret"}}, "sms.send": {"fields": {"text": "sms.text"}}}`, pair: true, message: minimal()},
	"json-pair-in-query":          {overlay: `{"auth": {"keyPair": {"in": "query"}}}`, pair: true, message: complete()},
	"json-pair-in-query-dotted":   {overlay: `{"auth": {"keyPair": {"in": "query", "key": "auth.key", "secret": "auth[secret]"}}}`, pair: true, message: minimal()},
	"json-pair-in-query-rewrite":  {overlay: `{"auth": {"keyPair": {"in": "query"}}, "sms.send": {"fields": {"from": "sender.id"}}}`, pair: true, message: minimal()},

	"json-extra": {message: minimal(), extra: map[string]any{
		"zebra": 1, "apple": "<&> \u2028", "price": json.Number("1.50"), "big": uint64(math.MaxUint64), "tags": []string{"b", "a"},
		"meta": map[string]any{"b": nil, "a": true}, "none": nil, "raw": json.RawMessage(`{ "x" : 1.50 }`), "a.b": "a dot is a dot", "空 \"": "odd name",
	}},
	"json-extra-alone":        {message: &message{}, extra: map[string]any{"b": 1, "a": 2}},
	"json-extra-beside-pair":  {pair: true, message: minimal(), extra: map[string]any{"flash": true, "ttl": 60}},
	"json-extra-pair-alone":   {pair: true, message: &message{}, extra: map[string]any{"flash": true}},
	"json-extra-rewritten":    {overlay: `{"sms.send": {"fields": {"from": "sender.id"}, "constants": {"app.name": "x"}}}`, pair: true, message: complete(), extra: map[string]any{"flash": true, "from": "the default name is free", "sender.id": "a dot is a dot", "name": 1}},
	"json-extra-dropped-name": {overlay: `{"sms.send": {"fields": {"reference": ""}, "with": {"callback": {}}}}`, message: minimal(), extra: map[string]any{"referenceId": 17, "dlrReport": 2}},

	"form-default":          {overlay: `{"sms.send": {"encoding": "form"}}`, message: minimal()},
	"form-complete":         {overlay: `{"sms.send": {"encoding": "form"}}`, message: complete()},
	"form-empty":            {overlay: `{"sms.send": {"encoding": "form"}}`, message: &message{}},
	"form-reserved":         {overlay: `{"sms.send": {"encoding": "form"}}`, message: withText("a&b=c+d%e f;g#h?i/j\"k<l>\r\n100%s %20 %zz")},
	"form-scripts":          {overlay: `{"sms.send": {"encoding": "form"}}`, message: withText("Größe · 你好 · 😀 · \u2028\x00")},
	"form-renamed":          {overlay: `{"sms.send": {"encoding": "form", "fields": {"from": "sender.id", "to": "sms[to]", "text": "te&xt=", "reference": "空 +%"}}}`, message: complete()},
	"form-names-swapped":    {overlay: `{"sms.send": {"encoding": "form", "fields": {"from": "to", "to": "from"}}}`, message: minimal()},
	"form-name-and-within":  {overlay: `{"sms.send": {"encoding": "form", "fields": {"from": "sender", "to": "sender.to"}}}`, message: minimal()},
	"form-field-dropped":    {overlay: `{"sms.send": {"encoding": "form", "fields": {"callback": "", "reference": ""}}}`, message: minimal()},
	"form-constants":        {overlay: `{"sms.send": {"encoding": "form", "constants": {"app": "billing & co", "a.b": 1.50, "big": 12345678901234567890, "on": true, "off": false}}}`, message: minimal()},
	"form-with-replaced":    {overlay: `{"sms.send": {"encoding": "form", "with": {"callback": {"report": 1.50}, "reference": {"idempotent": true}}}}`, message: complete()},
	"form-with-unused":      {overlay: `{"sms.send": {"encoding": "form", "with": {"callback": {"report": 1.50}, "reference": {"idempotent": true}}}}`, message: minimal()},
	"form-with-dropped":     {overlay: `{"sms.send": {"encoding": "form", "with": {"callback": {}}}}`, message: complete()},
	"form-pair-in-body":     {overlay: `{"sms.send": {"encoding": "form"}}`, pair: true, message: minimal()},
	"form-pair-dotted":      {overlay: `{"auth": {"keyPair": {"key": "auth.key", "secret": "auth.secret"}}, "sms.send": {"encoding": "form"}}`, pair: true, message: minimal()},
	"form-pair-in-query":    {overlay: `{"auth": {"keyPair": {"in": "query"}}, "sms.send": {"encoding": "form"}}`, pair: true, message: minimal()},
	"form-extra":            {overlay: `{"sms.send": {"encoding": "form"}}`, message: minimal(), extra: map[string]any{"z": "ü & +", "n": 1.5, "price": json.Number("1.50"), "big": uint64(math.MaxUint64), "flash": true, "a.b[0]": -7}},
	"query-default":         {overlay: `{"sms.send": {"encoding": "query"}}`, message: minimal()},
	"query-complete":        {overlay: `{"sms.send": {"encoding": "query"}}`, message: complete()},
	"query-empty":           {overlay: `{"sms.send": {"encoding": "query"}}`, message: &message{}},
	"query-reserved":        {overlay: `{"sms.send": {"encoding": "query"}}`, message: withText("a&b=c+d%e f;g#h?i/j\"k<l>\r\n100%s %20 %zz")},
	"query-scripts":         {overlay: `{"sms.send": {"encoding": "query"}}`, message: withText("Größe · 你好 · 😀 · \u2028\x00")},
	"query-renamed":         {overlay: `{"sms.send": {"encoding": "query", "fields": {"from": "sender.id", "to": "sms[to]"}}}`, message: complete()},
	"query-constants-with":  {overlay: `{"sms.send": {"encoding": "query", "constants": {"a": 1.50}, "with": {"callback": {"report": "yes"}}}}`, message: complete()},
	"query-pair-in-body":    {overlay: `{"sms.send": {"encoding": "query"}}`, pair: true, message: minimal()},
	"query-pair-in-query":   {overlay: `{"auth": {"keyPair": {"in": "query"}}, "sms.send": {"encoding": "query"}}`, pair: true, message: minimal()},
	"query-extra-and-pair":  {overlay: `{"sms.send": {"encoding": "query"}}`, pair: true, message: minimal(), extra: map[string]any{"flash": true}},
	"query-dropped-and-old": {overlay: `{"sms.send": {"encoding": "query", "fields": {"reference": ""}}}`, message: minimal(), extra: map[string]any{"referenceId": "the default name is free"}},
}

const (
	key    = "k-1 &\"<"
	secret = "p+ss=%w/ü"
)

func TestRequestsAreThoseOfTheGoldenFiles(t *testing.T) {
	for name, tt := range requests {
		t.Run(name, func(t *testing.T) {
			overlay := tt.overlay
			if overlay == "" {
				overlay = `{}`
			}
			c := parse(t, overlay)
			var pair codec.KeyPair
			if tt.pair {
				pair = pairOf(c, key, secret)
			}
			encoded := encode(t, compile(t, c, pair), tt.message, tt.extra)
			checkValues(t, c, tt.message, pair, tt.extra, encoded)

			readable := golden(overlay, encoded)
			file := filepath.Join("testdata", "requests", name+".golden")
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

func TestEveryGoldenFileHasItsRequest(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "requests", "*"))
	require.NoError(t, err)
	assert.Len(t, files, len(requests))
	for _, file := range files {
		assert.Contains(t, requests, strings.TrimSuffix(filepath.Base(file), ".golden"))
	}
}

// golden makes a request readable. What comes decoded is there for the reader; the line above it is what is sent.
func golden(overlay string, encoded codec.Encoded) string {
	var b strings.Builder
	section := func(name, value string, pairs bool) {
		if value == "" {
			value = "(none)"
		}
		fmt.Fprintf(&b, "%s:\n%s\n", name, value)
		if decoded, err := url.ParseQuery(value); pairs && err == nil && value != "(none)" {
			b.WriteString("decoded:\n")
			for _, pair := range slices.Sorted(slices.Values(strings.Split(value, "&"))) {
				name, _, _ := strings.Cut(pair, "=")
				name, _ = url.QueryUnescape(name)
				fmt.Fprintf(&b, "  %s = %+q\n", name, decoded[name])
			}
		}
		b.WriteString("\n")
	}
	section("contract", overlay, false)
	section("content type", encoded.ContentType, false)
	section("query", encoded.Query, true)
	section("body", string(encoded.Body), encoded.ContentType == "application/x-www-form-urlencoded")
	return strings.TrimSuffix(b.String(), "\n")
}

// checkValues reads a request back: everything stands under its name and nothing else is there, so that a golden file
// cannot hold a mistake that nobody saw.
func checkValues(t *testing.T, c contract.Contract, m *message, pair codec.KeyPair, extra map[string]any, encoded codec.Encoded) {
	t.Helper()
	send := c.SMSSend
	want := map[string]any{}
	for concept, value := range m.concepts() {
		if value != "" {
			want[namesOf(c)[concept]] = value
			maps.Copy(want, send.With[concept])
		}
	}
	maps.Copy(want, send.Constants)
	query := map[string]any{}
	if pair != nil {
		place, members := pair()
		in := want
		if place == contract.KeyPairInQuery {
			in = query
		}
		for _, member := range members {
			in[member.Name] = member.Value
		}
	}
	switch send.Encoding {
	case contract.EncodingJSON:
		assert.Equal(t, "application/json", encoded.ContentType)
		assert.Equal(t, formOf(t, query), parseForm(t, encoded.Query))
		assert.Equal(t, objectOf(t, want, extra), decode(t, encoded.Body))
		assertNamesComeOnce(t, encoded.Body)
		for _, c := range []string{`\u003c`, `\u003e`, `\u0026`} {
			assert.NotContains(t, string(encoded.Body), c, "an escape that only HTML needs")
		}
	case contract.EncodingForm:
		assert.Equal(t, "application/x-www-form-urlencoded", encoded.ContentType)
		assert.Equal(t, formOf(t, query), parseForm(t, encoded.Query))
		assert.Equal(t, formOf(t, want, extra), parseForm(t, string(encoded.Body)))
	case contract.EncodingQuery:
		assert.Empty(t, encoded.ContentType)
		assert.Empty(t, encoded.Body)
		assert.Equal(t, formOf(t, want, query, extra), parseForm(t, encoded.Query))
	}
}

func decode(t testing.TB, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	require.NoError(t, d.Decode(&value), "%s", raw)
	assert.False(t, d.More())
	return value
}

// objectOf nests the names of the contract; those of extra are taken as they are.
func objectOf(t *testing.T, names, extra map[string]any) any {
	t.Helper()
	object := map[string]any{}
	for name, value := range names {
		at, path := object, strings.Split(name, ".")
		for _, parent := range path[:len(path)-1] {
			if at[parent] == nil {
				at[parent] = map[string]any{}
			}
			child, ok := at[parent].(map[string]any)
			require.True(t, ok)
			at = child
		}
		at[path[len(path)-1]] = value
	}
	maps.Copy(object, extra)
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	return decode(t, raw)
}

func formOf(t *testing.T, all ...map[string]any) url.Values {
	t.Helper()
	values := url.Values{}
	for _, names := range all {
		for name, value := range names {
			values.Add(name, fmt.Sprint(value))
		}
	}
	return values
}

func parseForm(t *testing.T, raw string) url.Values {
	t.Helper()
	values, err := url.ParseQuery(raw)
	require.NoError(t, err)
	return values
}

func assertNamesComeOnce(t *testing.T, raw []byte) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var walk func()
	walk = func() {
		token, err := d.Token()
		require.NoError(t, err)
		delim, ok := token.(json.Delim)
		if !ok {
			return
		}
		seen := map[any]bool{}
		for d.More() {
			if delim == '{' {
				name, err := d.Token()
				require.NoError(t, err)
				assert.False(t, seen[name], "%v comes twice in %s", name, raw)
				seen[name] = true
			}
			walk()
		}
		_, err = d.Token()
		require.NoError(t, err)
	}
	walk()
}

func TestNumbersOfConstantsAreSentAsTheyAreWritten(t *testing.T) {
	for _, encoding := range []string{"json", "form", "query"} {
		for _, number := range []string{"1.50", "12345678901234567890", "0.1000", "1e400", "-0.0", "1E+2"} {
			c := parse(t, `{"sms.send": {"encoding": "`+encoding+`", "constants": {"n": `+number+`}}}`)
			encoded := encode(t, compile(t, c, nil), minimal(), nil)
			switch encoding {
			case "json":
				assert.Contains(t, string(encoded.Body), `"n":`+number+`}`)
			case "form":
				assert.Equal(t, number, parseForm(t, string(encoded.Body)).Get("n"))
			default:
				assert.Equal(t, number, parseForm(t, encoded.Query).Get("n"))
			}
		}
	}
}

func TestCallbackSurvivesEveryEncodingByteForByte(t *testing.T) {
	callbacks := []string{
		callback, "https://example.com/%s/%i?%tr", "https://example.com?a=%20b%2Fc%zz%", "https://example.com/?q=<\"'>&amp;\\u0026#f%d",
		"https://example.com/статус?х=你好+%2B",
	}
	read := map[string]func(*testing.T, codec.Encoded) string{
		`{}`: func(t *testing.T, e codec.Encoded) string {
			t.Helper()
			var body struct{ DLRCallback string }
			require.NoError(t, json.Unmarshal(e.Body, &body))
			return body.DLRCallback
		},
		`{"sms.send": {"fields": {"callback": "dlr.url"}}}`: func(t *testing.T, e codec.Encoded) string {
			t.Helper()
			var body struct{ DLR struct{ URL string } }
			require.NoError(t, json.Unmarshal(e.Body, &body))
			return body.DLR.URL
		},
		`{"sms.send": {"encoding": "form"}}`: func(t *testing.T, e codec.Encoded) string {
			t.Helper()
			return parseForm(t, string(e.Body)).Get("dlrCallback")
		},
		`{"sms.send": {"encoding": "query"}}`: func(t *testing.T, e codec.Encoded) string {
			t.Helper()
			return parseForm(t, e.Query).Get("dlrCallback")
		},
	}
	for overlay, get := range read {
		r := compile(t, parse(t, overlay), nil)
		for _, url := range callbacks {
			assert.Equal(t, url, get(t, encode(t, r, &message{CallbackURL: url, DLRReport: 1}, nil)), overlay)
		}
	}
}

var goFields = map[string]string{
	"from": "From", "to": "To", "text": "Text", "callback": "CallbackURL", "reference": "ReferenceID",
}

func TestUsingAFieldThatTheServiceLacksIsAProblemOfTheGoField(t *testing.T) {
	for _, encoding := range []string{"json", "form", "query"} {
		for concept, field := range goFields {
			t.Run(encoding+" "+field, func(t *testing.T) {
				r := compile(t, parse(t, `{"sms.send": {"encoding": "`+encoding+`", "fields": {"`+concept+`": ""}}}`), nil)
				encoded, problems := r.Encode(wire.Call{Body: complete(), Extra: nil})
				assert.Zero(t, encoded)
				require.Len(t, problems, 1)
				assert.Equal(t, field, problems[0].Field)
				assert.Contains(t, problems[0].Reason, "fields."+concept)
				assert.NotContains(t, problems[0].Reason, complete().concepts()[concept])
				assert.False(t, problems[0].Absent)
				assert.True(t, r.Lacks(complete(), field))

				unused := complete()
				switch concept {
				case "from":
					unused.From = ""
				case "to":
					unused.To = ""
				case "text":
					unused.Text = ""
				case "callback":
					unused.CallbackURL, unused.DLRReport = "", 0
				default:
					unused.ReferenceID = ""
				}
				encode(t, r, unused, nil)
			})
		}
	}
}

func TestEveryFieldThatTheServiceLacksIsNamed(t *testing.T) {
	for _, encoding := range []string{"json", "form", "query"} {
		r := compile(t, parse(t, `{"sms.send": {"encoding": "`+encoding+`", "fields": {"from": "", "to": "", "text": "", "callback": "", "reference": ""}}}`), nil)
		_, problems := r.Encode(wire.Call{Body: complete(), Extra: nil})
		assert.ElementsMatch(t, []string{"From", "To", "Text", "CallbackURL", "ReferenceID"}, fieldsOf(problems), encoding)
	}
}

func TestOnlyAFieldWithoutANameIsLacking(t *testing.T) {
	all := compile(t, contract.Default(), nil)
	renamed := compile(t, parse(t, `{"sms.send": {"fields": {"from": "sender.id", "text": ""}}}`), nil)
	for _, field := range goFields {
		assert.False(t, all.Lacks(&message{}, field), field)
		assert.Equal(t, field == "Text", renamed.Lacks(&message{}, field), field)
	}
	for _, field := range []string{"DLRReport", "Nothing", "text", ""} {
		assert.False(t, renamed.Lacks(&message{}, field), field)
	}
}

func fieldsOf(problems []wire.Problem) (fields []string) {
	for _, p := range problems {
		fields = append(fields, p.Field)
	}
	return fields
}

func TestExtraMayNotTakeANameOfTheContract(t *testing.T) {
	for name, tt := range map[string]struct {
		overlay string
		pair    bool
		extra   []string // collide
		free    []string
	}{
		"default names":               {overlay: `{}`, extra: []string{"from", "to", "text", "dlrCallback", "referenceId", "dlrReport"}, free: []string{"From", "sender", "apiKey", "apiSecret"}},
		"renamed field":               {overlay: `{"sms.send": {"fields": {"from": "sender"}}}`, extra: []string{"sender"}, free: []string{"from"}},
		"parent of a nested field":    {overlay: `{"sms.send": {"fields": {"from": "sender.id"}}}`, extra: []string{"sender"}, free: []string{"from", "id", "sender.id"}},
		"constant":                    {overlay: `{"sms.send": {"constants": {"app": 1}}}`, extra: []string{"app"}},
		"parent of a nested constant": {overlay: `{"sms.send": {"constants": {"app.name": 1}}}`, extra: []string{"app"}, free: []string{"name", "app.name"}},
		"member of with":              {overlay: `{"sms.send": {"with": {"callback": {"report": 1}, "reference": {"once.only": true}}}}`, extra: []string{"report", "once"}, free: []string{"dlrReport"}},
		"with dropped":                {overlay: `{"sms.send": {"with": {"callback": {}}}}`, free: []string{"dlrReport"}},
		"field dropped":               {overlay: `{"sms.send": {"fields": {"reference": ""}}}`, free: []string{"referenceId"}},
		"key pair in body":            {overlay: `{}`, pair: true, extra: []string{"apiKey", "apiSecret"}, free: []string{"apikey"}},
		"nested key pair":             {overlay: `{"auth": {"keyPair": {"key": "auth.key", "secret": "auth.secret"}}}`, pair: true, extra: []string{"auth"}, free: []string{"key", "apiKey"}},
		"form":                        {overlay: `{"sms.send": {"encoding": "form", "fields": {"from": "sender.id"}, "constants": {"app.name": 1}}}`, pair: true, extra: []string{"sender.id", "to", "app.name", "dlrReport", "apiKey", "apiSecret"}, free: []string{"sender", "from", "app"}},
		"query":                       {overlay: `{"auth": {"keyPair": {"in": "query"}}, "sms.send": {"encoding": "query", "fields": {"from": "sender[id]"}}}`, pair: true, extra: []string{"sender[id]", "apiKey", "apiSecret"}, free: []string{"sender", "from"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := parse(t, tt.overlay)
			var pair codec.KeyPair
			if tt.pair {
				pair = pairOf(c, key, secret)
			}
			r := compile(t, c, pair)
			for _, extra := range tt.extra {
				encoded, problems := r.Encode(wire.Call{Body: minimal(), Extra: map[string]any{extra: "v4lue", "other": 1}})
				assert.Zero(t, encoded)
				require.Equal(t, []string{`Extra["` + extra + `"]`}, fieldsOf(problems))
				assert.Contains(t, problems[0].Reason, "contract")
				assert.NotContains(t, problems[0].Reason, "v4lue")
			}
			for _, extra := range tt.free {
				encode(t, r, minimal(), map[string]any{extra: "v4lue"})
			}
			all := map[string]any{}
			for _, extra := range tt.extra {
				all[extra] = 1
			}
			_, problems := r.Encode(wire.Call{Body: minimal(), Extra: all})
			assert.Len(t, problems, len(tt.extra), "each collision is named")
			assert.True(t, slices.IsSorted(fieldsOf(problems)), "in a fixed order")
		})
	}
}

func TestExtraWithoutANameIsAProblem(t *testing.T) {
	for _, overlay := range []string{`{}`, `{"sms.send": {"fields": {"from": ""}}}`, `{"sms.send": {"encoding": "form"}}`, `{"sms.send": {"encoding": "query"}}`} {
		encoded, problems := compile(t, parse(t, overlay), nil).Encode(wire.Call{Body: &message{}, Extra: map[string]any{"": "v4lue"}})
		assert.Zero(t, encoded)
		require.Equal(t, []string{`Extra[""]`}, fieldsOf(problems), overlay)
		assert.Contains(t, problems[0].Reason, "name")
		assert.NotContains(t, problems[0].Reason, "v4lue")
	}
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("v4lue") }

func TestExtraThatIsNoJSONIsAProblemThatDoesNotRepeatTheValue(t *testing.T) {
	cycle := map[string]any{}
	cycle["self"] = cycle
	for _, overlay := range []string{`{}`, `{"sms.send": {"fields": {"from": "sender.id"}}}`} {
		r := compile(t, parse(t, overlay), nil)
		for _, value := range []any{
			make(chan int), func() {}, math.NaN(), math.Inf(1),
			failing{},
			map[string]any{"deep": failing{}},
			json.RawMessage(`{"v4lue`),
			json.Number("v4lue"), complex(1, 2), cycle,
		} {
			encoded, problems := r.Encode(wire.Call{Body: minimal(), Extra: map[string]any{"odd": value, "fine": 1, "odder": value}})
			assert.Zero(t, encoded)
			require.Equal(t, []string{`Extra["odd"]`, `Extra["odder"]`}, fieldsOf(problems), "%T", value)
			assert.NotContains(t, problems[0].Reason, "v4lue")
			assert.Contains(t, problems[0].Reason, "JSON")
		}
		encode(t, r, minimal(), nil) // and the next request is none the worse
	}
}

func TestFormHoldsWordsNumbersAndBooleansAlone(t *testing.T) {
	type word string
	type count int32
	type yes bool
	for _, encoding := range []string{"form", "query"} {
		r := compile(t, parse(t, `{"sms.send": {"encoding": "`+encoding+`"}}`), nil)
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
			encoded := encode(t, r, minimal(), map[string]any{"x": tt.value})
			raw := encoded.Query
			if encoding == "form" {
				raw = string(encoded.Body)
			}
			assert.Equal(t, []string{tt.want}, parseForm(t, raw)["x"], "%T", tt.value)
		}
		for _, value := range []any{
			nil,
			[]string{"v4lue"},
			map[string]string{"v4lue": "v4lue"},
			struct{ V string }{"v4lue"},
			&struct{}{}, []byte("v4lue"), json.RawMessage("1"),
			math.NaN(), math.Inf(-1), func() {}, make(chan int), complex(1, 2),
		} {
			encoded, problems := r.Encode(wire.Call{Body: minimal(), Extra: map[string]any{"x": value, "y": value}})
			assert.Zero(t, encoded)
			require.Equal(t, []string{`Extra["x"]`, `Extra["y"]`}, fieldsOf(problems), "%T", value)
			assert.Contains(t, problems[0].Reason, encoding)
			assert.NotContains(t, problems[0].Reason, "v4lue")
		}
	}
}

func TestConstantThatAFormCannotHoldIsRefusedWhenCompiled(t *testing.T) {
	for _, encoding := range []string{"form", "query"} {
		for place, overlay := range map[string]string{
			"constants.app":        `"constants": {"app": {"v4lue": 1}}`,
			"constants.tags":       `"constants": {"tags": ["v4lue"]}`,
			"with.callback.report": `"with": {"callback": {"report": ["v4lue"]}}`,
		} {
			c := parse(t, `{"sms.send": {"encoding": "`+encoding+`", `+overlay+`}}`)
			r, err := codec.CompileRequest(tableOf(c), tableOf(contract.Default()), nil)
			require.Error(t, err)
			assert.Nil(t, r)
			assert.ErrorContains(t, err, place)
			assert.ErrorContains(t, err, encoding)
			assert.NotContains(t, err.Error(), "v4lue")
		}
	}
}

func TestConstantSetInGoIsSentAsItsJSON(t *testing.T) {
	c := contract.Default()
	c.SMSSend.Constants = map[string]any{"n": 7, "list": []int{1, 2}, "word": "<&>", "on": true}
	assert.JSONEq(t, `{"to":"12345","list":[1,2],"n":7,"on":true,"word":"<&>"}`, string(encode(t, compile(t, c, nil), &message{To: "12345"}, nil).Body))

	c.SMSSend.Constants = map[string]any{"odd": func() {}}
	_, problems := compile(t, c, nil).Encode(wire.Call{Body: minimal(), Extra: nil})
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].Reason, "odd")
}

func TestSameRequestIsWrittenTheSameEachTime(t *testing.T) {
	for _, overlay := range []string{
		`{}`, `{"sms.send": {"encoding": "form"}}`, `{"sms.send": {"encoding": "query"}}`,
		`{"sms.send": {"fields": {"from": "a.b", "to": "a.c"}, "constants": {"z": 1, "y": {"b": 1, "a": 2}, "x.y": 1}, "with": {"callback": {"m": 1, "l": 2}, "reference": {"k": 1, "j": 2}}}}`,
	} {
		c := parse(t, overlay)
		var first codec.Encoded
		for i := range 30 {
			extra := map[string]any{"e": 1, "d": "2", "c": true, "bb": 4, "aa": 5}
			encoded := encode(t, compile(t, c, pairOf(c, key, secret)), complete(), extra)
			if i == 0 {
				first = encoded
			}
			require.Equal(t, first, encoded)
		}
	}
}

func TestMembersBesideAMessageAreSorted(t *testing.T) {
	encoded := encode(t, compile(t, contract.Default(), nil), &message{To: "12345"}, map[string]any{"c": 1, "a": 2, "b": 3, "B": 4})
	assert.Equal(t, `{"B":4,"a":2,"b":3,"c":1,"to":"12345"}`, string(encoded.Body))
}

func TestRequestsAreWrittenByManyAtOnce(t *testing.T) {
	for _, overlay := range []string{`{}`, `{"sms.send": {"fields": {"text": "sms.text"}}}`, `{"sms.send": {"encoding": "form"}}`} {
		c := parse(t, overlay)
		for name, tt := range map[string]struct {
			pair  codec.KeyPair
			extra map[string]any
		}{"alone": {}, "beside a key pair": {pair: pairOf(c, key, secret)}, "beside extra": {extra: map[string]any{"n": 1}}} {
			r := compile(t, c, tt.pair)
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					text := strings.Repeat(strconv.Itoa(i), 100*i+1)
					first, problems := r.Encode(wire.Call{Body: withText(text), Extra: tt.extra})
					if !assert.Empty(t, problems) || !assert.Contains(t, string(first.Body), text) {
						return
					}
					kept := string(first.Body)
					for range 50 {
						again, _ := r.Encode(wire.Call{Body: withText(text), Extra: tt.extra})
						assert.Equal(t, kept, string(again.Body), name)
					}
				})
			}
			all.Wait()
		}
	}
}

func TestRequestIsNotWrittenOverByTheNextOne(t *testing.T) {
	for _, overlay := range []string{`{}`, `{"sms.send": {"fields": {"text": "sms.text"}}}`, `{"sms.send": {"encoding": "form"}}`} {
		r := compile(t, parse(t, overlay), nil)
		for _, extra := range []map[string]any{nil, {"n": 1}} {
			first := encode(t, r, withText("first"), extra)
			kept := string(first.Body)
			for range 20 {
				encode(t, r, withText("after"), extra)
			}
			assert.Equal(t, kept, string(first.Body), overlay)
		}
	}
}

func TestRequestLeavesMessageAndExtraAsTheyAre(t *testing.T) {
	for _, overlay := range []string{`{}`, `{"sms.send": {"fields": {"text": "sms.text"}}}`, `{"sms.send": {"encoding": "form"}}`} {
		m, extra := complete(), map[string]any{"a": 1, "b": "x"}
		encode(t, compile(t, parse(t, overlay), nil), m, extra)
		assert.Equal(t, complete(), m)
		assert.Equal(t, map[string]any{"a": 1, "b": "x"}, extra)
	}
}

func TestBodyThatIsNoJSONIsAProblemThatDoesNotRepeatIt(t *testing.T) {
	type odd struct {
		From string   `json:"from,omitzero"`
		Text *failing `json:"text"`
	}
	for _, overlay := range []string{`{}`, `{"sms.send": {"fields": {"text": "sms.text"}}}`} {
		r := compile(t, parse(t, overlay), nil)
		encoded, problems := r.Encode(wire.Call{Body: &odd{From: "ACME", Text: &failing{}}, Extra: nil})
		assert.Zero(t, encoded)
		require.Len(t, problems, 1)
		assert.NotContains(t, problems[0].Reason, "v4lue")
		encode(t, r, minimal(), nil) // and the next request is none the worse
	}
}

func TestFieldsThatTheContractDoesNotKnowKeepTheirNames(t *testing.T) {
	type wider struct {
		Text   string            `json:"text,omitzero" url:"text,omitempty"`
		Dotted string            `json:"a.b,omitzero"  url:"a.b,omitempty"`
		Nested map[string]string `json:"n,omitzero"    url:"-"`
	}
	m := &wider{Text: "t", Dotted: "d", Nested: map[string]string{"x.y": "<z>"}}
	r := compile(t, parse(t, `{"sms.send": {"fields": {"text": "sms.text"}}}`), nil)
	encoded, problems := r.Encode(wire.Call{Body: m, Extra: nil})
	require.Empty(t, problems)
	assert.Equal(t, `{"sms":{"text":"t"},"a.b":"d","n":{"x.y":"<z>"}}`, string(encoded.Body))

	r = compile(t, parse(t, `{"sms.send": {"encoding": "query", "fields": {"text": "sms.text"}}}`), nil)
	encoded, problems = r.Encode(wire.Call{Body: m, Extra: nil})
	require.Empty(t, problems)
	assert.Equal(t, "a.b=d&sms.text=t", encoded.Query)
}

func TestKeyPairIsPrintedByNoVerb(t *testing.T) {
	c := contract.Default()
	pair := pairOf(c, "v4lue", "v4lue")
	for _, value := range []any{pair, struct{ Pair codec.KeyPair }{pair}, *compile(t, c, pair), compile(t, c, pair)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			printed := fmt.Sprintf(verb, value)
			assert.NotContains(t, printed, "v4lue", verb)
			assert.NotContains(t, printed, fmt.Sprintf("%x", "v4lue"), verb)
		}
	}
}

func TestEveryProblemOfARequestIsToldAtOnce(t *testing.T) {
	r := compile(t, parse(t, `{"sms.send":{"fields":{"reference":""}}}`), nil)
	_, problems := r.Encode(wire.Call{Body: &message{From: "A", To: "12345", Text: "x", ReferenceID: "r"}, Extra: map[string]any{"from": 1, "f": func() {}, "s": "\xff", "\xff": 1}})
	assert.Equal(t, []string{"ReferenceID", `Extra["f"]`, `Extra["from"]`, `Extra["s"]`, `Extra["\xff"]`}, fieldsOf(problems))
}
