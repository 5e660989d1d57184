package sandbox

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// exchangeKey is the key of the exchange in the context of a request.
type exchangeKey struct{}

// maxHold is how long the response of a success is held back for its message.
const maxHold = time.Second

// serve passes a request to the service and records the exchange. The service responds as soon as a message is in its ledger, and the
// sandbox learns of the message a moment later. The response is held back until then, so that the program finds its message.
func (s *Sandbox) serve(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	body := readBeginning(w, r)
	x, mask := s.newExchange(r, body)
	ctx := messagingtest.ContextWithFault(r.Context(), s.faultFor(x))
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	response := &recorder{ResponseWriter: w, holdSuccess: func() { s.awaitMessage(ctx, x) }}
	defer func() { // deferred, because the service panics to reset a connection
		x.Millis = millis(time.Since(began))
		s.finish(x, mask, response)
	}()
	s.service.ServeHTTP(response, r.WithContext(ctx))
}

// readBeginning returns the body of a request, or the beginning of one that is too long for the service. Reading r.Body begins again.
func readBeginning(w http.ResponseWriter, r *http.Request) []byte {
	const timeout = 30 * time.Second
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout)) // the service sets another
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxRead+1))                   // the service meets the error when it reads on
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
	return body
}

// newExchange returns the exchange of a request, and a masker for its secrets.
func (s *Sandbox) newExchange(r *http.Request, body []byte) (*Exchange, masker) {
	target := r.URL.RequestURI()
	path, _, _ := strings.Cut(target, "?")
	x := &Exchange{
		Direction:   "request",
		Method:      clip(r.Method, maxName),
		Operation:   operationAt(s.table, r.Method, path),
		RequestSize: len(body),
	}
	s.assignID(x)
	if len(body) > maxRead { // the service refuses it, and without its end the secrets in it cannot be found
		body = nil
	}
	mask := s.mask
	if fields, send := s.sentFields(x, body); send != nil {
		x.describe(fields, send)
		callback := fieldIn(fields, send, "callback").Text()
		mask = mask.forURL(callback, s.table.WebhookDelivery.Placeholders)
	}
	header := r.Header.Clone()
	header.Set("Host", r.Host)
	x.URL = mask.url(target)
	x.RequestHeader = mask.header(header)
	x.RequestBody = mask.body(header.Get("Content-Type"), string(body))
	return x, mask
}

// assignID sets the ID and the time of a new exchange.
func (s *Sandbox) assignID(x *Exchange) {
	st := s.lock()
	defer st.unlock()
	st.lastExchange++
	x.ID = st.lastExchange
	x.At = st.now()
}

// onRequest records the ID that the service gave a request.
func (s *Sandbox) onRequest(r *http.Request, _ messagingtest.Fault, requestID string) {
	x, ok := r.Context().Value(exchangeKey{}).(*Exchange)
	if !ok || requestID == "" {
		return // to the port of the service itself, or not read
	}
	st := s.lock()
	defer st.unlock()
	x.requestIDs = append(x.requestIDs, requestID)
	st.traffic.byRequest[requestID] = x
}

// awaitMessage waits up to maxHold until the sandbox has the message of a request.
func (s *Sandbox) awaitMessage(ctx context.Context, x *Exchange) {
	if x.isSend() && !x.isUnprocessed && x.requestID() != "" {
		_, _ = s.waitUntil(ctx, maxHold, func(st *sandboxState) bool { return st.book.byRequest[x.requestID()] != nil })
	}
}

// finish completes an exchange with the response, and enters it in traffic.
func (s *Sandbox) finish(x *Exchange, mask masker, response *recorder) {
	x.ResponseHeader = mask.header(response.header)
	x.ResponseBody = mask.body("", response.beginning.String())
	x.ResponseSize = response.size
	x.Status = response.status
	isRefused := x.Status >= http.StatusBadRequest
	if isRefused {
		x.Reason = s.reasonIn(response.beginning.Bytes())
	}
	switch {
	case !x.isSend():
		x.Verdict = "" // it is about messages
	case x.Verdict == "":
		x.Verdict = verdictOf(x.Status)
	}
	st := s.lock()
	defer st.unlock()
	st.traffic.add(x)
	switch {
	case x.Fault != "":
		s.log.fault(x)
	case isRefused:
		s.log.refused(x)
	}
	s.live.notify("")
}

// reasonIn returns the text of an error of the service.
func (s *Sandbox) reasonIn(body []byte) string {
	parsed := document.Parse(body)
	for _, path := range s.table.Errors.Message {
		if reason := parsed.At(path).Text(); reason != "" {
			return clip(reason, maxLine)
		}
	}
	return ""
}

// withMessage returns a copy of an exchange with its message.
func (st *sandboxState) withMessage(x *Exchange) Exchange {
	result := *x
	if e := st.book.byRequest[x.requestID()]; e != nil {
		result.Message = e.ID
		result.InLedger = true
	}
	if e := st.book.byID[result.Message]; e != nil {
		result.To = clip(e.Recipient, maxName)
		result.Text = clip(e.preview, previewText)
	}
	return result
}

// recorder passes a response on and keeps its beginning.
type recorder struct {
	http.ResponseWriter

	holdSuccess func() // returns when the header of a success may be written

	status    int // zero until the header is written
	header    http.Header
	beginning bytes.Buffer // of the body, up to maxShown
	size      int          // of the body
}

// Unwrap returns the underlying writer, for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader writes the header, of a success when it may be written, and keeps a copy.
func (r *recorder) WriteHeader(status int) {
	if status < http.StatusBadRequest {
		r.holdSuccess()
	}
	r.status = status
	r.header = r.Header().Clone()
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	n, err := r.ResponseWriter.Write(p)
	r.size += n
	r.beginning.Write(p[:min(n, maxShown-r.beginning.Len())])
	return n, err
}
