package sandbox

import (
	_ "embed" // for code in other languages
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/template"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// A connectView is the page that says how a program connects.
type connectView struct {
	Start    *startView
	Settings Settings
	Contract string
	Spaces   []Space
}

func (s *Sandbox) pageConnect(w http.ResponseWriter, r *http.Request) {
	v := connectView{Start: s.start(r), Settings: s.readSettings(), Spaces: s.owner.list()}
	text, _ := s.config.Contract.MarshalJSON() // it was parsed
	v.Contract = document.Parse(text).Indented()
	s.render(w, http.StatusOK, "connect", "Connect", v)
}

// startView has the environment of a program, and code that sends a first message by the contract of the sandbox.
type startView struct {
	Base        string
	Environment []variable
	Credentials []variable // of Environment
	Ways        []way
	Samples     []sample
}

// A way is code in one language.
type way struct{ ID, Name, Code string }

// Secrets returns the credentials by the names of their variables.
func (v *startView) Secrets() map[string]string {
	secrets := map[string]string{}
	for _, credential := range v.Credentials {
		secrets[credential.Name] = credential.Value
	}
	return secrets
}

// start returns the startView for the address of a request.
func (s *Sandbox) start(r *http.Request) *startView {
	base := "http://" + r.Host
	v := &startView{Base: base, Environment: s.environment(base), Credentials: s.credentials(), Samples: samples()}
	request, body, err := s.firstRequest()
	if err != nil {
		return v // the contract cannot send SMS
	}
	first := firstCode{
		startView: v,
		Request:   request,
		Target:    base + request.URL.RequestURI(),
		Set:       settable(linesOf(request.Header)),
		Body:      body,
		Message:   firstMessage(),
	}
	v.Ways = []way{
		{"curl", "curl", curlCommand(request.Method, first.Target, first.Set, body, s.variableIn)},
		{"go", "Go", codeBy("go", first)},
		{"python", "Python", codeBy("python", first)},
		{"node", "Node", codeBy("node", first)},
		{"env", ".env", codeBy("env", first)},
	}
	return v
}

// firstCode is the data of the code templates.
type firstCode struct {
	*startView
	*http.Request

	Target  string
	Set     []Header // the header that a program sets
	Body    string
	Message sms.Message
}

// Option returns the option of a client with the credentials, in Go.
func (v *startView) Option() string {
	first := v.Credentials[0]
	switch {
	case first.Name == envToken:
		return fmt.Sprintf("messaging.WithToken(%q)", first.Value)
	case len(v.Credentials) == 1:
		return fmt.Sprintf("messaging.WithAPIKey(%q, \"\")", first.Value)
	default:
		return fmt.Sprintf("messaging.WithAPIKey(%q, %q)", first.Value, v.Credentials[1].Value)
	}
}

// codeTemplates are the templates of the code.
//
//go:embed code.tmpl
var codeTemplates string

// codeBy executes one of the templates.
func codeBy(name string, data any) string {
	var code strings.Builder
	all := template.Must(template.New("").Funcs(template.FuncMap{"quoted": document.Encode}).Parse(codeTemplates))
	_ = all.ExecuteTemplate(&code, name, data) // they are tested
	return code.String()
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// firstRequest returns the request of a client for a first message.
func (s *Sandbox) firstRequest() (*http.Request, string, error) {
	var first *http.Request
	var body []byte
	capture := roundTrip(func(r *http.Request) (*http.Response, error) {
		first = r
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body) // from memory
			_ = r.Body.Close()
		}
		return nil, errors.New("not sent")
	})
	client, err := messaging.NewClient(
		"http://127.0.0.1", credentialOption(s.credentials()), messaging.WithContract(s.config.Contract),
		messaging.WithHTTPClient(&http.Client{Transport: capture}), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
	)
	if err == nil {
		_, err = client.SMS.Send(s.ctx, firstMessage())
	}
	if first == nil {
		return nil, "", err
	}
	if s.space != "" && hasKeyPair(s.config.Contract) && !s.isKeyInHeader() {
		first.Header.Set(spaceHeader, s.space) // the key cannot name it
	}
	return first, string(body), nil
}

func firstMessage() sms.Message {
	return sms.Message{From: "ACME", To: "+639171234567", Text: "Your code is 482913"}
}
