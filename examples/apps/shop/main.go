// Command shop takes orders and confirms them over chat app 2, or by SMS if a customer cannot be reached there. It writes an order and its
// message in one transaction, so that neither exists without the other. A delivery report changes its order exactly once, even if the service
// calls again or the process is killed. A customer who texts the number of an order gets a reply, which is enqueued in the transaction of the
// event.
//
//	shop            takes two orders on a test server, and ends
//	shop migrate    creates or updates the tables: run it once, before the processes of a new version start
//
// The program runs on PostgreSQL if DATABASE_URL is set, and otherwise on SQLite in memory, which needs no shop migrate.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

func main() {
	command := run
	if len(os.Args) == 2 && os.Args[1] == "migrate" {
		command = migrate
	}
	if err := command(context.Background(), os.Getenv("DATABASE_URL"), messagingtest.Start()); err != nil {
		log.Fatal("shop: ", err)
	}
}

// migrate creates or updates the tables of a database.
func migrate(ctx context.Context, databaseURL string, service *messagingtest.Server) error {
	s, err := openDatabase(ctx, databaseURL, service, messagingriver.Options{})
	if err != nil {
		return err
	}
	defer s.close()
	return s.createTables(ctx)
}

func run(ctx context.Context, databaseURL string, service *messagingtest.Server) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	server := httptest.NewUnstartedServer(nil) // a real shop has an http.Server with limits, as in docs/webhooks.md
	base := "http://" + server.Listener.Addr().String()
	s, err := open(ctx, databaseURL, base, service, messagingriver.Options{})
	if err != nil {
		return err
	}
	defer s.close()
	if databaseURL == "" { // in memory
		if err = s.createTables(ctx); err != nil {
			return err
		}
	}
	if err = s.outbox.Start(ctx); err != nil {
		return err
	}
	server.Config.Handler = s
	server.Start()
	if err = demo(ctx, service, server.URL); err != nil {
		return err
	}
	server.Close()            // waits for the calls under way
	return s.outbox.Stop(ctx) // lets requests in flight end; the next process sends the other messages
}

