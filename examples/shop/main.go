// Command shop takes orders and confirms them by SMS. It writes an order and its SMS in one transaction in SQLite, so that there is never
// one without the other. A delivery report changes its order exactly once, even if the service calls again or the process is killed.
// The program takes an order on a test server, and ends.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

func main() {
	if err := run(context.Background(), messagingtest.Start()); err != nil {
		log.Fatal("shop: ", err)
	}
}

func run(ctx context.Context, service *messagingtest.Server) error {
	server := httptest.NewUnstartedServer(nil) // a real shop has an http.Server with limits, as in docs/webhooks.md
	s, err := open(ctx, ":memory:", "http://"+server.Listener.Addr().String(), service, messagingriver.Options{})
	if err != nil {
		return err
	}
	server.Config.Handler = s
	server.Start()
	// A customer orders, and the service reports twice that the SMS was delivered.
	order := url.Values{"id": {"order-1"}, "phone": {"+639171234567"}}
	_, postErr := http.PostForm(server.URL+"/orders", order) //nolint:noctx,bodyclose // demo
	sent, err := service.WaitFor(ctx, order.Get("phone"))
	service.ReportDelivery(ctx, sent.ID, "delivered", messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
	var state, reports string
	rowErr := s.db.QueryRowContext(ctx, "SELECT state, reports FROM shop_order").Scan(&state, &reports)
	fmt.Printf("%s: %s, after %s report\n", sent.ReferenceID, state, reports)
	server.Close() // waits for the calls under way
	return errors.Join(postErr, err, rowErr, s.stop())
}

type shop struct {
	http.ServeMux

	db       *sql.DB
	outbox   *messagingriver.Outbox[*sql.Tx]
	river    *river.Client[*sql.Tx] // sends what is in the outbox
	callback string                 // where the service reports delivery
}

// open opens the shop in the database at a path. A real shop has a file.
func open(ctx context.Context, path, base string, service *messagingtest.Server, options messagingriver.Options) (*shop, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // which the shop, the receiver and the outbox share
	store, storeErr := sqlstore.New(ctx, db, 0)
	client, clientErr := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	outbox, outboxErr := messagingriver.NewSQLite(db, client, options)
	hooks, hooksErr := webhook.NewReceiver(webhook.WithSecret("key", "secret-of-a-demo"), webhook.WithStore(store))
	if err = errors.Join(storeErr, clientErr, outboxErr, hooksErr); err != nil {
		return nil, err
	}
	s := &shop{db: db, outbox: outbox}
	s.HandleFunc("POST /orders", s.order)
	s.Handle("/hooks/delivery", hooks.Delivery(s.report))
	s.callback, err = hooks.DeliveryURL(base + "/hooks/delivery")
	_, tableErr := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS shop_order (id TEXT PRIMARY KEY, phone TEXT, state TEXT, reports INT)")
	config := &river.Config{}
	if err = errors.Join(err, tableErr, outbox.Migrate(ctx), outbox.AddTo(config)); err != nil {
		return nil, err
	}
	if s.river, err = river.NewClient(riversqlite.New(db), config); err == nil {
		err = s.river.Start(context.WithoutCancel(ctx)) // until stop
	}
	return s, err
}

// stop lets messages under way end, and closes the database. What has not begun is sent by the next process.
func (s *shop) stop() error { return errors.Join(s.river.Stop(context.Background()), s.db.Close()) }

func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	if err := s.place(r.Context(), r.PostFormValue("id"), r.PostFormValue("phone")); errors.Is(err, messaging.ErrInvalid) {
		http.Error(w, "check the phone number", http.StatusBadRequest)
	} else if err != nil {
		http.Error(w, "the order could not be taken, try again", http.StatusServiceUnavailable)
	}
}

// place writes an order and its SMS. An order that comes again, because its response was lost, changes nothing.
func (s *shop) place(ctx context.Context, id, phone string) error {
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

// report changes an order, in the transaction that notes the report as handled. Reports can arrive out of order: the final one counts.
func (s *shop) report(ctx context.Context, report webhook.DeliveryReport) error {
	if !report.Status.Final() {
		return nil
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE shop_order SET state = $1, reports = reports + 1 WHERE id = $2", report.Status, report.ReferenceID)
	return err
}
