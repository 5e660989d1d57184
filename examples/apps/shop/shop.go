package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

type shop struct {
	http.ServeMux

	db       *sql.DB
	book     *conversations.Book // opt-outs
	store    *sqlstore.Store     // events that were handled
	outbox   *messagingriver.Outbox[*sql.Tx]
	sender   string // of SMS
	callback string // where the service reports delivery
	close    func() // the database
}

func open(ctx context.Context, in settings) (*shop, error) {
	s, err := openDatabase(ctx, in)
	if err != nil {
		return nil, err
	}
	if err = s.serveHooks(in); err != nil {
		s.close()
		return nil, err
	}
	s.HandleFunc("POST /orders", s.order)
	s.HandleFunc("GET /orders/{id}", s.showOrder)
	return s, nil
}

// serveHooks serves the callbacks, with a store in the shop's database.
func (s *shop) serveHooks(in settings) error {
	hooks, err := in.newReceiver(webhook.WithStore(s.store))
	if err != nil {
		return err
	}
	s.Handle("/hooks/delivery", hooks.Delivery(s.report))
	s.Handle("/hooks/sms", hooks.SMS(s.reply))
	s.Handle("/hooks/chatapp2", hooks.ChatApp2(func(ctx context.Context, m webhook.ChatMessage) error {
		return s.note(ctx, conversations.FromChat(m))
	}))
	s.callback, err = hooks.DeliveryURL(in.url + "/hooks/delivery")
	return err
}

// openDatabase opens the database, with the outbox and the receiver's store in it. All use the transactions of database/sql.
func openDatabase(ctx context.Context, in settings) (*shop, error) {
	s := &shop{sender: in.sender}
	in.outbox.OnOutcome = s.noteOutcome
	connect := s.openSQLite
	if isPostgres(in.databaseURL) {
		connect = s.openPostgres
	}
	if err := connect(ctx, in); err != nil {
		return nil, err
	}
	var err error
	if s.store, err = sqlstore.New(ctx, s.db, 0); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *shop) openSQLite(ctx context.Context, in settings) error {
	db, err := sql.Open("sqlite", "file:"+in.databaseURL+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // the shop, the receiver and the outbox share the connection
	s.db = db
	s.close = func() { _ = db.Close() }
	client, err := s.guard(ctx, in.client)
	if err == nil {
		s.outbox, err = messagingriver.NewSQLite(db, client, in.outbox)
	}
	if err != nil {
		s.close()
	}
	return err
}

func (s *shop) openPostgres(ctx context.Context, in settings) error {
	pool, err := pgxpool.New(ctx, in.databaseURL)
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	s.db = db
	s.close = func() {
		_ = db.Close()
		pool.Close()
	}
	client, err := s.guard(ctx, in.client)
	if err == nil {
		s.outbox, err = messagingriver.NewPostgresSQL(pool, client, in.outbox)
	}
	if err != nil {
		s.close()
	}
	return err
}

// guard opens the book of opt-outs, and returns a client that asks it before each message.
func (s *shop) guard(ctx context.Context, client *messaging.Client) (*messaging.Client, error) {
	book, err := conversations.New(ctx, s.db, conversations.Options{AllChannels: true})
	if err != nil {
		return nil, err
	}
	s.book = book
	return client.With(messaging.WithGuard(book.Guard))
}

func isPostgres(databaseURL string) bool {
	return strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://")
}

// createTables creates the tables that do not exist, and updates those of the outbox. Only one process may call it at a time. Of an order,
//
//   - state is "placed", or the last status that was reported of its message,
//   - reference is the reference ID of its message, or of the SMS in place of that message,
//   - message_id is the ID that the service gave this message, once it is known,
//   - verdict is the verdict on this message, "dropped" if a person dropped it, and empty while it waits,
//   - is_closed is set once the outbox has deleted this message, so that no one can resend it.
//
// A customer whose order has a verdict other than "accepted", or the state "failed", may not have heard from the shop.
func (s *shop) createTables(ctx context.Context) error {
	for _, statement := range []string{
		`CREATE TABLE IF NOT EXISTS shop_order (id TEXT PRIMARY KEY, phone TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'placed',
			reports INT NOT NULL DEFAULT 0, reference TEXT NOT NULL UNIQUE, message_id TEXT NOT NULL DEFAULT '', verdict TEXT NOT NULL DEFAULT '',
			is_closed BOOLEAN NOT NULL DEFAULT FALSE)`,
		"CREATE INDEX IF NOT EXISTS shop_order_message ON shop_order (message_id)",
		"CREATE INDEX IF NOT EXISTS shop_order_open ON shop_order (reference) WHERE verdict <> 'accepted' AND NOT is_closed",
	} {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return s.outbox.Migrate(ctx)
}

// prune deletes the events and windows that are no longer needed.
func (s *shop) prune(ctx context.Context) error {
	_, eventsErr := s.store.Prune(ctx, 7*24*time.Hour)
	_, windowsErr := s.book.Prune(ctx)
	return errors.Join(eventsErr, windowsErr)
}

// order serves the form of an order. A real shop knows who calls it: otherwise anyone can have it send to any number, at the shop's cost.
func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	err := s.takeOrder(r.Context(), r.PostFormValue("id"), r.PostFormValue("phone"))
	switch {
	case err == nil:
	case errors.Is(err, messaging.ErrInvalid):
		http.Error(w, "check the phone number", http.StatusBadRequest)
	case errors.Is(err, errReservedID):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, errOtherOrder):
		http.Error(w, err.Error(), http.StatusConflict)
	default:
		log.Print("shop: an order could not be taken: ", err)
		http.Error(w, "the order could not be taken, try again", http.StatusServiceUnavailable)
	}
}

