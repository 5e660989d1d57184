package messagingtest

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"time"
)

// maxReply is how much is kept of the body of a reply.
const maxReply = 64 << 10

// A Reply is what came of one request to a webhook.
type Reply struct {
	// Callback is what was delivered: an [InboundSMS], an [InboundChatApp] or a [DeliveryReport], never [Callbacks].
	Callback Callback

	// Attempt counts the requests of one delivery from 1. It is 0 if none was made, because the context had ended or the
	// server was closed, or because a report has nowhere to go; Err says so then.
	Attempt int

	// StatusCode is the HTTP status of the answer. Zero if there was none.
	StatusCode int

	// Header is that of the answer. Nil if there was none.
	Header http.Header

	// RetryAfter is how long the header Retry-After asks to wait, from whole seconds or a date. Zero if it asks for none,
	// or for what cannot be read.
	RetryAfter time.Duration

	// Body is the body of the answer, up to 64 KiB of it. A correct receiver answers with none, because some services send
	// it to the sender as a message. Empty if there was none.
	Body []byte

	// Err is why there is no answer, or not all of its body. It names no URL, for that holds the message and the secret.
	// Nil for every answer that came, whatever its status.
	Err error
}

// failed says whether the service is to call again.
func (r Reply) failed() bool {
	return r.StatusCode == 0 || r.StatusCode == http.StatusTooManyRequests || r.StatusCode >= http.StatusInternalServerError
}

// read takes over an answer, but does not close it.
func (r *Reply) read(resp *http.Response) {
	r.StatusCode, r.Header = resp.StatusCode, resp.Header
	r.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	r.Body, r.Err = io.ReadAll(io.LimitReader(resp.Body, maxReply))
}

func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 63); err == nil {
		return time.Duration(min(seconds, math.MaxInt64/uint64(time.Second))) * time.Second
	}
	date, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(0, date.Sub(now))
}
