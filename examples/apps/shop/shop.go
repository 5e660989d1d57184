package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"log/slog"
	"net/http"
	"regexp"
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
	pool     *pgxpool.Pool // of db, or nil on SQLite
	client   *messaging.Client
	book     *conversations.Book // opt-outs
	store    *sqlstore.Store     // events that were handled
	outbox   *messagingriver.Outbox[*sql.Tx]
	sender   string // of SMS
	callback string // where the service reports delivery
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
	s.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }) // without a body
	s.HandleFunc("GET /healthz", s.health)
	s.HandleFunc("POST /orders", s.order)
	s.HandleFunc("GET /orders/{id}", s.showOrder)
	return s, nil
}

// health serves the readiness probe.
func (s *shop) health(w http.ResponseWriter, _ *http.Request) {
	if !s.outbox.Alive() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// serveHooks serves the callbacks, with a store in the shop's database.
func (s *shop) serveHooks(in settings) error {
	hooks, err := in.newReceiver(webhook.WithStore(s.store), webhook.WithHook(webhook.LogHook(slog.Default())), webhook.WithHook(errorHook()))
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

// errorHook logs the errors of the store and of the handlers, which LogHook does not log because they may hold anything. An event that another
// call is handling, or that the handler wants again, is no error.
func errorHook() webhook.Hook {
	return webhook.Hook{End: func(_ context.Context, r webhook.Result) {
		isExpected := errors.Is(r.Err, webhook.ErrInProgress) || errors.Is(r.Err, webhook.ErrRetryLater)
		if r.StatusCode >= http.StatusInternalServerError && !isExpected {
			log.Printf("shop: the event %q was not handled: %v", r.ID, r.Err)
		}
	}}
}

// openDatabase opens the database, with the outbox, the opt-outs and the receiver's store in it. All use the transactions of database/sql.
func openDatabase(ctx context.Context, in settings) (*shop, error) {
	s := &shop{sender: in.sender}
	if err := s.connect(ctx, in.databaseURL); err != nil {
		return nil, err
	}
	if err := s.build(ctx, in); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *shop) connect(ctx context.Context, databaseURL string) (err error) {
	if isPostgres(databaseURL) {
		s.pool, err = pgxpool.New(ctx, databaseURL)
		if err != nil {
			return err
		}
		s.db = stdlib.OpenDBFromPool(s.pool)
		return nil
	}
	s.db, err = sql.Open("sqlite", "file:"+databaseURL+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1) // the shop, the receiver and the outbox share the connection
	return nil
}

// build makes the parts of the shop on its database. The client asks the book of opt-outs before each message.
func (s *shop) build(ctx context.Context, in settings) (err error) {
	s.store, err = sqlstore.New(ctx, s.db, 0)
	if err != nil {
		return err
	}
	s.book, err = conversations.New(ctx, s.db, conversations.Options{AllChannels: true})
	if err != nil {
		return err
	}
	s.client, err = in.client.With(messaging.WithGuard(s.book.Guard))
	if err != nil {
		return err
	}
	in.outbox.OnOutcome = s.noteOutcome
	if s.pool != nil {
		s.outbox, err = messagingriver.NewPostgresSQL(s.pool, s.client, in.outbox)
	} else {
		s.outbox, err = messagingriver.NewSQLite(s.db, s.client, in.outbox)
	}
	return err
}

// close closes the database. Everything is committed.
func (s *shop) close() {
	_ = s.db.Close()
	if s.pool != nil {
		s.pool.Close()
	}
}

func isPostgres(databaseURL string) bool {
	return strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://")
}

// createTables creates the tables that do not exist, and updates those of the outbox. Only one process may call it at a time. Of an order,
//
//   - reference is the reference ID of its message, or of the SMS in place of that message,
//   - message_id is the ID that the service gave this message, once it is known,
//   - verdict is the verdict on this message, and empty while it waits; the decisions of people are in the outbox alone,
//   - delivery is the last status that was reported of this message: it may be "delivered" before the goods are,
//   - enqueued is when this message was enqueued, in seconds since 1970.
//
// A customer whose order has a verdict other than "accepted", or the delivery "failed", may not have heard from the shop.
func (s *shop) createTables(ctx context.Context) error {
	for _, statement := range []string{
		`CREATE TABLE IF NOT EXISTS shop_order (id TEXT PRIMARY KEY, phone TEXT NOT NULL, reference TEXT NOT NULL UNIQUE,
			message_id TEXT NOT NULL DEFAULT '', verdict TEXT NOT NULL DEFAULT '', delivery TEXT NOT NULL DEFAULT '', reports INT NOT NULL DEFAULT 0,
			enqueued BIGINT NOT NULL)`,
		"CREATE INDEX IF NOT EXISTS shop_order_message ON shop_order (message_id)",
		"CREATE INDEX IF NOT EXISTS shop_order_open ON shop_order (enqueued) WHERE message_id = '' AND verdict IN ('', 'unknown')",
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
	case errors.Is(err, errInvalidID), errors.Is(err, errReservedID):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, errOtherOrder):
		http.Error(w, err.Error(), http.StatusConflict)
	default:
		log.Print("shop: an order could not be taken: ", err)
		http.Error(w, "the order could not be taken, try again", http.StatusServiceUnavailable)
	}
}

// shownOrder is what customer service sees of the message of an order. Channel is "sms" if an SMS was enqueued in place of a chat-app message.
type shownOrder struct {
	ID      string `json:"id"`
	Channel string `json:"channel"`
	Message string `json:"message"`          // a reported status such as "delivered", or else "waiting" or the verdict
	Reason  string `json:"reason,omitempty"` // why it was not accepted
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

// orderOf returns what is known about the message of an order, or sql.ErrNoRows. It asks the outbox, which also has what people decided.
func (s *shop) orderOf(ctx context.Context, id string) (shownOrder, error) {
	var reference, verdict, delivery string
	const query = "SELECT reference, verdict, delivery FROM shop_order WHERE id = $1"
	if err := s.db.QueryRowContext(ctx, query, id).Scan(&reference, &verdict, &delivery); err != nil {
		return shownOrder{}, err
	}
	order := shownOrder{ID: id, Channel: "chatapp2", Message: delivery}
	if reference != id {
		order.Channel = "sms"
	}
	if delivery != "" { // a report counts more than a verdict
		return order, nil
	}
	records, err := s.outbox.Get(ctx, reference)
	if errors.Is(err, messaging.ErrNotFound) { // it was deleted, after Options.Keep
		order.Message = verdict
		return order, nil
	}
	if err != nil {
		return shownOrder{}, err
	}
	record := records[0] // the other channel uses another reference ID
	order.Message = record.Verdict.String()
	order.Reason = record.Reason
	wasNotSent := record.Verdict == messaging.NotSent || record.Verdict == messaging.Refused
	if wasNotSent && record.Finalized.IsZero() {
		order.Message = "waiting"
	}
	return order, nil
}

// orderID is the ID of any order. It is short enough for the reference ID of an SMS, and has no zero byte, at which a query would fail.
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
	if !orderID.MatchString(id) {
		return errInvalidID
	}
	if strings.HasSuffix(id, suffixSMS) {
		return errReservedID
	}
	message := chatapp2.Message{
		To: phone, ReferenceID: id, CallbackURL: s.callback,
		Content: chatapp2.Template{Name: "order_placed", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body(id)}},
		// It has no Fallback: the service's SMS and that of the shop could both arrive.
	}
	if err := s.client.ChatApp2.Validate(message); err != nil { // such as a phone number that no database stores
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	const insert = "INSERT INTO shop_order (id, phone, reference, enqueued) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING"
	result, err := tx.ExecContext(ctx, insert, id, phone, id, time.Now().Unix())
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
	options := messagingriver.InsertOptions{Expire: 10 * time.Minute} // then the shop sends an SMS
	enqueued, err := s.outbox.InsertMany(ctx, tx, []messaging.Message{message}, options)
	if err != nil {
		return err
	}
	if enqueued == 0 { // the outbox knows the reference ID from an order that the table no longer has, and would send nothing
		return errOtherOrder
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
// that provably did not go out, also after 131050: the customer has stopped marketing, and a confirmation is none. The outcome of a message that was
// replaced changes nothing: no order has its reference ID.
func (s *shop) noteOutcome(ctx context.Context, outcome messagingriver.Outcome) error {
	message, isChat := outcome.Message.(chatapp2.Message)
	isDenied := errors.Is(outcome.Err, messaging.ErrDenied) // by the guard, which would deny the SMS, too
	if isChat && !outcome.MayHaveBeenSent() && !isDenied {
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
	options := messagingriver.InsertOptions{Expire: 24 * time.Hour} // a later one would confuse the customer
	if _, err := s.outbox.InsertMany(ctx, tx, []messaging.Message{text}, options); err != nil {
		return err
	}
	const update = "UPDATE shop_order SET reference = $1, message_id = '', verdict = '', delivery = '', enqueued = $2 WHERE reference = $3"
	_, err := tx.ExecContext(ctx, update, text.ReferenceID, time.Now().Unix(), id)
	return err
}

// report changes an order, in the transaction that notes the report as handled. If its chat-app message failed, report replaces it by an SMS.
// Reports can arrive out of order, and two at once.
func (s *shop) report(ctx context.Context, report webhook.DeliveryReport) error {
	if report.Ambiguous { // it may be about another message
		return nil
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	reference, err := referenceOf(ctx, tx, report)
	if err != nil || reference == "" { // of another message
		return err
	}
	if err = s.accept(ctx, tx, reference, report.ID); err != nil {
		return err
	}
	if !report.Status.Final() {
		return nil
	}
	return s.changeDelivery(ctx, tx, reference, report)
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

// changeDelivery stores the final status of a message in its order, and replaces a chat-app message that failed by an SMS. Some services report that a
// message failed, and deliver it later. Then the customer gets both.
func (s *shop) changeDelivery(ctx context.Context, tx *sql.Tx, reference string, report webhook.DeliveryReport) error {
	var id, phone string
	var before webhook.Status
	err := tx.QueryRowContext(ctx, "SELECT id, phone, delivery FROM shop_order WHERE reference = $1", reference).Scan(&id, &phone, &before)
	if errors.Is(err, sql.ErrNoRows) { // of another message
		return nil
	}
	if err != nil || !report.Status.Supersedes(before) {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE shop_order SET delivery = $1, reports = reports + 1 WHERE reference = $2", report.Status, reference)
	if err != nil {
		return err
	}
	isOfChat := reference == id // not of its SMS
	if !isOfChat || !report.Status.Failed() {
		return nil
	}
	err = s.enqueueSMS(ctx, tx, id, phone)
	if errors.Is(err, messaging.ErrInvalid) { // such as a user ID, which gets no SMS
		return nil
	}
	return err
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
// report of the last hour, or without a time, may be early as long as the message ID of any order is still to come. That of a message that a person
// resolved never comes, so orders with older messages do not count: a message expires within a day, and is looked up for at most another.
func mayBeEarly(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (bool, error) {
	age := time.Since(report.StatusAt)
	hasTime := !report.StatusAt.IsZero()
	if hasTime && age < time.Minute {
		return true, nil
	}
	if hasTime && age > time.Hour {
		return false, nil
	}
	const query = "SELECT EXISTS (SELECT 1 FROM shop_order WHERE message_id = '' AND verdict IN ('', 'unknown') AND enqueued > $1)" // as in the index
	isEarly := false
	err := tx.QueryRowContext(ctx, query, time.Now().Add(-2*24*time.Hour).Unix()).Scan(&isEarly)
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

// reply notes a STOP or START, and replies to a customer who texts the ID of their order. The reply is enqueued in the transaction that records the
// event as handled: a customer gets one reply to each text. Its reference ID does not depend on m.ID, which may be empty.
func (s *shop) reply(ctx context.Context, m webhook.SMSMessage) error {
	if err := s.note(ctx, conversations.FromSMS(m)); err != nil {
		return err
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	id := strings.TrimSpace(m.Text)
	if !orderID.MatchString(id) { // a query with a zero byte would fail, and the STOP be lost
		return nil
	}
	var phone string
	err = tx.QueryRowContext(ctx, "SELECT phone FROM shop_order WHERE id = $1", id).Scan(&phone)
	if errors.Is(err, sql.ErrNoRows) { // not about an order
		return nil
	}
	if err != nil {
		return err
	}
	isTheirs := strings.TrimPrefix(m.From, "+") == strings.TrimPrefix(phone, "+")
	if !isTheirs {
		return nil
	}
	reply := sms.Message{From: s.sender, To: phone, Text: "We have your " + id, ReferenceID: "reply-" + rand.Text(), CallbackURL: s.callback}
	options := messagingriver.InsertOptions{Expire: time.Hour}
	_, err = s.outbox.InsertMany(ctx, tx, []messaging.Message{reply}, options)
	if errors.Is(err, messaging.ErrInvalid) { // another call would fail, too, and the STOP be lost
		log.Print("shop: a text gets no reply: ", err) // the error has no number
		return nil
	}
	return err
}
