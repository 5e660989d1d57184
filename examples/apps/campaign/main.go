// Command campaign sends an SMS to each recipient of a CSV file, once, even if it is killed and started again. It sends nothing to people
// who wrote STOP, and nothing at night. It ends when all messages are final, and writes what became of each line to results.csv.
//
//	go run ./examples/apps/campaign           sends one SMS to a test server
//	go run ./examples/apps/campaign FOLDER    sends to the recipients in a folder
//
// The folder has recipients.csv, with the columns id, number and text. A line that cannot be sent does not stop the others. If a quoted text
// has a single quote in it or does not end, where the next line begins is not certain, and nothing is sent. The environment has the account (see
// messaging.NewClientFromEnv), the secret of the webhook (see webhook.NewReceiverFromEnv), and
//
//	CAMPAIGN_ADDRESS     where the service calls the campaign, such as :8080
//	CAMPAIGN_ZONE        the time zone of the recipients, such as Asia/Manila
//	CAMPAIGN_DATABASE    a PostgreSQL URL such as postgres://user@localhost/shop; without it, an SQLite file in the folder
//
// Ctrl-C lets the requests in flight end, and the next start goes on. After a kill -9 or a power failure, start it again, too. It then looks up
// each message that may have been sent: for up to 16 minutes, and for up to a day longer while the listing of the service is down. A message
// that the service does not list is unknown in results.csv, and waits for a person. On PostgreSQL these are only messages whose requests had
// begun. On SQLite they are the messages that were in work, even if they still waited for the rate. Find out whether the message was sent, and
// decide with the command outbox (see docs/outbox.md):
//
//	export DATABASE_URL=FOLDER/campaign.db    # or $CAMPAIGN_DATABASE, with outbox --schema campaign_spring
//	outbox resolve sent spring-17             # it was sent
//	outbox resolve resend spring-18           # it was not: start the campaign again
//
// A message expires 48 hours after it was enqueued: then resend only stores that it was not sent. To send to that recipient nevertheless, give
// the line a new id.
//
// Keep results.csv. The outbox deletes a message 30 days after it became final. A later start sends nothing to its line again, and its verdict is
// "deleted" in the new results.csv.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // zones for machines that have none

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

const (
	// name is the name of the campaign. Each campaign needs its own: an ID is sent once under a name.
	name = "spring"
	// rate is how many messages a second the account may send.
	rate = 50
	// workers is how many messages are in work at once: the rate times the seconds that a response takes. On SQLite a kill can leave as many to a
	// person.
	workers = 5
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if len(os.Args) == 1 {
		err = demo(ctx)
	} else {
		err = start(ctx, os.Args[1], messagingriver.Options{Rate: rate, Workers: workers})
	}
	stop()
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
	defer os.RemoveAll(folder) //nolint:errcheck // it is temporary
	if err = os.WriteFile(folder+"/recipients.csv", []byte("id,number,text\n17,+639171234567,Spring sale\n"), 0o600); err != nil {
		return err
	}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", rand.Text()))
	if err != nil {
		return err
	}
	service := messagingtest.Start()
	defer service.Close()
	connect := func(options ...messaging.Option) (*messaging.Client, error) {
		return messaging.NewClient(service.URL, append(options, messaging.WithToken(service.Token))...)
	}
	return run(ctx, settings{folder: folder, address: "localhost:0", hooks: hooks, connect: connect})
}

// start runs the campaign in a folder with the settings of the environment.
func start(ctx context.Context, folder string, options messagingriver.Options) error {
	hooks, err := webhook.NewReceiverFromEnv()
	if err != nil {
		return err
	}
	zoneName := os.Getenv("CAMPAIGN_ZONE")
	if zoneName == "" {
		return errors.New("CAMPAIGN_ZONE is not set")
	}
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		return err
	}
	address := os.Getenv("CAMPAIGN_ADDRESS")
	if address == "" { // on a random port no STOP could arrive
		return errors.New("CAMPAIGN_ADDRESS is not set")
	}
	connect := func(options ...messaging.Option) (*messaging.Client, error) {
		return messaging.NewClientFromEnv(append(options, messaging.WithGuard(quietHours(zone)))...)
	}
	return run(ctx, settings{
		folder: folder, database: os.Getenv("CAMPAIGN_DATABASE"), address: address, hooks: hooks, connect: connect, options: options,
	})
}

