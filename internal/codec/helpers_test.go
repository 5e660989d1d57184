package codec_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
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

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	key      = "k-1 &\"<"
	secret   = "p+ss=%w/ü"
	callback = "https://example.com/dlr?id=%i&s=%s&kind=%tr&rate=100%&a=b+c&sum=%25d%20x"
	odd      = `1 < 2 && 3 > 2; <b>"quoted"</b> \ / ' 你好 😀` + "\u2028\n\x01"
)

// parsed are the tables of overlays, which never change: many tests use the same.
var parsed sync.Map

func parse(t testing.TB, overlay string) *table.Table {
	t.Helper()
	if overlay == "" {
		overlay = `{}`
	}
	if known, ok := parsed.Load(overlay); ok {
		return known.(*table.Table)
	}
	c, err := contract.Parse([]byte(overlay))
	require.NoError(t, err, overlay)
	parsed.Store(overlay, table.Of(c))
	return table.Of(c)
}

// operation returns a send by its key in the contract.
var sendURL = &url.URL{Scheme: "https", Host: "api.example.com", Path: "/send"}

func operation(c *table.Table, name string) *table.Send {
	return map[string]*table.Send{"sms.send": &c.SMSSend, "chatapp1.send": &c.ChatApp1Send, "chatapp2.send": &c.ChatApp2Send}[name]
}

func pairOf(key, secret string) codec.KeyPair {
	return func() (string, string) { return key, secret }
}

// message describes itself as a channel package does.
type message interface {
	op() string
	call() wire.Call
}

func compile(t testing.TB, overlay string, op string, withPair bool) *codec.Send {
	t.Helper()
	c := parse(t, overlay)
	var pair codec.KeyPair
	if withPair {
		pair = pairOf(key, secret)
	}
	return codec.CompileSend(c, operation(c, op), sendURL, pair)
}

// encode writes a message under an overlay, without credentials.
func encode(t testing.TB, overlay string, m message) (codec.Request, []wire.Problem) {
	t.Helper()
	return compile(t, overlay, m.op(), false).Encode(m.call(), false)
}

// written is encode for a message without problems.
func written(t testing.TB, overlay string, m message) codec.Request {
	t.Helper()
	request, problems := encode(t, overlay, m)
	require.Empty(t, problems, overlay)
	return request
}

func fieldsOf(problems []wire.Problem) (fields []string) {
	for _, p := range problems {
		fields = append(fields, p.Field)
	}
	return fields
}

// text is an SMS.
type text struct {
	From, To, Text, CallbackURL, ReferenceID string
	Extra                                    map[string]any
}

func (text) op() string { return "sms.send" }

func (m text) call() wire.Call {
	return wire.Call{
		Fields: []wire.Field{
			{Concept: "from", Name: "From", Text: m.From},
			{Concept: "to", Name: "To", Text: m.To},
			{Concept: "text", Name: "Text", Text: m.Text},
			{Concept: "callback", Name: "CallbackURL", Text: m.CallbackURL},
			{Concept: "reference", Name: "ReferenceID", Text: m.ReferenceID},
		},
		Extra: m.Extra,
	}
}

func minimal() text { return text{From: "ACME", To: "+639171234567", Text: "Your order 17 is ready"} }

func complete() text {
	m := minimal()
	m.CallbackURL, m.ReferenceID = callback, "order-17"
	return m
}

func withText(s string) text {
	m := minimal()
	m.Text = s
	return m
}

func (m text) with(extra map[string]any) text {
	m.Extra = extra
	return m
}

// delivery is what a chat-app message has beside its payload.
type delivery struct {
	ttl                 time.Duration
	fallback            bool
	callback, reference string
}

var everything = delivery{10 * time.Minute, true, callback, "order-17"}

func (d delivery) fields() []wire.Field {
	from, text := "", ""
	if d.fallback {
		from, text = "ACME", "Your order 17 is ready <&>"
	}
	return []wire.Field{
		{Concept: "ttl", Name: "TTL", Value: d.ttl},
		{Concept: "fallbackFrom", Name: "Fallback.From", Text: from},
		{Concept: "fallbackText", Name: "Fallback.Text", Text: text},
		{Concept: "callback", Name: "CallbackURL", Text: d.callback},
		{Concept: "reference", Name: "ReferenceID", Text: d.reference},
	}
}

// one is a message of chat app 1.
type one struct {
	payload  []wire.Field
	extra    map[string]any
	delivery delivery
}

func (one) op() string { return "chatapp1.send" }

