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

func TestInSentence(t *testing.T) {
	t.Parallel()
	s := secrets()
	for _, sentence := range []string{
		"", "Sender is not registered", "code 4712", "template not approved", "messaging-go/1 is too old", "page 1", "the pins", "no such user",
	} {
		assert.False(t, s.InSentence(sentence), sentence)
	}
	for _, sentence := range []string{
		"639171234567", "917 123 4567 is wrong", "1234567", "12345", "1-2-3-4-5", "١٢٣٤٥", "not for ana, your pin is 4711", "your order",
		"weißbier is out", "code 4711", "key-abcdef", "key-abc", `"tok-abcdef".`, "sec-abcdef", "user-abc", "dXNlci1hYmM6c2VjLWFiY2RlZg==", "nonce-abcdef",
		"see https://example.com", "a=b", "a&b", "ana@example.com", "token KEYABC", "token [key-a...]bc", "two\nlines", "\u202eleft", strings.Repeat("long ", 50),
	} {
		assert.True(t, s.InSentence(sentence), sentence)
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

func FuzzInSentence(f *testing.F) {
	f.Add("+639171234567", "Hi Ana", "tok-abcdef", "the number +63 917 123 4567 of Ana has tok-abcdef")
	f.Fuzz(func(t *testing.T, number, text, token, sentence string) {
		s := new(redact.Secrets)
		s.AddText(number)
		s.AddText(text)
		s.AddCredential(token)
		if s.InSentence(sentence) {
			return
		}
		digits := strings.TrimPrefix(number, "+")
		if len(digits) > 6 && strings.Trim(digits, "0123456789") == "" && strings.Contains(sentence, digits) || len(token) > 3 && strings.Contains(sentence, token) {
			t.Fatalf("%q is shown", sentence)
		}
	})
}
