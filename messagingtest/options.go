package messagingtest

import (
	"fmt"
	"time"
)

// A ReceiveOption is a way in which the service calls a webhook, for [Server.Receive] and [Server.ReportDelivery]. The
// functions of this package make them. Several go together in any order; of two that say different things about the same,
// the last counts. Nil is none.
type ReceiveOption interface{ receive(r *receiving) }

// A RequestOption is a way in which one call is written, for [SMSRequest] and its siblings; it is a [ReceiveOption] too.
// Nil is none.
type RequestOption interface {
	ReceiveOption
	write(w *writing)
}

// receiving is how a webhook is called.
type receiving struct {
	writing
	twice    bool
	reversed bool
	repeats  int
	atOnce   int
	patience time.Duration
}

// defaultPatience is longer than a receiver takes that works at all, and shorter than a test may run.
const defaultPatience = 10 * time.Second

func newReceiving(opts []ReceiveOption) receiving {
	r := receiving{atOnce: 1, patience: defaultPatience}
	for _, opt := range opts {
		if opt != nil {
			opt.receive(&r)
		}
	}
	return r
}

func newWriting(opts []RequestOption) writing {
	var w writing
	for _, opt := range opts {
		if opt != nil {
			opt.write(&w)
		}
	}
	return w
}

type receiveOption func(*receiving)

func (o receiveOption) receive(r *receiving) { o(r) }

type requestOption func(*writing)

func (o requestOption) receive(r *receiving) { o(&r.writing) }

func (o requestOption) write(w *writing) { o(w) }

// Unescaped writes the values of parameters as a careless sender does, byte for byte: +, %, ; = and bytes beyond ASCII stand
// as they are, and a space is a +. What would end the parameter or the request is escaped all the same (& and #, control
// characters), and so are the names, for nobody can read them otherwise.
//
// A correct receiver gets every value whole, however little of it was escaped. It restores a + in front of a number. A ;
// does not end a text, a % that escapes nothing is a %, and a byte that is no UTF-8 is read as Windows-1252. Two things are
// lost for any receiver: a + in a text reads as a space, and a % in front of two hexadecimal digits as the byte that they
// name. The contract says that such senders are met; which of their mistakes the service makes, if any, is not known.
func Unescaped() RequestOption { return requestOption(func(w *writing) { w.unescaped = true }) }

// TwiceAtOnce delivers each callback twice in the same instant: over two connections, neither of which writes before both
// are there. Each of the two is repeated by itself with [AgainAfterFailure], and the replies to the one stand before those
// to the other.
//
// A correct receiver that remembers what it has handled handles the callback once. It answers the other delivery with a 200
// if the first is done by then, and else asks to be called again, by a 503 with Retry-After.
func TwiceAtOnce() ReceiveOption { return receiveOption(func(r *receiving) { r.twice = true }) }

// OutOfOrder delivers the last callback first and the first one last. The replies stand in the order of the callbacks all
// the same.
//
// A correct receiver assumes no order: a message is handled when it comes, and of two reports on a message the one that came
// last is not for that the newest.
func OutOfOrder() ReceiveOption { return receiveOption(func(r *receiving) { r.reversed = true }) }

// AgainAfterFailure calls again where the webhook gave no answer, or one with status 429 or 5xx, up to that many times
// more for each delivery, with the same parameters. Any other answer is final, a redirect too. Without this option each
// delivery is one request.
//
// Retry-After is honoured on a clock of its own, which runs a hundred times faster than time does, so that a second takes
// 10 ms; without the header it is a second. No wait is longer than a quarter of a second. A repetition comes before what the same
// connection has to deliver next. How often a service calls again, and after which answers, the specification does not
// show: this is the stand-in's choice.
//
// A correct receiver answers 5xx only where it wants the callback again, and handles it then as if it had not come before.
// AgainAfterFailure panics if times is below 1.
func AgainAfterFailure(times int) ReceiveOption {
	if times < 1 {
		panic(fmt.Sprintf("messagingtest: AgainAfterFailure(%d): the number of repetitions is below 1", times))
	}
	return receiveOption(func(r *receiving) { r.repeats = times })
}

// SeveralAtOnce delivers up to n callbacks at a time, each over a connection of its own that then serves the next; with
// [TwiceAtOnce], over two. They begin in the order of the callbacks, and may arrive in any. Without this option one is
// delivered after the other.
//
// A correct receiver handles each callback, and refuses none but with a status after which the service calls again.
// SeveralAtOnce panics if n is below 1.
func SeveralAtOnce(n int) ReceiveOption {
	if n < 1 {
		panic(fmt.Sprintf("messagingtest: SeveralAtOnce(%d): the number of callbacks is below 1", n))
	}
	return receiveOption(func(r *receiving) { r.atOnce = n })
}

// AnswerWithin lets the service wait for an answer no longer than d, body included, before it gives up and closes the
// connection: [Reply.Err] is [context.DeadlineExceeded] then. Without this option it waits for 10 s. Both are the
// stand-in's choice.
//
// A correct receiver may have handled the callback by then. It answers quickly, and knows the callback when it comes again.
// AnswerWithin panics if d is not above zero.
func AnswerWithin(d time.Duration) ReceiveOption {
	if d <= 0 {
		panic(fmt.Sprintf("messagingtest: AnswerWithin(%v): the time is not above zero", d))
	}
	return receiveOption(func(r *receiving) { r.patience = d })
}