// quietHours returns a guard that postpones messages from 20:00 to 8:00. The outbox keeps them until then.
func quietHours(zone *time.Location) func(context.Context, messaging.Outgoing) error {
	return func(context.Context, messaging.Outgoing) error {
		if wait := untilMorning(time.Now().In(zone)); wait > 0 {
			return messaging.Postpone(wait)
		}
		return nil
	}
}

// untilMorning returns the time until 8:00, and 0 from 8:00 to the evening. The evening begins 10 seconds before 20:00, because the approval of
// a guard holds for 5 seconds.
func untilMorning(now time.Time) time.Duration {
	morning := time.Date(now.Year(), now.Month(), now.Day(), 8, 0, 0, 0, now.Location())
	evening := time.Date(now.Year(), now.Month(), now.Day(), 19, 59, 50, 0, now.Location())
	if !now.Before(evening) {
		morning = morning.AddDate(0, 0, 1)
	}
	return max(0, morning.Sub(now))
}

// settings differ between campaigns.
type settings struct {
	folder   string
	database string // a PostgreSQL URL, or empty for an SQLite file in the folder
	address  string // where the service calls the webhook
	hooks    *webhook.Receiver
	connect  func(...messaging.Option) (*messaging.Client, error) // returns a client for the account, with more options
	options  messagingriver.Options
}

func run(ctx context.Context, in settings) error {
	database, err := openDatabase(ctx, in)
	if err != nil {
		return err
	}
	defer database.close()
	book, err := conversations.New(ctx, database.db, conversations.Options{})
	if err != nil {
		return err
	}
	client, err := in.connect(messaging.WithGuard(book.Guard))
	if err != nil {
		return err
	}
	server, err := receive(ctx, in.address, in.hooks, book)
	if err != nil {
		return err
	}
	defer server.Shutdown(context.WithoutCancel(ctx)) //nolint:errcheck // a STOP under way is noted; the service repeats others
	outbox, err := database.newOutbox(client, in.options)
	if err != nil {
		return err
	}
	return send(ctx, in.folder, database, client, outbox)
}

// database has the messages and the opt-outs.
type database struct {
	db   *sql.DB
	pool *pgxpool.Pool // of db, or nil on SQLite
}

func openDatabase(ctx context.Context, in settings) (*database, error) {
	if in.database != "" {
		pool, err := pgxpool.New(ctx, in.database)
		if err != nil {
			return nil, err
		}
		return &database{db: stdlib.OpenDBFromPool(pool), pool: pool}, nil
	}
	db, err := sql.Open("sqlite", in.folder+"/campaign.db?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &database{db: db}, nil
}

// newOutbox returns the outbox of the campaign. On PostgreSQL it has a schema of its own: other programs send none of its messages, and it sends
// none of theirs.
func (d *database) newOutbox(client *messaging.Client, options messagingriver.Options) (*messagingriver.Outbox[*sql.Tx], error) {
	if d.pool == nil {
		return messagingriver.NewSQLite(d.db, client, options)
	}
	options.Schema = schema
	return messagingriver.NewPostgresSQL(d.pool, client, options)
}

// schema is where the messages are on PostgreSQL.
const schema = "campaign_" + name

// recipients returns the name of the table that has the number of each message. The outbox deletes the numbers of accepted messages.
func (d *database) recipients() string {
	if d.pool == nil {
		return "recipients"
	}
	return schema + ".recipients"
}

// close closes the database. Everything is committed.
func (d *database) close() {
	_ = d.db.Close()
	if d.pool != nil {
		d.pool.Close()
	}
}

// send sends to the recipients in a folder, and writes the results.
func send(ctx context.Context, folder string, database *database, client *messaging.Client, outbox *messagingriver.Outbox[*sql.Tx]) error {
	err := outbox.Migrate(ctx)
	if err != nil {
		return err
	}
	messages, invalid, err := readRecipients(folder+"/recipients.csv", client)
	if err != nil {
		return err
	}
	added, err := enqueue(ctx, database, outbox, messages)
	if err != nil {
		return err
	}
	log.Printf("new lines: %d; known: %d; invalid: %d", added, len(messages)-added, len(invalid))
	if err = outbox.Start(ctx); err != nil {
		return err
	}
	waitErr := wait(ctx, outbox)
	stopErr := outbox.Stop(context.WithoutCancel(ctx)) // lets requests in flight end
	if err = errors.Join(waitErr, stopErr); err != nil {
		return err
	}
	return writeResults(ctx, folder+"/results.csv", outbox, messages, invalid)
}

// receive serves the webhook for SMS, so that STOP is noted in the book. Without it, nothing may be sent. The webhook needs no store: to note a
// STOP twice changes nothing.
func receive(ctx context.Context, address string, hooks *webhook.Receiver, book *conversations.Book) (*http.Server, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	handler := hooks.SMS(func(ctx context.Context, m webhook.SMSMessage) error {
		_, noteErr := book.Note(ctx, nil, conversations.FromSMS(m))
		if errors.Is(noteErr, conversations.ErrNoPerson) { // such as a sender with letters; a second call would change nothing
			return nil
		}
		return noteErr
	})
	mux := http.NewServeMux()
	mux.Handle("/hooks/sms", http.MaxBytesHandler(handler, 1<<20))
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      40 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 17,
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Fatalln("campaign:", err)
		}
	}()
	return server, nil
}

