package codec_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// FuzzRewrite writes any message under any names that a contract takes, and reads it back: it is valid, everything
// stands under its name, and nothing else is there.
func FuzzRewrite(f *testing.F) {
	for _, seed := range []struct {
		encoding                                     uint8
		pair                                         bool
		from, to, text, callback, reference          string // names
		sender, number, message, url, own            string // values
		constant, constantValue, key, secret, member string
	}{
		{0, false, "from", "to", "text", "dlrCallback", "referenceId", "ACME", "12345", "hi", "https://example.com/%s", "17", "app", "x", "apiKey", "apiSecret", "flash"},
		{0, true, "sender.id", "sms.to", "sms.text", "dlr.url", "sms.ref", "ACME", "12345", "a<b>&\"\\\n\u2028", "https://example.com/%s", "", "sms.app", "\xff", "auth.key", "auth.secret", "sms"},
		{0, true, "to", "from", "", "", "空 \"", "ACME", "12345", "", "", "x", "a\\b", "", "k", "s", "a.b"},
		{0, false, "<", ">", "&", "\u2028", "\ufffd", "\x00", "\xff\xfe", "\ud7ff", "%", "{}", "[]", "null", "k", "s", "\xff"},
		{1, true, "sender.id", "to[]", "te&xt", "a=b", "c d", "a&b=c+d %", "\x00", "你好", "https://example.com/?%s&a=b+c", "", "e+f", "g%", "k", "s", "x"},
		{2, true, "from", "from.x", "text", "cb", "", "ACME", "+1", ";", "#", "", "app", "x", "k", "s", "x&y"},
	} {
		f.Add(seed.encoding, seed.pair, seed.from, seed.to, seed.text, seed.callback, seed.reference,
			seed.sender, seed.number, seed.message, seed.url, seed.own, seed.constant, seed.constantValue, seed.key, seed.secret, seed.member)
	}
	f.Fuzz(func(t *testing.T, encoding uint8, pair bool, from, to, text, callback, reference,
		sender, number, content, callbackURL, own, constant, constantValue, keyName, secretName, extraName string,
	) {
		c := contract.Default()
		c.SMSSend.Encoding = []contract.Encoding{contract.EncodingJSON, contract.EncodingForm, contract.EncodingQuery}[encoding%3]
		c.SMSSend.Fields = contract.SMSSendFields{From: from, To: to, Text: text, Callback: callback, Reference: reference}
		c.SMSSend.Constants = map[string]any{constant: constantValue}
		c.Auth.KeyPair = contract.KeyPair{In: contract.KeyPairInBody, Key: keyName, Secret: secretName}
		if c.Validate() != nil {
			return // not a contract
		}
		var credentials codec.KeyPair
		if pair {
			credentials = pairOf(c, "k", "s")
		}
		r, err := codec.CompileRequest(tableOf(c), tableOf(contract.Default()), credentials)
		if err != nil {
			t.Fatal(err)
		}
		m := &message{From: sender, To: number, Text: content, CallbackURL: callbackURL, ReferenceID: own}
		if callbackURL != "" {
			m.DLRReport = 1
		}
		lacking := map[string]bool{}
		want := map[string]string{constant: constantValue}
		for concept, value := range m.concepts() {
			switch name := namesOf(c)[concept]; {
			case value == "":
			case name == "":
				lacking[goFields[concept]] = true
			default:
				want[name] = value
			}
		}
		if callbackURL != "" {
			want["dlrReport"] = "1"
		}
		if pair {
			want[keyName], want[secretName] = "k", "s"
		}
		encoded, problems := r.Encode(wire.Call{Body: m, Extra: nil})
		if len(problems) != len(lacking) {
			t.Fatalf("problems %v, want one for each of %v", problems, lacking)
		}
		for _, p := range problems {
			if !lacking[p.Field] {
				t.Errorf("a problem of %s, which the service has", p.Field)
			}
		}
		if len(problems) == 0 {
			readBack(t, c, encoded, want)
		}
		encoded, problems = r.Encode(wire.Call{Body: m, Extra: map[string]any{extraName: extraName}})
		if len(problems) == 0 && c.SMSSend.Encoding == contract.EncodingJSON && !json.Valid(encoded.Body) {
			t.Errorf("not JSON: %q", encoded.Body)
		}
	})
}

