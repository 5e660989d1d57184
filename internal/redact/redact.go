// Package redact puts *** in place of credentials and personal data in what the service said, for the text of an error or a log.
//
// The rule: credentials; the sender and the recipient of the message; its text, where it is quoted whole or three of its words stand in a
// row; its codes, which are runs of four digits or more; and any run of seven digits or more, whatever separates them. Everything else is
// shown.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Secrets are what must not be shown of one call.
type Secrets struct {
	credentials []string
	phrases     map[string]bool // up to three words in lower case, with a space between them
	codes       []string        // digits
}

const (
	inRow       = 3 // words of a text
	code        = 4 // digits
	phoneNumber = 7 // digits
)

// AddText adds a text of the message, its sender or its recipient.
func (s *Secrets) AddText(text string) {
	if s.phrases == nil {
		s.phrases = map[string]bool{}
	}
	isSeparator := func(r rune) bool { return !isPartOfWord(r) }
	all := strings.FieldsFunc(strings.ToLower(text), isSeparator)
	for end := min(inRow, len(all)); 0 < end && end <= len(all); end++ {
		s.phrases[strings.Join(all[max(0, end-inRow):end], " ")] = true
	}
	for _, run := range digitRuns.FindAllString(text, -1) {
		if digits := digitsOf(run); utf8.RuneCountInString(digits) >= code {
			s.codes = append(s.codes, digits)
		}
	}
}

// AddCredential adds a credential as it is, as a URL escapes it, and in base64.
func (s *Secrets) AddCredential(credential string) {
	const shortest = 4 // a shorter one would hide parts of words
	credential = strings.ToValidUTF8(credential, "\ufffd")
	encoded := base64.RawStdEncoding.EncodeToString([]byte(credential))
	for _, form := range []string{encoded, url.QueryEscape(credential), credential} {
		if len(form) >= shortest && len(credential) >= shortest {
			s.credentials = append(s.credentials, form)
		}
	}
}

// InWord reports whether a code or an ID of the service holds a secret. It may be a number of its own.
func (s *Secrets) InWord(word string) bool { return s.mask(word, len(word)+1) != word }

// Mask returns the beginning of what the service said with *** in place of secrets. It is "" if nothing else is left.
func (s *Secrets) Mask(said string) string {
	const longest, read = 200, 4 << 10
	shown := s.mask(strings.ToValidUTF8(said[:min(len(said), read)], "\ufffd"), phoneNumber)
	if utf8.RuneCountInString(shown) > longest { // without a part of a word, which would hide what it is
		shown = string([]rune(shown)[:longest])
		shown = shown[:max(0, strings.LastIndexFunc(shown, unicode.IsSpace))] + " ..."
	}
	if !strings.ContainsFunc(shown, isPartOfWord) {
		return ""
	}
	return strings.TrimSpace(shown)
}

// mask is Mask for a whole text, in which so many digits may be a phone number.
func (s *Secrets) mask(text string, phoneNumber int) string {
	for _, credential := range s.credentials {
		text = regexp.MustCompile("(?i)"+regexp.QuoteMeta(credential)).ReplaceAllLiteralString(text, mask)
	}
	text = s.maskPhrases(text)
	text = digitRuns.ReplaceAllStringFunc(text, func(run string) string {
		digits := digitsOf(run)
		isCode := func(code string) bool { return strings.Contains(digits, code) || strings.Contains(code, digits) }
		count := utf8.RuneCountInString(digits)
		if count >= phoneNumber || count >= code && slices.ContainsFunc(s.codes, isCode) {
			return mask
		}
		return run
	})
	return masks.ReplaceAllLiteralString(text, mask)
}

// maskPhrases masks the words of a text that are a phrase, from the first to the last.
func (s *Secrets) maskPhrases(text string) string {
	found := words.FindAllStringIndex(text, -1)
	var masked strings.Builder
	end := 0
	for i := range found {
		phrase := ""
		for _, at := range found[i:min(len(found), i+inRow)] {
			phrase = strings.TrimSpace(phrase + " " + strings.ToLower(text[at[0]:at[1]]))
			if s.phrases[phrase] && at[1] > end {
				masked.WriteString(text[end:max(end, found[i][0])] + mask)
				end = at[1]
			}
		}
	}
	return masked.String() + text[end:]
}

const mask = "***"

var (
	words     = regexp.MustCompile(`[\pL\pM\p{Nd}]+`)
	digitRuns = regexp.MustCompile(`\p{Nd}([\pZ\p{Cf}()./+-]{0,2}\p{Nd})+`)
	masks     = regexp.MustCompile(`\*{3}([^\pL\pN]*\*{3})+`) // which would show where the separators of a secret are
)

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

// Digits returns the ASCII digits of a number.
func Digits(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }), "")
}

// digitsOf returns the digits of a run, of any script.
func digitsOf(run string) string {
	return strings.Join(strings.FieldsFunc(run, func(r rune) bool { return !unicode.IsDigit(r) }), "")
}

func isPartOfWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }
