package webhook

import (
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// readForm reads the parameters of a query or form, and returns it without those that hold secrets, otherwise byte for byte.
// It is what net/url does, but for senders that do not escape: a semicolon is data, a % that escapes nothing stays, and
// each byte that is not part of valid UTF-8 is read as Windows-1252. Nothing is decoded twice.
func (in *intake) readForm(form string) string {
	var few [4]string // on the stack, for most
	kept := few[:0]   // what is no secret
	begin := 0        // of what may still be kept
	typed := false    // a person may have typed what follows
	for at := 0; at < len(form) && in.count <= in.maxParams; {
		p := in.parameter(form[at:], !typed)
		i := in.secretOf(p.name)
		switch {
		case p.size == 0:
		case i < 0:
			in.add(p.name, p.value, origin{typed: typed})
		default:
			if isPlain(p.escaped) {
				in.prove(i, p.escaped)
			} else { // a sender may have forgotten to escape a +
				in.prove(i, unescape(p.escaped, ' '), unescape(p.escaped, '+'))
			}
			if begin < at {
				kept = append(kept, form[begin:at-1])
			}
			begin = at + p.size + 1
		}
		typed = typed || p.isOpen
		at += p.size + 1
	}
	in.open = in.open || typed
	if begin == 0 {
		return form
	}
	if begin < len(form) {
		kept = append(kept, form[begin:])
	}
	return strings.Join(kept, "&")
}

type parameter struct {
	name    string
	escaped string // the value as it stands there
	value   string
	size    int  // in bytes, with its name
	isOpen  bool // the value begins like JSON that nobody escaped, and has no end of its own
}

// parameter reads the first parameter of a query or form. A value that the contract allows to be JSON, and that begins like an object,
// ends where the object ends, if JSON is asked for: an & within it is part of a text that nobody escaped.
func (c *callback) parameter(form string, json bool) (p parameter) {
	if p.size = strings.IndexByte(form, '&'); p.size < 0 {
		p.size = len(form)
	}
	p.name, p.escaped, _ = strings.Cut(form[:p.size], "=")
	p.name = decode(p.name)
	if json && beginsObject(p.escaped) {
		of := c.concepts[p.name]
		holdsEvents := slices.ContainsFunc(c.events, func(e eventsPath) bool { return e.parameter() == p.name })
		// Of a sender that escapes everything, an & is an end, and a text that begins like JSON is no less a text.
		isText := slices.Contains(of, conceptText) && isEscaped(p.escaped)
		if (slices.Contains(of, conceptJSON) || holdsEvents) && !isText {
			rest := form[strings.IndexByte(form, '=')+1:]
			if value, size := cutObject(rest); size > 0 {
				p.size += size - len(p.escaped)
				p.escaped, p.value = rest[:size], value
				return p
			}
			p.isOpen = true
		}
	}
	p.value = decode(p.escaped)
	return p
}

// beginsObject reports whether a value that may be escaped begins like a JSON object with members, or a list of such.
func beginsObject(escaped string) bool {
	if list, ok := cutByte(escaped, '['); ok {
		escaped = list
	}
	rest, ok := cutByte(escaped, '{')
	if !ok {
		return false
	}
	rest, ok = cutByte(rest, '"')
	return ok && beginsName(rest)
}

// beginsName reports whether what follows the first quote of an object may be the name of its first member, which no person types: if
// the name has an end, a colon follows it.
func beginsName(rest string) bool {
	for rest != "" {
		c, width := unescaped(rest)
		if rest = rest[width:]; c == '"' {
			_, ok := cutByte(rest, ':')
			return ok
		}
	}
	return true
}

// cutByte cuts a byte, which may be escaped, from the beginning of a text. It passes over white space in front of it.
func cutByte(text string, c byte) (rest string, ok bool) {
	for text != "" {
		first, width := unescaped(text)
		text = text[width:]
		switch first {
		case c:
			return text, true
		case ' ', '+', '\t', '\r', '\n':
		default:
			return "", false
		}
	}
	return "", false
}

// isEscaped reports whether a value was escaped as a whole: no byte in it means anything in JSON.
func isEscaped(value string) bool { return !strings.ContainsAny(value, "{}[]:,\"\\ ") }

// cutObject cuts a JSON object that was not escaped, or not as a whole, from the beginning of a query or form, and returns its text and
// its size there. The size is 0 if it has no end that an & or nothing follows, or if it is no JSON.
//
// If its first quote stands as it is, so do all of its quotes. What is escaped within a string is then part of a text: it becomes an
// escape of JSON where it would end the string, or cannot stand in one.
func cutObject(form string) (text string, size int) {
	var b strings.Builder
	depth, quoted, isBare, inString, afterBackslash := 0, false, false, false, false
	for begun := false; !begun || depth > 0; begun = true {
		if size == len(form) {
			return "", 0
		}
		c, width := unescaped(form[size:])
		whole := form[size : size+width]
		size += width
		switch {
		case isBare && inString && width > 1:
			if c == '"' || c == '\\' || c < ' ' {
				whole = `\u00` + whole[1:]
			}
			afterBackslash = false
		case afterBackslash:
			afterBackslash = false
		case inString:
			afterBackslash, inString = c == '\\', c != '"'
		case c == '"':
			inString, quoted, isBare = true, true, isBare || !quoted && width == 1
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		}
		b.WriteString(whole)
	}
	text = decode(b.String())
	if size < len(form) && form[size] != '&' || jsonscan.Check([]byte(text)) != nil {
		return "", 0
	}
	return text, size
}

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