// demo plays two customers and the service.
func demo(ctx context.Context, service *messagingtest.Server, base string) error {
	// A customer orders, the service reports twice that the message was delivered, and the customer asks.
	const phone = "+639171234567"
	id := "order-" + rand.Text()                                                                       // another one each time: the database keeps the orders
	if _, err := http.PostForm(base+"/orders", url.Values{"id": {id}, "phone": {phone}}); err != nil { //nolint:noctx,bodyclose // demo
		return err
	}
	sent, err := service.WaitFor(ctx, phone)
	if err != nil {
		return err
	}
	service.ReportDelivery(ctx, sent.ID, "delivered", messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
	question := messagingtest.InboundSMS{ID: "in-" + id, From: "639171234567", To: "ACME", Text: id}
	service.CallWebhook(ctx, base+"/hooks/sms?key=secret-of-a-demo", question, messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
	reply, err := service.WaitFor(ctx, phone)
	if err != nil {
		return err
	}
	fmt.Println(sent.Channel, "then:", reply.Text)

	// Another customer cannot be reached over chat app 2.
	const smsOnly = "+639181234567"
	service.SetFault("chatapp2", smsOnly, messagingtest.FaultCode("131026"))
	order := url.Values{"id": {"order-" + rand.Text()}, "phone": {smsOnly}}
	if _, err = http.PostForm(base+"/orders", order); err != nil { //nolint:noctx,bodyclose // demo
		return err
	}
	if sent, err = service.WaitFor(ctx, smsOnly); err != nil {
		return err
	}
	fmt.Println(sent.Channel+":", sent.Text)
	return nil
}

type shop struct {
	http.ServeMux

	db       *sql.DB
	outbox   *messagingriver.Outbox[*sql.Tx]
	callback string // where the service reports delivery
	close    func() // the database
}

// open opens the shop in a PostgreSQL database, or in SQLite if the URL is "" or the path of a file. The service calls it at the URL base.
func open(ctx context.Context, databaseURL, base string, service *messagingtest.Server, options messagingriver.Options) (*shop, error) {
	s, err := openDatabase(ctx, databaseURL, service, options)
	if err != nil {
		return nil, err
	}
	if err = s.serveHooks(ctx, base); err != nil {
		s.close()
		return nil, err
	}
	s.HandleFunc("POST /orders", s.order)
	return s, nil
}

// serveHooks serves the callbacks at the URL base, with a store in the shop's database.
func (s *shop) serveHooks(ctx context.Context, base string) error {
	store, err := sqlstore.New(ctx, s.db, 0)
	if err != nil {
		return err
	}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", "secret-of-a-demo"), webhook.WithStore(store))
	if err != nil {
		return err
	}
	s.Handle("/hooks/delivery", hooks.Delivery(s.report))
	s.Handle("/hooks/sms", hooks.SMS(s.reply))
	s.callback, err = hooks.DeliveryURL(base + "/hooks/delivery")
	return err
}

// openDatabase opens the database and the outbox in it. Both use the transactions of database/sql, like the receiver's store.
func openDatabase(ctx context.Context, databaseURL string, service *messagingtest.Server, options messagingriver.Options) (*shop, error) {
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return nil, err
	}
	s := &shop{}
	options.OnOutcome = s.noteOutcome
	if isPostgres(databaseURL) {
		err = s.openPostgres(ctx, databaseURL, client, options)
	} else {
		err = s.openSQLite(cmp.Or(databaseURL, ":memory:"), client, options)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *shop) openSQLite(path string, client *messaging.Client, options messagingriver.Options) error {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // the shop, the receiver and the outbox share the connection
	s.db = db
	s.close = func() { _ = db.Close() }
	s.outbox, err = messagingriver.NewSQLite(db, client, options)
	if err != nil {
		s.close()
	}
	return err
}

func (s *shop) openPostgres(ctx context.Context, databaseURL string, client *messaging.Client, options messagingriver.Options) error {
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	s.db = db
	s.close = func() {
		_ = db.Close()
		pool.Close()
	}
	s.outbox, err = messagingriver.NewPostgresSQL(pool, client, options)
	if err != nil {
		s.close()
	}
	return err
}

func isPostgres(databaseURL string) bool {
	return strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://")
}

// createTables creates or updates the tables. Only one process may call it at a time.
func (s *shop) createTables(ctx context.Context) error {
	const orders = "CREATE TABLE IF NOT EXISTS shop_order (id TEXT PRIMARY KEY, phone TEXT, state TEXT, reports INT)"
	if _, err := s.db.ExecContext(ctx, orders); err != nil {
		return err
	}
	const messages = "CREATE TABLE IF NOT EXISTS shop_message (id TEXT PRIMARY KEY, reference TEXT)" // of the receipts
	if _, err := s.db.ExecContext(ctx, messages); err != nil {
		return err
	}
	return s.outbox.Migrate(ctx)
}

// order serves the form of an order.
func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	if err := s.takeOrder(r.Context(), r.PostFormValue("id"), r.PostFormValue("phone")); errors.Is(err, messaging.ErrInvalid) {
		http.Error(w, "check the phone number", http.StatusBadRequest)
	} else if err != nil {
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
	if outcome.Verdict == messaging.Accepted && outcome.Receipt.ID != "" {
		const note = "INSERT INTO shop_message VALUES ($1, $2) ON CONFLICT DO NOTHING"
		_, err := s.db.ExecContext(ctx, note, outcome.Receipt.ID, outcome.Reference)
		return err
	}
	return s.sendSMS(ctx, outcome)
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
		From: "ACME", To: message.To, Text: "Thank you for " + outcome.Reference,
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

// reply enqueues a reply in the transaction that records the event as handled: a customer gets one reply to each text. The reference ID does
// not depend on m.ID, which may be empty.
func (s *shop) reply(ctx context.Context, m webhook.SMSMessage) error {
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
	reply := sms.Message{From: "ACME", To: m.From, Text: id + " is " + state, ReferenceID: "reply-" + rand.Text()}
	_, err = s.outbox.Insert(ctx, tx, reply)
	if errors.Is(err, messaging.ErrInvalid) { // such as a number with spaces: another call would fail, too
		log.Print("shop: a text gets no reply: ", err) // the error has no number
		return nil
	}
	return err
}
