package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
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

	Operation string `json:"operation,omitempty"` // the section of the contract
	To        string `json:"to,omitempty"`        // the recipient
	Text      string `json:"text,omitempty"`      // the beginning of the text, of a message in the ledger
	Reference string `json:"reference,omitempty"` // that the client chose
	Reason    string `json:"reason,omitempty"`    // why the service refused

	Fault      string `json:"fault,omitempty"`
	Verdict    string `json:"verdict,omitempty"`    // that a correct client reaches
	Conclusion string `json:"conclusion,omitempty"` // what the client did after a fault, and how often the message was processed
	InLedger   bool   `json:"inLedger"`
	Message    string `json:"message,omitempty"` // the ID of the message that is concerned

	requestIDs []string // that the service gave the request: one for each time that it processed it
}

// isSend reports whether an exchange is a request to send.
func (x *Exchange) isSend() bool { return strings.HasSuffix(x.Operation, ".send") }

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
	size := overhead + textIn(x)
	for _, h := range slices.Concat(x.RequestHeader, x.ResponseHeader) {
		size += each + len(h.Name) + len(h.Value)
	}
	return size
}

// trafficLog holds the latest exchanges. The sandbox's mutex guards it.
type trafficLog struct {
	bounds    bounds
	all       []*Exchange // in the order in which they ended
	byID      map[int]*Exchange
	byRequest map[string]*Exchange // by the IDs of their requests, also those that have not ended
	bytes     int
}

func newTrafficLog(b bounds) trafficLog {
	return trafficLog{bounds: b, byID: map[int]*Exchange{}, byRequest: map[string]*Exchange{}}
}

// add enters an exchange and drops the oldest beyond the bounds.
func (t *trafficLog) add(x *Exchange) {
	t.all, t.byID[x.ID] = append(t.all, x), x
	t.bytes += x.size()
	for len(t.all) > t.bounds.exchanges || t.bytes > t.bounds.traffic && len(t.all) > 1 {
		t.bytes -= t.all[0].size()
		delete(t.byID, t.all[0].ID)
		for _, id := range t.all[0].requestIDs {
			delete(t.byRequest, id)
		}
		t.all[0] = nil
		t.all = t.all[1:]
	}
}

// describe fills in whom a request to send is for, and its reference. It returns the callback URL.
func (s *Sandbox) describe(x *Exchange, body []byte) (callback string) {
	name, _, _ := strings.Cut(x.Operation, ".")
	channel, _ := table.ChannelNamed(name)
	if !x.isSend() || len(body) == 0 {
		return ""
	}
	send, n := channel.Send(s.table), formNode(body)
	of := func(concept string) string { return fieldIn(n, send, concept).Text() }
	to := of("to")
	if send.Wrap != nil {
		to = platformMessage(n, send.Wrap).At("to").Text()
	}
	x.To, x.Reference = clip(to, maxName), clip(of("reference"), maxName)
	return of("callback")
}

// outgoing takes down a call of a webhook. The caller holds mu.
func (s *Sandbox) outgoing(reply messagingtest.CallResult, about string, mask masker) *Exchange {
	s.serial++
	x := &Exchange{
		ID: s.serial, At: reply.At.Add(s.advanced), Direction: "callback", About: about, Millis: millis(reply.Took), Try: reply.Attempt,
		Status: reply.StatusCode, RequestHeader: []Header{},
	}
	if reply.Err != nil {
		x.Error = clip(strings.TrimPrefix(reply.Err.Error(), "messagingtest: "), maxLine)
	}
	if r := reply.Request; r != nil {
		x.Method, x.URL = r.Method, mask.url(r.URL.String())
		header := r.Header.Clone()
		header.Set("Host", r.URL.Host)
		x.RequestHeader = mask.header(header)
		x.RequestBody = mask.body(r.Header.Get("Content-Type"), clip(reply.RequestBody, maxRead))
		x.RequestSize = len(reply.RequestBody)
	}
	x.ResponseHeader, x.ResponseBody, x.ResponseSize = mask.header(reply.Header), mask.body("", string(reply.Body)), len(reply.Body)
	s.traffic.add(x)
	return x
}

func headerIn(lines []Header, name string) string {
	for _, h := range lines {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}