// readRecipients returns the messages of a file and, for each line that cannot be sent, its row of the results.
func readRecipients(path string, client *messaging.Client) (messages []sms.Message, invalid [][]string, err error) {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1                                        // a text with a comma and no quotes concerns its own line
	if _, err = reader.Read(); err != nil && !errors.Is(err, io.EOF) { // the names of the columns
		return nil, nil, err
	}
	earlier := earlierLines{ids: map[string]bool{}, numbers: map[string]int{}}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return messages, invalid, nil
		}
		if parseErr, ok := errors.AsType[*csv.ParseError](err); ok && errors.Is(err, csv.ErrBareQuote) { // such as 5" pizza
			invalid = append(invalid, invalidLine(row, parseErr.StartLine, parseErr.Err))
			continue
		}
		if err != nil { // where the next line begins is not certain
			return nil, nil, err
		}
		line, _ := reader.FieldPos(0)
		message, err := readRow(row, client, earlier)
		if err != nil {
			invalid = append(invalid, invalidLine(row, line, err))
			continue
		}
		earlier.ids[row[0]] = true
		earlier.numbers[canonical(row[1])] = line
		messages = append(messages, message)
	}
}

// invalidLine returns the row of the results for a line that cannot be sent. Its own row may have only the columns before the fault.
func invalidLine(row []string, line int, reason error) []string {
	reference := name + "-"
	if len(row) > 0 {
		reference += row[0]
	}
	return []string{reference, "invalid", "", fmt.Sprintf("line %d: %v", line, reason), "", "", ""}
}

// earlierLines has the IDs and the numbers of the valid lines before a line.
type earlierLines struct {
	ids     map[string]bool
	numbers map[string]int // the line of each number
}

// canonical returns an international number without the + or the 00 that it may begin with.
func canonical(number string) string { return strings.TrimLeft(number, "+0") }

// readRow returns the message of a line. The ID and the number must not be those of an earlier line: the outbox would skip the ID without a
// word, and the number would get two messages.
func readRow(row []string, client *messaging.Client, earlier earlierLines) (sms.Message, error) {
	if len(row) != 3 {
		return sms.Message{}, fmt.Errorf("want 3 columns, got %d", len(row))
	}
	id := row[0]
	number := row[1]
	text := row[2]
	if id == "" || earlier.ids[id] {
		return sms.Message{}, errors.New("the id is absent, or that of another line")
	}
	if line, isRepeated := earlier.numbers[canonical(number)]; isRepeated {
		return sms.Message{}, fmt.Errorf("same number as line %d", line)
	}
	message := sms.Message{From: "ACME", ReferenceID: name + "-" + id, To: number, Text: text, Marketing: true}
	return message, client.SMS.Validate(message)
}

