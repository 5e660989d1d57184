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
)

// Secrets is what must not appear: what a message says, and the credentials of its request.
type Secrets struct {
	texts       []string
	credentials []string
}

// AddText adds a text of the message.
func (s *Secrets) AddText(text string) { s.texts = append(s.texts, text) }

// AddValue adds the strings in a value that encoding/json encodes, other than those under the key "type".
func (s *Secrets) AddValue(value any) {
	raw, err := json.Marshal(value)
	var decoded any
	if err == nil && json.Unmarshal(raw, &decoded) == nil {
		s.addDecoded(decoded)
	}
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

// AddCredential adds a credential.
func (s *Secrets) AddCredential(credential string) { s.credentials = append(s.credentials, credential) }

// AddRequest adds what may be a credential in a request: the values of its headers and of its query. A nil request has none.
func (s *Secrets) AddRequest(r *http.Request) {
	if r == nil {
		return
	}
	for name, values := range r.Header {
		switch name {
		case "Accept", "Cache-Control", "Content-Type", "User-Agent":
			continue
		}
		for _, value := range values {
			s.addHeader(value)
		}
	}
	if r.URL != nil {
		for _, values := range r.URL.Query() {
			s.credentials = append(s.credentials, values...)
		}
	}
}

// addHeader adds the value of a header without its scheme word, and user and password of Basic authentication.
func (s *Secrets) addHeader(value string) {
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok {
		scheme, rest = "", value
	}
	s.credentials = append(s.credentials, strings.Fields(rest)...)
	if decoded, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "Basic") {
		s.credentials = append(s.credentials, strings.Split(string(decoded), ":")...)
	}
}

// IsWord reports whether a text of the service is short and plain enough to be a code or an ID, and holds no run of digits
// that may be a phone number.
func IsWord(s string) bool {
	const longest, phoneNumber = 64, 9
	return s != "" && len(s) <= longest && longestDigits(s, "") < phoneNumber && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_' && r != '.' && r != ':'
	})
}

// InWord reports whether a code or an ID holds a secret.
func (s *Secrets) InWord(word string) bool {
	return s.holdsCredential(word) || s.holdsNumber(word) || slices.ContainsFunc(s.texts, func(text string) bool {
		return utf8.RuneCountInString(text) > 2 && strings.Contains(strings.ToLower(word), strings.ToLower(text))
	})
}

// InSentence reports whether a sentence holds, or may hold, a secret: digits that may be a number, an address, a credential,
// or a word of the message.
func (s *Secrets) InSentence(sentence string) bool {
	const longest, shortNumber = 200, 5
	if len(sentence) > longest || strings.Contains(sentence, "://") || strings.ContainsAny(sentence, "@=&") ||
		strings.ContainsFunc(sentence, func(r rune) bool { return !unicode.IsPrint(r) }) ||
		longestDigits(sentence, " -./()") >= shortNumber || s.holdsCredential(sentence) || s.holdsNumber(sentence) {
		return true
	}
	lower, words := strings.ToLower(sentence), " "+strings.Join(wordsOf(sentence), " ")+" "
	return slices.ContainsFunc(s.texts, func(text string) bool {
		own := wordsOf(text)
		whole := len(own) > 0 && strings.Contains(words, " "+strings.Join(own, " ")+" ")
		return whole || slices.ContainsFunc(own, func(word string) bool {
			return utf8.RuneCountInString(word) > 3 && strings.Contains(lower, word)
		})
	})
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// holdsCredential reports whether a credential, or a good part of one, is in the text.
func (s *Secrets) holdsCredential(text string) bool {
	const shortest, part = 4, 6
	return slices.ContainsFunc(s.credentials, func(credential string) bool {
		return len(credential) >= shortest && strings.Contains(text, credential) ||
			slices.ContainsFunc(strings.Fields(text), func(word string) bool {
				word = strings.Trim(word, `"'.,:;()<>…`)
				return len(word) >= part && strings.Contains(credential, word)
			})
	})
}

// holdsNumber reports whether the text holds the digits of one of the message's numbers, with or without its prefix.
func (s *Secrets) holdsNumber(text string) bool {
	const shortest, subscriber = 5, 7
	found := Digits(text)
	return slices.ContainsFunc(s.texts, func(number string) bool {
		n := Digits(number)
		isNumber := len(n) >= shortest && strings.Trim(number, "+0123456789 -.()") == ""
		return isNumber && strings.Contains(found, n[len(n)-min(len(n), subscriber):])
	})
}

// longestDigits returns the length of the longest run of digits, which the given separators do not interrupt.
func longestDigits(s, separators string) int {
	longest, run := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			run++
			longest = max(longest, run)
		case !strings.ContainsRune(separators, r):
			run = 0
		}
	}
	return longest
}

// Digits returns the ASCII digits of a number.
func Digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}
