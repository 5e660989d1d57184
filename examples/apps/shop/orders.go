package main

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"net/http"
	"regexp"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// order serves the form of an order. Let only your customers call it: anyone else could have it send to any number, at your cost.
func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	err := s.takeOrder(r.Context(), r.PostFormValue("id"), r.PostFormValue("phone"))
	switch {
	case err == nil:
	case errors.Is(err, messaging.ErrInvalid):
		http.Error(w, "check the phone number", http.StatusBadRequest)
	case errors.Is(err, errInvalidID), errors.Is(err, errReservedID):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, errOtherOrder):
		http.Error(w, err.Error(), http.StatusConflict)
	default:
		log.Print("shop: an order could not be taken: ", err)
		http.Error(w, "the order could not be taken, try again", http.StatusServiceUnavailable)
	}
}

// orderID matches the ID of any order. It is short enough for the reference ID of an SMS, and has no zero byte, which PostgreSQL refuses.
var orderID = regexp.MustCompile("^[A-Za-z0-9_-]{1,64}$")

var (
	errInvalidID  = errors.New("the ID of an order must be 1 to 64 letters, digits, hyphens and underscores")
	errOtherOrder = errors.New("another order has this ID")
	errReservedID = errors.New("the ID of an order must not end in " + suffixSMS)
)

// suffixSMS follows the ID of an order in the reference ID of its SMS. No order has an ID that ends in it.
const suffixSMS = "-sms"

// takeOrder writes an order and its message. Resubmitting an order whose response was lost changes nothing. If another order has the ID,
// takeOrder returns errOtherOrder.
func (s *shop) takeOrder(ctx context.Context, id, phone string) error {
	if err := checkID(id); err != nil {
		return err
	}
	message := s.confirmation(id, phone)
	if err := s.client.ChatApp2.Validate(message); err != nil { // such as a phone number that no database stores
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	isNew, err := writeOrder(ctx, tx, id, phone)
	if err != nil {
		return err
	}
	if !isNew { // it was taken before, with its message
		return checkPhone(ctx, tx, id, phone)
	}
	options := messagingriver.InsertOptions{Expire: 10 * time.Minute, Campaign: confirmations} // then the shop sends an SMS
	enqueued, err := s.outbox.InsertMany(ctx, tx, []messaging.Message{message}, options)
	if err != nil {
		return err
	}
	if enqueued == 0 { // the outbox knows the reference ID from an order that the table no longer has, and would send nothing
		return errOtherOrder
	}
	return tx.Commit()
}

// confirmations is the campaign of all confirmations, chat messages and SMS. If their text is wrong, stop the program, and then run "outbox campaign
// pause confirmation-1" and "outbox campaign cancel confirmation-1". A chat message that was sent before, and fails later, gets its SMS even after the
// cancel. If you resume the campaign more than ten minutes after the orders, each chat message has expired, and goes out as an SMS. Count up the number
// with each new text, so that a pause of the old text does not hold back the new one.
const confirmations = "confirmation-1"

func checkID(id string) error {
	if !orderID.MatchString(id) {
		return errInvalidID
	}
	if strings.HasSuffix(id, suffixSMS) {
		return errReservedID
	}
	return nil
}

// confirmation returns the chat-app message of an order. It has no Fallback: the service's SMS and that of the shop could both arrive.
func (s *shop) confirmation(id, phone string) chatapp2.Message {
	return chatapp2.Message{
		To:          phone,
		ReferenceID: id,
		CallbackURL: s.callback,
		Content:     chatapp2.Template{Name: "order_placed", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body(id)}},
	}
}

// writeOrder reports false if there is an order with the ID.
func writeOrder(ctx context.Context, tx *sql.Tx, id, phone string) (bool, error) {
	const insert = "INSERT INTO shop_order (id, phone, reference, enqueued) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING"
	result, err := tx.ExecContext(ctx, insert, id, phone, id, time.Now().Unix())
	if err != nil {
		return false, err
	}
	added, err := result.RowsAffected()
	return added == 1, err
}

// checkPhone returns errOtherOrder unless the order has the phone number.
func checkPhone(ctx context.Context, tx *sql.Tx, id, phone string) error {
	var stored string
	err := tx.QueryRowContext(ctx, "SELECT phone FROM shop_order WHERE id = $1", id).Scan(&stored)
	if err == nil && stored != phone {
		return errOtherOrder
	}
	return err
}
