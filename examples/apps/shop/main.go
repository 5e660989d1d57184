// Command shop takes orders and confirms them by SMS. It writes an order and its SMS in one transaction, so that neither exists without
// the other. A delivery report changes its order exactly once, even if the service calls again or the process is killed. A customer who
// texts the number of an order gets a reply, which is enqueued in the transaction of the event.
//
// The program runs on PostgreSQL if DATABASE_URL is set, and otherwise on SQLite in memory. It takes an order on a test server, and ends.
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
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

func main() {
	if err := run(context.Background(), os.Getenv("DATABASE_URL"), messagingtest.Start()); err != nil {
		log.Fatal("shop: ", err)
	}
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
	server.Config.Handler = s
	server.Start()
	// A customer orders, the service reports twice that the SMS was delivered, and the customer asks.
	id := "order-" + rand.Text() // another one each time: the database keeps the orders
	order := url.Values{"id": {id}, "phone": {"+639171234567"}}
	if _, err = http.PostForm(server.URL+"/orders", order); err != nil { //nolint:noctx,bodyclose // demo
		return err
	}
	sent, err := service.WaitFor(ctx, order.Get("phone"))
	if err != nil {
		return err
	}
	service.ReportDelivery(ctx, sent.ID, "delivered", messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
	question := messagingtest.InboundSMS{ID: "in-" + id, From: "639171234567", To: "ACME", Text: id}
	service.CallWebhook(ctx, server.URL+"/hooks/sms?key=secret-of-a-demo", question, messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
	reply, err := service.WaitFor(ctx, order.Get("phone"))
	if err != nil {
		return err
	}
	fmt.Println(reply.Text)
	server.Close() // waits for the calls under way
	return s.stop()
}

type shop struct {
	http.ServeMux

	db       *sql.DB
	outbox   *messagingriver.Outbox[*sql.Tx]
	callback string // where the service reports delivery
	close    func() // the database
}

// open opens the shop in a PostgreSQL database, or in SQLite if the URL is "" or the path of a file.
func open(ctx context.Context, databaseURL, base string, service *messagingtest.Server, options messagingriver.Options) (*shop, error) {
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return nil, err
	}
	s, err := openDatabase(ctx, databaseURL, client, options)
	if err != nil {
		return nil, err
	}
	store, storeErr := sqlstore.New(ctx, s.db, 0)
	hooks, hooksErr := webhook.NewReceiver(webhook.WithSecret("key", "secret-of-a-demo"), webhook.WithStore(store))
	if err = errors.Join(storeErr, hooksErr); err != nil {
		return nil, err
	}
	s.HandleFunc("POST /orders", s.order)
	s.Handle("/hooks/delivery", hooks.Delivery(s.report))
	s.Handle("/hooks/sms", hooks.SMS(s.reply))
	s.callback, err = hooks.DeliveryURL(base + "/hooks/delivery")
	_, tableErr := s.db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS shop_order (id TEXT PRIMARY KEY, phone TEXT, state TEXT, reports INT)")
	if err = errors.Join(err, tableErr, s.outbox.Migrate(ctx)); err != nil {
		return nil, err
	}
	return s, s.outbox.Start(ctx)
}

// openDatabase opens the database and the outbox in it. Both use the transactions of database/sql, like the receiver's store.
func openDatabase(ctx context.Context, databaseURL string, client *messaging.Client, options messagingriver.Options) (*shop, error) {
	if !isPostgres(databaseURL) {
		name := "file:" + cmp.Or(databaseURL, ":memory:") + "?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate"
		db, err := sql.Open("sqlite", name)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1) // the shop, the receiver and the outbox share the connection
		outbox, err := messagingriver.NewSQLite(db, client, options)
		return &shop{db: db, outbox: outbox, close: func() { _ = db.Close() }}, err
	}
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDBFromPool(pool)
	outbox, err := messagingriver.NewPostgresSQL(pool, client, options)
	closeDatabase := func() {
		_ = db.Close()
		pool.Close()
	}
	return &shop{db: db, outbox: outbox, close: closeDatabase}, err
}

func isPostgres(databaseURL string) bool {
	return strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://")
}

// stop lets requests in flight finish, and closes the database. The next process sends the other messages.
func (s *shop) stop() error {
	defer s.close()
	return s.outbox.Stop(context.Background())
}

// order serves the form of an order.
func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	if err := s.takeOrder(r.Context(), r.PostFormValue("id"), r.PostFormValue("phone")); errors.Is(err, messaging.ErrInvalid) {
		http.Error(w, "check the phone number", http.StatusBadRequest)
	} else if err != nil {
		http.Error(w, "the order could not be taken, try again", http.StatusServiceUnavailable)
	}
}

// takeOrder writes an order and its SMS. Resubmitting an order whose response was lost changes nothing.
func (s *shop) takeOrder(ctx context.Context, id, phone string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	_, rowErr := tx.ExecContext(ctx, "INSERT INTO shop_order VALUES ($1, $2, 'placed', 0) ON CONFLICT DO NOTHING", id, phone)
	message := sms.Message{From: "ACME", To: phone, Text: "Thank you for " + id, ReferenceID: id, CallbackURL: s.callback}
	_, err = s.outbox.Insert(ctx, tx, message)
	if err = errors.Join(rowErr, err); err != nil {
		return err
	}
	return tx.Commit()
}

// report changes an order, in the transaction that notes the report as handled. Reports can arrive out of order, and two at once.
func (s *shop) report(ctx context.Context, report webhook.DeliveryReport) error {
	if !report.Status.Final() {
		return nil
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	var before webhook.Status
	err = tx.QueryRowContext(ctx, "SELECT state FROM shop_order WHERE id = $1", report.ReferenceID).Scan(&before)
	if errors.Is(err, sql.ErrNoRows) { // of another message
		return nil
	}
	if err != nil || !report.Status.Supersedes(before) {
		return err
	}
	const update = "UPDATE shop_order SET state = $1, reports = reports + 1 WHERE id = $2 AND state = $3"
	result, err := tx.ExecContext(ctx, update, report.Status, report.ReferenceID, before)
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err == nil && changed == 0 { // another report has changed it meanwhile
		return webhook.RetryLater(time.Second)
	}
	return err
}

// reply enqueues a reply in the transaction that records the event as handled: a customer gets one reply to each text. The reference ID does
// not depend on m.ID, which may be empty.
func (s *shop) reply(ctx context.Context, m webhook.SMSMessage) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	state := "unknown"
	err = tx.QueryRowContext(ctx, "SELECT state FROM shop_order WHERE id = $1", m.Text).Scan(&state)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	reply := sms.Message{From: "ACME", To: m.From, Text: m.Text + " is " + state, ReferenceID: "reply-" + rand.Text()}
	_, err = s.outbox.Insert(ctx, tx, reply)
	return err
}
