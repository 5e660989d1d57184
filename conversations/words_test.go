package conversations

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWordOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "",
		"...":                    "",
		" Stop.\n":               "STOP",
		"“stop”":                 "STOP",
		"ＳＴＯＰ！":                  "STOP",
		"st\u200bop\u00ad\x00":   "STOP",
		"opt-out":                "OPT OUT",
		"stop_promotions":        "STOP PROMOTIONS",
		"stop\u00a0 \t all":      "STOP ALL",
		"please stop":            "PLEASE STOP",
		"रोकें।":                 "रोकें",
		"1":                      "1",
		"\u202eSTOP\u202c 🙏":     "STOP",
		"don't":                  "DON'T",
		"cafe\u0301 ":            "CAFE\u0301",
		"\xffstop\xff":           "STOP",
		"stop\ufe0f":             "STOP",
		"s t o p":                "S T O P",
		"STOP, or I will sue...": "STOP, OR I WILL SUE",
	} {
		assert.Equal(t, want, wordOf(text), "%q", text)
	}
}

func FuzzWordOf(f *testing.F) {
	for _, seed := range []string{"STOP", "“stop”", "ＳＴＯＰ！", "opt-out", "st\u200bop\x00\xff", "stop\u00a0all", "ß", "İ"} {
		f.Add(seed)
	}
	defaults, err := Options{}.withDefaults()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		word := wordOf(text)
		if again := wordOf(word); again != word {
			t.Fatalf("%q becomes %q, and then %q", text, word, again)
		}
		if isWord(text, defaults.StopWords) && isWord(text, defaults.StartWords) {
			t.Fatalf("%q is both", text)
		}
	})
}
