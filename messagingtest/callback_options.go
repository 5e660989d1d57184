package messagingtest

import "time"

// A ReceiveOption is a way in which the service calls a webhook, for [Server.Receive] and [Server.ReportDelivery]. The order
// of options does not matter, except that the last of two alike counts. Nil is none.
type ReceiveOption func(*receiving)

// receiving is how a webhook is called.
type receiving struct {
	unescaped bool
	reversed  bool
	copies    int // of each callback, in the same instant
	retries   int
	atOnce    int
	patience  time.Duration
}

func newReceiving(opts []ReceiveOption) receiving {
	r := receiving{copies: 1, atOnce: 1, patience: 10 * time.Second}
	for _, opt := range opts {
		if opt != nil {
			opt(&r)
		}
	}
	return r
}

// Unescaped writes the values of parameters as a careless sender does: + % ; = and bytes beyond ASCII stand as they are, and a
// space is a +. Only & # and control characters are escaped.
//
// A correct receiver gets every value whole all the same, and restores a + in front of a number. Two things are lost for any
// receiver: a + in a text reads as a space, and a % in front of two hexadecimal digits as the byte that they name.
func Unescaped() ReceiveOption { return func(r *receiving) { r.unescaped = true } }

// TwiceAtOnce delivers each callback twice in the same instant, over two connections. The replies to one delivery stand before
// those to the other. A correct receiver handles the callback once: it responds to the other delivery with 200 if the first is
// done by then, and otherwise with 503 and Retry-After.
func TwiceAtOnce() ReceiveOption { return func(r *receiving) { r.copies = 2 } }

// OutOfOrder delivers the last callback first. The replies stand in the order of the callbacks all the same.
func OutOfOrder() ReceiveOption { return func(r *receiving) { r.reversed = true } }

// RetryFailures retries a delivery up to that many times if the webhook gave no response, or one with status 429 or 5xx.
// Retry-After, or a second without it, passes a hundred times faster, and in 250 ms at most. RetryFailures panics if times is
// below 1.
func RetryFailures(times int) ReceiveOption {
	must(times >= 1, "RetryFailures(%d): the number of retries is below 1", times)
	return func(r *receiving) { r.retries = times }
}

// SeveralAtOnce delivers up to n callbacks at a time, each over a connection of its own. They begin in the order of the
// callbacks, and may arrive in any. SeveralAtOnce panics if n is below 1.
func SeveralAtOnce(n int) ReceiveOption {
	must(n >= 1, "SeveralAtOnce(%d): the number of callbacks is below 1", n)
	return func(r *receiving) { r.atOnce = n }
}

// GiveUpAfter sets how long the service waits for a response, body included, before it closes the connection: [Reply.Err] is
// [context.DeadlineExceeded] then. Without this option it is 10 s. GiveUpAfter panics if d is not above zero.
func GiveUpAfter(d time.Duration) ReceiveOption {
	must(d > 0, "GiveUpAfter(%v): the time is not above zero", d)
	return func(r *receiving) { r.patience = d }
}
