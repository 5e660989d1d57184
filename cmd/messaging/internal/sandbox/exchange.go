package sandbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// A Header is one line of a header.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An Exchange is a request and its response: of a program to the service, or of the service to a webhook. Secrets are masked.
//
// The goroutine that serves a request, or calls a webhook, fills an exchange in and then adds it to the trafficLog. From then on the lock of the
// sandboxState guards it. A message that enters the book earlier reads ID and Fault, which do not change once the service has the request.
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

	Fault    string `json:"fault,omitempty"`
	Verdict  string `json:"verdict,omitempty"` // of a correct client
	InLedger bool   `json:"inLedger"`
	Message  string `json:"message,omitempty"` // the ID of its message

	bytes         int      // how much memory it takes, about
	requestIDs    []string // one for each time that the service processed the request
	isUnprocessed bool     // it met a fault, so that the service did not process it
}

// isSend reports whether an exchange is a request to send.
func (x *Exchange) isSend() bool { return strings.HasSuffix(x.Operation, ".send") }

// isFailure reports whether an exchange failed or met a fault.
func (x *Exchange) isFailure() bool {
	hasResponse := x.Status != 0
	return !hasResponse || x.Status >= http.StatusBadRequest || x.Error != "" || x.Fault != ""
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
	const overhead = 1 << 10
	encoded, _ := json.Marshal(x) // plain values
	return overhead + len(encoded)
}

// sentFields returns the fields in the body of a request to send and the section of the contract for it, or nil for other requests.
func (c *core) sentFields(x *Exchange, body []byte) (document.Node, *table.Send) {
	if !x.isSend() || len(body) == 0 {
		return document.Node{}, nil
	}
	name, _, _ := strings.Cut(x.Operation, ".")
	channel, _ := table.ChannelNamed(name)
	return formNode(body), channel.Send(c.table)
}

// describe fills in the recipient and the reference of a request to send.
func (x *Exchange) describe(fields document.Node, send *table.Send) {
	to := fieldIn(fields, send, "to").Text()
	if send.Wrap != nil {
		to = platformMessage(fields, send.Wrap).At("to").Text()
	}
	x.To = clip(to, maxName)
	x.Reference = clip(fieldIn(fields, send, "reference").Text(), maxName)
}

// recordCallback enters a call of a webhook in traffic.
func (st *sandboxState) recordCallback(result messagingtest.CallResult, about string, mask masker) *Exchange {
	st.lastExchange++
	x := &Exchange{
		ID:             st.lastExchange,
		At:             result.At.Add(st.advanced),
		Millis:         millis(result.Took),
		Direction:      "callback",
		About:          about,
		Try:            result.Attempt,
		Status:         result.StatusCode,
		RequestHeader:  []Header{},
		ResponseHeader: mask.header(result.Header),
		ResponseBody:   mask.body("", string(result.Body)),
		ResponseSize:   len(result.Body),
	}
	if result.Err != nil {
		x.Error = clip(strings.TrimPrefix(result.Err.Error(), "messagingtest: "), maxLine)
	}
	if r := result.Request; r != nil {
		header := r.Header.Clone()
		header.Set("Host", r.URL.Host)
		x.Method = r.Method
		x.URL = mask.url(r.URL.String())
		x.RequestHeader = mask.header(header)
		x.RequestBody = mask.body(r.Header.Get("Content-Type"), clip(result.RequestBody, maxRead))
		x.RequestSize = len(result.RequestBody)
	}
	st.traffic.add(x)
	return x
}

// webhookCall returns a callback for the message or the answer that it is about.
func (x *Exchange) webhookCall() *Call {
	return &Call{
		About:    x.About,
		URL:      x.URL,
		Status:   x.Status,
		Millis:   x.Millis,
		Try:      x.Try,
		Error:    x.Error,
		At:       x.At,
		Exchange: x.ID,
	}
}

// target returns the absolute URL of a request.
func (x *Exchange) target(base string) string {
	if x.Direction == "request" {
		return base + x.URL
	}
	return x.URL
}
