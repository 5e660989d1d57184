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

type exchangeKey struct{}

// serve passes a request to the service and takes it down.
func (s *Sandbox) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.serial++
	x := &Exchange{ID: s.serial, At: s.now(), Direction: "request", Method: clip(r.Method, maxName)}
	s.mu.Unlock()
	began := time.Now()
	path, query, _ := strings.Cut(r.URL.RequestURI(), "?")
	x.Operation = operationAt(s.table, path)
	request := &tail{ReadCloser: r.Body}
	header := r.Header.Clone()
	header.Set("Host", r.Host)
	r.Body = request
	fault := s.faultFor(x, request)
	response := &recorder{ResponseWriter: w, before: func() { s.await(r.Context(), x) }}
	r = r.WithContext(context.WithValue(messagingtest.WithFault(r.Context(), fault), exchangeKey{}, x))
	defer func() {
		x.Millis = millis(time.Since(began))
		s.finish(x, query, path, header, request, response)
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
	s.underWay[requestID] = x
}

// await waits until the sandbox has the message of a request, so that a program that has the response finds it.
func (s *Sandbox) await(ctx context.Context, x *Exchange) {
	const patience = time.Second
	if !strings.HasSuffix(x.Operation, ".send") || x.requestID() == "" {
		return
	}
	sub, err := s.live.subscribe(ofPrograms)
	if err != nil {
		return
	}
	defer s.live.leave(sub)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		s.mu.Lock()
		has := s.book.byRequest[x.requestID()] != nil
		s.mu.Unlock()
		if has {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.ctx.Done():
			return
		case <-sub.wake:
			s.live.take(sub)
		}
	}
}

// finish completes an exchange with the service and enters it.
func (s *Sandbox) finish(x *Exchange, query, path string, header http.Header, request *tail, response *recorder) {
	contentType := header.Get("Content-Type")
	target := path
	if query != "" {
		target += "?" + query
	}
	x.URL = shorten(s.mask.url(target, nil), maxURL)
	x.RequestHeader, x.ResponseHeader = s.mask.header(header), s.mask.header(response.header)
	body := request.kept.Bytes()
	x.RequestBody, x.RequestSize = s.requestBody(x.Operation, contentType, request), request.size
	x.ResponseBody, x.ResponseSize = s.mask.body("", response.shown.String()), response.size
	x.Status = response.status
	s.describe(x, header, query, body, response.shown.Bytes())
	if response.status >= http.StatusBadRequest {
		x.Reason = clip(firstText(document.Parse(response.shown.Bytes()), s.table.Errors.Message), maxLine)
		if x.Fault == "" {
			x.Hint = clip(hint(s.table, x.Operation, x.Method, path, header, parsed(body)), maxLine)
		}
	}
	if !strings.HasSuffix(x.Operation, ".send") {
		x.Verdict = ""
	} else if x.Verdict == "" {
		x.Verdict = verdictOf(response.status)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traffic.add(x)
	for _, id := range x.requestIDs {
		delete(s.underWay, id)
	}
	switch {
	case x.Fault != "":
		s.log.fault(x)
	case x.Status >= http.StatusBadRequest:
		s.log.refused(x)
	}
	s.live.notify(aboutTraffic | aboutMessages)
}

// requestBody returns the beginning of what a program sent, without secrets. One that is longer than the service reads is not shown.
func (s *Sandbox) requestBody(operation, contentType string, request *tail) string {
	if request.size > maxRead {
		return ""
	}
	const looked = 4 * maxShown // masks are short: what stands behind that does not come into view
	body := s.mask.body(contentType, clip(request.kept.String(), looked))
	if callback := callbackIn(s.table, operation, request.kept.Bytes()); callback != "" {
		body = s.maskCallback(body, callback)
	}
	return clip(body, maxShown)
}

// shown returns a copy of an exchange with what the ledger holds by now. The caller holds mu.
func (s *Sandbox) shown(x *Exchange) Exchange {
	c := *x
	if e := s.book.byRequest[x.requestID()]; e != nil && len(x.requestIDs) > 0 {
		c.Message, c.InLedger = e.ID, true
	}
	if c.Message != "" && c.Direction == "callback" {
		if e := s.book.byID[c.Message]; e != nil {
			c.To, c.Text = clip(e.Peer, maxName), clip(e.preview, previewText)
		}
	}
	return c
}

// tail reads a body and keeps what the service reads of it.
type tail struct {
	io.ReadCloser
	ahead bytes.Reader // what was read before the service reads
	kept  bytes.Buffer
	size  int
}

// peek reads what the service will read, and returns it.
func (t *tail) peek() []byte {
	body, _ := io.ReadAll(io.LimitReader(t.ReadCloser, maxRead)) // the service meets the error when it reads on
	t.ahead.Reset(body)
	return body
}

func (t *tail) Read(p []byte) (int, error) {
	n, err := t.ahead.Read(p)
	if n == 0 {
		n, err = t.ReadCloser.Read(p)
	}
	t.size += n
	t.kept.Write(p[:min(n, max(0, maxRead-t.kept.Len()))])
	return n, err
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

// firstText returns the text at the first of these paths that has one.
func firstText(n document.Node, paths []string) string {
	for _, path := range paths {
		if text := n.At(path).Text(); text != "" {
			return text
		}
	}
	return ""
}
