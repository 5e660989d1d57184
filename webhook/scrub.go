package webhook

import (
	"net/url"
	"strconv"
	"strings"
)

// ScrubURL returns the parts of a callback's URL that may appear in an access log: scheme, host and path, and the length of the
// query, which holds numbers, texts and secrets.
//
//	/hooks/sms?[84B]
//
// A user and a fragment are left out. A part of the path that looks like a secret or a number is replaced by its length: more
// than 15 characters that are not words in lower case, or five digits. That is a guess, and misses a short path secret. For a
// nil URL the result is "".
func ScrubURL(u *url.URL) string {
	if u == nil {
		return ""
	}
	segments := strings.Split(u.EscapedPath(), "/")
	for i, segment := range segments {
		if looksSecret(segment) {
			segments[i] = length(segment)
		}
	}
	shown := (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() + strings.Join(segments, "/")
	if u.Opaque != "" {
		shown += length(u.Opaque)
	}
	if u.RawQuery != "" {
		shown += "?" + length(u.RawQuery)
	}
	return shown
}

func length(text string) string { return "[" + strconv.Itoa(len(text)) + "B]" }

// looksSecret reports whether a part of a path may be a secret or a number, and not words that a person chose.
func looksSecret(segment string) bool {
	const longestWord = 15
	digits, capitals, run := 0, 0, 0
	for _, c := range []byte(segment) {
		run++
		switch {
		case '0' <= c && c <= '9':
			digits++
		case 'A' <= c && c <= 'Z':
			capitals++
		case 'a' <= c && c <= 'z':
		case c == '-', c == '_', c == '.':
			run = 0
		default:
			return true
		}
		if run > longestWord {
			return true
		}
	}
	return digits >= 5 || len(segment) > longestWord && digits+capitals > 0
}