// enqueue enqueues the messages that are new and returns how many there are. If a message that was enqueued before was for another number, nothing is
// enqueued: the result of the earlier message would be taken for that of the new number.
func enqueue(
	ctx context.Context, database *database, outbox *messagingriver.Outbox[*sql.Tx], recipients []sms.Message,
) (added int, err error) {
	tx, err := database.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	newRecipients, err := noteRecipients(ctx, tx, database.recipients(), recipients)
	if err != nil {
		return 0, err
	}
	messages := make([]messaging.Message, len(newRecipients))
	for i, message := range newRecipients {
		messages[i] = message
	}
	options := messagingriver.InsertOptions{Campaign: name, Priority: messagingriver.Bulk, Expire: 48 * time.Hour}
	added, err = outbox.InsertMany(ctx, tx, messages, options)
	if err != nil {
		return 0, err
	}
	return added, tx.Commit()
}

// noteRecipients adds the numbers of new messages to a table, and returns these messages. The table also has the messages that the outbox has
// deleted since, which it would send again. noteRecipients returns an error if a message is in the table with another number.
func noteRecipients(ctx context.Context, tx *sql.Tx, table string, recipients []sms.Message) ([]sms.Message, error) {
	if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+table+" (reference TEXT PRIMARY KEY, number TEXT NOT NULL)"); err != nil {
		return nil, err
	}
	known, err := knownNumbers(ctx, tx, table)
	if err != nil {
		return nil, err
	}
	var added []sms.Message
	for _, message := range recipients {
		number, isKnown := known[message.ReferenceID]
		if isKnown && canonical(number) != canonical(message.To) {
			return nil, fmt.Errorf("%s was enqueued for another number; give the line a new id, or another campaign another name", message.ReferenceID)
		}
		if isKnown {
			continue
		}
		insert := "INSERT INTO " + table + " (reference, number) VALUES ($1, $2)" //nolint:gosec // the table is a constant
		if _, err := tx.ExecContext(ctx, insert, message.ReferenceID, message.To); err != nil {
			return nil, err
		}
		added = append(added, message)
	}
	return added, nil
}

// knownNumbers returns the numbers in a table by their reference IDs.
func knownNumbers(ctx context.Context, tx *sql.Tx, table string) (map[string]string, error) {
	rows, err := tx.QueryContext(ctx, "SELECT reference, number FROM "+table) //nolint:gosec // the table is a constant
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err has its error
	known := map[string]string{}
	for rows.Next() {
		var reference, number string
		if err := rows.Scan(&reference, &number); err != nil {
			return nil, err
		}
		known[reference] = number
	}
	return known, rows.Err()
}

// wait returns when all messages are final.
func wait(ctx context.Context, outbox *messagingriver.Outbox[*sql.Tx]) error {
	for {
		campaigns, err := outbox.Campaigns(ctx)
		if err != nil {
			return err
		}
		left := 0
		for _, campaign := range campaigns {
			left += campaign.Unfinished()
		}
		log.Printf("%d left", left)
		if left == 0 {
			return nil
		}
		select {
		case <-time.After(5 * time.Second): // Campaigns reads all messages
		case <-ctx.Done():
			return fmt.Errorf("stopped; start it again to go on: %w", ctx.Err())
		}
	}
}

// writeResults writes what became of each line to a file. A message that a person resolved as sent has no message ID and no cost. A message that
// the outbox has deleted, because it became final long ago, is "deleted".
func writeResults(
	ctx context.Context, path string, outbox *messagingriver.Outbox[*sql.Tx], messages []sms.Message, invalid [][]string,
) error {
	numbers := map[string]string{}
	for _, message := range messages {
		numbers[message.ReferenceID] = message.To
	}
	isListed := map[string]bool{}
	results := [][]string{{"reference", "verdict", "message", "reason", "cost", "currency", "recipient"}}
	for record, err := range outbox.List(ctx) {
		if err != nil {
			return err
		}
		var receipt messaging.Receipt
		if record.Receipt != nil {
			receipt = *record.Receipt
		}
		results = append(results, []string{
			record.Reference, record.Verdict.String(), receipt.ID, record.Reason, receipt.Cost, receipt.Currency, numbers[record.Reference],
		})
		isListed[record.Reference] = true
	}
	for _, message := range messages {
		if !isListed[message.ReferenceID] {
			results = append(results, []string{message.ReferenceID, "deleted", "", "it became final long ago", "", "", message.To})
		}
	}
	var file bytes.Buffer
	if err := csv.NewWriter(&file).WriteAll(append(results, invalid...)); err != nil {
		return err
	}
	// A program that is killed may leave half of the temporary file, but not half of the results.
	temporary := path + ".tmp"
	if err := os.WriteFile(temporary, file.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
