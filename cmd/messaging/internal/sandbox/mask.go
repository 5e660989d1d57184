package sandbox

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// masked stands in place of a secret.
const masked = "••••"

// A masker removes secrets from what is captured: credentials of the service, what stands under the name of a secret,
// and what the owner of a webhook wrote into its URL.
type masker struct {
	pairs   []string          // each secret, and what stands in its place
	values  *strings.Replacer // by the pairs
	headers *regexp.Regexp    // names of headers that hold secrets
	params  *regexp.Regexp    // names of parameters
	members *regexp.Regexp    // members of JSON, with their values
	own     []string          // the parameters of the webhook
}

func newMasker(service *messagingtest.Server, t *table.Table) masker {
	known := []string{`api[_-]?key|api[_-]?secret|(?:access|auth)[_-]?token|token|key|(?:client[_-]?)?secret|passw(?:or)?d|signature|sig`}
	headers := []string{`key|secret|token|auth|password|cookie|signature`}
	for _, name := range []string{t.Auth.Token.Header, t.Auth.KeyPair.Key, t.Auth.KeyPair.Secret} {
		if name != "" {
			known = append(known, regexp.QuoteMeta(name), regexp.QuoteMeta(name[strings.LastIndexByte(name, '.')+1:]))
			headers = append(headers, "^"+regexp.QuoteMeta(name)+"$")
		}
	}
	names := strings.Join(known, "|")
	m := masker{
		headers: regexp.MustCompile(`(?i)` + strings.Join(headers, "|")), params: regexp.MustCompile(`(?i)^(?:` + names + `)$`),
		members: regexp.MustCompile(`(?i)("(?:` + names + `)"\s*:\s*)("(?:[^"\\]|\\.)*"?|[^\s,}\]]+)`),
	}
	for _, secret := range []string{service.Token, service.APIKey, service.APISecret} {
		if secret != "" {
			m.pairs = append(m.pairs, secret, masked)
		}
	}
	m.values = strings.NewReplacer(m.pairs...)
	return m
}

// with returns a masker that also hides what the owner of a webhook wrote into its URL: the values of its parameters, except
// placeholders, and the parts of its path that look random.
func (m masker) with(target string, placeholders map[string]string) masker {
	const short = 4 // what is shorter is in too many texts
	var values []string
	hide := func(value string) {
		if len(value) >= short && len(values) < 4*maxLines {
			values = append(values, value, masked)
		}
	}
	path, _, _ := strings.Cut(target, "#")
	path, query, _ := strings.Cut(path, "?")
	for param := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(param, "=")
		isPlaceholder := false
		for _, p := range placeholders {
			isPlaceholder = isPlaceholder || p != "" && strings.Contains(value, p)
		}
		if name != "" && !isPlaceholder {
			decoded, _ := url.QueryUnescape(value)
			m.own = append(m.own, name)
			hide(value)
			hide(decoded)
		}
	}
	for part := range strings.SplitSeq(path, "/") {
		if looksRandom(part) {
			hide(part)
		}
	}
	if shown := m.url(target); shown != target {
		values = append([]string{target, shown, url.QueryEscape(target), url.QueryEscape(shown)}, values...)
	}
	m.pairs = append(values, m.pairs...)
	m.values = strings.NewReplacer(m.pairs...)
	return m
}

// linesOf returns the lines of a header by name.
func linesOf(header http.Header) []Header {
	lines := []Header{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			lines = append(lines, Header{name, value})
		}
	}
	return lines[:min(len(lines), maxLines)]
}

// header returns the lines of a header by name.
func (m masker) header(header http.Header) []Header {
	lines := linesOf(header)
	for i, h := range lines {
		if m.headers.MatchString(h.Name) {
			scheme, rest, _ := strings.Cut(h.Value, " ")
			h.Value = masked
			if rest != "" && strings.HasSuffix(h.Name, "Authorization") {
				h.Value = scheme + " " + masked
			}
		}
		lines[i] = Header{clip(h.Name, maxName), shorten(m.text(h.Value), maxValue)}
	}
	return lines
}

// text returns a text without the values of secrets.
func (m masker) text(text string) string { return m.values.Replace(text) }

// body returns the beginning of a body, be it JSON or a form.
func (m masker) body(contentType, body string) string {
	const looked = 4 * maxShown // masks are short: what stands behind that does not come into view
	body = m.members.ReplaceAllString(m.text(clip(m.unescaped(body), looked)), `${1}"`+masked+`"`)
	if strings.Contains(contentType, "form-urlencoded") {
		body = m.query(body)
	}
	return clip(body, maxShown)
}

// unescaped returns JSON in which the URL of the webhook may stand as plain text does: a sender may write it with escapes.
func (m masker) unescaped(body string) string {
	if len(m.own) > 0 && strings.Contains(body, `\`) {
		if n := document.Parse([]byte(body)); n.Exists() {
			return document.Encode(n.Value)
		}
	}
	return body
}

// query masks the values of parameters.
func (m masker) query(query string) string {
	params := strings.Split(query, "&")
	for i, param := range params {
		name, value, _ := strings.Cut(param, "=")
		if value != "" && (slices.Contains(m.own, name) || m.params.MatchString(name)) {
			params[i] = name + "=" + masked
		}
	}
	return strings.Join(params, "&")
}

// url returns the beginning of a URL without its password, the values of parameters, and the parts of its path that look random.
func (m masker) url(raw string) string {
	const looked = 4 * maxURL // as for a body
	rest, fragment, hasFragment := strings.Cut(m.text(clip(raw, looked)), "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	if scheme, after, ok := strings.Cut(rest, "://"); ok {
		parts := strings.Split(after, "/")
		if at := strings.LastIndex(parts[0], "@"); at >= 0 {
			parts[0] = masked + parts[0][at:]
		}
		for i, part := range parts[1:] {
			if looksRandom(part) {
				parts[i+1] = masked
			}
		}
		rest = scheme + "://" + strings.Join(parts, "/")
	}
	if hasQuery {
		rest += "?" + m.query(query)
	}
	if hasFragment {
		rest += "#" + fragment
	}
	return shorten(rest, maxURL)
}

// looksRandom reports whether a part of a path is long, and has digits among letters, as generated secrets have.
func looksRandom(part string) bool {
	const long = 16
	return len(part) >= long && strings.ContainsAny(part, "0123456789") &&
		strings.ContainsAny(strings.ToLower(part), "abcdefghijklmnopqrstuvwxyz") && !strings.ContainsAny(part, ".%")
}
