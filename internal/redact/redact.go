// Package redact decides which words of the service may appear in the text of an error: those that hold nothing of the
// message, no credential, and no digits that may be a phone number. When in doubt it says no.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Secrets is what must not appear: what a message says, and the credentials of its request.
type Secrets struct {
	texts       []string
	credentials []string // folded
}

// AddText adds a text of the message.
func (s *Secrets) AddText(text string) { s.texts = append(s.texts, text) }

// AddValue adds the strings in a value that encoding/json encodes, other than those under the key "type".
func (s *Secrets) AddValue(value any) {
	raw, _ := json.Marshal(value)
	var decoded any
	_ = json.Unmarshal(raw, &decoded) // what has no JSON is not sent
	s.addDecoded(decoded)
}

func (s *Secrets) addDecoded(value any) {
	switch v := value.(type) {
	case string:
		s.AddText(v)
	case []any:
		for _, element := range v {
			s.addDecoded(element)
		}
	case map[string]any:
		for key, element := range v {
			if key != "type" {
				s.addDecoded(element)
			}
		}
	}
}

// AddCredential adds a credential, as it is and in base64.
func (s *Secrets) AddCredential(credential string) {
	encoded := base64.RawStdEncoding.EncodeToString([]byte(credential))
	s.credentials = append(s.credentials, fold(credential), fold(encoded))
}

// AddRequest adds what may be a credential in a request: the values of its headers and of its query.
func (s *Secrets) AddRequest(r *http.Request) {
	for name, values := range r.Header {
		if slices.Contains([]string{"Accept", "Cache-Control", "Content-Type", "User-Agent"}, name) {
			continue
		}
		for _, value := range values {
			if _, credential, ok := strings.Cut(value, " "); ok {
				value = credential // without the scheme
			}
			s.AddCredential(value)
		}
	}
	if user, password, ok := r.BasicAuth(); ok {
		s.AddCredential(user)
		s.AddCredential(password)
	}
	for _, values := range r.URL.Query() {
		for _, value := range values {
			s.AddCredential(value)
		}
	}
}

// IsWord is [table.IsWord].
func IsWord(s string) bool { return table.IsWord(s) }

// InWord reports whether a code or an ID holds a secret.
func (s *Secrets) InWord(word string) bool { return IsWord(word) && s.in(word) }

// InSentence reports whether a sentence holds, or may hold, a secret: digits that may be a number, an address, a credential,
// or a word of the message.
func (s *Secrets) InSentence(sentence string) bool {
	const longest, shortNumber = 200, 5
	return len(sentence) > longest || strings.Contains(sentence, "://") || strings.ContainsAny(sentence, "@=&") ||
		strings.ContainsFunc(sentence, func(r rune) bool { return !unicode.IsPrint(r) }) ||
		longestDigits(fold(sentence)) >= shortNumber || s.in(sentence)
}

// in reports whether a text holds a credential or six characters of one, a number of the message without its prefix, or a text
// of the message or a word of it, apart from short words. Neither case nor separators count.
func (s *Secrets) in(text string) bool {
	const part, subscriber, shortNumber, shortWord = 6, 7, 5, 4
	folded, spaced := fold(text), " "+strings.Join(wordsOf(text), " ")+" "
	for _, c := range s.credentials {
		for i := 0; len(c) >= shortWord && i <= max(0, len(c)-part); i++ {
			if strings.Contains(folded, c[i:min(i+part, len(c))]) {
				return true
			}
		}
	}
	for _, own := range s.texts {
		words, n := wordsOf(own), Digits(own)
		if len(words) > 0 && strings.Contains(spaced, " "+strings.Join(words, " ")+" ") {
			return true
		}
		if len(n) >= shortNumber && strings.Contains(folded, n[max(0, len(n)-subscriber):]) {
			return true
		}
		for _, word := range words {
			if utf8.RuneCountInString(word) >= shortWord && strings.Contains(folded, word) {
				return true
			}
		}
	}
	return false
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func fold(text string) string { return strings.Join(wordsOf(text), "") }

func longestDigits(s string) int {
	longest := 0
	for _, run := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }) {
		longest = max(longest, utf8.RuneCountInString(run))
	}
	return longest
}

// Digits returns the ASCII digits of a number.
func Digits(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }), "")
}
