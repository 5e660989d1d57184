package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/messagingtest"
)

type exchangeKey struct{}

// bodyTimeout is how long a program may take to send a body.
const bodyTimeout = 30 * time.Second

// serve passes a request to the service and takes it down.
func (s *Sandbox) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.serial++
	x := &Exchange{ID: s.serial, At: s.now(), Direction: "request", Method: clip(r.Method, maxName)}
	s.mu.Unlock()
	began, target := time.Now(), r.URL.RequestURI()
	path, _, _ := strings.Cut(target, "?")
	x.Operation = operationAt(s.table, path)
	header := r.Header.Clone()
	header.Set("Host", r.Host)
	_ = http.NewResponseController(w).SetReadDeadline(began.Add(bodyTimeout)) // the service sets its own
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxRead+1))                  // the service meets the error when it reads on
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
	if x.RequestSize = len(body); x.RequestSize > maxRead { // the service refuses it, and its secrets could not be found
		body = nil
	}
	mask := s.mask
	if callback := s.describe(x, body); callback != "" {
		mask = mask.with(callback, s.table.WebhookDelivery.Placeholders)
	}
	x.URL, x.RequestHeader, x.RequestBody = mask.url(target), mask.header(header), mask.body(header.Get("Content-Type"), string(body))
	fault := s.faultFor(x)
	response := &recorder{ResponseWriter: w, before: func() { s.await(r.Context(), x) }}
	r = r.WithContext(context.WithValue(messagingtest.WithFault(r.Context(), fault), exchangeKey{}, x))
	defer func() {
		x.Millis = millis(time.Since(began))
		s.finish(x, mask, response)
	}()
	s.service.ServeHTTP(response, r)
}

// arrived records the ID that the service has for a request.
func (s *Sandbox) arrived(r *http.Request, _ messagingtest.Fault, requestID string) {
	x, ok := r.Context().Value(exchangeKey{}).(*Exchange)
	if !ok || requestID == "" {
		return // on the service's own port, or not read
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x.requestIDs = append(x.requestIDs, requestID)
	s.traffic.byRequest[requestID] = x
}

// await waits until the sandbox has the message of a request, so that a program that has the response finds it.
func (s *Sandbox) await(ctx context.Context, x *Exchange) {
	if x.isSend() && x.requestID() != "" {
		_, _ = s.until(ctx, time.Second, func() bool { return s.book.byRequest[x.requestID()] != nil })
	}
}

// finish completes an exchange with the service and enters it.
func (s *Sandbox) finish(x *Exchange, mask masker, response *recorder) {
	x.ResponseHeader, x.ResponseBody = mask.header(response.header), mask.body("", response.shown.String())
	x.ResponseSize, x.Status = response.size, response.status
	if x.Status >= http.StatusBadRequest {
		body := document.Parse(response.shown.Bytes())
		for _, path := range s.table.Errors.Message {
			if x.Reason = clip(body.At(path).Text(), maxLine); x.Reason != "" {
				break
			}
		}
	}
	if !x.isSend() {
		x.Verdict = ""
	} else if x.Verdict == "" {
		x.Verdict = verdictOf(x.Status)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traffic.add(x)
	switch {
	case x.Fault != "":
		s.log.fault(x)
	case x.Status >= http.StatusBadRequest:
		s.log.refused(x)
	}
	s.live.notify("")
}

// shown returns a copy of an exchange with what the ledger holds by now. The caller holds mu.
func (s *Sandbox) shown(x *Exchange) Exchange {
	c := *x
	if e := s.book.byRequest[x.requestID()]; e != nil && len(x.requestIDs) > 0 {
		c.Message, c.InLedger = e.ID, true
	}
	if e := s.book.byID[c.Message]; e != nil {
		c.To, c.Text = clip(e.Peer, maxName), clip(e.preview, previewText)
	}
	if c.Fault != "" && c.isSend() {
		c.Conclusion = s.conclusion(x)
	}
	return c
}

// conclusion says what a client did after a fault, and what the ledger holds. The caller holds mu.
func (s *Sandbox) conclusion(x *Exchange) string {
	did, ids := "has not asked again", x.requestIDs
	for _, later := range slices.Backward(s.traffic.all) { // the first that it did comes last
		isSame := x.Reference != "" && later.Reference == x.Reference || later.RequestBody == x.RequestBody && x.RequestBody != ""
		var what string
		switch {
		case later.ID <= x.ID:
			continue
		case later.Operation == x.Operation && isSame:
			what, ids = "sent it again", append(slices.Clip(ids), later.requestIDs...)
		case later.Operation == sectionList && later.asksFor(x):
			what = "looked it up"
		default:
			continue
		}
		did = fmt.Sprintf("%s after %v", what, later.At.Sub(x.At).Round(10*time.Millisecond))
	}
	held := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return s.book.byRequest[id] == nil })
	often := "was processed " + itoa(len(held)) + " times"
	if len(held) < 3 {
		often = [...]string{"was never processed", "was processed once", "was processed twice"}[len(held)]
	}
	return "The client " + did + ". The message " + often + "."
}

// asksFor reports whether a listing is filtered by the reference of a message, or by its recipient if it has none.
func (x *Exchange) asksFor(message *Exchange) bool {
	want := message.Reference
	if want == "" {
		want = strings.TrimPrefix(message.To, "+")
	}
	return want != "" && strings.Contains(x.URL+x.RequestBody, want)
}

// recorder keeps the beginning of a response.
type recorder struct {
	http.ResponseWriter
	before func() // the response is written
	status int
	header http.Header
	shown  bytes.Buffer
	size   int
}

// Unwrap returns the writer below, for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader writes the header and keeps a copy.
func (r *recorder) WriteHeader(status int) {
	if r.status = status; status < http.StatusBadRequest {
		r.before()
	}
	r.header = r.Header().Clone()
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
