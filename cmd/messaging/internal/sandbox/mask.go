package sandbox

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// masked replaces a secret.
const masked = "••••"

// isSecretName reports whether a header, a parameter or a member with this name has a secret value.
func isSecretName(name string) bool {
	name = strings.ToLower(strings.ToUpper(name)) // so that a long s is an s
	for _, part := range []string{"secret", "token", "passw", "cookie", "signature"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	for _, ending := range []string{"key", "auth", "authorization"} { // a keyword is no secret
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}

// A masker masks secrets in requests and responses: known values, and values under the name of a secret.
type masker struct {
	values   []string        // the longest first
	params   map[string]bool // the parameters of a webhook
	masksAll bool            // there are more values than it can look for
}

func newMasker(secrets ...string) masker { return masker{}.withValues(secrets) }

func (m masker) withValues(values []string) masker {
	const minLength = 4 // shorter values occur in ordinary texts
	m.values = slices.Concat(m.values, values)
	m.values = slices.DeleteFunc(m.values, func(v string) bool { return len(v) < minLength })
	slices.SortFunc(m.values, func(a, b string) int { return len(b) - len(a) })
	return m
}

// forURL returns a masker that also masks the values of the query of a webhook, except placeholders. If the query has more than a hundred
// different values, it masks every text as a whole.
func (m masker) forURL(target string, placeholders map[string]string) masker {
	const maxValues = 100
	isKnown := map[string]bool{}
	target, _, _ = strings.Cut(target, "#")
	_, query, _ := strings.Cut(target, "?")
	m.params = maps.Clone(m.params)
	if m.params == nil {
		m.params = map[string]bool{}
	}
	var values []string
	for param := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(param, "=")
		if name == "" || hasPlaceholder(value, placeholders) {
			continue
		}
		m.params[name] = true
		if isKnown[value] {
			continue
		}
		isKnown[value] = true
		if len(isKnown) > maxValues {
			return masker{masksAll: true}
		}
		decoded, _ := url.QueryUnescape(value)
		values = append(values, value, decoded, url.QueryEscape(decoded))
	}
	return m.withValues(values)
}

func hasPlaceholder(value string, placeholders map[string]string) bool {
	for _, placeholder := range placeholders {
		if placeholder != "" && strings.Contains(value, placeholder) {
			return true
		}
	}
	return false
}

// text masks known values.
func (m masker) text(text string) string {
	if m.masksAll {
		return masked
	}
	for _, value := range m.values {
		text = strings.ReplaceAll(text, value, masked)
	}
	return text
}

// json masks known values in a body. In JSON a value may be written with escapes, so such JSON is encoded again.
func (m masker) json(body string) string {
	if strings.Contains(body, `\`) {
		if parsed := document.Parse([]byte(body)); parsed.Exists() {
			body = document.Encode(parsed.Value)
		}
	}
	return m.text(body)
}

// body returns the beginning of a body in JSON or a form, masked.
func (m masker) body(contentType, body string) string {
	const scanLimit = 4 * maxShown // masking shortens a body
	body = maskMembers(clip(m.json(body), scanLimit))
	if strings.Contains(contentType, "form-urlencoded") {
		body = m.query(body)
	}
	return clip(body, maxShown)
}

// query masks the values of secret parameters.
func (m masker) query(query string) string {
	params := strings.Split(query, "&")
	for i, param := range params {
		name, value, _ := strings.Cut(param, "=")
		if value != "" && (m.params[name] || isSecretName(name)) {
			params[i] = name + "=" + masked
		}
	}
	return strings.Join(params, "&")
}

// url returns the beginning of a URL, masked.
func (m masker) url(raw string) string {
	const scanLimit = 4 * maxURL
	rest, query, hasQuery := strings.Cut(m.text(clip(raw, scanLimit)), "?")
	if scheme, after, ok := strings.Cut(rest, "://"); ok {
		host, path, hasPath := strings.Cut(after, "/")
		if at := strings.LastIndex(host, "@"); at >= 0 {
			host = masked + host[at:]
		}
		rest = scheme + "://" + host
		if hasPath {
			rest += "/" + path
		}
	}
	if hasQuery {
		rest += "?" + m.query(query)
	}
	return shorten(rest, maxURL)
}

// header returns the lines of a header by name, masked.
func (m masker) header(header http.Header) []Header {
	lines := linesOf(header)
	for i, line := range lines {
		value := m.text(line.Value)
		if isSecretName(line.Name) {
			value = maskCredential(line.Name, line.Value)
		}
		lines[i] = Header{Name: clip(line.Name, maxName), Value: shorten(value, maxValue)}
	}
	return lines
}

// maskCredential masks the value of a header, except the scheme of an Authorization.
func maskCredential(name, value string) string {
	scheme, rest, _ := strings.Cut(value, " ")
	if rest != "" && strings.HasSuffix(name, "Authorization") {
		return scheme + " " + masked
	}
	return masked
}

// linesOf returns the lines of a header by name.
func linesOf(header http.Header) []Header {
	lines := []Header{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			lines = append(lines, Header{Name: name, Value: value})
		}
	}
	return lines[:min(len(lines), maxLines)]
}
