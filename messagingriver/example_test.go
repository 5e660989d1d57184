package messagingriver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// shop is an outbox in a temporary file, and a service that it sends through.
type shop struct {
	folder  string
	service *messagingtest.Server
	db      *sql.DB
	outbox  *messagingriver.Outbox[*sql.Tx]
}

func openShop(options messagingriver.Options) (shop, error) {
	folder, err := os.MkdirTemp("", "outbox")
	if err != nil {
		return shop{}, err
	}
	service := messagingtest.Start()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return shop{}, err
	}
	db, err := sql.Open("sqlite", filepath.Join(folder, "shop.db")+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return shop{}, err
	}
	db.SetMaxOpenConns(1)
	options.SendTimeout = 2 * time.Second
	outbox, err := messagingriver.NewSQLite(db, client, options)
	if err != nil {
		return shop{}, err
	}
	if err := outbox.Migrate(context.Background()); err != nil {
		return shop{}, err
	}
	return shop{folder, service, db, outbox}, nil
}

// enqueue enqueues messages in a transaction of their own.
func (s shop) enqueue(ctx context.Context, options messagingriver.InsertOptions, messages ...messaging.Message) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	if _, err := s.outbox.InsertMany(ctx, tx, messages, options); err != nil {
		return err
	}
	return tx.Commit()
}

func (s shop) close() {
	s.service.Close()
	_ = s.db.Close()
	_ = os.RemoveAll(s.folder)
}

