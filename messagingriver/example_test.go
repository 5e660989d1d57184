package messagingriver_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// exampleOutbox returns an outbox in a temporary file, and a River client that works it.
func exampleOutbox(service *messagingtest.Server, folder string) (*sql.DB, *messagingriver.Outbox[*sql.Tx], *river.Client[*sql.Tx], error) {
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return nil, nil, nil, err
	}
	db, err := sql.Open("sqlite", filepath.Join(folder, "shop.db")+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return nil, nil, nil, err
	}
	db.SetMaxOpenConns(1)
	outbox, err := messagingriver.NewSQLite(db, client, messagingriver.Options{SendTimeout: 2 * time.Second})
	if err != nil {
		return nil, nil, nil, err
	}
	if err := outbox.Migrate(context.Background()); err != nil {
		return nil, nil, nil, err
	}
	config := &river.Config{Logger: slog.New(slog.DiscardHandler), TestOnly: true}
	if err := outbox.AddTo(config); err != nil {
		return nil, nil, nil, err
	}
	worker, err := river.NewClient(riversqlite.New(db), config)
	return db, outbox, worker, err
}

func ExampleOutbox_Insert() {
	folder, err := os.MkdirTemp("", "outbox")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
	service := messagingtest.Start()
	defer service.Close()
	db, outbox, worker, err := exampleOutbox(service, folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	ctx := context.Background()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	message := sms.Message{From: "ACME", To: "+639171234567", Text: "Your order 17 is ready", ReferenceID: "order-17"}
	for range 2 {
		isNew, err := outbox.Insert(ctx, tx, message)
		fmt.Println("new:", isNew, err)
	}
	if err := tx.Commit(); err != nil {
		fmt.Println(err)
		return
	}

	if err := worker.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for len(service.Sent()) == 0 {
		<-time.After(10 * time.Millisecond)
	}
	if err := worker.Stop(ctx); err != nil {
		fmt.Println(err)
	}
	var state, id string
	err = db.QueryRowContext(ctx, "SELECT state, receipt->>'ID' FROM messaging_outbox WHERE channel = 'sms' AND reference = 'order-17'").
		Scan(&state, &id)
	fmt.Println(state, id, err)
	// Output:
	// new: true <nil>
	// new: false <nil>
	// accepted msg-1 <nil>
}

// A person, or a program that knows more, decides about any number of messages at once.
func ExampleOutbox_Resolve() {
	folder, err := os.MkdirTemp("", "outbox")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
	service := messagingtest.Start()
	defer service.Close()
	service.Inject(messagingtest.AcceptThenDrop(), 1) // the outcome of a chat message is lost
	db, outbox, worker, err := exampleOutbox(service, folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	ctx := context.Background()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	message := chatapp1.New("channel-1", "+639171234567").Text("Your order 17 is ready").WithReference("order-17")
	if _, err := outbox.Insert(ctx, tx, message); err != nil {
		fmt.Println(err)
		return
	}
	if err := tx.Commit(); err != nil {
		fmt.Println(err)
		return
	}
	if err := worker.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}

	var sent []messagingriver.Key
	for len(sent) == 0 {
		<-time.After(10 * time.Millisecond)
		parked, err := outbox.Parked(ctx, messagingriver.Key{})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, record := range parked {
			fmt.Println(record.Channel, record.Reference, record.Problem != "")
			sent = append(sent, record.Key) // because the recipient says so
		}
	}
	n, err := outbox.Resolve(ctx, messagingriver.Sent, sent...)
	fmt.Println("resolved:", n, err)
	if err := worker.Stop(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// chatapp1 order-17 true
	// resolved: 1 <nil>
}
