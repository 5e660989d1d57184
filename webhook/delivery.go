package webhook

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// DeliveryReport is what the service tells of a message that was sent with a callback URL. ID or ReferenceID is never empty;
// what else the callback does not carry is empty or zero.
//
// Reports may come in any order, more than once, and not at all: a "sent" can follow a "delivered". Nothing here assumes
// otherwise. The specification says that a send can name a callback and that callbacks are GET; the names of the
// parameters, the words of the statuses and the placeholders are defaults of the contract (webhook.delivery).
//
// It is plain data. Printed with package fmt or logged with log/slog it shows its ID, status and measures, never a number
// or a parameter.
type DeliveryReport struct {
	// ID is the message ID, as the receipt of the send has it.
	ID string
	// ReferenceID is the sender's own name for the message.
	ReferenceID string
	// From is the sender ID of the message, and To its recipient. A + that was not escaped is restored in front of a number.
	From string
	To   string
	// Kind is the type of the transaction, as it came.
	Kind string
	// Status is what became of the message. The zero value is StatusUnknown.
	Status Status
	// RawStatus is the status as it came, a word or a number.
	RawStatus string
	// ReceivedAt is when the status was reached; the zero time where the service did not say, or said so in no form that is
	// known (see contract.ParseTime): Params then has the text.
	ReceivedAt time.Time
	// Params are all parameters, those that stand in the fields above among them.
	Params Params
	// RawQuery is the query byte for byte, less the parameters of WithSecret.
	RawQuery string
}

// Delivery makes a handler for the callback that reports deliveries, and calls handle for each report. DeliveryURL builds
// the URL that a send then names. Else it is as SMS.
func Delivery(handle func(context.Context, DeliveryReport) error, opts ...Option) http.Handler {
	return newHandler(eventDelivery, deliveryOf, readDelivery, handle, opts)
}

// ParseDelivery reads a delivery report from a request, as the handler of Delivery does. Else it is as ParseSMS.
func ParseDelivery(r *http.Request, opts ...Option) (DeliveryReport, error) {
	s := newSettings(opts)
	s.check(deliveryOf(&s))
	return readDelivery(r, &s)
}

const eventDelivery = "delivery"

func deliveryOf(s *settings) names { return s.wire.delivery }

func readDelivery(r *http.Request, s *settings) (DeliveryReport, error) {
	q := reading{settings: s, event: eventDelivery, names: s.wire.delivery}
	if err := q.receive(r); err != nil {
		return DeliveryReport{}, err
	}
	// A placeholder that came back as it was sent stands for nothing: all such reports would have one ID.
	value := func(c concept) string {
		if value := q.value(c); value != s.wire.placeholders(c) {
			return value
		}
		return ""
	}
	id, reference, status, at := value(ofID), value(ofReference), value(ofStatus), value(ofTime)
	if id == "" && reference == "" {
		return DeliveryReport{}, q.reject(ErrNoMessage)
	}
	return DeliveryReport{
		ID: id, ReferenceID: reference, From: number(value(ofFrom)), To: number(value(ofTo)), Kind: value(ofKind),
		Status: s.wire.statuses(strings.TrimSpace(status)), RawStatus: status, ReceivedAt: moment(at, s.wire.zones.delivery),
		Params: q.params, RawQuery: q.rawQuery,
	}, nil
}

// DuplicateKey gives the key by which a Store knows the report: its ID, or its reference ID, with its status. It is lasting
// in any case. Else it is as that of SMSMessage.
func (d DeliveryReport) DuplicateKey() (key string, lasting bool) {
	id := d.identity()
	return id.key(eventDelivery)
}

func (d DeliveryReport) identity() identity {
	return identity{id: d.ID, reference: d.ReferenceID, status: d.RawStatus, hasStatus: true, params: d.Params}
}

// Format prints ID, status and measures, in every verb.
func (d DeliveryReport) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, d.summary()) }

// LogValue logs what Format prints.
func (d DeliveryReport) LogValue() slog.Value { return slog.StringValue(d.summary()) }

func (d DeliveryReport) summary() string {
	return newSummary("DeliveryReport").word("ID", d.ID).measure("ReferenceID", d.ReferenceID).measure("From", d.From).measure("To", d.To).
		measure("Kind", d.Kind).word("Status", d.Status.String()).measure("RawStatus", d.RawStatus).time("ReceivedAt", d.ReceivedAt).
		count("Params", len(d.Params)).bytes("RawQuery", len(d.RawQuery)).String()
}
