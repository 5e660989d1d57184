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

// hookPeer is a client library of another service that receives: it verifies and reads a call of its service.
type hookPeer struct {
	name   string
	method string
	url    string
	body   string
	header string // that holds the signature
	// others are the other headers of a call, and signed the signature, both for the time in seconds at which it is made.
	others func(at string) http.Header
	signed func(at, body string) string
	// signedAt returns the time in the headers of a call, for which the signature holds for some minutes; nil if it always holds.
	signedAt func(http.Header) string
	handle   func(r *http.Request) error
	// read fills a type of the client's from the call, by the standard library.
	read func(r *http.Request, body []byte) error
}

func hookPeers() []hookPeer {
	return []hookPeer{twilioHook(), svixHook(), lineHook(), openaiHook(), githubHook(), stripeHook()}
}

// handled prepares calls of a handler.
func (p hookPeer) handled(handle func(r *http.Request) error) preparation {
	return func(tb testing.TB) operation {
		tb.Helper()
		r := httptest.NewRequestWithContext(tb.Context(), p.method, p.url, http.NoBody)
		at := strconv.FormatInt(time.Now().Unix(), 10)
		if p.others != nil {
			maps.Copy(r.Header, p.others(at))
		}
		r.Header.Set(p.header, p.signed(at, p.body))
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

// byHand checks the same signature by the standard library, and fills the same type.
func (p hookPeer) byHand(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	at := ""
	if p.signedAt != nil {
		at = p.signedAt(r.Header)
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
			return errSignature
		}
	}
	if !hmac.Equal([]byte(r.Header.Get(p.header)), []byte(p.signed(at, string(body)))) {
		return errSignature
	}
	return p.read(r, body)
}

// decoding returns what decodes a body, and reports an error unless ok finds something in it.
func decoding[T any](ok func(*T) bool) func(*http.Request, []byte) error {
	return func(_ *http.Request, body []byte) error {
		var event T
		if err := json.Unmarshal(body, &event); err != nil {
			return err
		}
		return understood(ok(&event))
	}
}

// hookKey is the key of all signatures.
const hookKey = "0123456789abcdef0123456789abcdef"

// mac returns the HMAC with hookKey over some parts, one after the other.
func mac(algorithm func() hash.Hash, parts ...string) []byte {
	h := hmac.New(algorithm, []byte(hookKey))
	for _, part := range parts {
		_, _ = io.WriteString(h, part)
	}
	return h.Sum(nil)
}

// standardHook is a call that is signed as the Standard Webhooks specification says.
func standardHook(name, body string) hookPeer {
	return hookPeer{
		name: name, method: http.MethodPost, url: "/hook", body: body, header: "Webhook-Signature",
		others: func(at string) http.Header { return http.Header{"Webhook-Id": {"msg_1"}, "Webhook-Timestamp": {at}} },
		signed: func(at, body string) string {
			return "v1," + base64.StdEncoding.EncodeToString(mac(sha256.New, "msg_1.", at, ".", body))
		},
		signedAt: func(h http.Header) string { return h.Get("Webhook-Timestamp") },
	}
}
