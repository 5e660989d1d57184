package sandbox

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
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

var links = regexp.MustCompile(`(?i)https?://[\w.~:/?#\[\]@!$&'()*+,;=%-]+[\w/~=&#-]`)

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

// plainPieces divides a text at its hidden characters. Those in an emoji or a flag stay.
func plainPieces(text string) (all []piece) {
	runes := []rune(text)
	begin := 0
	isInFlag := false
	for i, r := range runes {
		isInFlag = r == blackFlag || (isInFlag && isFlagTag(r))
		if !isHidden(r) || isInFlag || joinsEmoji(runes, i) {
			continue
		}
		if begin < i {
			all = append(all, piece{Text: string(runes[begin:i])})
		}
		all = append(all, piece{Control: fmt.Sprintf("U+%04X", r)})
		begin = i + 1
	}
	if begin < len(runes) {
		all = append(all, piece{Text: string(runes[begin:])})
	}
	return all
}

// isHidden reports whether a character controls the display of others or shows nothing, such as a filler or the blank Braille pattern.
func isHidden(r rune) bool {
	switch r {
	case '\n', '\t', '\r':
		return false
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// blackFlag is a flag whose region, such as Wales, follows in tags.
const blackFlag = '\U0001f3f4'

func isFlagTag(r rune) bool { return r >= '\U000e0020' && r <= '\U000e007f' }

// joinsEmoji reports whether the character at an index joins two emoji into one.
func joinsEmoji(runes []rune, i int) bool {
	const joiner = '\u200d'
	isBetween := i > 0 && i+1 < len(runes)
	return runes[i] == joiner && isBetween && isEmoji(runes[i-1]) && isEmoji(runes[i+1])
}

// isEmoji reports whether a character is an emoji, or the mark after one that it is shown in color.
func isEmoji(r rune) bool {
	const colorMark = '\ufe0f'
	isPictograph := r >= '\U0001f000' && r <= '\U0001faff'
	isSymbol := unicode.Is(unicode.So, r) && !isHidden(r)
	return isPictograph || isSymbol || r == colorMark
}

// title returns a text that begins with a capital.
func title(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// hostOf returns the host of a URL, or "" if the text is not a URL.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
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

func itoa(n int) string { return strconv.Itoa(n) }
