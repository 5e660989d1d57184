package sandbox

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A piece of a text: plain, a link, or a hidden character under its code, which could otherwise change how the text reads.
type piece struct {
	Text, Link, Control        string
	Bold, Italic, Struck, Code bool
	Mark                       bool // what somebody looked for
}

const (
	shownText   = 4000 // bytes of a text
	previewText = 90
)

// blank stands for a text that shows nothing.
const blank = "(blank)"

// isBlank reports whether a text shows nothing.
func isBlank(text string) bool {
	return strings.TrimFunc(text, unicode.IsSpace) == ""
}

// pieces divides a text for showing, and cuts a long one off.
func pieces(text string) []piece {
	return divided(text, func(part string) []piece { return revealed(part, piece{}) })
}

// chatPieces is like pieces, and applies the marks that chat app 2 formats texts with.
func chatPieces(text string) []piece {
	return divided(text, func(part string) []piece { return formatted(part, piece{}) })
}

// divided divides a text at its links, and passes what is between them to show.
func divided(text string, show func(string) []piece) []piece {
	cut := len(text) > shownText
	var all []piece
	for i, part := range splitLinks(clip(text, shownText)) {
		if i%2 == 1 && webURL(part) != "" {
			all = append(all, piece{Text: part, Link: part})
			continue
		}
		all = append(all, show(part)...)
	}
	if cut {
		all = append(all, piece{Control: fmt.Sprintf("… %d bytes in all", len(text))})
	}
	return all
}

// revealed divides a text at its hidden characters. The pieces look like style.
func revealed(text string, style piece) []piece {
	var all []piece
	add := func(text string) {
		if text != "" {
			p := style
			p.Text = text
			all = append(all, p)
		}
	}
	begin, before, isFlag := 0, rune(0), false
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		after, _ := utf8.DecodeRuneInString(text[i+size:])
		isTag := r >= 0xE0020 && r <= 0xE007F
		isFlag = r == 0x1F3F4 || isFlag && isTag // the tags of a flag, such as that of Scotland
		isJoined := r == 0x200D && isPictograph(before) && isPictograph(after)
		if isHidden(r) && !isJoined && (!isFlag || !isTag) {
			add(text[begin:i])
			all = append(all, piece{Control: fmt.Sprintf("U+%04X", r)})
			begin = i + size
		}
		before = r
	}
	add(text[begin:])
	return all
}

// isHidden reports whether a character controls how others are shown, or shows nothing itself.
func isHidden(r rune) bool {
	switch r {
	case '\n', '\t', '\r':
		return false
	case 0x2028, 0x2029, 0x2800, 0x3164, 0x115F, 0x1160, 0xFFA0, 0x034F, 0x17B4, 0x17B5: // fillers and the blank pattern of Braille
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// isPictograph reports whether a character may be a part of an emoji.
func isPictograph(r rune) bool {
	return unicode.Is(unicode.So, r) || r == 0xFE0F || r >= 0x1F3FB && r <= 0x1F3FF || r >= 0x1F000 && r <= 0x1FAFF
}

// formatted divides a text at *bold*, _italic_, ~struck~ and code between backquotes, inside of style.
func formatted(text string, style piece) []piece {
	for i, r := range text {
		marker := string(r)
		if !strings.ContainsRune("*_~`", r) {
			continue
		}
		if strings.HasPrefix(text[i:], "```") {
			marker = "```"
		}
		inner := style
		end := closing(text, i, marker)
		switch {
		case end < 0:
			continue
		case r == '*' && !style.Bold:
			inner.Bold = true
		case r == '_' && !style.Italic:
			inner.Italic = true
		case r == '~' && !style.Struck:
			inner.Struck = true
		case r == '`':
			inner.Code = true
		default:
			continue
		}
		begin := i + len(marker)
		all := revealed(text[:i], style)
		if inner.Code {
			all = append(all, revealed(text[begin:end], inner)...)
		} else {
			all = append(all, formatted(text[begin:end], inner)...)
		}
		return append(all, formatted(text[end+len(marker):], style)...)
	}
	return revealed(text, style)
}

// closing returns where the text that a marker opens at i ends, or -1: the marks stand around words, not within them.
func closing(text string, i int, marker string) int {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	begin := i + len(marker)
	first, _ := utf8.DecodeRuneInString(text[begin:])
	isDoubled := strings.HasPrefix(text[begin:], marker)
	if isWord(before) && i > 0 || isDoubled || begin >= len(text) || unicode.IsSpace(first) && marker != "```" {
		return -1
	}
	for from := begin + 1; from < len(text); {
		at := strings.Index(text[from:], marker)
		if at < 0 || marker != "```" && strings.Contains(text[begin:from+at], "\n") {
			return -1
		}
		end := from + at
		last, _ := utf8.DecodeLastRuneInString(text[:end])
		next, _ := utf8.DecodeRuneInString(text[end+len(marker):])
		if (!unicode.IsSpace(last) || marker == "```") && (end+len(marker) == len(text) || !isWord(next)) {
			return end
		}
		from = end + len(marker)
	}
	return -1
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// splitLinks divides a text at its http and https URLs: every second part is one.
func splitLinks(text string) []string {
	var parts []string
	begin := 0
	for _, at := range regexp.MustCompile(`(?i)https?://[\w.~:/?#\[\]@!$&'()*+,;=%-]+[\w/~=&#-]`).FindAllStringIndex(text, -1) {
		parts = append(parts, text[begin:at[0]], text[at[0]:at[1]])
		begin = at[1]
	}
	return append(parts, text[begin:])
}

// title returns a text that begins with a capital.
func title(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return clip(raw, 60)
	}
	return clip(u.Host, 60)
}

func initial(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return strings.ToUpper(string(r))
		}
	}
	return "#"
}

// hue returns one of six colors for a name.
func hue(name string) string {
	sum := 0
	for _, r := range name {
		sum += int(r)
	}
	return "hue-" + itoa(sum%6)
}
