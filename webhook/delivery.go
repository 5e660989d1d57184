package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// DeliveryReport reports the state of a message that was sent with a callback URL. ID or ReferenceID is never empty; another
// field that the callback does not carry is empty or zero.
//
// Reports can arrive out of order, more than once, and not at all: a "sent" can follow a "delivered".
type DeliveryReport struct {
	// ID is the message ID, as in the receipt.
	ID string `json:"id,omitzero"`
	// ReferenceID is the sender's own name for the message.
	ReferenceID string `json:"referenceID,omitzero"`
	// From is the sender ID of the message, and To its recipient.
	From string `json:"from,omitzero"`
	To   string `json:"to,omitzero"`
	// Kind is the type of the transaction, as it arrived.
	Kind string `json:"kind,omitzero"`
	// Status is the state of the message, and RawStatus the word or number that arrived for it.
	Status    Status `json:"status,omitzero"`
	RawStatus string `json:"rawStatus,omitzero"`
	// StatusAt is when the message reached the state. It is zero if the report has no time, or one in an unknown form. RawTime
	// is the time as it arrived.
	StatusAt time.Time `json:"statusAt,omitzero"`
	RawTime  string    `json:"rawTime,omitzero"`
	// Ambiguous reports whether an ID, a sender, a recipient, a reference or a status arrived twice with different values,
	// other than two words for the same status. The first is used.
	Ambiguous bool `json:"ambiguous,omitzero"`
	// JSON is the complete status, if it arrived in the shape of the platform. It has errors and prices.
	JSON json.RawMessage `json:"-"`
	// Params are all parameters, including those of the fields above.
	Params Params `json:"params,omitzero"`
	// RawQuery is the query byte for byte, without secrets.
	RawQuery string `json:"-"`
}

// Delivery is like SMS, for delivery reports. DeliveryURL returns the URL to name in a send. An envelope of the platform can
// hold several statuses: each is handled by itself, and if one fails the service calls again.
func (rcv *Receiver) Delivery(handle func(context.Context, DeliveryReport) error) http.Handler {
	return &handler{rcv, rcv.callbacks[CallbackDelivery], func(ctx context.Context, e event) error {
		return handle(ctx, *e.(*DeliveryReport))
	}}
}

// ParseDelivery reads the delivery reports of a request and checks its proofs of origin, as the handler of Delivery does. The
// error is a [*RejectError]. What could be read is returned beside an error for the rest.
func (rcv *Receiver) ParseDelivery(r *http.Request) ([]DeliveryReport, error) {
	events, err := rcv.read(r, rcv.callbacks[CallbackDelivery])
	return only[DeliveryReport](events), err
}

// appendReports appends the reports of a request.
func (q *request) appendReports(events []event) ([]event, error) {
	e := q.withoutForeign(q.findEnvelope())
	if e.tooLarge {
		return events, q.reject(ErrTooLarge)
	}
	size := len(events)
	events, complete := q.appendStatuses(events, e)
	switch {
	case len(e.messages) > 0 && !e.single:
		return events, q.reject(ErrMisdirected)
	case !complete:
		return events, q.reject(ErrNoMessage)
	case len(events) > size:
		return events, nil
	}
	d := &DeliveryReport{
		ID: q.values[conceptID], ReferenceID: q.values[conceptReference], From: number(q.values[conceptFrom]),
		To: number(q.values[conceptTo]), Kind: q.values[conceptKind],
		Status: q.status(q.values[conceptStatus]), RawStatus: q.values[conceptStatus],
		StatusAt: q.moment(q.values[conceptTime]), RawTime: q.values[conceptTime],
		Ambiguous: q.ambiguous, Params: q.params, RawQuery: q.rawQuery,
	}
	if d.ID == "" && d.ReferenceID == "" {
		return events, q.reject(ErrNoMessage)
	}
	return append(events, d), nil
}

// withoutForeign returns the envelope, or none if it is JSON in a parameter while others are a report by themselves: then the
// JSON is a parameter like any other, such as the text of the message.
func (q *request) withoutForeign(e envelope) envelope {
	id, status := q.values[conceptID], q.values[conceptStatus]
	isReport := id+q.values[conceptReference] != "" && status != ""
	isOther := id != "" && (len(e.statuses) != 1 || differ(id, e.statuses[0].id()))
	if e.index < 0 || !isReport && !isOther {
		return e
	}
	for _, one := range e.statuses {
		same := status == "" || q.sameStatus(status, one.word("status"))
		q.ambiguous = q.ambiguous || differ(id, one.id()) || !same
	}
	return envelope{index: -1}
}

// appendStatuses appends the statuses of an envelope, and reports whether that was all of them.
func (q *request) appendStatuses(events []event, e envelope) (all []event, complete bool) {
	complete = e.broken == 0
	for _, one := range e.statuses {
		id, raw, status := one.id(), one.word("status"), q.values[conceptStatus]
		d := &DeliveryReport{
			ID: id, ReferenceID: cmp.Or(q.values[conceptReference], one.word("biz_opaque_callback_data")), From: number(one.business),
			To: number(one.word("recipient_id", "recipient_user_id")), Status: q.status(raw), RawStatus: raw,
			StatusAt: one.time("timestamp"), RawTime: one.word("timestamp"), JSON: one.raw, Params: q.params, RawQuery: q.rawQuery,
			Ambiguous: q.ambiguous || one.doubtful || differ(q.values[conceptID], id) || status != "" && !q.sameStatus(status, raw),
		}
		if d.ID == "" && d.ReferenceID == "" {
			complete = false
			continue
		}
		events = append(events, d)
	}
	return events, complete
}

// DuplicateKey is like that of SMSMessage. It is always lasting.
func (d DeliveryReport) DuplicateKey() (key string, lasting bool) {
	return identity{
		callback: CallbackDelivery, certain: d.ID != "" && d.To != "" && isStatus(d.Status, d.RawStatus) && !d.Ambiguous,
		known: []string{d.ID, d.ReferenceID, d.From, d.To, d.Kind, foldStatus(d.RawStatus), d.RawTime},
		json:  d.JSON, params: d.Params,
	}.key(), true
}

func (d DeliveryReport) about() (Callback, string) { return CallbackDelivery, d.ID }

// LogValue returns the report without personal data: its IDs, its status and when it was reached.
func (d DeliveryReport) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", cut(d.ID)), slog.String("status", d.Status.String()), slog.Time("status_at", d.StatusAt),
		slog.Bool("ambiguous", d.Ambiguous))
}
