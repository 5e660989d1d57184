package table

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Headers are constant headers by name, in any case. An empty value means that the header is not sent.
type Headers map[string]string

// With returns the headers that an operation with its own headers sends, by their names in lower case. Its own headers win.
func (h Headers) With(own Headers) Headers {
	all := Headers{}
	for _, headers := range []Headers{h, own} {
		for name, value := range headers {
			all[strings.ToLower(name)] = value
			if value == "" {
				delete(all, strings.ToLower(name))
			}
		}
	}
	return all
}

func (h Headers) validate(problems *Problems, section string, t *Table) {
	const most = 32
	if len(h) > most {
		problems.add(section, "has more than 32 entries")
	}
	pair := t.Auth.KeyPair
	seen := map[string]string{}
	for name, value := range sorted(h) {
		place := join(section, name)
		lower := strings.ToLower(name)
		isPair := strings.EqualFold(name, pair.Key) || strings.EqualFold(name, pair.Secret)
		problems.add(place, headerFault(name))
		problems.add(place, headerValueFault(value))
		switch {
		case strings.EqualFold(name, t.Auth.Token.Header):
			problems.add(place, "is the header of auth.token; credentials are options of the client")
		case lower == "authorization":
			problems.add(place, "is a header for credentials, which are options of the client")
		case pair.In == "header" && isPair:
			problems.add(place, "is a header of auth.keyPair; credentials are options of the client")
		case seen[lower] != "":
			problems.add(place, "has the same name as "+seen[lower])
		}
		seen[lower] = place
	}
}

func headerValueFault(value string) string {
	const longest = 1024
	switch {
	case len(value) > longest:
		return "is longer than 1024 bytes"
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		return "holds a control character, which no header can"
	case strings.TrimSpace(value) != value:
		return "has white space around its value, which no header keeps"
	}
	return ""
}

func headerFault(name string) string {
	if !IsToken(name) {
		return "is not the name of a header"
	}
	switch strings.ToLower(name) {
	case "accept", "accept-encoding", "cache-control", "connection", "content-encoding", "content-length", "content-type", "expect", "host",
		"keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "user-agent":
		return "names a header that the client or net/http writes itself"
	case "idempotency-key", "x-idempotency-key":
		return "names a header that makes net/http retry a POST by itself"
	}
	return ""
}

func mediaFault(text string) string {
	kind, subtype, _ := strings.Cut(strings.Split(text, ";")[0], "/")
	if !IsToken(kind) || !IsToken(subtype) || headerValueFault(text) != "" {
		return "is not a media type, such as text/plain"
	}
	return ""
}

// IsToken reports whether text is a token of RFC 9110, section 5.6.2.
func IsToken(text string) bool {
	const allowed = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&'*+-.^_`|~"
	return text != "" && consistsOf(text, allowed)
}