// shownOrder is what the shop knows about the message of an order. Channel is "sms" if an SMS was enqueued in place of a chat-app message.
type shownOrder struct {
	ID      string `json:"id"`
	Channel string `json:"channel"`
	Message string `json:"message"` // a reported status such as "delivered", or else the verdict, or "waiting"
}

// showOrder serves the state of an order, also to those who did not place it: a real shop knows who asks.
func (s *shop) showOrder(w http.ResponseWriter, r *http.Request) {
	order, err := s.orderOf(r.Context(), r.PathValue("id"))
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

// orderOf returns the state of an order, or sql.ErrNoRows.
func (s *shop) orderOf(ctx context.Context, id string) (shownOrder, error) {
	var reference, state, verdict string
	const query = "SELECT reference, state, verdict FROM shop_order WHERE id = $1"
	if err := s.db.QueryRowContext(ctx, query, id).Scan(&reference, &state, &verdict); err != nil {
		return shownOrder{}, err
	}
	order := shownOrder{ID: id, Channel: "chatapp2", Message: "waiting"}
	if reference != id {
		order.Channel = "sms"
	}
	switch {
	case state != "placed": // a report counts more than a verdict
		order.Message = state
	case verdict != "":
		order.Message = verdict
	}
	return order, nil
}

var (
	errOtherOrder = errors.New("another order has this ID")
	errReservedID = errors.New("the ID of an order must not end in " + suffixSMS)
)

// suffixSMS follows the ID of an order in the reference ID of its SMS. No order has an ID that ends in it.
const suffixSMS = "-sms"

// takeOrder writes an order and its message. Resubmitting an order whose response was lost changes nothing. If another order has the ID,
// takeOrder returns errOtherOrder.
func (s *shop) takeOrder(ctx context.Context, id, phone string) error {
	if strings.HasSuffix(id, suffixSMS) {
		return errReservedID
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	const insert = "INSERT INTO shop_order (id, phone, reference) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING"
	result, err := tx.ExecContext(ctx, insert, id, phone, id)
	if err != nil {
		return err
	}
	added, err := result.RowsAffected()
	if err != nil {
		return err
	}
	if added == 0 { // it was taken before, with its message
		return checkPhone(ctx, tx, id, phone)
	}
	message := chatapp2.Message{
		To: phone, ReferenceID: id, CallbackURL: s.callback,
		Content: chatapp2.Template{Name: "order_placed", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body(id)}},
		// It has no Fallback: the service's SMS and that of the shop could both arrive.
	}
	options := messagingriver.InsertOptions{Expire: 10 * time.Minute} // then the shop sends an SMS
	if _, err = s.outbox.InsertMany(ctx, tx, []messaging.Message{message}, options); err != nil {
		return err
	}
	return tx.Commit()
}

// checkPhone returns errOtherOrder unless the order has the phone number.
func checkPhone(ctx context.Context, tx *sql.Tx, id, phone string) error {
	var before string
	err := tx.QueryRowContext(ctx, "SELECT phone FROM shop_order WHERE id = $1", id).Scan(&before)
	if err == nil && before != phone {
		return errOtherOrder
	}
	return err
}

// noteOutcome stores the verdict on the message of an order, and the message ID, by which report finds the order. It replaces a chat-app message
// that provably did not go out. The outcome of a message that was replaced changes nothing: no order has its reference ID.
func (s *shop) noteOutcome(ctx context.Context, outcome messagingriver.Outcome) error {
	message, isChat := outcome.Message.(chatapp2.Message)
	wasNotProcessed := outcome.Verdict == messaging.NotSent || outcome.Verdict == messaging.Refused
	hasOptedOut := errors.Is(outcome.Err, messaging.ErrOptedOut)
	if isChat && wasNotProcessed && !hasOptedOut {
		err := s.replaceUnsent(ctx, outcome.Key, message.To)
		if !errors.Is(err, messaging.ErrInvalid) { // such as a user ID, which gets no SMS
			return err
		}
	}
	// A report may have proved meanwhile that the message was accepted.
	const note = `UPDATE shop_order SET verdict = $1, message_id = COALESCE(NULLIF($2, ''), message_id)
		WHERE reference = $3 AND (verdict <> 'accepted' OR $1 = 'accepted')`
	_, err := s.db.ExecContext(ctx, note, outcome.Verdict.String(), outcome.Receipt.ID, outcome.Reference)
	return err
}

// refresh stores what people decided about messages that wait or have an unknown outcome, such as by "outbox resolve". The outbox does not call
// noteOutcome for their decisions.
func (s *shop) refresh(ctx context.Context) error {
	return s.refreshOrders(ctx, "verdict IN ('', 'unknown')")
}

// refreshEnded is like refresh, for messages that were refused, not sent or dropped, which a person may still resend or resolve as sent. There may be
// many of them, such as to customers who opted out, and few change: serve calls refresh more often.
func (s *shop) refreshEnded(ctx context.Context) error {
	return s.refreshOrders(ctx, "verdict NOT IN ('', 'unknown')")
}

// refreshOrders stores the verdicts on the messages of open orders for which a condition holds.
func (s *shop) refreshOrders(ctx context.Context, condition string) error {
	references, err := s.openReferences(ctx, condition)
	if err != nil {
		return err
	}
	for _, reference := range references {
		if err = s.refreshOrder(ctx, reference); err != nil {
			return err
		}
	}
	return nil
}

// openReferences returns the reference IDs of open orders for which a condition holds. An order is open if its message was not accepted, as long as
// the outbox has the message.
func (s *shop) openReferences(ctx context.Context, condition string) ([]string, error) {
	const query = "SELECT reference FROM shop_order WHERE verdict <> 'accepted' AND NOT is_closed AND "
	rows, err := s.db.QueryContext(ctx, query+condition)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has the error
	var references []string
	for rows.Next() {
		var reference string
		if err = rows.Scan(&reference); err != nil {
			return nil, err
		}
		references = append(references, reference)
	}
	return references, rows.Err()
}

// refreshOrder stores the verdict on the message of an order, and the message ID. The verdict is empty while the message waits, and "unknown" while
// it may be out, such as after a kill.
func (s *shop) refreshOrder(ctx context.Context, reference string) error {
	records, err := s.outbox.Get(ctx, reference)
	if errors.Is(err, messaging.ErrNotFound) { // it was deleted, after Options.Keep
		_, err = s.db.ExecContext(ctx, "UPDATE shop_order SET is_closed = TRUE WHERE reference = $1", reference)
		return err
	}
	if err != nil {
		return err
	}
	record := records[0] // the other channel uses another reference ID
	verdict := record.Verdict.String()
	if record.State == "cancelled" && record.Verdict == messaging.Unknown {
		verdict = "dropped"
	}
	mayBeOut := record.Verdict == messaging.Unknown && !record.Attempted.IsZero()
	if record.Finalized.IsZero() && !mayBeOut { // it waits
		verdict = ""
	}
	messageID := ""
	if record.Receipt != nil {
		messageID = record.Receipt.ID
	}
	const update = `UPDATE shop_order SET verdict = $1, message_id = COALESCE(NULLIF($2, ''), message_id)
		WHERE reference = $3 AND verdict <> 'accepted'`
	_, err = s.db.ExecContext(ctx, update, verdict, messageID, reference)
	return err
}

// replaceUnsent enqueues an SMS in place of a chat-app message that did not go out. In the same transaction it drops the chat-app message, so
// that a person can no longer resend it. If replaceUnsent is called again, the message is gone, and no second SMS is sent.
func (s *shop) replaceUnsent(ctx context.Context, key messagingriver.Key, phone string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	dropped, err := s.outbox.ResolveTx(ctx, tx, messagingriver.Drop, key)
	if err != nil || dropped == 0 { // a person has resent it
		return err
	}
	if err = s.enqueueSMS(ctx, tx, key.Reference, phone); err != nil {
		return err
	}
	return tx.Commit()
}

// enqueueSMS enqueues an SMS in place of the chat-app message of an order. From then on the order is about the SMS.
func (s *shop) enqueueSMS(ctx context.Context, tx *sql.Tx, id, phone string) error {
	text := sms.Message{From: s.sender, To: phone, Text: "Thank you for " + id, ReferenceID: id + suffixSMS, CallbackURL: s.callback}
	if _, err := s.outbox.Insert(ctx, tx, text); err != nil {
		return err
	}
	const update = "UPDATE shop_order SET reference = $1, state = 'placed', message_id = '', verdict = '' WHERE reference = $2"
	_, err := tx.ExecContext(ctx, update, text.ReferenceID, id)
	return err
}

// report changes an order, in the transaction that notes the report as handled. If its chat-app message failed, report replaces it by an SMS.
// Reports can arrive out of order, and two at once.
func (s *shop) report(ctx context.Context, report webhook.DeliveryReport) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	reference, err := referenceOf(ctx, tx, report)
	if err != nil {
		return err
	}
	if err = s.accept(ctx, tx, reference, report.ID); err != nil {
		return err
	}
	if !report.Status.Final() {
		return nil
	}
	return s.changeState(ctx, tx, reference, report)
}

