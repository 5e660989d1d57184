// Command campaign sends an SMS to each recipient of a CSV file, once, however often it is killed and started again. Those who wrote
// STOP get none. It ends when all are sent, and writes what became of them to results.csv. The folder of its argument has recipients.csv,
// with the columns number and text. Without an argument it sends one SMS to a test server.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/riverqueue/river/rivertype"
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
	folder := os.Args[len(os.Args)-1]
	if len(os.Args) == 1 { // show it on a test server
		service := messagingtest.Start()
		folder, _ = os.MkdirTemp("", "campaign")
		_ = os.WriteFile(folder+"/recipients.csv", []byte("number,text\n+639171234567,Spring sale\n"), 0o600)
		_ = os.Setenv("MESSAGING_BASE_URL", service.URL)
		_ = os.Setenv("MESSAGING_TOKEN", service.Token)
		_ = os.Setenv("CAMPAIGN_SECRET", "secret-of-a-demo")
	}
	if err := run(context.Background(), folder, messagingriver.Options{}); err != nil {
		log.Fatalln("campaign:", err)
	}
}

func run(ctx context.Context, folder string, options messagingriver.Options) error {
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
	client, clientErr := messaging.NewClientFromEnv(messaging.WithGuard(book.Guard))
	hooks, hooksErr := webhook.NewReceiver(webhook.WithSecret("key", os.Getenv("CAMPAIGN_SECRET")))
	outbox, outboxErr := messagingriver.NewSQLite(db, client, options)
	if err = errors.Join(clientErr, hooksErr, outboxErr); err != nil {
		return err
	}
	handler := hooks.SMS(func(ctx context.Context, m webhook.SMSMessage) error {
		_, noteErr := book.Note(ctx, nil, conversations.FromSMS(m))
		return noteErr
	})
	server := &http.Server{Addr: os.Getenv("CAMPAIGN_ADDRESS"), ReadHeaderTimeout: time.Second, Handler: handler}
	go func() { log.Println(server.ListenAndServe()) }() // until the program ends
	if err = errors.Join(outbox.Migrate(ctx), load(ctx, folder+"/recipients.csv", db, outbox)); err != nil {
		return err
	}
	err = outbox.Start(ctx)
	for left := -1; left != 0 && err == nil; time.Sleep(time.Second) {
		left, err = open(ctx, outbox)
		log.Println(left, "left")
	}
	return errors.Join(err, outbox.Stop(ctx), results(ctx, folder+"/results.csv", db))
}

// open returns how many messages of the campaign are not final.
func open(ctx context.Context, outbox *messagingriver.Outbox[*sql.Tx]) (int, error) {
	campaigns, err := outbox.Campaigns(ctx, name)
	if err != nil {
		return 0, err
	}
	left := 0
	for state, messages := range campaigns[0].States {
		switch state {
		case rivertype.JobStateCompleted, rivertype.JobStateCancelled, rivertype.JobStateDiscarded:
		default:
			left += messages
		}
	}
	return left, nil
}

// load enqueues the messages of a file that are not known yet by their reference IDs.
func load(ctx context.Context, path string, db *sql.DB, outbox *messagingriver.Outbox[*sql.Tx]) error {
	file, err := os.ReadFile(path) //nolint:gosec // the user names it
	rows, csvErr := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err = errors.Join(err, csvErr); err != nil || len(rows) == 0 {
		return err
	}
	var messages []messaging.Message
	for _, row := range rows[1:] {
		messages = append(messages, sms.Message{From: "ACME", To: row[0], Text: row[1], ReferenceID: name + "-" + row[0]})
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	options := messagingriver.InsertOptions{Campaign: name, Priority: messagingriver.Bulk, Expire: 24 * time.Hour}
	if _, err = outbox.InsertMany(ctx, tx, messages, options); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// results writes what became of each message.
func results(ctx context.Context, path string, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, `SELECT args->>'reference', state, COALESCE(metadata->>'reason', '')
		FROM river_job WHERE kind = 'messaging' AND metadata->>'campaign' = $1 ORDER BY 1`, name)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	var file bytes.Buffer
	for reference, state, reason := "", "", ""; err == nil && rows.Next(); {
		err = errors.Join(rows.Scan(&reference, &state, &reason), csv.NewWriter(&file).WriteAll([][]string{{reference, state, reason}}))
	}
	return errors.Join(err, rows.Err(), os.WriteFile(path, file.Bytes(), 0o600)) //nolint:gosec // the user names it
}
