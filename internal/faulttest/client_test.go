package faulttest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// What no error may show, and the reference by which a peer recognizes the message under test.
const (
	testToken     = "tok-4f1d9a-SECRET"
	testNumber    = "639171234567"
	testText      = "the code is 4711-jolt"
	testReference = "order-17"
)

// baseURL is a service that a test's transport plays.
const baseURL = "https://sms.example.invalid"

// echo is an error body as services write it, with everything in it that was sent.
const echo = `{"message":"cannot send '` + testText + `' to +` + testNumber + ` for ` + testToken + `"}`

// ownError is an error body in the shape of the service: with an error code.
const ownError = `{"code":"200202","message":"cannot send '` + testText + `' to +` + testNumber + `"}`

// acceptedBody is the body of an acceptance.
const acceptedBody = `{"status":"ok","data":{"id":"m-1"}}`

// withoutBreaker lets each message meet its own fault only. The storms have their breakers.
var withoutBreaker = messaging.WithBreaker(messaging.BreakerPolicy{Off: true})

// noRetry keeps a call that fails from waiting.
var noRetry = messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})

func testMessage(reference string) sms.Message {
	return sms.Message{From: "ACME", To: "+" + testNumber, Text: testText, ReferenceID: reference}
}

func newClient(t *testing.T, url string, opts ...messaging.Option) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(url, append([]messaging.Option{
		messaging.WithToken(testToken), withoutBreaker,
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: maxAttempts, MinWait: time.Millisecond, MaxWait: 5 * time.Millisecond}),
	}, opts...)...)
	require.NoError(t, err)
	return client
}

// newClientOf returns a client of a test server.
func newClientOf(t *testing.T, srv *messagingtest.Server, opts ...messaging.Option) *messaging.Client {
	t.Helper()
	return newClient(t, srv.URL, append([]messaging.Option{messaging.WithToken(srv.Token)}, opts...)...)
}

// list collects a listing, over errors too. It ends after twice as many rows as atMost.
func list(ctx context.Context, client *messaging.Client, opts sms.ListOptions, atMost int) (ids []string, errs []error) {
	for tx, err := range client.SMS.List(ctx, opts) {
		if err != nil {
			errs = append(errs, err)
		} else {
			ids = append(ids, tx.ID)
		}
		if len(ids)+len(errs) > 2*atMost {
			return ids, append(errs, errors.New("the listing does not end"))
		}
	}
	return ids, errs
}

// A roundTripperFunc is a transport without the events of net/http/httptrace.
type roundTripperFunc func(r *http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return f(r)
}

func (f roundTripperFunc) option() messaging.Option {
	return messaging.WithHTTPClient(&http.Client{Transport: f})
}

// newResponse returns a response with header fields as pairs.
func newResponse(r *http.Request, status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}

// assertNoSecrets checks that an error can be printed and logged in every way, even where the service echoed the request.
func assertNoSecrets(t *testing.T, err error) {
	t.Helper()
	printed := printEveryWay(err) + printUnexported(err) + fmt.Sprintf("%v %+v %q", errors.Join(err), fmt.Errorf("wrapped: %w", err), fmt.Errorf("wrapped: %w", err))
	if e, ok := errors.AsType[*messaging.Error](err); ok {
		printed += fmt.Sprintf("%v %+v %#v %s %d", *e, *e, *e, *e, *e)
	}
	assertAbsent(t, printed, testToken, testNumber, testText, "jolt", "pageNumber", "filter")
}

// assertAbsent fails where a text shows one of the secrets, plainly or in hexadecimal. The hexadecimal form of each has a letter or more digits
// than a time, so that no time can show it.
func assertAbsent(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		require.Regexp(t, "[a-f]|^[0-9]{10,}$", fmt.Sprintf("%x", secret), "a secret whose hexadecimal form could be digits of a time")
		for _, form := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret)} {
			if at := strings.Index(text, form); at >= 0 {
				assert.Fail(t, "shows "+secret, "%.300s", text[max(0, at-150):])
			}
		}
	}
}

// await fails if an event does not happen, instead of hanging.
func await(t *testing.T, event <-chan struct{}) {
	t.Helper()
	require.NoError(t, waitFor(event))
}

func waitFor(event <-chan struct{}) error {
	select {
	case <-event:
		return nil
	case <-time.After(peerLife):
		return errors.New("an expected event did not happen")
	}
}
