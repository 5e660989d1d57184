package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// readBody reads the body of a request up to the limit.
func readBody(r *http.Request, limit int) (string, error) {
	if r.Body == nil {
		return "", nil
	}
	if r.ContentLength > int64(limit) {
		return "", ErrTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	if err == nil && len(body) > limit {
		err = ErrTooLarge
	}
	return string(body), err
}

// isTooLarge reports whether a body was longer than the limit, or than a limit of the server.
func isTooLarge(err error) bool {
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	return tooLarge || errors.Is(err, ErrTooLarge)
}

// restoreBody lets a body that was read be read again.
func restoreBody(r *http.Request, body string) {
	if r.Method == http.MethodPost {
		r.Body = io.NopCloser(strings.NewReader(body))
	}
}

// readBodyParams reads the parameters of a body. Its content decides how: a JSON object is one whatever the Content-Type
// says, and anything else is a form, unless the Content-Type says that it is not.
func (q *request) readBodyParams(r *http.Request, body string) error {
	const byteOrderMark = "\ufeff"
	body = strings.TrimSpace(strings.TrimPrefix(body, byteOrderMark))
	if body == "" {
		return nil
	}
	if body[0] == '{' || body[0] == '[' && q.callback.holdsList() {
		if text := repair(body); json.Valid([]byte(text)) {
			q.readObject(text)
			return nil
		}
	}
	contentType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(contentType)) {
	case "", "application/x-www-form-urlencoded", "text/plain", "application/octet-stream":
		q.readForm(body)
		return nil
	case "application/json", "text/json":
		return q.reject(ErrUnreadable)
	default:
		return q.reject(ErrUnreadable).as(http.StatusUnsupportedMediaType)
	}
}

// readObject reads the members of a valid JSON object as parameters, and keeps it without those that hold secrets.
func (q *request) readObject(text string) {
	q.object = text
	var kept []string
	all := objectOf(json.RawMessage(text)) // nil for a list
	for _, m := range all {
		if i := q.secretOf(m.name); i >= 0 {
			if value, _ := scalar(m.raw); !q.element {
				q.prove(i, value)
			}
			continue
		}
		if q.addJSON(m.name, m.raw); q.count > q.maxParams {
			return
		}
		name, _ := json.Marshal(m.name)
		kept = append(kept, string(name)+":"+string(m.raw))
	}
	if len(kept) < len(all) {
		q.object = "{" + strings.Join(kept, ",") + "}"
	}
	q.readPaths(json.RawMessage(text))
}

// addJSON keeps a parameter that arrived as JSON.
func (q *request) addJSON(name string, raw json.RawMessage) {
	value, nested := scalar(raw)
	q.add(name, value)
	if nested {
		if q.nested == nil {
			q.nested = map[int]bool{}
		}
		q.nested[len(q.params)-1] = true
	}
}

// scalar returns the text of a valid JSON value: the content of a string, a number, true or false as written, "" for null. An
// object or a list is nested, and its text is its JSON.
func scalar(raw json.RawMessage) (text string, nested bool) {
	text = string(bytes.TrimSpace(raw))
	switch {
	case text == "", text == "null":
		return "", false
	case text[0] == '{', text[0] == '[':
		return text, true
	case text[0] == '"' && !strings.Contains(text, `\`):
		return text[1 : len(text)-1], false
	case text[0] == '"':
		var word string
		_ = json.Unmarshal(raw, &word) // it is valid
		return word, false
	default:
		return text, false
	}
}
