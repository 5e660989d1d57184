package webhook

import (
	"strings"
	"unicode/utf8"
)

// decode decodes a name or a value of a query or form, byte by byte if it is not valid UTF-8.
func decode(text string) string {
	if isPlain(text) {
		return text
	}
	return repair(unescapeAll(text, ' '))
}

// isPlain reports whether a name or a value needs no decoding, which is true of most.
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
	if isPlain(text) {
		return text
	}
	return unescapeAll(text, plus)
}

func unescapeAll(text string, plus byte) string {
	var few [128]byte // on the stack, for most
	b := few[:0]
	if len(text) > len(few) {
		b = make([]byte, 0, len(text))
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case '+':
			c = plus
		case '%':
			if i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]) {
				c = fromHex(text[i+1])<<4 | fromHex(text[i+2])
				i += 2
			}
		}
		b = append(b, c)
	}
	return string(b)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// fromHex returns the value of a hexadecimal digit.
func fromHex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	default:
		return c - 'a' + 10
	}
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

// windows1252 decodes one byte beyond ASCII as the encoding standard of the web does.
func windows1252(c byte) rune {
	index := int(c) - 0x80
	if index < len(windows1252Page) {
		return windows1252Page[index]
	}
	return rune(c)
}

// windows1252Page holds the characters of the bytes from 0x80 to 0x9f. The five bytes that the code page leaves open are the control characters
// of the same number.
var windows1252Page = [32]rune{ //nolint:gochecknoglobals // never written
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8d, 'Ž', 0x8f,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9d, 'ž', 'Ÿ',
}
