package sandbox

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHiddenCharactersShowTheirCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\u200bb": "a<U+200B>b", "a\u00adb": "a<U+00AD>b", "\u2060": "<U+2060>", "\u3164": "<U+3164>", "\u2800x": "<U+2800>x", "\U000e0041": "<U+E0041>",
		"\u202eabc": "<U+202E>abc", "line\nbreak": "line\nbreak", "👩\u200d💻": "👩\u200d💻", "a\u200db": "a<U+200D>b", "❤️\u200d🔥": "❤️\u200d🔥",
		"🏴\U000e0067\U000e0062\U000e007f": "🏴\U000e0067\U000e0062\U000e007f", "\u061c": "<U+061C>", "\x00": "<U+0000>",
		"\u2800\u200d\u2800": "<U+2800><U+200D><U+2800>", "😀\u200d": "😀<U+200D>", "\u200d😀": "<U+200D>😀", "\xff": "\ufffd",
	} {
		var b strings.Builder
		for _, p := range pieces(strings.ToValidUTF8(text, "\ufffd")) {
			if p.Control != "" {
				b.WriteString("<" + p.Control + ">")
			}
			b.WriteString(p.Text)
		}
		assert.Equal(t, want, b.String(), "%q", text)
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"image": "Image", "élan": "Élan", "": ""} {
		assert.Equal(t, want, title(text))
	}
}

func TestHostOf(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{"https://shop.example.com/a": "shop.example.com", "https://%zz": "", "": ""} {
		assert.Equal(t, want, hostOf(raw), raw)
	}
}

func TestBlankTextIsMarked(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.sendSMS("ACME", ana, " \u00a0\n")
	page := r.page("?channel=sms&to=639171234567")
	assert.Equal(t, 2, count(page, "(blank)"), "in the list and in the conversation")
	for text, want := range map[string]bool{"": true, " \t\n\u3000": true, "x": false, "\u200b": false} {
		assert.Equal(t, want, orBlank("text", text) == "(blank)", "%q", text)
	}
}
