package sandbox

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A piece of a text: plain text, a link, or the code of a hidden character, which could change how the text reads.
type piece struct {
	Text, Link, Control string
}

const (
	shownText   = 4000 // bytes of a text
	previewText = 90
)

var (
	links = regexp.MustCompile(`(?i)https?://[\w.~:/?#\[\]@!$&'()*+,;=%-]+[\w/~=&#-]`)
	// hidden matches characters that control the display of others or show nothing, such as fillers and the blank Braille pattern. It
	// matches an emoji or a flag with such characters as a whole, without the group.
	hidden = regexp.MustCompile(`[\p{So}\x{FE0F}\x{1F000}-\x{1FAFF}]+(?:\x{200D}[\p{So}\x{FE0F}\x{1F000}-\x{1FAFF}]+)+|` +
		`\x{1F3F4}[\x{E0020}-\x{E007F}]+|` +
		`([^\P{Cc}\n\t\r]|[\p{Cf}\x{2028}\x{2029}\x{2800}\x{3164}\x{115F}\x{1160}\x{FFA0}\x{034F}\x{17B4}\x{17B5}])`)
)

// orBlank returns a text, or "(blank)" if a message of kind text shows nothing.
func orBlank(kind, text string) string {
	if kind == "text" && strings.TrimSpace(text) == "" {
		return "(blank)"
	}
	return text
}

// pieces divides a text at its links and hidden characters. It cuts a long text off.
func pieces(text string) (all []piece) {
	rest := clip(text, shownText)
	for at := links.FindStringIndex(rest); at != nil; at = links.FindStringIndex(rest) {
		all = append(all, plainPieces(rest[:at[0]])...)
		link := rest[at[0]:at[1]]
		if webURL(link) != "" {
			all = append(all, piece{Text: link, Link: link})
		} else {
			all = append(all, plainPieces(link)...)
		}
		rest = rest[at[1]:]
	}
	all = append(all, plainPieces(rest)...)
	if len(text) > shownText {
		all = append(all, piece{Control: fmt.Sprintf("… %d bytes in all", len(text))})
	}
	return all
}

// plainPieces divides a text at its hidden characters.
func plainPieces(text string) (all []piece) {
	begin := 0
	for _, at := range hidden.FindAllStringSubmatchIndex(text, -1) {
		from, to := at[2], at[3]
		if from < 0 {
			continue // a part of an emoji
		}
		if begin < from {
			all = append(all, piece{Text: text[begin:from]})
		}
		all = append(all, piece{Control: fmt.Sprintf("U+%04X", []rune(text[from:to])[0])})
		begin = to
	}
	if begin < len(text) {
		all = append(all, piece{Text: text[begin:]})
	}
	return all
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

// webURL returns s if it is an http or https URL, and otherwise "".
func webURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return ""
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return s
}
