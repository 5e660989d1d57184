// Command campaign sends an SMS to each recipient of a CSV file, once, even if it is killed and started again. People who wrote STOP get
// none. It ends when all messages are final, and writes their states to results.csv.
//
//	campaign FOLDER
//
// The folder has recipients.csv, with the columns id, number and text. The environment has the account (see messaging.NewClientFromEnv), the
// secret of the webhook (see webhook.NewReceiverFromEnv), and in CAMPAIGN_ADDRESS the address at which the service calls it, such as :8080.
// Without an argument the program sends one SMS to a test server.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/csv"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

const name = "spring"

func main() {
	var err error
	if len(os.Args) == 1 {
		err = demo(context.Background())
	} else {
		err = start(context.Background(), os.Args[1], messagingriver.Options{})
	}
	if err != nil {
		log.Fatalln("campaign:", err)
	}
}

// demo sends one SMS to a test server.
func demo(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "campaign")
	if err != nil {
		return err
	}
	if err = os.WriteFile(folder+"/recipients.csv", []byte("id,number,text\n17,+639171234567,Spring sale\n"), 0o600); err != nil {
		return err
	}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", rand.Text()))
	if err != nil {
		return err
	}
	service := messagingtest.Start()
	connect := func(options ...messaging.Option) (*messaging.Client, error) {
		return messaging.NewClient(service.URL, append(options, messaging.WithToken(service.Token))...)
	}
	return run(ctx, folder, connect, hooks, "localhost:0", messagingriver.Options{})
}

// start runs the campaign in a folder with the settings of the environment.
func start(ctx context.Context, folder string, options messagingriver.Options) error {
	hooks, err := webhook.NewReceiverFromEnv()
	if err != nil {
		return err
	}
	return run(ctx, folder, messaging.NewClientFromEnv, hooks, os.Getenv("CAMPAIGN_ADDRESS"), options)
}

type connect func(...messaging.Option) (*messaging.Client, error)

func run(ctx context.Context, folder string, connect connect, hooks *webhook.Receiver, address string, options messagingriver.Options) error {
	db, err := sql.Open("sqlite", folder+"/campaign.db?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // everything is committed
	db.SetMaxOpenConns(1)
	book, err := conversations.New(ctx, db, conversations.Options{})
	if err != nil {
		return err
	}
	client, err := connect(messaging.WithGuard(book.Guard))
	if err != nil {
		return err
	}
	if err = receive(ctx, address, hooks, book); err != nil {
		return err
	}
	outbox, err := messagingriver.NewSQLite(db, client, options)
	if err != nil {
		return err
	}
	if err := outbox.Migrate(ctx); err != nil {
		return err
	}
	if err := enqueue(ctx, folder+"/recipients.csv", db, outbox); err != nil {
		return err
	}
	if err := outbox.Start(ctx); err != nil {
		return err
	}
	waitErr := wait(ctx, outbox)
	if err := errors.Join(waitErr, outbox.Stop(ctx)); err != nil {
		return err
	}
	return writeResults(ctx, folder+"/results.csv", db)
}

// receive serves the webhook for SMS until the program ends, so that STOP is noted in the book. Without it, nothing may be sent. The webhook
// needs no store: to note a STOP twice changes nothing.
func receive(ctx context.Context, address string, hooks *webhook.Receiver, book *conversations.Book) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	handler := hooks.SMS(func(ctx context.Context, m webhook.SMSMessage) error {
		_, noteErr := book.Note(ctx, nil, conversations.FromSMS(m))
		return noteErr
	})
	mux := http.NewServeMux()
	mux.Handle("/hooks/sms", http.MaxBytesHandler(handler, 1<<20))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 1 << 17}
	go func() { log.Fatalln("campaign:", server.Serve(listener)) }()
	return nil
}

// enqueue enqueues the messages of a file. The outbox skips messages whose reference IDs it knows.
func enqueue(ctx context.Context, path string, db *sql.DB, outbox *messagingriver.Outbox[*sql.Tx]) error {
	file, err := os.ReadFile(path) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	reader := csv.NewReader(bytes.NewReader(file))
	reader.FieldsPerRecord = 3
	rows, err := reader.ReadAll()
	if err != nil || len(rows) == 0 {
		return err
	}
	var messages []messaging.Message
	for _, row := range rows[1:] { // id, number and text, after the names of the columns
		messages = append(messages, sms.Message{
			From: "ACME", ReferenceID: name + "-" + row[0], To: row[1], Text: row[2], Marketing: true,
		})
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	options := messagingriver.InsertOptions{Campaign: name, Priority: messagingriver.Bulk, Expire: 24 * time.Hour}
	if _, err := outbox.InsertMany(ctx, tx, messages, options); err != nil {
		return err
	}
	return tx.Commit()
}

// wait returns when all messages of the campaign are final.
func wait(ctx context.Context, outbox *messagingriver.Outbox[*sql.Tx]) error {
	for {
		campaigns, err := outbox.Campaigns(ctx, name)
		if err != nil {
			return err
		}
		left := campaigns[0].Unfinished()
		log.Printf("%d left", left) //nolint:gosec // a number
		if left == 0 {
			return nil
		}
		time.Sleep(time.Second)
	}
}

// writeResults writes the reference ID, the state and the reason of each message to a file.
func writeResults(ctx context.Context, path string, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, `SELECT args->>'reference', state, COALESCE(metadata->>'reason', '')
		FROM river_job WHERE kind = 'messaging' AND metadata->>'campaign' = $1 ORDER BY 1`, name)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	var results [][]string
	for rows.Next() {
		var reference, state, reason string
		if err := rows.Scan(&reference, &state, &reason); err != nil {
			return err
		}
		results = append(results, []string{reference, state, reason})
	}
	if err := rows.Err(); err != nil {
		return err
	}
	var file bytes.Buffer
	if err := csv.NewWriter(&file).WriteAll(results); err != nil {
		return err
	}
	return os.WriteFile(path, file.Bytes(), 0o600) //nolint:gosec // the user names it
}
