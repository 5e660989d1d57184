package webhook

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// SMSMessage is one inbound SMS. From is never empty; what else the callback does not carry is empty or zero.
//
// The specification says that the service calls with GET and shows no name of a parameter: which parameter is which is
// a default of the contract (webhook.sms). It is plain data. Printed with package fmt or logged with log/slog it shows its
// ID and measures, never a number, the text or a parameter.
type SMSMessage struct {
	// ID is the service's name for the message.
	ID string
	// From is the number that sent it, as it came, but for white space around it, and with the + restored that a sender
	// forgot to escape.
	From string
	// To is the access code or virtual number that received it, read as From is.
	To string
	// Text is the text, decoded once, in valid UTF-8. It may be empty, may be white space alone, and may hold control
	// characters, NUL among them.
	Text string
	// ReferenceID is a reference ID.
	ReferenceID string
	// Operator is the sender's operator.
	Operator string
	// Keyword is the keyword that the service recognized.
	Keyword string
	// ReceivedAt is when the service received the message; the zero time where it did not say, or said so in no form that
	// is known (see contract.ParseTime): Params then has the text.
	ReceivedAt time.Time
	// Params are all parameters, those that stand in the fields above among them.
	Params Params
	// RawQuery is the query byte for byte, less the parameters of WithSecret.
	RawQuery string
}

// SMS makes a handler for the callback that brings inbound SMS, and calls handle for each. It is mounted where the service
// is told to call:
//
//	mux.Handle("/hooks/sms", webhook.SMS(func(ctx context.Context, m webhook.SMSMessage) error {
//		return queue.Put(ctx, m) // nil: the service is told that the message is ours
//	}, webhook.WithSecret("key", secret)))
//
// The context is that of the request. What handle returns decides the answer, as the page of the package says. It is called
// from many goroutines at once. A nil handle panics, and so does an option that makes no sense.
func SMS(handle func(context.Context, SMSMessage) error, opts ...Option) http.Handler {
	return newHandler(eventSMS, smsOf, readSMS, handle, opts)
}

// ParseSMS reads an inbound SMS from a request, as the handler of SMS does, and checks proof of origin as it does. Store,
// logger and WithOnReject play no part. An error is a [*RejectError]; see there what to answer. It is safe for concurrent use.
func ParseSMS(r *http.Request, opts ...Option) (SMSMessage, error) {
	s := newSettings(opts)
	s.check(smsOf(&s))
	return readSMS(r, &s)
}

const eventSMS = "sms"

func smsOf(s *settings) names { return s.wire.sms }

func readSMS(r *http.Request, s *settings) (SMSMessage, error) {
	q := reading{settings: s, event: eventSMS, names: s.wire.sms}
	if err := q.receive(r); err != nil {
		return SMSMessage{}, err
	}
	from := number(q.value(ofFrom))
	if from == "" {
		return SMSMessage{}, q.reject(ErrNoSender)
	}
	return SMSMessage{
		ID: q.value(ofID), From: from, To: number(q.value(ofTo)), Text: q.text(), ReferenceID: q.value(ofReference), Operator: q.value(ofOperator),
		Keyword: q.value(ofKeyword), ReceivedAt: moment(q.value(ofTime), s.wire.zones.sms), Params: q.params, RawQuery: q.rawQuery,
	}, nil
}

// DuplicateKey gives the key by which a Store knows the message, for whoever puts it away under a key of its own, such as
// the message ID of a stream or the primary key of a table. It is as [Store] says. Where lasting is false the message has
// neither ID nor time, and a second honest message has the same key: it may tell duplicates apart for a short while only.
//
// It is the key of a message that a handler or ParseSMS made. It is safe for concurrent use.
func (m SMSMessage) DuplicateKey() (key string, lasting bool) {
	id := m.identity()
	return id.key(eventSMS)
}

func (m SMSMessage) identity() identity {
	return identity{id: m.ID, timed: isTimed(m.ReceivedAt), params: m.Params}
}

// Format prints ID and measures, in every verb.
func (m SMSMessage) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, m.summary()) }

// LogValue logs what Format prints.
func (m SMSMessage) LogValue() slog.Value { return slog.StringValue(m.summary()) }

func (m SMSMessage) summary() string {
	return newSummary("SMSMessage").word("ID", m.ID).measure("From", m.From).measure("To", m.To).measure("Text", m.Text).
		measure("ReferenceID", m.ReferenceID).measure("Operator", m.Operator).measure("Keyword", m.Keyword).time("ReceivedAt", m.ReceivedAt).
		count("Params", len(m.Params)).bytes("RawQuery", len(m.RawQuery)).String()
}
