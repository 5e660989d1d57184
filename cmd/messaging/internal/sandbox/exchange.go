package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// A Header is one line of a header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Exchange is a request and its response: of a program to the service, or of the service to a webhook. Secrets are masked.
type Exchange struct {
	ID        int       `json:"id"`
	At        time.Time `json:"at"` // on the clock of the sandbox
	Millis    float64   `json:"milliseconds"`
	Direction string    `json:"direction"`       // "request" to the service, or "callback" to a webhook
	About     string    `json:"about,omitempty"` // the state that a callback reports, or "answer"

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
	To        string  `json:"to,omitempty"`        // the recipient
	Text      string  `json:"text,omitempty"`      // the beginning of the text
	Matches   []Match `json:"matches"`
	Reason    string  `json:"reason,omitempty"` // why the service refused
	Hint      string  `json:"hint,omitempty"`   // the lines of a contract that would take the request

	Fault    string `json:"fault,omitempty"`
	Verdict  string `json:"verdict,omitempty"` // that a correct client reaches
	InLedger bool   `json:"inLedger"`
	Message  string `json:"message,omitempty"` // the ID of the message that is concerned

	requestIDs []string // that the service gave the request: one for each time that it processed it
}

// isFailure reports whether an exchange is one that somebody would look for.
func (x *Exchange) isFailure() bool {
	return cmp.Or(x.Status, 599) >= http.StatusBadRequest || x.Error != "" || x.Fault != ""
}

// requestID returns the request ID in the response, or "" if the request was not read.
func (x *Exchange) requestID() string {
	if len(x.requestIDs) == 0 {
		return ""
	}
	return x.requestIDs[len(x.requestIDs)-1]
}

// size returns about how much memory an exchange takes.
func (x *Exchange) size() int {
	const overhead, each = 1 << 10, 64
	size := overhead + len(x.URL) + len(x.RequestBody) + len(x.ResponseBody) + len(x.Error) + len(x.Reason) + len(x.Hint) + len(x.To) + len(x.Text)
	for _, h := range x.RequestHeader {
		size += each + len(h.Name) + len(h.Value)
	}
	for _, h := range x.ResponseHeader {
		size += each + len(h.Name) + len(h.Value)
	}
	for _, m := range x.Matches {
		size += each + len(m.Name) + len(m.Value)
	}
	return size
}

// trafficLog holds the latest exchanges. The sandbox's mutex guards it.
type trafficLog struct {
	bounds bounds
	all    []*Exchange // in the order in which they ended
	byID   map[int]*Exchange
	bytes  int
}

func newTrafficLog(b bounds) trafficLog { return trafficLog{bounds: b, byID: map[int]*Exchange{}} }

// add enters an exchange and drops the oldest beyond the bounds.
func (t *trafficLog) add(x *Exchange) {
	t.all, t.byID[x.ID] = append(t.all, x), x
	t.bytes += x.size()
	drop := 0
	for len(t.all)-drop > t.bounds.exchanges || t.bytes > t.bounds.traffic && len(t.all)-drop > 1 {
		t.bytes -= t.all[drop].size()
		delete(t.byID, t.all[drop].ID)
		t.all[drop] = nil
		drop++
	}
	t.all = t.all[drop:]
}

// byRequest returns the exchange of a request by its ID, or nil. A message of a request that failed may come after its exchange.
func (t *trafficLog) byRequest(id string) *Exchange {
	for _, x := range slices.Backward(t.all) {
		if slices.Contains(x.requestIDs, id) {
			return x
		}
	}
	return nil
}

// describe fills in what an exchange with the service says: the recipient, the text, and names with their concepts.
func (s *Sandbox) describe(x *Exchange, header http.Header, query string, request, response []byte) {
	request, response = parsed(request), parsed(response)
	x.To, x.Text = s.aboutRequest(x.Operation, request)
	x.Matches = s.mask.matches(matches(s.table, x.Operation, header, query, request, response))
}

// parsed returns a body, or nothing of one that is too long to be looked at in detail.
func parsed(body []byte) []byte {
	if len(body) > maxParsed {
		return nil
	}
	return body
}

// aboutRequest returns the recipient and the beginning of the text of a request to send.
func (s *Sandbox) aboutRequest(operation string, body []byte) (to, text string) {
	send := sendSection(s.table, operation)
	if send == nil || len(body) == 0 {
		return "", ""
	}
	n := formNode(body)
	if send.Wrap == nil {
		return clip(valueAt(n, send.Fields["to"]), maxName), clip(valueAt(n, send.Fields["text"]), previewText)
	}
	m := platformMessage(n, send.Wrap)
	b := platformBubble(messagingtest.Sent{Kind: m.At("type").Text()}, m)
	return clip(m.At("to").Text(), maxName), clip(b.preview(m.At("type").Text()), previewText)
}

// platformMessage returns the object of the third-party platform in a body.
func platformMessage(body document.Node, wrap *string) document.Node {
	if wrap != nil && *wrap != "" {
		if inner := body.At(*wrap); inner.Exists() {
			return inner
		}
	}
	return body
}

// outgoing takes down a call of a webhook. The caller holds mu.
func (s *Sandbox) outgoing(reply messagingtest.Reply, about string, secrets webhookSecrets, began time.Time, sent http.Header) *Exchange {
	s.serial++
	x := &Exchange{
		ID: s.serial, At: began, Direction: "callback", About: about, Millis: millis(reply.Took), Try: reply.Attempt, Status: reply.StatusCode,
		RequestHeader: []Header{}, ResponseHeader: []Header{}, Matches: []Match{},
	}
	if reply.Err != nil {
		x.Error = clip(strings.TrimPrefix(reply.Err.Error(), "messagingtest: "), maxLine)
	}
	if r := reply.Request; r != nil {
		x.Method, x.URL = r.Method, shorten(s.mask.url(r.URL.String(), secrets.names), maxURL)
		header := sent.Clone()
		if header == nil { // nothing was written
			header = r.Header.Clone()
		}
		x.RequestHeader = s.mask.header(header)
		x.RequestBody = clip(s.mask.body(r.Header.Get("Content-Type"), clip(reply.RequestBody, maxRead)), maxShown)
		x.RequestSize = len(reply.RequestBody)
		x.Matches = s.mask.matches(s.callbackMatches(reply, secrets.names))
	}
	x.ResponseHeader = secrets.hideIn(s.mask.header(reply.Header))
	x.ResponseBody = clip(secrets.hide(s.mask.body("", string(reply.Body))), maxShown)
	x.ResponseSize = len(reply.Body)
	s.traffic.add(x)
	return x
}
