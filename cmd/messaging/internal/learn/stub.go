package learn

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// stub is a service with one response.
type stub struct {
	status   int
	body     string
	sent     *http.Request // the last request
	sentBody string        // its body
}

func (s *stub) RoundTrip(r *http.Request) (*http.Response, error) {
	s.sent = r
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.sentBody = string(body)
	}
	contentType := "text/plain; charset=utf-8"
	if isObject(s.body) || isList(s.body) {
		contentType = "application/json"
	}
	return &http.Response{
		Status:        fmt.Sprint(s.status, " ", http.StatusText(s.status)),
		StatusCode:    s.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{"Content-Type": {contentType}},
		Body:          io.NopCloser(strings.NewReader(s.body)),
		ContentLength: int64(len(s.body)),
		Request:       r,
	}, nil
}

var variable = regexp.MustCompile(`\{([a-z0-9_]+)\}`)

// client returns a client of the stub.
func (s *stub) client(names contract.Contract) (*messaging.Client, error) {
	options := []messaging.Option{
		messaging.WithContract(names),
		messaging.WithHTTPClient(&http.Client{Transport: s}),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
		messaging.WithLenientLimits(),
		messaging.WithPlainHTTP(),
	}
	t := table.Of(names)
	pair := t.Auth.KeyPair
	switch {
	case reflect.DeepEqual(pair, table.Of(contract.Default()).Auth.KeyPair):
		options = append(options, messaging.WithToken("token"))
	case pair.Secret == "" && pair.In != "basic":
		options = append(options, messaging.WithAPIKey("key", ""))
	default:
		options = append(options, messaging.WithAPIKey("key", "secret"))
	}
	seen := map[string]bool{}
	for _, found := range variable.FindAllStringSubmatch(t.SMSSend.Path+t.SMSList.Path, -1) {
		if name := found[1]; !seen[name] {
			seen[name] = true
			options = append(options, messaging.WithVariable(name, name))
		}
	}
	return messaging.NewClient("http://127.0.0.1", options...)
}
