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
	// hidden finds characters that control how others are shown, or show nothing themselves, such as fillers and the blank pattern of
	// Braille. Those within an emoji or a flag, such as that of Scotland, it finds as a whole.
	hidden = regexp.MustCompile(`[\p{So}\x{FE0F}\x{1F000}-\x{1FAFF}]+(?:\x{200D}[\p{So}\x{FE0F}\x{1F000}-\x{1FAFF}]+)+|` +
		`\x{1F3F4}[\x{E0020}-\x{E007F}]+|` +
		`([^\P{Cc}\n\t\r]|[\p{Cf}\x{2028}\x{2029}\x{2800}\x{3164}\x{115F}\x{1160}\x{FFA0}\x{034F}\x{17B4}\x{17B5}])`)
)

// said returns a text, and "(blank)" for one of kind text that shows nothing.
func said(kind, text string) string {
	if kind == "text" && strings.TrimSpace(text) == "" {
		return "(blank)"
	}
	return text
}

// pieces divides a text for showing, and cuts a long one off.
func pieces(text string) []piece { return divided(text, revealed) }

// chatPieces is like pieces, and applies the marks that chat app 2 formats texts with.
func chatPieces(text string) []piece { return divided(text, formatted) }

// divided divides a text at its http and https URLs, and passes what is between them to show.
func divided(text string, show func(text string, style piece) []piece) (all []piece) {
	rest := clip(text, shownText)
	for at := links.FindStringIndex(rest); at != nil; at = links.FindStringIndex(rest) {
		all = append(all, show(rest[:at[0]], piece{})...)
		link := rest[at[0]:at[1]]
		if webURL(link) != "" {
			all = append(all, piece{Text: link, Link: link})
		} else {
			all = append(all, show(link, piece{})...)
		}
		rest = rest[at[1]:]
	}
	all = append(all, show(rest, piece{})...)
	if len(text) > shownText {
		all = append(all, piece{Control: fmt.Sprintf("… %d bytes in all", len(text))})
	}
	return all
}

// revealed divides a text at its hidden characters. The pieces look like style.
func revealed(text string, style piece) (all []piece) {
	add := func(text string) {
		if style.Text = text; text != "" {
			all = append(all, style)
		}
	}
	begin := 0
	for _, at := range hidden.FindAllStringSubmatchIndex(text, -1) {
		if at[2] >= 0 {
			add(text[begin:at[2]])
			all = append(all, piece{Control: fmt.Sprintf("U+%04X", []rune(text[at[2]:at[3]])[0])})
			begin = at[3]
		}
	}
	add(text[begin:])
	return all
}

// formatted divides a text at *bold*, _italic_, ~struck~ and code between backquotes, inside of style.
func formatted(text string, style piece) (all []piece) {
	for at := marks.FindStringSubmatchIndex(text); at != nil; at = marks.FindStringSubmatchIndex(text) {
		group := 1
		for at[2*group] < 0 {
			group++
		}
		width, show, inner := 1, formatted, style
		inner.Bold, inner.Italic, inner.Struck = style.Bold || group == 1, style.Italic || group == 2, style.Struck || group == 3
		if group > 3 {
			width, show, inner.Code = map[int]int{4: 1, 5: 3}[group], revealed, true
		}
		begin, end := at[2*group], at[2*group+1]
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