func readBack(t *testing.T, c contract.Contract, encoded codec.Encoded, want map[string]string) {
	t.Helper()
	if c.SMSSend.Encoding != contract.EncodingJSON {
		raw := encoded.Query
		if c.SMSSend.Encoding == contract.EncodingForm {
			raw = string(encoded.Body)
		}
		values, err := url.ParseQuery(raw)
		if err != nil || len(values) != len(want) {
			t.Fatalf("%q: %v, want %q", raw, err, want)
		}
		for name, value := range want {
			if got := values[name]; len(got) != 1 || got[0] != value {
				t.Errorf("%q: %q is %q, want %q", raw, name, got, value)
			}
		}
		return
	}
	var body map[string]any
	if err := json.Unmarshal(encoded.Body, &body); err != nil {
		t.Fatalf("%q: %v", encoded.Body, err)
	}
	found := 0
	for name, value := range want {
		at, path := any(body), strings.Split(name, ".")
		for _, part := range path {
			object, ok := at.(map[string]any)
			if !ok {
				t.Fatalf("%q: nothing at %q", encoded.Body, name)
			}
			at = object[part]
		}
		if number, ok := at.(float64); ok && name == "dlrReport" && number == 1 {
			at = "1"
		}
		if at != asJSON(value) {
			t.Errorf("%q: %q is %q, want %q", encoded.Body, name, at, value)
		}
		found++
	}
	if leaves := count(body); leaves != found {
		t.Errorf("%q: %d values, want %d", encoded.Body, leaves, found)
	}
}

// asJSON is what encoding/json makes of a text that is not UTF-8; package sms lets none through.
func asJSON(text string) string { return string([]rune(text)) }

func count(value any) int {
	object, ok := value.(map[string]any)
	if !ok {
		return 1
	}
	n := 0
	for _, member := range object {
		n += count(member)
	}
	return n
}

// FuzzRewriteMessage writes any message in the shape of another platform under any contract: either a problem names what
// collides, or the request is valid, everything stands under its name, and nothing else is there.
func FuzzRewriteMessage(f *testing.F) {
	for _, seed := range []struct {
		encoding, unit                                       uint8
		pair                                                 bool
		wrap, ttl, from, text, callback, reference, constant string // names
		key, secret                                          string
		message, extra, value, own                           string
		seconds                                              int64
	}{
		{0, 0, false, "", "ttl", "sms_from", "sms_text", "dlrCallback", "referenceId", "app", "apiKey", "apiSecret", `{"to":"12345","type":"text","text":{"body":"<&>"}}`, "extra", "v", "order-17", 60},
		{0, 1, true, "message", "ttl", "sms_from", "sms_text", "dlrCallback", "referenceId", "app", "apiKey", "apiSecret", `{"ttl":{"ttl":1},"app":[1.50,null,"<&>"]}`, "sms_from", "v", "", 61},
		{0, 2, true, "payload.message", "payload.ttl", "sms.from", "sms.text", "dlr.url", "payload.meta.ref", "payload.v", "auth.key", "auth.secret", `{"payload":1,"a.b":2,"":3}`, "sms", "v", "r", 120},
		{0, 0, true, "", "to.ttl", "a.b", "a.c", "", "", "d", "e", "f", `{"to":1,"a.b":2,"e":3}`, "a", "v", "", 0},
		{1, 0, true, "", "ttl", "sms_from", "sms_text", "dlrCallback", "referenceId", "app", "apiKey", "apiSecret", `{"to":"a&b=c","n":1e999,"o":{"z":[{}],"a":"\u2028"},"none":null}`, "a.b", "c&d", "order-17", 3600},
		{1, 1, false, "m[0]", "a.b", "a", "a.b.c", "空 к", "<", "&", "k", "s", `{"":{},"=":"="}`, "&", "", "\x00", 1},
		{2, 2, true, "m", "ttl", "", "", "", "", "x", "k", "s", `{}`, "m", "v", "", 60},
		{2, 0, true, "", "", "to", "type", "text", "context", "recipient", "k", "s", `{"to":1,"ttl":2}`, "k", "v", "r", 5},
	} {
		f.Add(seed.encoding, seed.unit, seed.pair, seed.wrap, seed.ttl, seed.from, seed.text, seed.callback, seed.reference, seed.constant,
			seed.key, seed.secret, seed.message, seed.extra, seed.value, seed.own, seed.seconds)
	}
	f.Fuzz(func(t *testing.T, encoding, unit uint8, pair bool, wrap, ttl, from, text, callback, reference, constant,
		keyName, secretName, message, extraName, extraValue, own string, seconds int64,
	) {
		c := contract.Default()
		send := &c.ChatApp2Send
		send.Encoding = []contract.Encoding{contract.EncodingJSON, contract.EncodingForm, contract.EncodingQuery}[encoding%3]
		send.TTL = []contract.TTLUnit{contract.TTLSeconds, contract.TTLMilliseconds, contract.TTLMinutes}[unit%3]
		send.Fields = contract.ChatApp2SendFields{TTL: ttl, FallbackFrom: from, FallbackText: text, Callback: callback, Reference: reference}
		send.Wrap, send.Constants = wrap, map[string]any{constant: "always"}
		c.Auth.KeyPair = contract.KeyPair{In: contract.KeyPairInBody, Key: keyName, Secret: secretName}
		var members map[string]any
		if c.Validate() != nil || decoded(message, &members) != nil || members == nil {
			return
		}
		if _, twice := members[extraName]; twice || !isText(extraName, extraValue, own) {
			return // the channel lets none through
		}
		lifetime := time.Duration(max(0, seconds%1e6)) * 100 * time.Millisecond
		d := wire.NewDelivery(lifetime, "https://example.com/%s", own).WithFallback("A", "B")
		call := wire.Call{
			Op: wire.ChatApp2Send, Body: &service{d}, TTL: lifetime, Message: unescaped(t, members), Extra: map[string]any{extraName: extraValue},
		}
		var credentials codec.KeyPair
		if pair {
			credentials = pairOf(c, "k", "s")
		}
		encoded, problems := compileFor(t, c, wire.ChatApp2Send, credentials).Encode(call)
		want := refused(c, call, pair)
		got := fieldsOf(problems)
		slices.Sort(got)
		require.Equal(t, want, got, "%+v", problems)
		if len(want) > 0 {
			require.Zero(t, encoded)
			return
		}
		if send.Encoding == contract.EncodingJSON {
			require.True(t, json.Valid(encoded.Body), "%q", encoded.Body)
		}
		checkCall(t, tableFor(c, wire.ChatApp2Send), call, credentials, encoded)
	})
}

