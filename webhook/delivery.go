package webhook

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// DeliveryReport reports the state of a message that was sent with a callback URL. At least one of ID and ReferenceID is not empty.
// Any other field is empty or zero if the callback does not carry it.
//
// Reports can arrive out of order, more than once, or not at all: a "sent" can follow a "delivered". Store a status only if it supersedes the
// stored one, see [contract.Status.Supersedes]; [contract.Status.Final] says which states are final.
type DeliveryReport struct {
	// ID is the message ID, as in the receipt.
	ID string `json:"id,omitzero"`
	// ReferenceID is your own name for the message, from the send.
	ReferenceID string `json:"referenceID,omitzero"`
	// From is the sender ID of the message.
	From string `json:"from,omitzero"`
	// To is the recipient of the message.
	To string `json:"to,omitzero"`
	// UserID is the user ID of the recipient, if the platform's JSON has one.
	UserID string `json:"userID,omitzero"`
	// Kind is the type of the transaction, as it arrived. A status of the platform may be about something other than a message, such as
	// "payment" or "call": its Status is StatusUnknown, and RawStatus says what became of the payment or the call.
	Kind string `json:"kind,omitzero"`
	// Status is the state of the message. It is StatusUnknown for a word or number that the contract does not know.
	Status contract.Status `json:"status,omitzero"`
	// RawStatus is the word or number that arrived for the status.
	RawStatus string `json:"rawStatus,omitzero"`
	// StatusAt is when the message reached the state. It is zero if the report has no time, or one in an unknown form.
	StatusAt time.Time `json:"statusAt,omitzero"`
	// RawTime is the time as it arrived.
	RawTime string `json:"rawTime,omitzero"`
	// ErrorCode is the service's code for why the message was not delivered, such as 131049 or E17. It is empty if the report has none.
	ErrorCode string `json:"errorCode,omitzero"`
	// ErrorText says in words why the message was not delivered. It comes from outside and may hold a number or a text.
	ErrorText string `json:"errorText,omitzero"`
	// Cost is what the message cost, a decimal number exactly as it arrived, and Currency its currency, such as EUR. Unlike the prices of
	// a listing, it is not multiplied by a scale of the contract.
	Cost     string `json:"cost,omitzero"`
	Currency string `json:"currency,omitzero"`
	// Category is what the message counts as in the bill, such as utility or marketing.
	Category string `json:"category,omitzero"`
	// Billable reports whether the service says that it charges for the message. It is false too if the report does not say.
	Billable bool `json:"billable,omitzero"`
	// Ambiguous is like SMSMessage.Ambiguous. It is also set if two different statuses arrived.
	Ambiguous bool `json:"ambiguous,omitzero"`
	// JSON is the complete status, if it arrived in the shape of the platform.
	JSON json.RawMessage `json:"-"`
	// Params are all parameters, including those of the fields above.
	Params Params `json:"params,omitzero"`
	// RawQuery is the query byte for byte, without secrets.
	RawQuery string `json:"-"`
}

// appendReports appends the statuses of the JSON that counts or, if there are none, a report of parameters.
func (f *fields) appendReports(d *decision, events []event) ([]event, error) {
	e := &d.envelope
	if e.isTooLarge {
		return events, f.callback.refuse(ErrTooLarge)
	}
	before := len(events)
	events, isComplete := f.appendStatuses(d, events)
	events = f.appendOthers(d, events)
	isAnonymous := f.id() == "" && f.value(conceptReference) == ""
	switch {
	case len(e.messages) > 0 && e.shape == shapeEnvelope:
		return events, f.callback.refuse(ErrUnhandled).withStatus(http.StatusBadRequest)
	case !isComplete:
		return events, f.callback.refuse(ErrNoMessage)
	case len(events) > before:
		return events, nil
	case e.isEmpty() && isAnonymous:
		return events, f.callback.refuse(ErrUnhandled)
	case isAnonymous:
		return events, f.callback.refuse(ErrNoMessage)
	default:
		return append(events, f.report(d)), nil
	}
}

// report makes a report of parameters.
func (f *fields) report(d *decision) *DeliveryReport {
	return &DeliveryReport{
		ID:          f.id(),
		ReferenceID: f.value(conceptReference),
		From:        number(f.value(conceptFrom)),
		To:          number(f.value(conceptTo)),
		Kind:        f.value(conceptKind),
		Status:      f.callback.receiver.status(f.value(conceptStatus)),
		RawStatus:   f.value(conceptStatus),
		StatusAt:    f.callback.moment(f.value(conceptTime)),
		RawTime:     f.value(conceptTime),
		ErrorCode:   f.value(conceptErrorCode),
		ErrorText:   f.value(conceptErrorText),
		Cost:        f.value(conceptCost),
		Currency:    f.value(conceptCurrency),
		Category:    f.value(conceptCategory),
		Billable:    isTrue(f.value(conceptBillable)),
		Ambiguous:   d.isAmbiguous,
		Params:      f.params,
		RawQuery:    f.query,
	}
}

// appendStatuses appends the statuses of the envelope that counts, and reports whether all of them could be read.
func (f *fields) appendStatuses(d *decision, events []event) (all []event, isComplete bool) {
	e := &d.envelope
	isComplete = e.malformed == 0
	for i := range e.statuses {
		report := f.platformReport(d, &e.statuses[i])
		if report.ID == "" && report.ReferenceID == "" {
			isComplete = false
			continue
		}
		events = append(events, report)
	}
	return events, isComplete
}