func ExampleOutbox_Insert() {
	shop, err := openShop(messagingriver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer shop.close()

	ctx := context.Background()
	tx, err := shop.db.BeginTx(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	message := sms.Message{From: "ACME", To: "+639171234567", Text: "Your order 17 is ready", ReferenceID: "order-17"}
	for range 2 {
		isNew, err := shop.outbox.Insert(ctx, tx, message)
		fmt.Println("new:", isNew, err)
	}
	if err := tx.Commit(); err != nil {
		fmt.Println(err)
		return
	}
	if err := shop.outbox.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for len(shop.service.Sent()) == 0 {
		<-time.After(10 * time.Millisecond)
	}
	if err := shop.outbox.Stop(ctx); err != nil {
		fmt.Println(err)
	}
	records, err := shop.outbox.Get(ctx, "order-17")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(records[0].State, records[0].Receipt.ID)
	// Output:
	// new: true <nil>
	// new: false <nil>
	// completed msg-1
}

// A code goes before everything else, is not sent late, and reaches people who opted out of marketing.
func ExampleOutbox_InsertMany() {
	shop, err := openShop(messagingriver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer shop.close()
	code := sms.Message{From: "ACME", To: "+639171234567", Text: "Your code is 123456", ReferenceID: "code-17"}
	options := messagingriver.InsertOptions{Priority: messagingriver.Urgent, Expire: 5 * time.Minute, Unguarded: true}
	fmt.Println(shop.enqueue(context.Background(), options, code))
	// Output:
	// <nil>
}

// A reference ID that is known for another recipient is a mistake: the message is not enqueued.
func ExampleOutbox_InsertManyReturningKnown() {
	shop, err := openShop(messagingriver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer shop.close()

	ctx := context.Background()
	tx, err := shop.db.BeginTx(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tx.Rollback() //nolint:errcheck // the example ends here
	for _, to := range []string{"+639171234567", "+639181234567"} {
		message := sms.Message{From: "ACME", To: to, Text: "Your order is ready", ReferenceID: "order-17"}
		known, err := shop.outbox.InsertManyReturningKnown(ctx, tx, []messaging.Message{message}, messagingriver.InsertOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, record := range known {
			fmt.Println(record.Reference, "is known for another recipient:", record.Message.(sms.Message).To != to)
		}
	}
	// Output:
	// order-17 is known for another recipient: true
}

// A message that was not sent over a chat app goes by SMS, unless the person opted out. It is dropped in the same transaction, so that it cannot
// be resent.
func ExampleOptions_onOutcome() {
	var shop shop
	fallBack := func(ctx context.Context, outcome messagingriver.Outcome) error {
		message, isChat := outcome.Message.(chatapp2.Message)
		hasOptedOut := errors.Is(outcome.Err, messaging.ErrOptedOut)
		if !isChat || outcome.MayHaveBeenSent() || hasOptedOut {
			return nil
		}
		text := sms.Message{From: "ACME", To: message.To, Text: "Your order is ready", ReferenceID: "sms-" + outcome.Reference}
		tx, err := shop.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // nothing after the commit
		dropped, err := shop.outbox.ResolveTx(ctx, tx, messagingriver.Drop, outcome.Key)
		if err != nil || dropped == 0 { // a person has resent it, and its next outcome counts
			return err
		}
		if _, err := shop.outbox.Insert(ctx, tx, text); err != nil {
			return err
		}
		return tx.Commit()
	}
	shop, err := openShop(messagingriver.Options{OnOutcome: fallBack})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer shop.close()
	shop.service.Inject(messagingtest.FaultStatus(422, 0), 1) // the service refuses the first message

	ctx := context.Background()
	if err := shop.outbox.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	template := chatapp2.Template{Name: "order_ready", Language: "en_US"}
	message := chatapp2.Message{To: "+639171234567", Content: template, ReferenceID: "order-17"}
	if err := shop.enqueue(ctx, messagingriver.InsertOptions{}, message); err != nil {
		fmt.Println(err)
		return
	}
	sent, err := shop.service.WaitFor(ctx, "+639171234567")
	fmt.Println(sent.Channel, sent.ReferenceID, err)
	if err := shop.outbox.Stop(ctx); err != nil {
		fmt.Println(err)
	}
	resent, err := shop.outbox.Resolve(ctx, messagingriver.Resend, messagingriver.Key{Channel: "chatapp2", Reference: "order-17"})
	fmt.Println("resent:", resent, err)
	// Output:
	// sms sms-order-17 <nil>
	// resent: 0 <nil>
}

func ExampleOutbox_Decode() {
	shop, err := openShop(messagingriver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer shop.close()

	// A line of a file, or a message of another queue.
	line := `{"from": "ACME", "to": "+639171234567", "text": "Your order 17 is ready", "referenceID": "order-17"}`
	message, err := shop.outbox.Decode("sms", []byte(line))
	if err != nil {
		fmt.Println(err)
		return
	}
	if m, ok := message.(sms.Message); ok {
		fmt.Println(m.ReferenceID, m.Text)
	}
	// Output:
	// order-17 Your order 17 is ready
}

// A person, or a program that knows more, decides about any number of messages at once.
func ExampleOutbox_Resolve() {
	shop, err := openShop(messagingriver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer shop.close()
	shop.service.Inject(messagingtest.FaultAcceptThenDrop(), 1) // the outcome of a chat message is lost

	ctx := context.Background()
	message := chatapp1.New("channel-1", "+639171234567").Text("Your order 17 is ready").WithReference("order-17")
	if err := shop.enqueue(ctx, messagingriver.InsertOptions{}, message); err != nil {
		fmt.Println(err)
		return
	}
	if err := shop.outbox.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	var sent []messagingriver.Key
	for len(sent) == 0 {
		<-time.After(10 * time.Millisecond)
		for record, err := range shop.outbox.Discarded(ctx) {
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(record.Channel, record.Reference, record.Reason != "")
			sent = append(sent, record.Key) // because the recipient says so
		}
	}
	n, err := shop.outbox.Resolve(ctx, messagingriver.Sent, sent...)
	fmt.Println("resolved:", n, err)
	if err := shop.outbox.Stop(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// chatapp1 order-17 true
	// resolved: 1 <nil>
}

func ExampleOutbox_List() { //nolint:testableexamples // prints nothing
	ctx := context.Background()
	var outbox *messagingriver.Outbox[*sql.Tx] // of messagingriver.NewSQLite
	for record, err := range outbox.List(ctx, rivertype.JobStateScheduled, rivertype.JobStateRetryable) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(record.Channel, record.Reference, "is sent next at", record.Scheduled)
	}
}

// A delivery report proves that the service accepted the message, even if the report comes before the response. In a handler that uses
// sqlstore.Tx, call ResolveTx with that transaction.
func ExampleOutbox_Resolve_deliveryReport() { //nolint:testableexamples // prints nothing
	var outbox *messagingriver.Outbox[*sql.Tx] // of messagingriver.NewSQLite
	hooks, err := webhook.NewReceiver()
	if err != nil {
		return
	}
	handler := hooks.Delivery(func(ctx context.Context, report webhook.DeliveryReport) error {
		_, err := outbox.Resolve(ctx, messagingriver.Sent, messagingriver.Key{Channel: "chatapp1", Reference: report.ReferenceID})
		return err
	})
	_ = handler // mount it, as at /hooks/delivery
}

// A delivery report proves that the service accepted a message whose response was lost. One transaction stores the report, records the event
// as handled, and resolves the message.
func ExampleOutbox_ResolveTx() {
	shop, err := openShop(messagingriver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer shop.close()
	outbox := shop.outbox

	ctx := context.Background()
	if _, err := shop.db.ExecContext(ctx, "CREATE TABLE report (reference TEXT, status TEXT)"); err != nil {
		fmt.Println(err)
		return
	}
	store, err := sqlstore.New(ctx, shop.db, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", "secret-of-a-demo"), webhook.WithStore(store))
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := hooks.Delivery(func(ctx context.Context, report webhook.DeliveryReport) error {
		tx, err := sqlstore.Tx(ctx)
		if err != nil {
			return err
		}
		const insert = "INSERT INTO report (reference, status) VALUES ($1, $2)"
		if _, err := tx.ExecContext(ctx, insert, report.ReferenceID, report.Status); err != nil {
			return err
		}
		_, err = outbox.ResolveTx(ctx, tx, messagingriver.Sent, messagingriver.Key{Channel: "chatapp1", Reference: report.ReferenceID})
		return err
	})
	server := httptest.NewServer(handler)
	defer server.Close()

	shop.service.Inject(messagingtest.FaultAcceptThenDrop(), 1) // the response to the message is lost
	message := chatapp1.New("channel-1", "+639171234567").Text("Your order 17 is ready").WithReference("order-17")
	if err := shop.enqueue(ctx, messagingriver.InsertOptions{}, message); err != nil {
		fmt.Println(err)
		return
	}
	if err := outbox.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	show := func() messagingriver.Record {
		records, err := outbox.Get(ctx, "order-17")
		if err != nil {
			return messagingriver.Record{Reason: err.Error()}
		}
		return records[0]
	}
	for show().State != "discarded" { // its outcome is unknown, and nothing lists chat-app messages
		<-time.After(10 * time.Millisecond)
	}
	report := messagingtest.DeliveryReport{ReferenceID: "order-17", Status: "delivered"}
	shop.service.CallWebhook(ctx, server.URL+"?key=secret-of-a-demo", report, messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
	reports := 0
	err = shop.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM report").Scan(&reports)
	fmt.Println(show().State, show().Verdict, "reports:", reports, err)
	if err := outbox.Stop(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// completed accepted reports: 1 <nil>
}
