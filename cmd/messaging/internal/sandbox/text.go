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

var (
	links = regexp.MustCompile(`(?i)https?://[\w.~:/?#\[\]@!$&'()*+,;=%-]+[\w/~=&#-]`)
	// marks format a text. They stand around words, not within them.
	marks = regexp.MustCompile(`(?:^|[^\pL\pN])(?:` + strings.Join([]string{
		`\*([^\s*](?:.*?\S)?)\*`, `_([^\s_](?:.*?\S)?)_`, `~([^\s~](?:.*?\S)?)~`, "`([^\\s`](?:.*?\\S)?)`", "```([^`](?s:.*?))```",
	}, "|") + `)(?:$|[^\pL\pN])`)
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

// divided divides a text at its http and https URLs, and passes what is between them to show.
func divided(text string, show func(string) []piece) (all []piece) {
	rest := clip(text, shownText)
	for at := links.FindStringIndex(rest); at != nil; at = links.FindStringIndex(rest) {
		all = append(all, show(rest[:at[0]])...)
		link := rest[at[0]:at[1]]
		if webURL(link) != "" {
			all = append(all, piece{Text: link, Link: link})
		} else {
			all = append(all, show(link)...)
		}
		rest = rest[at[1]:]
	}
	all = append(all, show(rest)...)
	if len(text) > shownText {
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
func formatted(text string, style piece) (all []piece) {
	for at := marks.FindStringSubmatchIndex(text); at != nil; at = marks.FindStringSubmatchIndex(text) {
		group := 1
		for at[2*group] < 0 {
			group++
		}
		begin, end, width, show, inner := at[2*group], at[2*group+1], 1, formatted, style
		switch group {
		case 1:
			inner.Bold = true
		case 2:
			inner.Italic = true
		case 3:
			inner.Struck = true
		default:
			inner.Code, show = true, revealed
			width = map[int]int{4: 1, 5: 3}[group]
		}
		all = append(all, revealed(text[:begin-width], style)...)
		all = append(all, show(text[begin:end], inner)...)
		text = text[end+width:]
	}
	return append(all, revealed(text, style)...)
}

// title returns a text that begins with a capital.
func title(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// hostOf returns the host of a web URL.
func hostOf(raw string) string {
	u, _ := url.Parse(raw)
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