// decoded reads a document, numbers as they are written.
func decoded(text string, to any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(to)
}

// isText tells that encoding/json would change nothing.
func isText(all ...string) bool {
	return !slices.ContainsFunc(all, func(s string) bool { return strings.ToValidUTF8(s, "") != s })
}

// refused gives the fields of the problems that a call must have under a contract, sorted: the rules once more,
// without what makes them fast.
func refused(c contract.Contract, call wire.Call, pair bool) []string {
	send := c.ChatApp2Send
	f := send.Fields
	names := append(slices.Collect(maps.Keys(send.Constants)), f.TTL, f.FallbackFrom, f.FallbackText, f.Callback, f.Reference, "dlrReport")
	if pair {
		names = append(names, c.Auth.KeyPair.Key, c.Auth.KeyPair.Secret)
	}
	collides := func(key string) bool {
		return send.Wrap == "" && slices.ContainsFunc(names, func(name string) bool {
			if send.Encoding == contract.EncodingJSON {
				name, _, _ = strings.Cut(name, ".") // the member in which it stands
			}
			return name != "" && name == key
		})
	}
	var fields []string
	d := call.Body.(*service).Delivery
	for field, unnamed := range map[string]bool{
		"TTL": d.TTL != 0 && f.TTL == "", "Fallback.From": f.FallbackFrom == "", "Fallback.Text": f.FallbackText == "",
		"CallbackURL": f.Callback == "", "ReferenceID": d.ReferenceID != "" && f.Reference == "",
	} {
		if unnamed {
			fields = append(fields, field)
		}
	}
	if call.TTL%units[send.TTL] != 0 {
		fields = append(fields, "TTL")
	}
	for name := range call.Extra {
		if name == "" || collides(name) {
			fields = append(fields, `Extra[`+strconv.Quote(name)+`]`)
		}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(call.Message, &members) == nil {
		for key := range members {
			if collides(key) {
				fields = append(fields, "Message")
			}
		}
	}
	slices.Sort(fields)
	return fields
}
