package conversations

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/messaging-service/messaging-go/internal/phone"
)

// withDefaults returns the options with the words that were left to the defaults, all in the form in which they are compared.
func (o Options) withDefaults() (Options, error) {
	for _, words := range []struct {
		of       *[]string
		defaults []string
	}{
		{&o.StopWords, []string{
			"STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT", "OPT OUT", "STOP PROMOTIONS",
		}},
		{&o.StartWords, []string{"START", "UNSTOP"}},
		{&o.StopButtons, []string{"STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "OPTOUT", "OPT OUT", "STOP PROMOTIONS"}},
	} {
		given := *words.of
		if given == nil {
			given = words.defaults
		}
		compared := make([]string, len(given))
		for i, word := range given {
			compared[i] = wordOf(word)
			if compared[i] == "" {
				return o, errors.New("conversations: a word of Options is empty")
			}
		}
		*words.of = compared
	}
	o.MarketingTemplates = slices.Clone(o.MarketingTemplates)
	return o, nil
}

// wordOf returns a text in the form in which it is compared with a word: in capitals, with single spaces, in place of hyphens and
// underscores too, and without what surrounds its letters and digits.
func wordOf(text string) string {
	spaced := strings.Map(func(r rune) rune {
		if r == '_' || unicode.Is(unicode.Pd, r) {
			return ' '
		}
		return r
	}, phone.Fold(text))
	bare := strings.TrimFunc(spaced, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	return strings.ToUpper(strings.Join(strings.Fields(bare), " "))
}

// isWord reports whether a whole text is one of the words.
func isWord(text string, words []string) bool {
	return text != "" && slices.Contains(words, wordOf(text))
}
