package sandbox

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// maskCallback masks the secrets of a callback URL in a body that holds it.
func (s *Sandbox) maskCallback(body, callback string) string {
	shown := s.mask.url(callback, secretsOf(callback, s.table.WebhookDelivery.Placeholders).names)
	if shown == callback {
		return body
	}
	body = replaceURL(body, callback, shown)
	if n := document.Parse([]byte(body)); n.Exists() {
		if value, found := replaceIn(n.Value, callback, shown); found { // written with other escapes
			return document.Encode(value)
		}
	}
	return body
}

// replaceURL replaces a URL in a body, as it is and as JSON and forms write it.
func replaceURL(body, from, to string) string {
	for _, written := range []func(string) string{
		func(text string) string { return text },
		func(text string) string { return jsonText(text, true) },
		func(text string) string { return jsonText(text, false) },
		func(text string) string { return strings.ReplaceAll(jsonText(text, false), "/", `\/`) },
		url.QueryEscape,
	} {
		body = strings.ReplaceAll(body, written(from), written(to))
	}
	return body
}

// replaceIn replaces the texts in a document that are this URL, and reports whether there were any.
func replaceIn(value any, from, to string) (any, bool) {
	found := false
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			replaced, isFound := replaceIn(v[name], from, to)
			v[name], found = replaced, found || isFound
		}
	case []any:
		for i := range v {
			replaced, isFound := replaceIn(v[i], from, to)
			v[i], found = replaced, found || isFound
		}
	case string:
		if v == from {
			return to, true
		}
	}
	return value, found
}

func jsonText(text string, escapeHTML bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(escapeHTML)
	_ = enc.Encode(text) // a string
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}
