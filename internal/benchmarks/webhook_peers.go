package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"
)

// hookPeer is a client library of another service that receives: it verifies and reads a call of its service. Beside it
// stands the same by hand: the same signature checked with the standard library alone, the same type filled by
// encoding/json.
type hookPeer struct {
	name    string
	method  string
	url     string
	body    string
	sign    func(r *http.Request, body []byte)
	handle  func(r *http.Request) error
	matched func(r *http.Request) error
}

func hookPeers() []hookPeer {
	return []hookPeer{twilioGetHook(), twilioPostHook(), svixHook(), lineHook(), openaiHook(), githubHook(), stripeHook()}
}

func (p hookPeer) contenders() []contender {
	prepare := func(handle func(r *http.Request) error) func(context.Context, service) (operation, error) {
		return func(ctx context.Context, _ service) (operation, error) {
			r := httptest.NewRequestWithContext(ctx, p.method, p.url, http.NoBody)
			p.sign(r, []byte(p.body))
			return repeat(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if handle(r) != nil {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				w.WriteHeader(http.StatusOK)
			}), r, []byte(p.body)), nil
		}
	}
	return []contender{
		{name: p.name, matched: matchedName(p.name), prepare: prepare(p.handle)},
		{name: matchedName(p.name), hidden: true, prepare: prepare(p.matched)},
	}
}

// mac is the HMAC with hookKey over some parts, one after the other.
func mac(algorithm func() hash.Hash, parts ...string) []byte {
	h := hmac.New(algorithm, []byte(hookKey))
	for _, part := range parts {
		_, _ = io.WriteString(h, part)
	}
	return h.Sum(nil)
}

// hookKey is the key of all signatures.
const hookKey = "0123456789abcdef0123456789abcdef"

var errSignature = errors.New("the signature is wrong")

// sameMAC compares a signature that came with the one that was expected.
func sameMAC(came string, decode func(string) ([]byte, error), want []byte) error {
	got, err := decode(came)
	if err != nil || !hmac.Equal(got, want) {
		return errSignature
	}
	return nil
}

// recent reports whether a time in seconds is not long ago.
func recent(seconds string) error {
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return errSignature
	}
	return nil
}

// signStandard signs as the Standard Webhooks specification says.
func signStandard(r *http.Request, body []byte) {
	at := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Webhook-Id", "msg_1")
	r.Header.Set("Webhook-Timestamp", at)
	r.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac(sha256.New, "msg_1.", at, ".", string(body))))
}

// readStandard checks the signature of signStandard and fills a value.
func readStandard(r *http.Request, into any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	at := r.Header.Get("Webhook-Timestamp")
	if err := recent(at); err != nil {
		return err
	}
	came, ok := strings.CutPrefix(r.Header.Get("Webhook-Signature"), "v1,")
	if !ok {
		return errSignature
	}
	want := mac(sha256.New, r.Header.Get("Webhook-Id"), ".", at, ".", string(body))
	if err := sameMAC(came, base64.StdEncoding.DecodeString, want); err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}
