package sandbox

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// masked stands in place of a secret.
const masked = "••••"

// A masker hides credentials in what traffic shows.
type masker struct {
	literal *strings.Replacer // the credentials of the service
	headers []string          // names in lower case
	members *regexp.Regexp    // of JSON, whose values are secrets
	params  []string          // of queries and forms
	suspect *regexp.Regexp    // names of headers that hold secrets, in lower case
}

func newMasker(service *messagingtest.Server, t *table.Table) masker {
	var literal []string
	for _, secret := range []string{service.Token, service.APIKey, service.APISecret} {
		if secret != "" {
			literal = append(literal, secret, masked)
		}
	}
	names := []string{"api[_-]?key", "api[_-]?secret", "access[_-]?token", "auth[_-]?token", "password", "passwd", "secret", "client[_-]?secret"}
	pair := t.Auth.KeyPair
	params := []string{"token", "key", "apikey", "api_key", "secret", "password", "access_token", "signature", "sig"}
	for _, name := range []string{pair.Key, pair.Secret} {
		if name != "" {
			parts := strings.Split(name, ".")
			names = append(names, regexp.QuoteMeta(parts[len(parts)-1]))
			params = append(params, strings.ToLower(name))
		}
	}
	return masker{
		literal: strings.NewReplacer(literal...),
		headers: []string{strings.ToLower(t.Auth.Token.Header), strings.ToLower(pair.Key), strings.ToLower(pair.Secret)},
		members: regexp.MustCompile(`(?i)("(?:` + strings.Join(names, "|") + `)"\s*:\s*)("(?:[^"\\]|\\.)*"?|[^\s,}\]]+)`),
		params:  params,
		suspect: regexp.MustCompile(`key|secret|token|auth|password|cookie|signature`),
	}
}

// header returns the lines of a header by name, without secrets.
func (m masker) header(h http.Header) []Header {
	list := []Header{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			if len(list) < maxLines {
				list = append(list, Header{clip(name, maxName), shorten(m.headerValue(strings.ToLower(name), value), maxValue)})
			}
		}
	}
	return list
}

func (m masker) headerValue(name, value string) string {
	if !slices.Contains(m.headers, name) && !m.suspect.MatchString(name) {
		return m.text(value)
	}
	if scheme, rest, ok := strings.Cut(value, " "); ok && rest != "" && strings.HasSuffix(name, "authorization") {
		return scheme + " " + masked
	}
	return masked
}

// text returns a text without the service's credentials.
func (m masker) text(text string) string { return m.literal.Replace(text) }

// body returns a body without secrets, be it JSON or a form.
func (m masker) body(contentType, body string) string {
	body = m.members.ReplaceAllString(m.text(body), `${1}"`+masked+`"`)
	if strings.Contains(contentType, "form-urlencoded") {
		body = m.query(body, nil)
	}
	return body
}

// query masks the values of parameters with these names, and of those that all traffic hides.
func (m masker) query(query string, names []string) string {
	params := strings.Split(query, "&")
	for i, param := range params {
		name, value, _ := strings.Cut(param, "=")
		if value != "" && (slices.Contains(names, name) || slices.Contains(m.params, strings.ToLower(name))) {
			params[i] = name + "=" + masked
		}
	}
	return strings.Join(params, "&")
}

// url masks a URL: its password, the values of these parameters, and parts of its path that look random.
func (m masker) url(raw string, names []string) string {
	raw = m.text(raw)
	rest, fragment, hasFragment := strings.Cut(raw, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	if scheme, after, ok := strings.Cut(rest, "://"); ok {
		host, path, hasPath := strings.Cut(after, "/")
		if at := strings.LastIndex(host, "@"); at >= 0 {
			host = masked + host[at:]
		}
		rest = scheme + "://" + host
		if hasPath {
			parts := strings.Split(path, "/")
			for i, part := range parts {
				if looksRandom(part) {
					parts[i] = masked
				}
			}
			rest += "/" + strings.Join(parts, "/")
		}
	}
	if hasQuery {
		rest += "?" + m.query(query, names)
	}
	if hasFragment {
		rest += "#" + fragment
	}
	return rest
}

// looksRandom reports whether a part of a path is long, and has digits among letters, as generated secrets have.
func looksRandom(part string) bool {
	const long = 16
	return len(part) >= long && strings.ContainsAny(part, "0123456789") &&
		strings.ContainsAny(strings.ToLower(part), "abcdefghijklmnopqrstuvwxyz") && !strings.ContainsAny(part, ".%")
}

// matches masks the values of names that hold secrets.
func (m masker) matches(found []Match) []Match {
	for i, match := range found {
		isSecret := slices.Contains([]string{"API key", "API secret"}, match.Concept) || slices.Contains(m.params, strings.ToLower(match.Name)) ||
			m.members.MatchString(`"`+match.Name+`":""`)
		switch {
		case isSecret && match.Value != "":
			found[i].Value = masked
		case match.Concept == "callback":
			found[i].Value = m.url(match.Value, secretsOf(match.Value, nil).names)
		default:
			found[i].Value = m.text(match.Value)
		}
	}
	return found
}

// webhookSecrets are what the owner of a webhook wrote into its URL and nobody else should know.
type webhookSecrets struct {
	names  []string          // of parameters
	values *strings.Replacer // as they may come back in a response
}

// secretsOf returns the parameters in the URL of a webhook, except those whose values are placeholders, and the parts of its path
// that look random: any of them may be its secret.
func secretsOf(target string, placeholders map[string]string) webhookSecrets {
	const short = 4 // what is shorter is in too many texts
	target, _, _ = strings.Cut(target, "#")
	path, query, _ := strings.Cut(target, "?")
	var found webhookSecrets
	var values []string
	hide := func(value string) {
		if len(value) >= short && len(values) < 2*maxLines {
			values = append(values, value, masked)
		}
	}
	for param := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(param, "=")
		isPlaceholder := false
		for _, p := range placeholders {
			isPlaceholder = isPlaceholder || p != "" && strings.Contains(value, p)
		}
		if name == "" || isPlaceholder {
			continue
		}
		found.names = append(found.names, name)
		hide(value)
		if decoded, err := url.QueryUnescape(value); err == nil && decoded != value {
			hide(decoded)
		}
	}
	for part := range strings.SplitSeq(path, "/") {
		if looksRandom(part) {
			hide(part)
		}
	}
	found.values = strings.NewReplacer(values...)
	return found
}

// hide returns a text without the secrets.
func (s webhookSecrets) hide(text string) string {
	if s.values == nil {
		return text
	}
	return s.values.Replace(text)
}

// hideIn hides the secrets in a header.
func (s webhookSecrets) hideIn(header []Header) []Header {
	for i := range header {
		header[i].Value = s.hide(header[i].Value)
	}
	return header
}
