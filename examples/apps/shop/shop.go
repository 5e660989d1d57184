package main

import (
	"context"
	"crypto/rand"
	"database/sql"
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
	if err = s.serveHooks(ctx, in); err != nil {
		s.close()
		return nil, err
	}
	s.HandleFunc("POST /orders", s.order)
	return s, nil
}

// serveHooks serves the callbacks, with a store in the shop's database.
func (s *shop) serveHooks(ctx context.Context, in settings) error {
	store, err := sqlstore.New(ctx, s.db, 0)
	if err != nil {
		return err
	}
	hooks, err := in.newReceiver(webhook.WithStore(store))
	if err != nil {
		return err
	}
	s.Handle("/hooks/delivery", hooks.Delivery(s.report))
	s.Handle("/hooks/sms", hooks.SMS(s.reply))
	s.callback, err = hooks.DeliveryURL(in.url + "/hooks/delivery")
	return err
}

// openDatabase opens the database and the outbox in it. Both use the transactions of database/sql, like the receiver's store.
func openDatabase(ctx context.Context, in settings) (*shop, error) {
	s := &shop{sender: in.sender}
	in.outbox.OnOutcome = s.noteOutcome
	open := s.openSQLite
	if isPostgres(in.databaseURL) {
		open = s.openPostgres
	}
	if err := open(ctx, in); err != nil {
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
	book, err := conversations.New(ctx, s.db, conversations.Options{})
	if err != nil {
		return nil, err
	}
	s.book = book
	return client.With(messaging.WithGuard(book.Guard))
}

func isPostgres(databaseURL string) bool {
	return strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://")
}

// createTables creates or updates the tables. Only one process may call it at a time.
func (s *shop) createTables(ctx context.Context) error {
	for _, statement := range []string{
		"CREATE TABLE IF NOT EXISTS shop_order (id TEXT PRIMARY KEY, phone TEXT, state TEXT, reports INT)",
		"CREATE TABLE IF NOT EXISTS shop_message (id TEXT PRIMARY KEY, reference TEXT, noted BIGINT)", // of the receipts
		"CREATE INDEX IF NOT EXISTS shop_message_noted ON shop_message (noted)",
	} {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return s.outbox.Migrate(ctx)
}

// order serves the form of an order. A real shop knows who calls it: otherwise anyone can have it send to any number, at the shop's cost.
func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	if err := s.takeOrder(r.Context(), r.PostFormValue("id"), r.PostFormValue("phone")); errors.Is(err, messaging.ErrInvalid) {
		http.Error(w, "check the phone number", http.StatusBadRequest)
	} else if err != nil {
		log.Print("shop: an order could not be taken: ", err)
		http.Error(w, "the order could not be taken, try again", http.StatusServiceUnavailable)
	}
}

// takeOrder writes an order and its message. Resubmitting an order whose response was lost changes nothing.
func (s *shop) takeOrder(ctx context.Context, id, phone string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	result, err := tx.ExecContext(ctx, "INSERT INTO shop_order VALUES ($1, $2, 'placed', 0) ON CONFLICT DO NOTHING", id, phone)
	if err != nil {
		return err
	}
	added, err := result.RowsAffected()
	if err != nil || added == 0 { // it was taken before, with its message
		return err
	}
	message := chatapp2.Message{
		To: phone, ReferenceID: id, CallbackURL: s.callback,
		Content: chatapp2.Template{Name: "order_placed", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body(id)}},
		// It has no Fallback: the service's SMS and that of sendSMS could both arrive.
	}
	options := messagingriver.InsertOptions{Expire: 10 * time.Minute} // then sendSMS sends an SMS
	if _, err = s.outbox.InsertMany(ctx, tx, []messaging.Message{message}, options); err != nil {
		return err
	}
	return tx.Commit()
}

const smsPrefix = "sms-" // of the reference ID of an SMS in place of a chat-app message

