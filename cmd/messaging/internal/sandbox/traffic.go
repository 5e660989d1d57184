package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/messagingtest"
)

const (
	maxShown = 32 << 10 // of a body, that traffic keeps
	maxRead  = 1 << 20  // of the body of a request, that the service reads: without the end of it, its secrets could not be found
)

// A Header is one line of a header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Exchange is a request and its response: of a program to the service, or of the service to a webhook. Secrets are masked.
type Exchange struct {
	ID        int       `json:"id"`
	At        time.Time `json:"at"`
	Millis    float64   `json:"milliseconds"`
	Direction string    `json:"direction"` // "request" to the service, or "callback" to a webhook
	About     string    `json:"about,omitempty"`

	Method         string   `json:"method"`
	URL            string   `json:"url"`
	RequestHeader  []Header `json:"requestHeader"`
	RequestBody    string   `json:"requestBody"`
	RequestSize    int      `json:"requestSize"`
	Status         int      `json:"status"` // zero if there was no response
	ResponseHeader []Header `json:"responseHeader"`
	ResponseBody   string   `json:"responseBody"`
	ResponseSize   int      `json:"responseSize"`
	Error          string   `json:"error,omitempty"`
	Try            int      `json:"try,omitempty"`

	Operation string  `json:"operation,omitempty"` // the section of the contract
	Matches   []Match `json:"matches"`
	Reason    string  `json:"reason,omitempty"` // why the service refused
	Hint      string  `json:"hint,omitempty"`   // the lines of a contract that would take the request

	Fault    string `json:"fault,omitempty"`
	Verdict  string `json:"verdict,omitempty"` // that a correct client reaches
	InLedger bool   `json:"inLedger"`
	Message  string `json:"message,omitempty"` // the ID of the message that is concerned

	requestID string
}

type exchangeKey struct{}

// Serve passes a request to the service and takes it down.
func (s *Sandbox) serve(w http.ResponseWriter, r *http.Request) {
	x := &Exchange{ID: s.nextExchange(), At: time.Now(), Direction: "request", Method: r.Method}
	request := &tail{ReadCloser: r.Body}
	header := r.Header.Clone()
	header.Set("Host", r.Host)
	response := &recorder{ResponseWriter: w}
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	r.Body = request
	target := r.URL.RequestURI()
	defer func() {
		x.Millis = millis(time.Since(x.At))
		s.finish(x, target, header, request, response)
	}()
	s.service.ServeHTTP(response, r)
}

// nextExchange returns an ID: exchanges are numbered as they begin.
func (s *Sandbox) nextExchange() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	return s.serial
}

// arrived takes down what the service says about a request.
func (s *Sandbox) arrived(r *http.Request, fault messagingtest.Fault, requestID string) {
	x, ok := r.Context().Value(exchangeKey{}).(*Exchange)
	if !ok {
		return // on the service's own port
	}
	x.requestID = requestID
	if fault == (messagingtest.Fault{}) {
		return
	}
	x.Fault = fault.String()
	x.Verdict = verdictOf(fault, faultStatus(fault))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.struck(fault)
}

// faultStatus returns the status of the faults that have a duration.
func faultStatus(fault messagingtest.Fault) int {
	name := fault.String()
	for prefix, status := range map[string]int{"Slow(": 200, "Status(429": 429, "Status(503": 503, "Status(500": 500} {
		if strings.HasPrefix(name, prefix) {
			return status
		}
	}
	return 0
}

