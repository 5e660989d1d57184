package transport

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// loop makes an attempt, and another after each wait, until decide says that none follows. It returns the error of ctx if ctx ends a wait.
//
// The loop and its timer are from go-retryablehttp. A retryablehttp.Client passes a request to the round tripper of its HTTPClient, asks
// CheckRetry whether another attempt follows, waits for as long as Backoff returns, and begins again. It would repeat the same request, but each
// attempt has its own request and credentials. So the round tripper makes that request and keeps the response in the call, and the Client gets
// an empty request and empty responses, which it has no reason to redirect, log or close.
func (c *call) loop(ctx context.Context) error {
	l := &loop{call: c}
	client := retryablehttp.Client{
		HTTPClient: &http.Client{Transport: l},
		CheckRetry: l.checkRetry,
		Backoff:    l.backoff,
		RetryMax:   math.MaxInt, // decide counts the attempts
	}
	empty := (&http.Request{URL: new(url.URL)}).WithContext(ctx)
	_, err := client.Do(&retryablehttp.Request{Request: empty}) //nolint:bodyclose // it has none
	return err
}

// A loop has the functions of a retryablehttp.Client that makes the attempts of a call.
type loop struct {
	call *call
	wait time.Duration // before the next attempt
}

// RoundTrip makes one attempt. The empty request has the context of the waits. It returns no error.
func (l *loop) RoundTrip(empty *http.Request) (*http.Response, error) {
	l.call.step.finish(Outcome{}) // the wait before it
	l.call.tryOnce(empty.Context())
	return &http.Response{Body: http.NoBody}, nil
}

func (l *loop) checkRetry(ctx context.Context, _ *http.Response, _ error) (follows bool, err error) {
	l.wait, follows = l.call.decide(ctx)
	return follows, nil
}

func (l *loop) backoff(time.Duration, time.Duration, int, *http.Response) time.Duration {
	return l.wait
}
