package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"

	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// shownOrder is what customer service sees of the message of an order.
type shownOrder struct {
	ID      string `json:"id"`
	Channel string `json:"channel"`          // "sms" if an SMS was enqueued in place of a chat-app message
	Message string `json:"message"`          // a reported status such as "delivered", or what stateOf or forgottenState returns
	Reason  string `json:"reason,omitempty"` // why it was not accepted, or the error code of the report
	phone   string // not in the JSON
}

// showOrder serves the state of an order. Let only customer service and the customer call it.
func (s *shop) showOrder(w http.ResponseWriter, r *http.Request) {
	order, err := s.readOrder(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		http.Error(w, "there is no such order", http.StatusNotFound)
	case err != nil:
		log.Print("shop: an order could not be read: ", err)
		http.Error(w, "the order could not be read, try again", http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(order) // the customer has gone
	}
}

// readOrder calls orderOf in a transaction of its own.
func (s *shop) readOrder(ctx context.Context, id string) (shownOrder, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return shownOrder{}, err
	}
	defer tx.Rollback() //nolint:errcheck // it only reads
	return s.orderOf(ctx, tx, id)
}

// orderOf returns what is known about the message of an order, or sql.ErrNoRows. It asks the outbox, which also has what people decided, in the
// transaction of the caller: in a handler, Outbox.Get would need a second connection, and on SQLite wait for it forever.
func (s *shop) orderOf(ctx context.Context, tx *sql.Tx, id string) (shownOrder, error) {
	if !orderID.MatchString(id) {
		return shownOrder{}, sql.ErrNoRows
	}
	order := shownOrder{ID: id, Channel: "chatapp2"}
	var reference, verdict, delivery, errorCode string
	const query = "SELECT phone, reference, verdict, delivery, error_code FROM shop_order WHERE id = $1"
	if err := tx.QueryRowContext(ctx, query, id).Scan(&order.phone, &reference, &verdict, &delivery, &errorCode); err != nil {
		return shownOrder{}, err
	}
	if reference != id {
		order.Channel = "sms"
	}
	if delivery != "" { // a report counts more than a verdict
		order.Message = delivery
		order.Reason = errorCode
		return order, nil
	}
	records, err := s.outbox.GetTx(ctx, tx, reference)
	if errors.Is(err, messaging.ErrNotFound) { // it was deleted, after Options.Keep
		order.Message = forgottenState(verdict)
		return order, nil
	}
	if err != nil {
		return shownOrder{}, err
	}
	record := records[0] // the other channel uses another reference ID
	order.Message = stateOf(record)
	if record.Verdict != messaging.Accepted { // else the reason is how a person found out
		order.Reason = record.Reason
	}
	return order, nil
}

const stateWaiting = "waiting"

// stateOf returns the verdict on a message, or
//
//	waiting      it was not sent yet
//	looked up    it may have been sent, and the outbox is finding out
//	undecided    it may have been sent, and a person must decide
//	dropped      it may have been sent, and a person decided that it no longer matters
func stateOf(record messagingriver.Record) string {
	mayChange := record.Finalized.IsZero()
	switch record.Verdict {
	case messaging.NotSent, messaging.Refused:
		if mayChange {
			return stateWaiting
		}
	case messaging.Unknown:
		if mayChange {
			return "looked up"
		}
		if record.State == rivertype.JobStateDiscarded {
			return "undecided"
		}
		return "dropped"
	case messaging.Accepted:
	}
	return record.Verdict.String()
}

// forgottenState returns the last verdict on a message that the outbox has deleted. The outbox keeps a message with an unknown outcome until a
// person has decided about it, and does not tell the shop of the decision.
func forgottenState(verdict string) string {
	if verdict == "" || verdict == messaging.Unknown.String() {
		return "decided"
	}
	return verdict
}
