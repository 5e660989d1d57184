package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"
)

// A hookPeer is a client library of another service that receives: it verifies and reads a call of its service.
type hookPeer struct {
	name   string
	method string
	url    string
	body   string

	header    string                          // the name of the header with the signature
	sign      func(at, body string) string    // returns the signature of a call that is made at a time in seconds
	headers   func(at string) http.Header     // returns the other headers of such a call; nil for none
	timestamp func(header http.Header) string // returns the time in the headers; nil if the signature does not expire

	handle func(r *http.Request) error              // verifies and reads a call by the library
	read   func(r *http.Request, body []byte) error // reads a call by the standard library
}

// hookPeers returns the libraries that receive.
func hookPeers() []hookPeer {
	return []hookPeer{twilioHook(), svixHook(), lineHook(), openaiHook(), githubHook(), stripeHook()}
}

// prepare prepares signed calls of a handler.
func (p hookPeer) prepare(handle func(r *http.Request) error) preparation {
	return func(tb testing.TB) operation {
		tb.Helper()
		r := httptest.NewRequestWithContext(tb.Context(), p.method, p.url, http.NoBody)
		at := strconv.FormatInt(time.Now().Unix(), 10)
		if p.headers != nil {
			maps.Copy(r.Header, p.headers(at))
		}
		r.Header.Set(p.header, p.sign(at, p.body))
		return repeat(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if handle(r) != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			w.WriteHeader(http.StatusOK)
		}), r, []byte(p.body))
	}
}

var errSignature = errors.New("the signature is wrong")

// byHand handles a call as the library does, by the standard library alone.
func (p hookPeer) byHand(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	at := ""
	if p.timestamp != nil {
		at = p.timestamp(r.Header)
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
			return errSignature
		}
	}
	if !hmac.Equal([]byte(r.Header.Get(p.header)), []byte(p.sign(at, string(body)))) {
		return errSignature
	}
	return p.read(r, body)
}

// readJSON returns a function that decodes a body, and fails unless the event is complete.
func readJSON[T any](isComplete func(*T) bool) func(*http.Request, []byte) error {
	return func(_ *http.Request, body []byte) error {
		var event T
		if err := json.Unmarshal(body, &event); err != nil {
			return err
		}
		return requireEvent(isComplete(&event))
	}
}

// hookKey is the key of all signatures.
const hookKey = "0123456789abcdef0123456789abcdef"

// mac returns the HMAC with hookKey over all parts.
func mac(algorithm func() hash.Hash, parts ...string) []byte {
	h := hmac.New(algorithm, []byte(hookKey))
	for _, part := range parts {
		_, _ = io.WriteString(h, part)
	}
	return h.Sum(nil)
}

// standardHook returns a peer whose calls are signed by the Standard Webhooks specification.
func standardHook(name, body string) hookPeer {
	return hookPeer{
		name: name, method: http.MethodPost, url: "/hook", body: body, header: "Webhook-Signature",
		headers: func(at string) http.Header { return http.Header{"Webhook-Id": {"msg_1"}, "Webhook-Timestamp": {at}} },
		sign: func(at, body string) string {
			return "v1," + base64.StdEncoding.EncodeToString(mac(sha256.New, "msg_1.", at, ".", body))
		},
		timestamp: func(h http.Header) string { return h.Get("Webhook-Timestamp") },
	}
}
