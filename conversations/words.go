package conversations

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/messaging-service/messaging-go/internal/phone"
)

// withDefaults returns the options with the default words where none are set. All words are normalized.
func (o Options) withDefaults() (Options, error) {
	if o.StopWords == nil {
		o.StopWords = []string{
			"STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT", "OPT OUT", "STOP PROMOTIONS",
		}
	}
	if o.StartWords == nil {
		o.StartWords = []string{"START", "UNSTOP"}
	}
	if o.StopButtons == nil {
		o.StopButtons = []string{"STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "OPTOUT", "OPT OUT", "STOP PROMOTIONS"}
	}
	o.StopWords = normalizeWords(o.StopWords)
	o.StartWords = normalizeWords(o.StartWords)
	o.StopButtons = normalizeWords(o.StopButtons)
	if slices.Contains(slices.Concat(o.StopWords, o.StartWords, o.StopButtons), "") {
		return o, errors.New("conversations: a word of Options is empty")
	}
	o.MarketingTemplates = slices.Clone(o.MarketingTemplates)
	return o, nil
}

func normalizeWords(words []string) []string {
	normalized := make([]string, len(words))
	for i, word := range words {
		normalized[i] = wordOf(word)
	}
	return normalized
}

// wordOf normalizes a text for comparison: in capitals, with single spaces for hyphens, underscores and white space, and without other
// characters around its letters and digits.
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
