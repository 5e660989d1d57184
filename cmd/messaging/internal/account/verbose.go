package account

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/redact"
)

// tracer prints requests and responses on standard error. Secrets and values of the message are masked as in the errors of the library.
type tracer struct {
	console cli.Console
	secrets redact.Secrets
}

// options returns the option that shows requests and responses, or none.
func (t *tracer) options(isVerbose bool) []messaging.Option {
	if !isVerbose {
		return nil
	}
	for _, name := range []string{"MESSAGING_TOKEN", "MESSAGING_API_KEY", "MESSAGING_API_SECRET"} {
		if credential := os.Getenv(name); credential != "" {
			t.secrets.AddCredential(credential)
		}
	}
	return []messaging.Option{messaging.WithTransport(t.wrap)}
}

// hide masks the values of a message, other than its reference ID.
func (t *tracer) hide(message any) {
	raw, err := json.Marshal(message)
	if err != nil {
		return // it cannot be sent either
	}
	values := document.Parse(raw).Object()
	delete(values, "referenceID")
	t.secrets.AddValue(values)
}

func (t *tracer) wrap(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		secrets := t.secrets
		secrets.AddRequest(request)
		t.console.Note("> " + request.Method + " " + requestURL(request.URL, &secrets))
		response, err := base.RoundTrip(request)
		if err != nil {
			return nil, err // the error of the send says it
		}
		t.printResponse(response, &secrets)
		return response, nil
	})
}

// printResponse prints a response. Its body can still be read.
func (t *tracer) printResponse(response *http.Response, secrets *redact.Secrets) {
	const most = 16 << 20
	read, err := io.ReadAll(io.LimitReader(response.Body, most))
	response.Body = &replayBody{read: bytes.NewReader(read), err: err, rest: response.Body}
	t.console.Note(fmt.Sprintf("< %s %s  %s", response.Proto, response.Status, response.Header.Get("Content-Type")))
	if text := maskBody(secrets, read); text != "" {
		t.console.Note("< " + text)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// replayBody is a body that was read in part. It yields that part again, and then the error that ended it or the rest of the body.
type replayBody struct {
	read *bytes.Reader
	err  error // nil if the part ended at its limit or with the body
	rest io.ReadCloser
}

func (b *replayBody) Read(p []byte) (int, error) {
	switch {
	case b.read.Len() > 0:
		return b.read.Read(p)
	case b.err != nil:
		return 0, b.err
	default:
		return b.rest.Read(p)
	}
}

func (b *replayBody) Close() error { return b.rest.Close() }

// requestURL returns a URL with the secrets in its path and the values of its query masked.
func requestURL(u *url.URL, secrets *redact.Secrets) string {
	segments := strings.Split(u.EscapedPath(), "/")
	for i, segment := range segments {
		segments[i] = masked(secrets, segment)
	}
	base := u.Scheme + "://" + u.Host + strings.Join(segments, "/")
	var names []string
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		names = append(names, url.QueryEscape(name)+"=***")
	}
	if len(names) == 0 {
		return base
	}
	return base + "?" + strings.Join(names, "&")
}

// maskBody returns a response with its secrets masked.
func maskBody(secrets *redact.Secrets, body []byte) string {
	n := document.Parse(body)
	if !n.Exists() {
		return masked(secrets, string(bytes.ToValidUTF8(body, []byte("\ufffd"))))
	}
	return document.Node{Value: maskValue(secrets, n.Value)}.Indented()
}

// maskValue returns a JSON value with its secrets masked.
func maskValue(secrets *redact.Secrets, value any) any {
	switch value := value.(type) {
	case map[string]any:
		object := map[string]any{}
		for name, member := range value {
			object[masked(secrets, name)] = maskValue(secrets, member)
		}
		return object
	case []any:
		list := make([]any, len(value))
		for i, element := range value {
			list[i] = maskValue(secrets, element)
		}
		return list
	case string:
		return masked(secrets, value)
	case json.Number:
		if text := masked(secrets, value.String()); text != value.String() {
			return text
		}
	}
	return value
}

// masked returns a text with its secrets masked.
func masked(secrets *redact.Secrets, text string) string {
	if result := secrets.Mask(text); result != "" || text == "" {
		return result
	}
	return "***"
}