func (m one) call() wire.Call {
	fields := []wire.Field{{Concept: "channel", Name: "ChannelID", Text: "channel-1"}, {Concept: "to", Name: "To", Text: "+639171234567"}}
	return wire.Call{Fields: slices.Concat(fields, m.payload, m.delivery.fields()), Extra: m.extra, ExtraField: "Payload.Fields"}
}

func (m one) with(d delivery) one {
	m.delivery = d
	return m
}

func text1(body string) one {
	return one{payload: []wire.Field{{Concept: "text", Name: "Payload.Body", Text: body}}}
}

func image1(url string) one {
	return one{payload: []wire.Field{{Concept: "image", Name: "Payload.URL", Text: url}}}
}

func video1(url, thumbnail string, duration time.Duration, size int64) one {
	return one{payload: []wire.Field{
		{Concept: "video", Name: "Payload.URL", Text: url},
		{Concept: "thumbnail", Name: "Payload.ThumbnailURL", Text: thumbnail},
		{Concept: "duration", Name: "Payload.Duration", Value: duration},
		{Concept: "size", Name: "Payload.Size", Value: size},
	}}
}

func button1(body, image, caption, url string) one {
	return one{payload: []wire.Field{
		{Concept: "text", Name: "Payload.Text", Text: body},
		{Concept: "image", Name: "Payload.ImageURL", Text: image},
		{Concept: "caption", Name: "Payload.Caption", Text: caption},
		{Concept: "url", Name: "Payload.URL", Text: url},
	}}
}

func template1(id, language string, params map[string]string) one {
	return one{payload: []wire.Field{
		{Concept: "template", Name: "Payload.ID", Text: id},
		{Concept: "params", Name: "Payload.Params", Value: params},
		{Concept: "language", Name: "Payload.Language", Text: language},
	}}
}

func raw1(fields map[string]any) one { return one{extra: fields} }

// two is a message of chat app 2: an object in the shape of the platform.
type two struct {
	object   string
	extra    map[string]any
	delivery delivery
}

func (two) op() string { return "chatapp2.send" }

func (m two) call() wire.Call {
	members := []wire.Member{}
	d := json.NewDecoder(strings.NewReader(m.object))
	_, _ = d.Token()
	for d.More() {
		name, _ := d.Token()
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			panic(err)
		}
		members = append(members, wire.Member{Name: name.(string), Value: value})
	}
	return wire.Call{Members: members, Fields: m.delivery.fields(), Extra: m.extra, ExtraField: "Extra"}
}

func (m two) with(d delivery) two {
	m.delivery = d
	return m
}

func (m two) adding(extra map[string]any) two {
	m.extra = extra
	return m
}

// typed2 returns a message with a value under the name of its type.
func typed2(kind, value string) two {
	return two{object: `{"messaging_product":"whatsapp","to":"+639171234567","type":"` + kind + `","` + kind + `":` + value + `}`}
}

func text2(body string) two {
	raw, _ := wire.Encode(body)
	return typed2("text", `{"body":`+string(raw)+`}`)
}

// checkGolden compares a text with a golden file, or writes it.
func checkGolden(t *testing.T, folder, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", folder, name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update")
	assert.Equal(t, string(want), text)
}

// checkGoldenFiles finds golden files that nothing writes.
func checkGoldenFiles[V any](t *testing.T, folder string, cases map[string]V) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*"))
	require.NoError(t, err)
	assert.Len(t, files, len(cases))
	for _, file := range files {
		_, ok := cases[strings.TrimSuffix(filepath.Base(file), ".golden")]
		assert.True(t, ok, file)
	}
}

// readable returns a request as a golden file holds it, without empty sections. The decoded lines are for the reader.
func readable(overlay, contentType string, request codec.Request) string {
	var b strings.Builder
	section := func(name, value string, pairs bool) {
		if value == "" {
			return
		}
		fmt.Fprintf(&b, "%s:\n%s\n", name, value)
		if decoded, err := url.ParseQuery(value); pairs && err == nil {
			b.WriteString("decoded:\n")
			for _, pair := range slices.Sorted(slices.Values(strings.Split(value, "&"))) {
				name, _, _ := strings.Cut(pair, "=")
				name, _ = url.QueryUnescape(name)
				fmt.Fprintf(&b, "  %s = %+q\n", name, decoded[name])
			}
		}
		b.WriteString("\n")
	}
	section("contract", strings.Join(strings.Fields(overlay), " "), false)
	section("content type", contentType, false)
	section("query", request.URL.RawQuery, true)
	section("body", string(request.Body), contentType == "application/x-www-form-urlencoded")
	return strings.TrimSuffix(b.String(), "\n")
}

