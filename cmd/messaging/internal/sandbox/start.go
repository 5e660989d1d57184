package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// startView is how a program begins: with the real address and token, by the contract of the sandbox.
type startView struct {
	Base, Token string
	Ways        []way
	Samples     []sample
}

// A way is code in one language.
type way struct{ ID, Name, Code string }

// start returns how a program begins, at the address that a request was made to.
func (s *Sandbox) start(r *http.Request) *startView {
	v := &startView{Base: "http://" + r.Host, Token: s.programToken(), Samples: samples()}
	request, body, err := s.firstRequest(v.Token)
	if err != nil {
		return v // a contract by which no SMS can be sent
	}
	target := v.Base + request.URL.RequestURI()
	header := headerOf(request)
	v.Ways = []way{
		{"curl", "curl", curlCommand(request.Method, target, header, body)},
		{"go", "Go", s.goStart(v.Base, v.Token)},
		{"python", "Python", filledIn(pythonCode, "        ", request.Method, target, header, body)},
		{"node", "Node", filledIn(nodeCode, "    ", request.Method, target, header, body)},
		{"env", ".env", "MESSAGING_BASE_URL=" + v.Base + "\nMESSAGING_TOKEN=" + v.Token},
	}
	return v
}

// programToken returns the token of the service, with the suffix of the space.
func (s *Sandbox) programToken() string {
	if s.space == "" {
		return s.service.Token
	}
	return s.service.Token + "." + s.space
}

// captured ends a request when it is complete.
type captured struct {
	request *http.Request
	body    []byte
}

var errCaptured = errors.New("not sent")

func (c *captured) RoundTrip(r *http.Request) (*http.Response, error) {
	c.request = r
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
		c.body, _ = io.ReadAll(r.Body) // from memory
	}
	return nil, errCaptured
}

// firstRequest returns the request by which the client sends a first message.
func (s *Sandbox) firstRequest(token string) (*http.Request, string, error) {
	var capture captured
	client, err := messaging.NewClient(
		"http://127.0.0.1", messaging.WithToken(token), messaging.WithContract(s.config.Contract),
		messaging.WithHTTPClient(&http.Client{Transport: &capture}), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
	)
	if err == nil {
		_, err = client.SMS.Send(s.ctx, firstMessage())
	}
	if capture.request == nil {
		return nil, "", err
	}
	return capture.request, string(capture.body), nil
}

func firstMessage() sms.Message {
	return sms.Message{From: "ACME", To: "+639171234567", Text: "Your code is 482913"}
}

// headerOf returns the lines of a header that a program has to set, in order.
func headerOf(r *http.Request) []Header {
	var lines []Header
	for name, values := range r.Header {
		if !slices.Contains([]string{"User-Agent", "Content-Length", "Accept", "Accept-Encoding"}, name) {
			lines = append(lines, Header{name, values[0]})
		}
	}
	slices.SortFunc(lines, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	return lines
}

func (s *Sandbox) goStart(base, token string) string {
	m := firstMessage()
	return fmt.Sprintf(`client, err := messaging.NewClient(%q,
	messaging.WithToken(%q))
if err != nil {
	return err
}
receipt, err := client.SMS.Send(ctx, sms.Message{
	From: %q, To: %q, Text: %q,
})`, base, token, m.From, m.To, m.Text)
}

// The code that sends a first message, with what stands for the parts of the request.
const (
	pythonCode = `import urllib.request

request = urllib.request.Request(
    TARGET,
    method=METHOD,
    headers={
HEADERS    },
    data=BODY.encode(),
)
print(urllib.request.urlopen(request).read().decode())`

	nodeCode = `const response = await fetch(TARGET, {
  method: METHOD,
  headers: {
HEADERS  },
  body: BODY,
});
console.log(await response.text());`
)

// filledIn returns code with the parts of a request, and its header indented.
func filledIn(code, indent, method, target string, header []Header, body string) string {
	var lines strings.Builder
	for _, h := range header {
		fmt.Fprintf(&lines, "%s%s: %s,\n", indent, quoted(h.Name), quoted(h.Value))
	}
	return strings.NewReplacer("TARGET", quoted(target), "METHOD", quoted(method), "HEADERS", lines.String(), "BODY", quoted(body)).Replace(code)
}

// quoted returns a text as Python and JavaScript write it.
func quoted(text string) string {
	written, _ := json.Marshal(text) // a string
	return string(written)
}