// noteOutcome stores the ID of an accepted message, by which report finds its order, and replaces a message that did not go out.
func (s *shop) noteOutcome(ctx context.Context, outcome messagingriver.Outcome) error {
	if outcome.Verdict != messaging.Accepted {
		return s.sendSMS(ctx, outcome)
	}
	if outcome.Receipt.ID == "" {
		return nil
	}
	now := time.Now()
	const note = "INSERT INTO shop_message VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
	if _, err := s.db.ExecContext(ctx, note, outcome.Receipt.ID, outcome.Reference, now.Unix()); err != nil {
		return err
	}
	// Reports come within days. Without this the table would grow with each message.
	_, err := s.db.ExecContext(ctx, "DELETE FROM shop_message WHERE noted < $1", now.AddDate(0, 0, -30).Unix())
	return err
}

// sendSMS enqueues an SMS in place of a chat-app message that provably did not go out. In the same transaction it drops the chat-app message,
// so that a person can no longer resend it. If sendSMS is called again, the message is gone, and no second SMS is sent.
func (s *shop) sendSMS(ctx context.Context, outcome messagingriver.Outcome) error {
	message, isChat := outcome.Message.(chatapp2.Message)
	wasNotProcessed := outcome.Verdict == messaging.NotSent || outcome.Verdict == messaging.Refused
	hasOptedOut := errors.Is(outcome.Err, messaging.ErrOptedOut)
	if !isChat || !wasNotProcessed || hasOptedOut {
		return nil
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	dropped, err := s.outbox.ResolveTx(ctx, tx, messagingriver.Drop, outcome.Key)
	if err != nil || dropped == 0 { // a person has resent it, and its next outcome counts
		return err
	}
	text := sms.Message{
		From: s.sender, To: message.To, Text: "Thank you for " + outcome.Reference,
		ReferenceID: smsPrefix + outcome.Reference, CallbackURL: message.CallbackURL,
	}
	if _, err = s.outbox.Insert(ctx, tx, text); err != nil {
		return err
	}
	return tx.Commit()
}

// report changes an order, in the transaction that notes the report as handled. Reports can arrive out of order, and two at once.
func (s *shop) report(ctx context.Context, report webhook.DeliveryReport) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	reference, err := referenceOf(ctx, tx, report)
	if err != nil {
		return err
	}
	// The service has accepted the message, even if its response was lost. Keys without a message are ignored.
	_, err = s.outbox.ResolveTx(ctx, tx, messagingriver.Sent,
		messagingriver.Key{Channel: "chatapp2", Reference: reference},
		messagingriver.Key{Channel: "sms", Reference: reference})
	if err != nil || !report.Status.Final() {
		return err
	}
	id := strings.TrimPrefix(reference, smsPrefix)
	var before webhook.Status
	err = tx.QueryRowContext(ctx, "SELECT state FROM shop_order WHERE id = $1", id).Scan(&before)
	if errors.Is(err, sql.ErrNoRows) { // of another message
		return nil
	}
	if err != nil || !report.Status.Supersedes(before) {
		return err
	}
	const update = "UPDATE shop_order SET state = $1, reports = reports + 1 WHERE id = $2 AND state = $3"
	result, err := tx.ExecContext(ctx, update, report.Status, id, before)
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err == nil && changed == 0 { // another report has changed it meanwhile
		return webhook.RetryLater(time.Second)
	}
	return err
}

// referenceOf returns the reference ID of the message of a report, which it looks up by the message ID if the report has no reference ID.
func referenceOf(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (string, error) {
	if report.ReferenceID != "" {
		return report.ReferenceID, nil
	}
	var reference string
	err := tx.QueryRowContext(ctx, "SELECT reference FROM shop_message WHERE id = $1", report.ID).Scan(&reference)
	isFresh := time.Since(report.StatusAt) < time.Minute
	if errors.Is(err, sql.ErrNoRows) && isFresh { // noteOutcome may not have stored the ID yet
		return "", webhook.RetryLater(10 * time.Second)
	}
	if errors.Is(err, sql.ErrNoRows) { // of another message
		return "", nil
	}
	return reference, err
}

// reply notes a STOP, and enqueues a reply, in the transaction that records the event as handled: a customer gets one reply to each text. The
// reference ID does not depend on m.ID, which may be empty.
func (s *shop) reply(ctx context.Context, m webhook.SMSMessage) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	_, err = s.book.Note(ctx, tx, conversations.FromSMS(m))
	if err != nil && !errors.Is(err, conversations.ErrNoPerson) {
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