// expected returns what a request must hold: under names of the contract, in which a dot may nest, under names in which it does
// not, and in the query.
func expected(t *testing.T, c *table.Table, m message, pair codec.KeyPair) (names, literal, query map[string]any) {
	t.Helper()
	op, call := operation(c, m.op()), m.call()
	names, literal, query = map[string]any{}, map[string]any{}, map[string]any{}
	for _, f := range call.Fields {
		var value any
		switch v := f.Value.(type) {
		case nil:
			value = f.Text
		case time.Duration:
			unit := "s"
			if f.Concept == "ttl" {
				unit = op.TTL
			}
			units := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute}
			value = json.Number(strconv.FormatInt(int64(v/units[unit]), 10))
		case int64:
			value = json.Number(strconv.FormatInt(v, 10))
		case map[string]string:
			if value = ""; len(v) > 0 {
				raw, err := wire.Encode(v)
				require.NoError(t, err)
				value = json.RawMessage(raw)
			}
		}
		if value != "" && value != json.Number("0") {
			names[op.Fields[f.Concept]] = value
			maps.Copy(names, op.FieldConstants[f.Concept])
		}
	}
	maps.Copy(names, op.Constants)
	ofText := "gsm"
	if strings.Contains(fmt.Sprint(names[op.Fields["text"]]), "мир") { // the only text of the tests that has constants of its own
		ofText = "unicode"
	}
	maps.Copy(names, op.FieldConstants[ofText])
	for _, member := range call.Members {
		literal[member.Name] = member.Value
	}
	maps.Copy(literal, call.Extra)
	if op.Wrap != nil && *op.Wrap != "" {
		names[*op.Wrap] = literal
		literal = map[string]any{}
	}
	if pair != nil {
		to, place := names, c.Auth.KeyPair
		if place.In == "query" && op.Encoding != "query" {
			to = query
		}
		to[place.Key], to[place.Secret] = pair()
	}
	return names, literal, query
}

// checkRequest reads a request back: everything stands under its name, and nothing else is there.
func checkRequest(t *testing.T, c *table.Table, m message, pair codec.KeyPair, request codec.Request) {
	t.Helper()
	op := operation(c, m.op())
	names, literal, query := expected(t, c, m, pair)
	raw := request.URL.RawQuery
	switch op.Encoding {
	case "json":
		assert.Equal(t, "application/json", codec.ContentType(op.Encoding))
		assert.Equal(t, formOf(t, query), parseForm(t, request.URL.RawQuery))
		assert.Equal(t, objectOf(t, names, literal), decode(t, request.Body))
		assertNamesComeOnce(t, request.Body)
		for _, c := range []string{`\u003c`, `\u003e`, `\u0026`} {
			assert.NotContains(t, string(request.Body), c, "an escape that only HTML needs")
		}
		return
	case "form":
		assert.Equal(t, "application/x-www-form-urlencoded", codec.ContentType(op.Encoding))
		assert.Equal(t, formOf(t, query), parseForm(t, request.URL.RawQuery))
		raw = string(request.Body)
	default:
		assert.Empty(t, codec.ContentType(op.Encoding))
		assert.Empty(t, request.Body)
	}
	got := parseForm(t, raw)
	if op.Wrap != nil && *op.Wrap != "" {
		inside, err := wire.Encode(names[*op.Wrap])
		require.NoError(t, err)
		assert.Equal(t, decode(t, inside), decode(t, []byte(got.Get(*op.Wrap))), "the message under its key")
		assertNamesComeOnce(t, []byte(got.Get(*op.Wrap)))
		names[*op.Wrap] = got.Get(*op.Wrap)
	}
	assert.Equal(t, formOf(t, names, literal), got)
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

// objectOf nests the names of the contract. Literal names are taken as they are.
func objectOf(t *testing.T, names, literal map[string]any) any {
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
	for name, value := range object {
		object[name] = listsOf(value)
	}
	maps.Copy(object, literal)
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	return decode(t, raw)
}

// listsOf turns objects whose names are positions into lists, with null at a position that is not there.
func listsOf(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	var list []any
	for name, member := range object {
		object[name] = listsOf(member)
		position, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		for len(list) <= position {
			list = append(list, nil)
		}
		list[position] = object[name]
	}
	if list != nil {
		return list
	}
	return object
}

// formOf returns values as a form holds them: a text without quotes, anything else as its JSON.
func formOf(t *testing.T, all ...map[string]any) url.Values {
	t.Helper()
	values := url.Values{}
	for _, names := range all {
		for name, value := range names {
			raw, ok := value.(json.RawMessage)
			if !ok {
				values.Add(name, fmt.Sprint(value))
			} else if text, ok := decode(t, raw).(string); ok {
				values.Add(name, text)
			} else {
				values.Add(name, string(raw))
			}
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
