package redact_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/internal/redact"
	"github.com/messaging-service/messaging-go/internal/table"
)

// secrets holds one of each kind.
func secrets() *redact.Secrets {
	s := new(redact.Secrets)
	s.AddText("ACME")
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
		"": "", "Sender is not registered": "Sender is not registered", "template not approved": "template not approved",
		// numbers
		"639171234567": "", "1234567": "", "1-2-3-4-5-6-7 is": "*** is", "917 123 4567 is wrong": "*** is wrong", "to +63 (917) 123-4567": "to +***",
		"of 98765": "of 98765", "page 1": "page 1", "HTTP 400, code 200101": "HTTP 400, code 200101", "no ١٢٣٤٥٦٧": "no ***", "a 917-123 b": "a *** b",
		// credentials
		"key-abcdef no": "*** no", "KEY-ABCDEF no": "*** no", `"tok-abcdef". no`: `"***". no`, "sec-abcdef user-abc no": "*** no",
		"dXNlci1hYmM6c2VjLWFiY2RlZg== no": "*** no", "nonce-abcdef no": "*** no", "key-abc no": "key-abc no", "a2V5LWFiY2RlZg no": "*** no",
		// sender, text and codes
		"acme is no sender": "*** is no sender", "acmes": "acmes",
		"your pin, ana": "your pin, ana", "not for ana, your pin is 4711!": "not for ***!", "Ana, YOUR pin": "", "pin is 4712": "pin is 4712", "x: pin is 4711": "x: ***",
		"code 4711": "code ***", "47-11 is": "*** is", "x4711y z": "x***y z", "no 94711": "no ***", "at most 71": "at most 71",
		"weißbier is out": "*** is out", "7 out": "7 out", "template order": "template order",
		"messaging-go/1 is too old": "messaging-go/1 is too old", "two\nlines": "two\nlines", "\xffyour\xff order": "\ufffdyour\ufffd order",
		// length
		strings.Repeat("long ", 50):                     strings.TrimSpace(strings.Repeat("long ", 40)) + " ...",
		strings.Repeat("long ", 38) + "639171234567 no": strings.Repeat("long ", 38) + "*** no",
		"no " + strings.Repeat("x", 200):                "no ...",
		strings.Repeat("x", 201):                        "",
		strings.Repeat("1 ", 5000):                      "",
		strings.Repeat("4711 ", 818) + "key-abcdef":     "", // cut within the key, before it is masked
	} {
		assert.Equal(t, want, s.Mask(sentence), "%q", sentence)
	}
}

// What a service says of a message is not lost because the message says a word of it, too.
func TestMaskKeepsTheDiagnosis(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, sentence, want string }{
		{"Your code is 4711", "invalid code", "invalid code"},
		{"Your code is 4711", "Invalid codes: 4711", "Invalid codes: ***"},
		{"Your code is 47-11", "4711 is no code", "*** is no code"},
		{"KXQZPW is your word", "word KXQZPW not allowed", "word KXQZPW not allowed"},
		{"KXQZPW is your word", `text "kxqzpw is your word" not allowed`, `text "***" not allowed`},
		{"KXQZPW is your word", "text KXQZPW is your... not allowed", "text ***... not allowed"},
		{"Call 1600", "at most 1600 characters", "at most *** characters"},
		{"Your account balance is low", "insufficient balance on account", "insufficient balance on account"},
		{"Hello Ana", `"hello ana": blocked`, `"***": blocked`},
		{"Hello Ana", "hello, Bob: blocked", "hello, Bob: blocked"},
		{"Hi", "hi is no text", "*** is no text"},
	} {
		s := new(redact.Secrets)
		s.AddText("+639171234567")
		s.AddText(tt.text)
		assert.Equal(t, tt.want, s.Mask(tt.sentence), tt.text)
	}
}

// A header may hold a scheme and a credential, or a credential that has a space.
func TestMaskHeaderWithASpace(t *testing.T) {
	t.Parallel()
	s := new(redact.Secrets)
	s.AddRequest(&http.Request{Header: http.Header{"Authorization": {"Token tok-abcdef"}, "X-Key": {"ab cd"}}, URL: new(url.URL)})
	for sentence, want := range map[string]string{
		"no tok-abcdef":        "no ***",
		"no Token tok-abcdef":  "no ***",
		"the key ab cd is old": "the key *** is old",
		"Token, ab or cd":      "Token, ab or cd",
	} {
		assert.Equal(t, want, s.Mask(sentence), sentence)
	}
}

func TestInWord(t *testing.T) {
	t.Parallel()
	s := secrets()
	for _, word := range []string{"E-17", "200101", "DUPLICATE", "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111"} {
		assert.True(t, table.IsWord(word) && !s.InWord(word), word)
	}
	for _, word := range []string{
		"invalid:639171234567", "917-123-4567", "E-acme", "x:4711", "47-11", "x:tok-abcdef", "KEY-ABCDEF", "a2V5LWFiY2RlZg", "weißbier", "ana:your:pin",
	} {
		assert.False(t, table.IsWord(word) && !s.InWord(word), word)
	}
	assert.False(t, s.InWord("12345678"), "a number of the service")
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