// finish completes an exchange with the service and enters it.
func (s *Sandbox) finish(x *Exchange, target string, header http.Header, request *tail, response *recorder) {
	path, query, _ := strings.Cut(target, "?")
	operation := operationAt(s.table, path)
	contentType := header.Get("Content-Type")
	x.URL = s.mask.url(target, nil)
	x.RequestHeader, x.ResponseHeader = s.mask.header(header), s.mask.header(response.header)
	body := request.kept.Bytes()
	x.RequestBody, x.RequestSize = s.requestBody(operation, contentType, request), request.size
	x.ResponseBody, x.ResponseSize = s.mask.body("", response.shown.String()), response.size
	x.Status = response.status
	x.Operation = operation
	x.Matches = matches(s.table, operation, header, query, body, response.shown.Bytes())
	failed := response.status >= http.StatusBadRequest
	if failed {
		x.Reason = firstText(document.Parse(response.shown.Bytes()), s.table.Errors.Message)
		if x.Fault == "" {
			x.Hint = hint(s.table, operation, x.Method, path, header, body)
		}
	}
	if strings.HasSuffix(operation, ".send") && x.Verdict == "" {
		x.Verdict = verdictOf(messagingtest.Fault{}, response.status)
	}
	if !strings.HasSuffix(operation, ".send") {
		x.Verdict = ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enter(x)
	s.live.notify(aboutTraffic)
}

// requestBody returns the beginning of what a program sent, without secrets. One that is longer than the service reads is not shown.
func (s *Sandbox) requestBody(operation, contentType string, request *tail) string {
	if request.size > maxRead {
		return ""
	}
	body := s.mask.body(contentType, request.kept.String())
	if callback := callbackIn(s.table, operation, request.kept.Bytes()); callback != "" {
		body = replaceURL(body, callback, s.mask.url(callback, secretsOf(callback, s.table.WebhookDelivery.Placeholders)))
	}
	return clip(body, maxShown)
}

// enter adds an exchange and drops the oldest. The caller holds mu.
func (s *Sandbox) enter(x *Exchange) {
	s.traffic = append(s.traffic, x)
	if len(s.traffic) > maxExchanges {
		s.traffic = slices.Clone(s.traffic[len(s.traffic)-maxExchanges:])
	}
}

// outgoing takes down a call of a webhook. The caller holds mu.
func (s *Sandbox) outgoing(reply messagingtest.Reply, about string, secrets []string, began time.Time) *Exchange {
	s.serial++
	x := &Exchange{ID: s.serial, At: began, Direction: "callback", About: about, Millis: millis(reply.Took), Try: reply.Attempt, Status: reply.StatusCode}
	if reply.Err != nil {
		x.Error = strings.TrimPrefix(reply.Err.Error(), "messagingtest: ")
	}
	if reply.Request != nil {
		x.Method, x.URL = reply.Request.Method, s.mask.url(reply.Request.URL.String(), secrets)
		x.RequestHeader = s.mask.header(reply.Request.Header)
		contentType := reply.Request.Header.Get("Content-Type")
		x.RequestBody, x.RequestSize = s.mask.body(contentType, clip(reply.RequestBody, maxShown)), len(reply.RequestBody)
		x.Matches = s.callbackMatches(reply)
	}
	x.ResponseHeader = s.mask.header(reply.Header)
	x.ResponseBody, x.ResponseSize = s.mask.body("", clip(string(reply.Body), maxShown)), len(reply.Body)
	s.enter(x)
	return x
}

// curl returns a command that makes the request again, with the secrets as variables.
func (x *Exchange) curl(base string) string {
	target := x.URL
	if x.Direction == "request" {
		target = base + x.URL
	}
	var b strings.Builder
	b.WriteString("curl -i")
	if x.Method != http.MethodGet {
		b.WriteString(" -X " + shellQuote(x.Method))
	}
	for _, h := range x.RequestHeader {
		switch strings.ToLower(h.Name) {
		case "host", "content-length", "accept-encoding", "user-agent", "connection":
			continue
		}
		if strings.Contains(h.Value, masked) {
			b.WriteString(` \` + "\n  -H \"" + doubleQuoted(h.Name+": "+strings.ReplaceAll(h.Value, masked, "\x00")) + `"`)
			continue
		}
		b.WriteString(" \\\n  -H " + shellQuote(h.Name+": "+h.Value))
	}
	if x.RequestBody != "" {
		b.WriteString(" \\\n  --data-raw " + shellQuote(x.RequestBody))
	}
	b.WriteString(" \\\n  " + shellQuote(target))
	return b.String()
}

// doubleQuoted escapes a text for double quotes of a shell; NUL stands for the token.
func doubleQuoted(text string) string {
	text = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`", "\n", " ").Replace(text)
	return strings.ReplaceAll(text, "\x00", "$MESSAGING_TOKEN")
}

// shellQuote quotes a text for a POSIX shell. One with control characters, which could end a paste and begin a command of its own, is
// quoted as bash, zsh and newer shells read it.
func shellQuote(text string) string {
	isPlain := func(r rune) bool { return r == '\n' || r == '\t' || !unicode.IsControl(r) }
	if !strings.ContainsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for character := range strings.SplitSeq(text, "") {
		switch r, _ := utf8.DecodeRuneInString(character); {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\'', r == '\\':
			b.WriteString(`\` + character)
		case isPlain(r):
			b.WriteString(character)
		default:
			for _, c := range []byte(character) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		}
	}
	return "$'" + b.String() + "'"
}

// replaceURL replaces a URL in a body, as it is and as JSON and forms write it.
func replaceURL(body, from, to string) string {
	if from == to {
		return body
	}
	body = strings.ReplaceAll(body, from, to)
	for _, escapeHTML := range []bool{true, false} {
		body = strings.ReplaceAll(body, jsonText(from, escapeHTML), jsonText(to, escapeHTML))
	}
	return body
}

func jsonText(text string, escapeHTML bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(escapeHTML)
	_ = enc.Encode(text) // a string
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}

// tail reads a body and keeps what the service reads of it.
type tail struct {
	io.ReadCloser
	kept bytes.Buffer
	size int
}

func (t *tail) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.size += n
	t.kept.Write(p[:min(n, max(0, maxRead-t.kept.Len()))])
	return n, err
}

// recorder keeps the beginning of a response.
type recorder struct {
	http.ResponseWriter
	status int
	header http.Header
	shown  bytes.Buffer
	size   int
}

// Unwrap returns the writer below, for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader writes the header and keeps a copy.
func (r *recorder) WriteHeader(status int) {
	r.status, r.header = status, r.Header().Clone()
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	n, err := r.ResponseWriter.Write(p)
	r.size += n
	r.shown.Write(p[:min(n, max(0, maxShown-r.shown.Len()))])
	return n, err
}

// clip returns at most n bytes of a text, in valid UTF-8. The rest does not stay in memory.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:n], ""))
}

// firstText returns the text at the first of these paths that has one.
func firstText(n document.Node, paths []string) string {
	for _, path := range paths {
		if text := n.At(path).Text(); text != "" {
			return text
		}
	}
	return ""
}

// direction filters exchanges of a page of traffic.
func (x *Exchange) isFailure() bool {
	return cmp.Or(x.Status, 599) >= http.StatusBadRequest || x.Error != "" || x.Fault != ""
}
