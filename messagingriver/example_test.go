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

// shop is an outbox in a temporary file, with a River client that works it and a service that it sends through.
type shop struct {
	folder  string
	service *messagingtest.Server
	db      *sql.DB
	outbox  *messagingriver.Outbox[*sql.Tx]
	worker  *river.Client[*sql.Tx]
}

func openShop() (shop, error) {
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
	outbox, err := messagingriver.NewSQLite(db, client, messagingriver.Options{SendTimeout: 2 * time.Second})
	if err != nil {
		return shop{}, err
	}
	if err := outbox.Migrate(context.Background()); err != nil {
		return shop{}, err
	}
	config := &river.Config{Logger: slog.New(slog.DiscardHandler), TestOnly: true}
	if err := outbox.AddTo(config); err != nil {
		return shop{}, err
	}
	worker, err := river.NewClient(riversqlite.New(db), config)
	return shop{folder, service, db, outbox, worker}, err
}

func (s shop) close() {
	s.service.Close()
	_ = s.db.Close()
	_ = os.RemoveAll(s.folder)
}

func ExampleOutbox_Insert() {
	shop, err := openShop()
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

	if err := shop.worker.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for len(shop.service.Sent()) == 0 {
		<-time.After(10 * time.Millisecond)
	}
	if err := shop.worker.Stop(ctx); err != nil {
		fmt.Println(err)
	}
	var state, id string
	err = shop.db.QueryRowContext(ctx, "SELECT state, receipt->>'ID' FROM messaging_outbox WHERE channel = 'sms' AND reference = 'order-17'").
		Scan(&state, &id)
	fmt.Println(state, id, err)
	// Output:
	// new: true <nil>
	// new: false <nil>
	// accepted msg-1 <nil>
}

// A person, or a program that knows more, decides about any number of messages at once.
func ExampleOutbox_Decode() {
	shop, err := openShop()
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
	fmt.Printf("%T %s\n", message, message.Call().ReferenceID)
	// Output:
	// sms.Message order-17
}

func ExampleOutbox_Resolve() {
	shop, err := openShop()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer shop.close()
	shop.service.Inject(messagingtest.AcceptThenDrop(), 1) // the outcome of a chat message is lost

	ctx := context.Background()
	tx, err := shop.db.BeginTx(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	message := chatapp1.New("channel-1", "+639171234567").Text("Your order 17 is ready").WithReference("order-17")
	if _, err := shop.outbox.Insert(ctx, tx, message); err != nil {
		fmt.Println(err)
		return
	}
	if err := tx.Commit(); err != nil {
		fmt.Println(err)
		return
	}
	if err := shop.worker.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}

	var sent []messagingriver.Key
	for len(sent) == 0 {
		<-time.After(10 * time.Millisecond)
		parked, err := shop.outbox.Parked(ctx, messagingriver.Key{})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, record := range parked {
			fmt.Println(record.Channel, record.Reference, record.Problem != "")
			sent = append(sent, record.Key) // because the recipient says so
		}
	}
	n, err := shop.outbox.Resolve(ctx, messagingriver.Sent, sent...)
	fmt.Println("resolved:", n, err)
	if err := shop.worker.Stop(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// chatapp1 order-17 true
	// resolved: 1 <nil>
}
