package webhook

import (
	"strings"
	"unicode/utf8"
)

// query reads the parameters of a query or a form in one pass, and keeps what is not a secret. It is what net/url does for
// a form, but for senders who do not escape: a semicolon is data, a % that escapes nothing stays, and each byte that is
// no part of valid UTF-8 is read as Windows-1252. Nothing is decoded twice. Whatever needs no decoding shares the memory
// of text.
func (q *reading) query(text string) {
	for start := 0; start < len(text); {
		end := strings.IndexByte(text[start:], '&') + start
		if end < start {
			end = len(text)
		}
		if segment := text[start:end]; segment != "" {
			name, value, _ := strings.Cut(segment, "=")
			found := q.names.find(name)
			if found == 0 || found&oddName != 0 {
				if !isPlain(name) {
					name = decode(name)
					found = q.names.find(name)
				}
				if q.isSecret(name, value, start, end) {
					start = end + 1
					continue
				}
			}
			if !isPlain(value) {
				value = decode(value)
			}
			q.add(name, value, found, false)
		}
		start = end + 1
	}
}

// isPlain tells whether a name or a value stands for itself: no byte of it is beyond ASCII, and none is as low as % and +.
// It may be wrong about a text that needs no decoding, never about one that does. It looks at eight bytes at a time.
func isPlain(text string) bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
		least = ('+' + 1) * ones
	)
	if len(text) < 8 {
		low, high := byte(0), byte(0)
		for i := range len(text) {
			c := text[i]
			low |= c - '+' - 1
			high |= c
		}
		return (low|high)&0x80 == 0
	}
	found := uint64(0)
	for i := 0; ; i += 8 {
		last := i+8 >= len(text)
		if last {
			i = len(text) - 8
		}
		t := text[i : i+8]
		x := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 | uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
		found |= x - least | x
		if last {
			return found&highs == 0
		}
	}
}

// decode decodes a name or a value.
func decode(text string) string {
	var chunk [128]byte
	n, read, all := unescape(chunk[:], text, ' ')
	if read == len(text) { // nearly always
		text = string(chunk[:n])
	} else {
		var b strings.Builder
		b.Grow(max(0, len(text)-2*strings.Count(text, "%")))
		for read > 0 {
			_, _ = b.Write(chunk[:n])
			text = text[read:]
			var bits byte
			n, read, bits = unescape(chunk[:], text, ' ')
			all |= bits
		}
		text = b.String()
	}
	if all < utf8.RuneSelf {
		return text
	}
	return repair(text)
}

// unescape writes text to b, as much of it as there is room for, with each %XX as a byte and each + as plus. A % without two
// hexadecimal digits is a %. It returns how many bytes were written, how many read, and the bits that are set in any that
// were written.
func unescape(b []byte, text string, plus byte) (written, read int, all byte) {
	n, i := 0, 0
	for ; i < len(text) && n < len(b); i++ {
		c := text[i]
		if c == '+' {
			c = plus
		} else if c == '%' && i+2 < len(text) {
			if high, low := digits[text[i+1]], digits[text[i+2]]; (high|low)&noDigit == 0 {
				c = high<<4 | low
				i += 2
			}
		}
		b[n] = c
		all |= c
		n++
	}
	return n, i, all
}

// noDigit marks in digits what is no hexadecimal digit.
const noDigit = 0x80

// digits has the value of each hexadecimal digit. It is a constant, and so needs no initialization.
const digits = noDigits + noDigits + noDigits +
	"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x80\x80\x80\x80\x80\x80" +
	"\x80\x0a\x0b\x0c\x0d\x0e\x0f\x80\x80\x80\x80\x80\x80\x80\x80\x80" + noDigits +
	"\x80\x0a\x0b\x0c\x0d\x0e\x0f\x80\x80\x80\x80\x80\x80\x80\x80\x80" + noDigits +
	noDigits + noDigits + noDigits + noDigits + noDigits + noDigits + noDigits + noDigits

const noDigits = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"

// repair reads each byte that is no part of valid UTF-8 as Windows-1252, and leaves the rest as it is.
func repair(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/2)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteRune(windows1252(text[i]))
		} else {
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// windows1252 decodes one byte as the encoding standard of the web does: the five bytes that the code page leaves open are
// the control characters of the same number.
func windows1252(c byte) rune {
	const first = 0x80
	table := [...]rune{
		'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8d, 'Ž', 0x8f,
		0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9d, 'ž', 'Ÿ',
	}
	if i := int(c) - first; i >= 0 && i < len(table) {
		return table[i]
	}
	return rune(c)
}
