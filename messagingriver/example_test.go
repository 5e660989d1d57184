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
	defer os.RemoveAll(folder)
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
	record, err := outbox.Record(ctx, messagingriver.Key{Channel: "sms", Reference: "order-17"})
	fmt.Println(record.State, record.Receipt.ID, record.Receipt.Cost, err)
	// Output:
	// new: true <nil>
	// new: false <nil>
	// accepted msg-1 0.50 <nil>
}

// A person, or a program that knows more, decides about many messages at once.
func ExampleOutbox_Resolve() {
	resolve := func(ctx context.Context, outbox *messagingriver.Outbox[*sql.Tx], delivered map[string]bool) error {
		var sent, unsent []messagingriver.Key
		for record, err := range outbox.Parked(ctx) {
			if err != nil {
				return err
			}
			if delivered[record.Reference] {
				sent = append(sent, record.Key)
			} else {
				unsent = append(unsent, record.Key)
			}
		}
		if _, err := outbox.Resolve(ctx, messagingriver.Sent, sent...); err != nil {
			return err
		}
		_, err := outbox.Resolve(ctx, messagingriver.Resend, unsent...)
		return err
	}
	_ = resolve
}
