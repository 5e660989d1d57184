package webhook

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// readForm reads the parameters of a query or form, and returns it without those that hold secrets, otherwise byte for byte.
// It is what net/url does, but for senders that do not escape: a semicolon is data, a % that escapes nothing stays, and
// each byte that is not part of valid UTF-8 is read as Windows-1252. Nothing is decoded twice.
func (in *reader) readForm(form string) string {
	var few [4]string // on the stack, for most
	kept := few[:0]   // what is no secret
	begin := 0        // of what may still be kept
	for at := 0; at < len(form); {
		end := at + strings.IndexByte(form[at:], '&')
		if end < at {
			end = len(form)
		}
		name, value := form[at:end], ""
		if i := strings.IndexByte(name, '='); i >= 0 {
			name, value = name[:i], name[i+1:]
		}
		name = decode(name)
		i := in.secretOf(name)
		switch {
		case at == end:
		case i < 0:
			in.add(name, decode(value))
		default:
			if isPlain(value) {
				in.prove(i, value)
			} else { // a sender may have forgotten to escape a +
				in.prove(i, unescape(value, ' '), unescape(value, '+'))
			}
			if begin < at {
				kept = append(kept, form[begin:at-1])
			}
			begin = end + 1
		}
		at = end + 1
	}
	if begin == 0 {
		return form
	}
	if begin < len(form) {
		kept = append(kept, form[begin:])
	}
	return strings.Join(kept, "&")
}

// decode decodes a name or a value.
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
	var one [1]byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '+':
			c = plus
		case c == '%' && i+2 < len(text):
			if _, err := hex.Decode(one[:], []byte(text[i+1:i+3])); err == nil {
				c = one[0]
				i += 2
			}
		}
		b = append(b, c)
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
