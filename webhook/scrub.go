package webhook

import (
	"net/url"
	"strconv"
	"strings"
)

// ScrubURL gives what of the URL of a callback may stand in an access log: scheme, host and path, and how long the query is.
// The query itself holds number, text and secret, in its names as well as in its values where a sender did not escape,
// so nothing of it is shown; neither are a user and a fragment. A part of the path that looks like a secret or a
// number (more than 15 characters that are not words in lower case, or five digits or more) is shown as its length too: a guess,
// which a short secret of WithPathSecret escapes.
//
//	/hooks/sms?[84B]
//
// The URL is not changed. A nil URL gives "". The result has no control characters and no spaces. Log the ID of the
// message in its place where you want to find it again: WithLogger does.
func ScrubURL(u *url.URL) string {
	if u == nil {
		return ""
	}
	var b strings.Builder
	if u.Scheme != "" {
		b.WriteString(printable(u.Scheme))
		b.WriteByte(':')
	}
	switch {
	case u.Opaque != "":
		writeLength(&b, len(u.Opaque))
	case u.Host != "":
		b.WriteString("//")
		b.WriteString(printable(u.Host))
	}
	if u.Opaque == "" {
		for i, segment := range strings.Split(u.EscapedPath(), "/") {
			if i > 0 {
				b.WriteByte('/')
			}
			if isSecretive(segment) {
				writeLength(&b, len(segment))
			} else {
				b.WriteString(segment)
			}
		}
	}
	if u.RawQuery != "" {
		b.WriteByte('?')
		writeLength(&b, len(u.RawQuery))
	}
	return b.String()
}

func writeLength(b *strings.Builder, n int) {
	b.WriteByte('[')
	b.WriteString(strconv.Itoa(n))
	b.WriteString("B]")
}

// isSecretive tells whether a part of a path may be a secret or a number, and not words that somebody thought of.
func isSecretive(segment string) bool {
	const word = 15
	digits, capitals, run := 0, 0, 0
	for i := range len(segment) {
		switch c := segment[i]; {
		case '0' <= c && c <= '9':
			digits++
			run++
		case 'A' <= c && c <= 'Z':
			capitals++
			run++
		case 'a' <= c && c <= 'z':
			run++
		case c == '-', c == '_', c == '.':
			run = 0
		default:
			return true
		}
		if run > word {
			return true
		}
	}
	return digits >= 5 || len(segment) > word && digits+capitals > 0
}

// printable replaces what no host or scheme has.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return '.'
		}
		return r
	}, text)
}
