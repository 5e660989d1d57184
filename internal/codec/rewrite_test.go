package codec_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

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
