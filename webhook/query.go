package webhook

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// unescaped returns the first byte of a text that is escaped, and how many bytes it takes there.
func unescaped(text string) (c byte, width int) {
	if text[0] == '%' && len(text) > 2 {
		var one [1]byte
		if _, err := hex.Decode(one[:], []byte(text[1:3])); err == nil {
			return one[0], 3
		}
	}
	return text[0], 1
}

func decode(text string) string {
	if isPlain(text) {
		return text
	}
	return repair(unescape(text, ' '))
}

// isPlain reports whether a name or a value stands for itself, as most do.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c == '%' || c == '+' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unescape replaces each %XX by its byte and each + by plus. A % without two hexadecimal digits stays.
func unescape(text string, plus byte) string {
	var few [128]byte // on the stack, for most
	b := few[:0]
	if len(text) > len(few) {
		b = make([]byte, 0, len(text))
	}
	for text != "" {
		c, width := unescaped(text)
		if c == '+' && width == 1 {
			c = plus
		}
		b = append(b, c)
		text = text[width:]
	}
	return string(b)
}

// repair reads each byte that is not part of valid UTF-8 as Windows-1252, and leaves the rest as it is.
func repair(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/2)
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			r = windows1252(text[0])
		}
		b.WriteRune(r)
		text = text[size:]
	}
	return b.String()
}

// windows1252 decodes one byte beyond ASCII as the encoding standard of the web does: the five bytes that the code page leaves
// open are the control characters of the same number.
func windows1252(c byte) rune {
	const first, page = 0x80, "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	if i := c - first; i < 32 {
		return []rune(page)[i]
	}
	return rune(c)
}
