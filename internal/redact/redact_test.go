package redact_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/internal/redact"
)

// secrets holds one of each kind.
func secrets() *redact.Secrets {
	s := new(redact.Secrets)
	s.AddText("+639171234567")
	s.AddText("Ana, your pin is 4711")
	s.AddValue(map[string]any{"type": "template", "rows": []any{json.Number("7"), "Weißbier"}})
	s.AddValue(func() {}) // which has no JSON
	s.AddCredential("key-abcdef")
	s.AddRequest(&http.Request{
		Header: http.Header{"Authorization": {"Basic dXNlci1hYmM6c2VjLWFiY2RlZg=="}, "X-Token": {"tok-abcdef"}, "User-Agent": {"messaging-go/1"}},
		URL:    &url.URL{RawQuery: "nonce=nonce-abcdef&page=1"},
	})
	return s
}

func TestMask(t *testing.T) {
	t.Parallel()
	s := secrets()
	for sentence, want := range map[string]string{
		"": "", "Sender is not registered": "Sender is not registered", "code 4712": "code 4712", "template not approved": "template not approved",
		"messaging-go/1 is too old": "messaging-go/1 is too old", "page 1": "page 1", "the pins": "the pins", "no such user": "no such user",
		"639171234567": "", "917 123 4567 is wrong": "*** *** *** is wrong", "1234567": "", "of 98765": "of 98765", "1-2-3-4-5-6-7 is": "*** is",
		"no ١٢٣٤": "no ***", "not for ana, your pin is 4711": "not for ana, *** pin is ***", "YOUR order": "*** order",
		"weißbier is out": "*** is out", "code 4711": "code ***", "47-11 is": "*** is", "a 917-123 b": "a *** b", "x4711y z": "*** z", "no 94711": "no ***",
		"key-abcdef no": "*** no", "key-abc no": "*** no", `"tok-abcdef". no`: `"***". no`, "sec-abcdef user-abc no": "*** *** no",
		"dXNlci1hYmM6c2VjLWFiY2RlZg== no": "*** no", "nonce-abcdef no": "*** no", "token KEYABC": "token ***", "token [key-a...]bc": "token [***",
		"see https://example.com now": "see *** now", "a=b c": "*** c", "a&b c": "*** c", "ana@example.com no": "*** no",
		"two\nlines": "two\nlines", "y\u200bo\u200bur order": "*** order", "\xffyour\xff order": "\xff***\xff order",
		strings.Repeat("long ", 50):              strings.TrimSpace(strings.Repeat("long ", 40)) + " ...",
		strings.Repeat("long ", 39) + "your pin": strings.Repeat("long ", 39) + "*** ...",
		"no " + strings.Repeat("x", 200):         "no ...",
		strings.Repeat("x", 201):                 "",
	} {
		assert.Equal(t, want, s.Mask(sentence), "%q", sentence)
	}
}

// What a service says of a message is not lost because the message says it, too.
func TestMaskKeepsTheDiagnosis(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, sentence, want string }{
		{"Your code is 4711", "invalid code", "invalid code"},
		{"Your code is 4711", "Invalid codes: 4711", "Invalid codes: ***"},
		{"Your code is 47-11", "4711 is no code", "*** is no code"},
		{"Your code is 4711", "47-11 is no code", "*** is no code"},
		{"KXQZPW is your word", "word KXQZPW not allowed", "*** *** not allowed"},
		{"say kxqzpw", "word K-X-Q-Z-P-W not allowed", "word *** not allowed"},
		{"Call 1600", "at most 1600 characters", "at most *** characters"},
		{"Hello Ana", "at most 1600 characters", "at most 1600 characters"},
		{"Your account balance is low", "insufficient balance on account", "insufficient balance on account"},
		{"The template expired: limit reached", "template expired, limit is 5", "template expired, limit is 5"},
		{"Hello Ana", "the number 917-123 is invalid", "the number *** is invalid"},
		{"Hello Ana", "the number 718-123 is invalid", "the number 718-123 is invalid"},
		{"Hello Ana", "7181234 is invalid", "*** is invalid"},
		{"invalid", "invalidated codenumber", "invalidated codenumber"},
		{"reorder", "reorder or border", "*** or border"},
		{"order", "reorder or border", "*** or ***"},
	} {
		s := new(redact.Secrets)
		s.AddText("+639171234567")
		s.AddText(tt.text)
		assert.Equal(t, tt.want, s.Mask(tt.sentence), tt.text)
	}
}

func TestInWord(t *testing.T) {
	t.Parallel()
	s := secrets()
	for _, word := range []string{"E-17", "200101", "DUPLICATE", "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111"} {
		assert.True(t, redact.IsWord(word) && !s.InWord(word), word)
	}
	for _, word := range []string{
		"invalid:639171234567", "917-123-4567", "your", "E-your", "x:4711", "47-11", "x:tok-abcdef", "key-abc", "KEY-ABCDEF", "kabcdef", "t.o.k.a.b.c", "a2V5LWFiY2RlZg",
		"weißbier", "YOURPINIS",
	} {
		assert.False(t, redact.IsWord(word) && !s.InWord(word), word)
	}
}

func TestIsWord(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"E-17", "200101", "a.b:c_d", "12345678", "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111"} {
		assert.True(t, redact.IsWord(word), word)
	}
	for _, word := range []string{"", "two words", "é", "123456789", "x123456789", "a\n", strings.Repeat("a", 65)} {
		assert.False(t, redact.IsWord(word), word)
	}
}

func FuzzMask(f *testing.F) {
	f.Add("+639171234567", "Hi Ana", "tok-abcdef", "the number +63 917 123 4567 of Ana has tok-abcdef")
	f.Add("+639171234567", "İstanbul ΣΑΣ", "", "\xffİSTANBUL\u0307 σας 4567")
	f.Fuzz(func(t *testing.T, number, text, token, sentence string) {
		s := new(redact.Secrets)
		s.AddText(number)
		s.AddText(text)
		s.AddCredential(token)
		shown := s.Mask(sentence)
		digits := strings.TrimPrefix(number, "+")
		if len(digits) > 6 && strings.Trim(digits, "0123456789") == "" && strings.Contains(shown, digits) ||
			len(token) > 3 && strings.Trim(token, "abcdefghijklmnopqrstuvwxyz") == "" && strings.Contains(shown, token) {
			t.Fatalf("%q is shown of %q", shown, sentence)
		}
	})
}
