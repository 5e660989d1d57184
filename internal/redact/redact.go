// Package redact masks credentials and personal data in what the service said, for the text of an error or a log.
//
// There is one rule. Three asterisks replace credentials; the sender and the recipient of the message; its text, where it is quoted whole
// or three of its words are in a row; its codes, which are its runs of at least four digits; and any run of at least seven digits,
// separators not counted. Everything else is shown.
package redact

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mask           = "***"
	phraseWords    = 3
	minCodeDigits  = 4
	minPhoneDigits = 7
)

var (
	words     = regexp.MustCompile(`[\pL\pM\p{Nd}]+`)
	digitRuns = regexp.MustCompile(`\p{Nd}([\pZ\p{Cf}()./+-]{0,2}\p{Nd})+`)
	masks     = regexp.MustCompile(`\*{3}([^\pL\pN]*\*{3})+`) // several would show the separators of a secret
)

// Secrets are the credentials and the personal data of one call.
type Secrets struct {
	credentials []*regexp.Regexp
	phrases     map[string]bool // of at most phraseWords words in lower case, with a space between them
	codes       []string        // digits
}

// AddText adds a text of the message, its sender or its recipient.
func (s *Secrets) AddText(text string) {
	if s.phrases == nil {
		s.phrases = map[string]bool{}
	}
	all := words.FindAllString(text, -1)
	if len(all) > 0 {
		s.addPhrases(all)
	}
	for _, run := range digitRuns.FindAllString(text, -1) {
		if digits := digitsOf(run); utf8.RuneCountInString(digits) >= minCodeDigits {
			s.codes = append(s.codes, digits)
		}
	}
}

// addPhrases adds each run of phraseWords words, or all words if there are fewer.
func (s *Secrets) addPhrases(words []string) {
	length := min(phraseWords, len(words))
	for i := range len(words) - length + 1 {
		s.phrases[phrase(words[i:i+length])] = true
	}
}

// AddCredential adds a credential as it is, as a URL escapes it, and in base64. A short one would mask parts of words and is ignored.
func (s *Secrets) AddCredential(credential string) {
	const shortest = 4
	credential = strings.ToValidUTF8(credential, "\ufffd")
	if len(credential) < shortest {
		return
	}
	encoded := base64.RawStdEncoding.EncodeToString([]byte(credential))
	for _, form := range []string{encoded, url.QueryEscape(credential), credential} {
		s.credentials = append(s.credentials, regexp.MustCompile("(?i)"+regexp.QuoteMeta(form)))
	}
}

// InWord reports whether a code or an ID of the service holds a secret. A long number may be an ID.
func (s *Secrets) InWord(word string) bool { return s.maskSecrets(word) != word }

// Mask returns the beginning of a response, with secrets and phone numbers masked. It is "" if nothing else is left.
func (s *Secrets) Mask(said string) string {
	const longest = 4 << 10
	if len(said) > longest {
		said = cutAtSpace(said[:longest])
	}
	said = strings.ToValidUTF8(said, "\ufffd")
	masked := maskDigits(s.maskSecrets(said), func(digits string) bool { return utf8.RuneCountInString(digits) >= minPhoneDigits })
	shown := shorten(masks.ReplaceAllLiteralString(masked, mask))
	if !words.MatchString(shown) {
		return ""
	}
	return strings.TrimSpace(shown)
}

// shorten cuts a text at a space.
func shorten(text string) string {
	const longest = 200 // characters
	if utf8.RuneCountInString(text) <= longest {
		return text
	}
	return cutAtSpace(string([]rune(text)[:longest])) + " ..."
}

// cutAtSpace cuts the last word, of which only a part may be left, off a text. A part of a secret would not be recognized.
func cutAtSpace(text string) string {
	return text[:max(0, strings.LastIndexFunc(text, unicode.IsSpace))]
}

// maskSecrets masks the credentials, the phrases and the codes in a text.
func (s *Secrets) maskSecrets(text string) string {
	for _, credential := range s.credentials {
		text = credential.ReplaceAllLiteralString(text, mask)
	}
	return maskDigits(s.maskPhrases(text), s.isCode)
}

// maskPhrases masks each word that is part of a phrase.
func (s *Secrets) maskPhrases(text string) string {
	found := words.FindAllStringIndex(text, -1)
	all := words.FindAllString(text, -1)
	isSecret := make([]bool, len(all))
	for i := range all {
		for end := i + 1; end <= min(i+phraseWords, len(all)); end++ {
			if s.phrases[phrase(all[i:end])] {
				markAll(isSecret[i:end])
			}
		}
	}
	var masked strings.Builder
	shown := 0
	for i, at := range found {
		if isSecret[i] {
			masked.WriteString(text[shown:at[0]] + mask)
			shown = at[1]
		}
	}
	return masked.String() + text[shown:]
}

func markAll(marks []bool) {
	for i := range marks {
		marks[i] = true
	}
}

// isCode reports whether digits hold a code of the message, or are in one: the service may add digits, or leave some out.
func (s *Secrets) isCode(digits string) bool {
	isPart := func(code string) bool { return strings.Contains(digits, code) || strings.Contains(code, digits) }
	return utf8.RuneCountInString(digits) >= minCodeDigits && slices.ContainsFunc(s.codes, isPart)
}

// maskDigits masks the runs of digits that are secret.
func maskDigits(text string, isSecret func(digits string) bool) string {
	return digitRuns.ReplaceAllStringFunc(text, func(run string) string {
		if isSecret(digitsOf(run)) {
			return mask
		}
		return run
	})
}

func phrase(words []string) string { return strings.ToLower(strings.Join(words, " ")) }

// digitsOf returns the digits of a run, of any script.
func digitsOf(run string) string {
	isOther := func(r rune) bool { return !unicode.IsDigit(r) }
	return strings.Join(strings.FieldsFunc(run, isOther), "")
}
