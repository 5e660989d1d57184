package webhook

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// ScrubURL returns what of a callback's URL may stand in an access log: scheme, host and path, and the length of the query,
// which holds numbers, texts and secrets.
//
//	/hooks/sms?[84B]
//
// A user and a fragment are left out. A part of the path that looks like a secret or a number is replaced by its length: more
// than 15 characters that are not words in lower case, or five digits. That is a guess, which a short path secret escapes. The result is one line of printable
// ASCII without spaces; for a nil URL it is "".
func ScrubURL(u *url.URL) string {
	if u == nil {
		return ""
	}
	var b strings.Builder
	if u.Scheme != "" {
		b.WriteString(printable(u.Scheme) + ":")
	}
	if u.Opaque != "" {
		fmt.Fprintf(&b, "[%dB]", len(u.Opaque))
	} else {
		if u.Host != "" {
			b.WriteString("//" + printable(u.Host))
		}
		for i, segment := range strings.Split(u.EscapedPath(), "/") {
			if i > 0 {
				b.WriteByte('/')
			}
			if looksSecret(segment) {
				segment = fmt.Sprintf("[%dB]", len(segment))
			}
			b.WriteString(segment)
		}
	}
	if u.RawQuery != "" {
		fmt.Fprintf(&b, "?[%dB]", len(u.RawQuery))
	}
	return b.String()
}

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

// printable replaces characters that no host or scheme has.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return '.'
		}
		return r
	}, text)
}

// RefuseUncleanPaths answers 404, with an empty body, to a request whose path is not clean, such as //hooks/sms, and passes
// any other to next. Put it in front of an http.ServeMux: that redirects such a request, and the body of the redirect
// repeats the query with its number, text and secret.
func RefuseUncleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		escaped := r.URL.EscapedPath()
		clean := path.Clean("/" + escaped)
		if strings.HasSuffix(escaped, "/") && clean != "/" {
			clean += "/"
		}
		if clean != escaped && r.Method != http.MethodConnect {
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}