// accept stores that the service has accepted a message, even if its response was lost. It locks the order until the transaction ends.
func (s *shop) accept(ctx context.Context, tx *sql.Tx, reference, messageID string) error {
	_, err := s.outbox.ResolveTx(ctx, tx, messagingriver.Sent, // keys without a message are ignored
		messagingriver.Key{Channel: "chatapp2", Reference: reference},
		messagingriver.Key{Channel: "sms", Reference: reference})
	if err != nil {
		return err
	}
	// If the response was lost, no receipt has the message ID.
	const update = "UPDATE shop_order SET verdict = 'accepted', message_id = COALESCE(NULLIF(message_id, ''), $1) WHERE reference = $2"
	_, err = tx.ExecContext(ctx, update, messageID, reference)
	return err
}

// changeState stores the final status of a message in its order, and replaces a chat-app message that failed by an SMS. Some services report that a
// message failed, and deliver it later. Then the customer gets both.
func (s *shop) changeState(ctx context.Context, tx *sql.Tx, reference string, report webhook.DeliveryReport) error {
	var id, phone string
	var before webhook.Status
	err := tx.QueryRowContext(ctx, "SELECT id, phone, state FROM shop_order WHERE reference = $1", reference).Scan(&id, &phone, &before)
	if errors.Is(err, sql.ErrNoRows) { // of another message
		return nil
	}
	if err != nil || !report.Status.Supersedes(before) {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE shop_order SET state = $1, reports = reports + 1 WHERE reference = $2", report.Status, reference)
	if err != nil {
		return err
	}
	isOfChat := reference == id // not of its SMS
	if !isOfChat || !needsSMS(report) {
		return nil
	}
	err = s.enqueueSMS(ctx, tx, id, phone)
	if errors.Is(err, messaging.ErrInvalid) { // such as a user ID, which gets no SMS
		return nil
	}
	return err
}

// needsSMS reports whether a report says that a chat-app message did not arrive, for a reason other than an opt-out.
func needsSMS(report webhook.DeliveryReport) bool {
	const optedOut = "131050" // the platform's code
	return report.Status.Failed() && report.ErrorCode != optedOut && !report.Ambiguous
}

// referenceOf returns the reference ID of the message of a report, which it looks up by the message ID if the report has no reference ID.
func referenceOf(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (string, error) {
	if report.ReferenceID != "" {
		return report.ReferenceID, nil
	}
	if report.ID == "" { // it is '' in an order whose message ID is not known
		return "", nil
	}
	isEarly, err := mayBeEarly(ctx, tx, report) // asked first: noteOutcome may store the ID at any moment
	if err != nil {
		return "", err
	}
	var reference string
	err = tx.QueryRowContext(ctx, "SELECT reference FROM shop_order WHERE message_id = $1", report.ID).Scan(&reference)
	if errors.Is(err, sql.ErrNoRows) && isEarly {
		return "", webhook.RetryLater(10 * time.Second)
	}
	if errors.Is(err, sql.ErrNoRows) { // of another message
		return "", nil
	}
	return reference, err
}

// mayBeEarly reports whether noteOutcome may not have stored the message ID of a report yet. That takes a second, or some minutes after a kill. So a
// report of the last hour, or without a time, may be early as long as the message ID of any order is still to come.
func mayBeEarly(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (bool, error) {
	age := time.Since(report.StatusAt)
	hasTime := !report.StatusAt.IsZero()
	if hasTime && age < time.Minute {
		return true, nil
	}
	if hasTime && age > time.Hour {
		return false, nil
	}
	const query = `SELECT EXISTS (SELECT 1 FROM shop_order
		WHERE verdict <> 'accepted' AND NOT is_closed -- as in the index
		AND verdict IN ('', 'unknown') AND message_id = '')`
	isEarly := false
	err := tx.QueryRowContext(ctx, query).Scan(&isEarly)
	return isEarly, err
}

// note notes a STOP or START, which counts on both channels.
func (s *shop) note(ctx context.Context, m conversations.Inbound) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	_, err = s.book.Note(ctx, tx, m)
	if errors.Is(err, conversations.ErrNoPerson) { // another call would fail, too
		return nil
	}
	return err
}

// reply notes a STOP or START, and enqueues a reply, in the transaction that records the event as handled: a customer gets one reply to each
// text. The reference ID does not depend on m.ID, which may be empty.
func (s *shop) reply(ctx context.Context, m webhook.SMSMessage) error {
	if err := s.note(ctx, conversations.FromSMS(m)); err != nil {
		return err
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	id := strings.TrimSpace(m.Text)
	var state string
	err = tx.QueryRowContext(ctx, "SELECT state FROM shop_order WHERE id = $1", id).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) { // not about an order
		return nil
	}
	if err != nil {
		return err
	}
	reply := sms.Message{From: s.sender, To: m.From, Text: id + " is " + state, ReferenceID: "reply-" + rand.Text()}
	_, err = s.outbox.Insert(ctx, tx, reply)
	if errors.Is(err, messaging.ErrInvalid) { // such as a number with spaces: another call would fail, too
		log.Print("shop: a text gets no reply: ", err) // the error has no number
		return nil
	}
	return err
}
