package learn

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// shellWords splits a command into words like a shell, with quotes, escapes, comments and continued lines. It does not expand variables. Words
// after the end of the command, such as | jq, are left out, but their quotes must be closed.
func shellWords(text string) ([]string, error) {
	s := &shell{text: text}
	for s.at < len(s.text) {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.end()
	return s.words, nil
}

// shell is the state of splitting a command.
type shell struct {
	text     string
	at       int
	words    []string
	word     strings.Builder
	inWord   bool
	hasEnded bool // an operator ended the command
}

func (s *shell) end() {
	if s.inWord && !s.hasEnded {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.inWord = false
}

// next reads one character, one quoted text, or one escape.
func (s *shell) next() error {
	c := s.text[s.at]
	switch {
	case c == ' ' || c == '\t' || c == '\n':
		s.at++
		s.end()
		return nil
	case c == '\\':
		s.escape()
		return nil
	case c == '\'':
		s.at++
		return s.quoted('\'', nil)
	case c == '"':
		s.at++
		return s.quoted('"', unescapeDouble)
	case strings.HasPrefix(s.text[s.at:], "$'"):
		s.at += 2
		return s.quoted('\'', unescapeANSI)
	case c == '#' && !s.inWord:
		s.comment()
		return nil
	case s.isOperator():
		s.endCommand()
		return nil
	}
	s.inWord = true
	s.word.WriteByte(c)
	s.at++
	return nil
}

// comment skips a comment to the end of its line.
func (s *shell) comment() {
	rest := s.text[s.at:]
	line, _, _ := strings.Cut(rest, "\n")
	s.at += len(line)
}

// isOperator reports whether the command ends here, at an unquoted |, ; or &, or at a >. Documentation often leaves out the quotes around a
// URL: an & within a word belongs to a query, and the > of <account> to a placeholder.
func (s *shell) isOperator() bool {
	rest := s.text[s.at+1:]
	switch s.text[s.at] {
	case '|', ';':
		return true
	case '&':
		isLast := rest == "" || strings.ContainsAny(rest[:1], " \t\n&>")
		return !s.inWord || isLast
	case '>':
		isPlaceholder := strings.Contains(s.word.String(), "<")
		return !isPlaceholder
	}
	return false
}

// endCommand reads the operator that ends the command. The 2 of 2>file is not a word.
func (s *shell) endCommand() {
	word := s.word.String()
	isNumber := word != "" && strings.Trim(word, "0123456789") == ""
	if isNumber && s.text[s.at] == '>' {
		s.inWord = false
	}
	s.end()
	s.hasEnded = true
	s.at++
}

// escape reads a backslash outside of quotes. At the end of a line it continues the line.
func (s *shell) escape() {
	s.at++
	if s.at == len(s.text) {
		return
	}
	c := s.text[s.at]
	s.at++
	if c != '\n' {
		s.inWord = true
		s.word.WriteByte(c)
	}
}

// quoted reads to the closing quote. unescape decodes the text after a backslash, and returns its value and length. If it is nil,
// backslashes are ordinary characters.
func (s *shell) quoted(quote byte, unescape func(rest string) (string, int)) error {
	s.inWord = true
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		switch {
		case c == quote:
			return nil
		case c == '\\' && unescape != nil && s.at < len(s.text):
			text, length := unescape(s.text[s.at:])
			s.word.WriteString(text)
			s.at += length
		default:
			s.word.WriteByte(c)
		}
	}
	return fmt.Errorf("curl: a quote %c has no end", quote)
}

// unescapeDouble decodes the text after a backslash in double quotes.
func unescapeDouble(rest string) (text string, length int) {
	switch rest[0] {
	case '\n':
		return "", 1
	case '"', '\\', '$', '`':
		return rest[:1], 1
	}
	return `\` + rest[:1], 1
}

// unescapeANSI decodes the text after a backslash in $'…'. As in bash, an unknown escape keeps its backslash.
func unescapeANSI(rest string) (text string, length int) {
	switch rest[0] {
	case 'x':
		return unescapeByte(rest)
	case 'u':
		return unescapeUnicode(rest)
	}
	known := map[byte]string{
		'a': "\a", 'b': "\b", 'e': "\x1b", 'E': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
		'\\': `\`, '\'': "'", '"': `"`, '?': "?",
	}
	if text, isKnown := known[rest[0]]; isKnown {
		return text, 1
	}
	return `\` + rest[:1], 1
}

// unescapeByte decodes x41, a byte: a character that is not ASCII has several, as in \xc3\xa9.
func unescapeByte(rest string) (text string, length int) {
	const maxDigits = 2
	digits := hexDigits(rest[1:], maxDigits)
	code, err := strconv.ParseUint(digits, 16, 8)
	if err != nil { // without a digit
		return `\x`, 1
	}
	return string([]byte{byte(code)}), 1 + len(digits)
}

// unescapeUnicode decodes u00e9, or ud83d\ude00: browsers write an emoji as a surrogate pair.
func unescapeUnicode(rest string) (text string, length int) {
	const maxDigits = 4
	first, digits := hexNumber(rest[1:], maxDigits)
	if digits == 0 {
		return `\u`, 1
	}
	length = 1 + digits
	next, hasNext := strings.CutPrefix(rest[length:], `\u`)
	if !hasNext {
		return string(first), length
	}
	second, secondDigits := hexNumber(next, maxDigits)
	if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
		return string(pair), length + len(`\u`) + secondDigits
	}
	return string(first), length
}

// hexNumber returns the hexadecimal number at the start of a text, and how many digits it has.
func hexNumber(text string, maxDigits int) (code rune, length int) {
	digits := hexDigits(text, maxDigits)
	number, err := strconv.ParseUint(digits, 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(uint16(number)), len(digits)
}

// hexDigits returns the hexadecimal digits at the start of a text.
func hexDigits(text string, maxDigits int) string {
	text = text[:min(len(text), maxDigits)]
	rest := strings.TrimLeft(text, "0123456789abcdefABCDEF")
	return strings.TrimSuffix(text, rest)
}
