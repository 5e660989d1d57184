package webhook

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// body is that of a POST.
type body struct {
	text        string
	contentType string
}

// bodyOf makes a body that can be read from its beginning.
func bodyOf(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }

// readBody reads the body of a request up to the limit.
func (q *reading) readBody(r *http.Request) (body, error) {
	if r.Body == nil {
		return body{}, nil
	}
	limit := int64(q.settings.maxBytes)
	if r.ContentLength > limit {
		return body{}, q.reject(ErrTooLarge)
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge || int64(len(text)) > limit {
		return body{}, q.reject(ErrTooLarge)
	}
	if err != nil {
		return body{}, &RejectError{Event: q.event, Status: http.StatusBadRequest, Reason: ErrUnreadable, Cause: err}
	}
	contentType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return body{text: string(text), contentType: strings.ToLower(strings.TrimSpace(contentType))}, nil
}

// bodyParams reads the parameters of a body. What is in it decides how: a JSON object is one whatever the Content-Type
// says, and else it is a form, unless the Content-Type says that it is neither.
func (q *reading) bodyParams(b body) error {
	const mark = "\ufeff" // some senders put a byte order mark in front
	text := strings.TrimSpace(strings.TrimPrefix(b.text, mark))
	if text == "" {
		return nil
	}
	if text[0] == '{' {
		if repaired := repair(text); json.Valid([]byte(repaired)) {
			q.body = repaired
			q.members(repaired)
			return nil
		}
	}
	switch b.contentType {
	case "", "application/x-www-form-urlencoded", "text/plain", "application/octet-stream":
		q.query(text)
		return nil
	case "application/json", "text/json":
		return q.reject(ErrUnreadable)
	default:
		return &RejectError{Event: q.event, Status: http.StatusUnsupportedMediaType, Reason: ErrUnreadable}
	}
}

// members reads the members of a JSON object as parameters.
func (q *reading) members(text string) {
	decoder := json.NewDecoder(strings.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return
	}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return // the text was found valid
		}
		name, _ := token.(string)
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil {
			return
		}
		value, nested := scalar(raw)
		if q.settings.hasSecret(name) {
			q.isSecretMember(name, value)
			continue
		}
		q.add(name, value, q.names.find(name), nested)
	}
}

// isSecretMember looks whether a member of a body is the secret that it is there for.
func (q *reading) isSecretMember(name, value string) {
	for i := range q.settings.secrets {
		if q.settings.secrets[i].name == name {
			q.count++
			q.try(i, value, value)
		}
	}
}

// scalar gives the text of a JSON value: what a string holds, a number, true or false as it is written, "" for null. An
// object or a list is nested, and its text is its JSON.
func scalar(raw json.RawMessage) (text string, nested bool) {
	text = strings.TrimSpace(string(raw))
	switch {
	case text == "", text == "null":
		return "", false
	case text[0] == '{' || text[0] == '[':
		return text, true
	case text[0] == '"':
		var word string
		if json.Unmarshal(raw, &word) != nil {
			return "", false
		}
		return word, false
	default:
		return text, false
	}
}