// platformReport makes a report of a status of the platform.
func (f *fields) platformReport(d *decision, one *item) *DeliveryReport {
	raw := one.members.word("status")
	meaning := f.callback.receiver.status(raw)
	isMessage := one.kind == "" || strings.EqualFold(one.kind, "message")
	if !isMessage { // the status of a payment or a call says nothing about delivery
		meaning = StatusUnknown
	}
	flatStatus := f.value(conceptStatus)
	hasOtherStatus := flatStatus != "" && !f.callback.receiver.sameStatus(flatStatus, raw)
	hasOtherID := conflicts(f.id(), one.id)
	report := &DeliveryReport{
		ID:          one.id,
		ReferenceID: cmp.Or(f.value(conceptReference), one.members.word("biz_opaque_callback_data")),
		From:        one.business,
		To:          number(one.members.word("recipient_id", "recipient_user_id")),
		UserID:      one.members.word("recipient_user_id"),
		Kind:        one.kind,
		Status:      meaning,
		RawStatus:   raw,
		StatusAt:    one.members.time("timestamp"),
		RawTime:     one.members.word("timestamp"),
		JSON:        one.raw,
		Ambiguous:   d.isAmbiguous || d.envelope.hasRepeatsIn(*one) || hasOtherID || hasOtherStatus,
		Params:      f.params,
		RawQuery:    f.query,
	}
	report.setFailureAndPrice(one.members)
	return report
}

// setFailureAndPrice reads from a status of the platform why the message failed, and whether it is charged.
func (d *DeliveryReport) setFailureAndPrice(status object) {
	if failures := status.list("errors", 0); len(failures) > 0 {
		failure := objectOf(failures[0])
		d.ErrorCode = failure.word("code")
		d.ErrorText = cmp.Or(failure.object("error_data").word("details"), failure.word("message", "title"))
	}
	pricing := status.object("pricing")
	d.Category = cmp.Or(pricing.word("category"), status.object("conversation").object("origin").word("type"))
	kind := pricing.word("type")
	d.Billable = kind == "regular"
	if kind == "" {
		d.Billable = pricing.word("billable") == "true"
	}
}

// DuplicateKey is like that of SMSMessage. It is always lasting.
func (d DeliveryReport) DuplicateKey() (key string, lasting bool) {
	identifies := table.Identifies(d.ID) && d.To != "" && isStatus(d.Status, d.RawStatus)
	return duplicateKey(CallbackDelivery, identifies && !d.Ambiguous, d.JSON, d.Params,
		d.ID, d.ReferenceID, d.From, d.To, d.Kind, foldStatus(d.RawStatus), d.RawTime,
		d.ErrorCode, d.ErrorText, d.Cost, d.Currency, d.Category, strconv.FormatBool(d.Billable)), true
}

func (d *DeliveryReport) about() (kind, id string) { return string(CallbackDelivery), d.ID }

// LogValue returns the report without personal data: its IDs, its status and when it was reached.
func (d DeliveryReport) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("id", loggable(d.ID)),
		slog.String("status", d.Status.String()),
		slog.Time("status_at", d.StatusAt),
		slog.String("error_code", loggable(d.ErrorCode)),
		slog.Bool("billable", d.Billable),
		slog.Bool("ambiguous", d.Ambiguous),
	)
}

// Status is the state of a message in a delivery report. It is another name for [contract.Status]: go doc shows its methods there,
// [contract.Status.Final] and [contract.Status.Supersedes].
type Status = contract.Status

// The states of a message, as in package contract.
const (
	// StatusUnknown is the zero value "", and prints as "unknown". A report has it if the contract does not know the word or number that
	// arrived, which is in RawStatus.
	StatusUnknown   = contract.StatusUnknown
	StatusQueued    = contract.StatusQueued
	StatusSent      = contract.StatusSent
	StatusDelivered = contract.StatusDelivered
	StatusRead      = contract.StatusRead
	StatusPlayed    = contract.StatusPlayed
	StatusFailed    = contract.StatusFailed
	StatusExpired   = contract.StatusExpired
	StatusRejected  = contract.StatusRejected
	StatusDeleted   = contract.StatusDeleted
)

func (rcv *Receiver) status(raw string) Status {
	if meaning, _ := table.Meaning(table.Of(rcv.contract).WebhookDelivery.Statuses, raw, true); meaning != "" {
		return Status(meaning)
	}
	word := Status(foldStatus(raw))
	if word == contract.StatusPlayed || word == contract.StatusDeleted { // words of the platform
		return word
	}
	return StatusUnknown
}

func (rcv *Receiver) sameStatus(a, b string) bool {
	if foldStatus(a) == foldStatus(b) {
		return true
	}
	meaning := rcv.status(a)
	return meaning != StatusUnknown && meaning == rcv.status(b)
}

// isStatus reports whether a report has a status, and not a placeholder in its place.
func isStatus(status Status, raw string) bool {
	return status != StatusUnknown || !table.IsPlaceholder(raw)
}

func isTrue(word string) bool {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "true", "1", "yes":
		return true
	default:
		return false
	}
}

func foldStatus(raw string) string { return strings.ToLower(strings.TrimSpace(raw)) }
