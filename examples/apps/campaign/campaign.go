package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// campaign has the messages of a folder, in a database with those of other campaigns.
type campaign struct {
	name     string
	sender   string
	callback string // where the service reports delivery
	client   *messaging.Client
	db       *sql.DB
	book     *conversations.Book // opt-outs
	outbox   *messagingriver.Outbox[*sql.Tx]
	close    func() // the database
}

// open opens the database, and creates its tables or updates those of the outbox.
func open(ctx context.Context, in settings) (*campaign, error) {
	folder, err := filepath.Abs(in.folder)
	if err != nil {
		return nil, err
	}
	callback, err := in.hooks.DeliveryURL(in.url + "/hooks/delivery")
	if err != nil {
		return nil, err
	}
	c := &campaign{name: filepath.Base(folder), sender: in.sender, callback: callback}
	connect := c.openSQLite
	if strings.HasPrefix(in.databaseURL, "postgres://") || strings.HasPrefix(in.databaseURL, "postgresql://") {
		connect = c.openPostgres
	}
	if err = connect(ctx, in); err != nil {
		return nil, err
	}
	err = c.createTables(ctx)
	if err == nil {
		err = c.checkZone(ctx, in.zone)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *campaign) openSQLite(ctx context.Context, in settings) error {
	db, err := sql.Open("sqlite", "file:"+in.databaseURL+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // the campaign, the opt-outs and the outbox share the connection
	c.db = db
	c.close = func() { _ = db.Close() }
	if err = c.guard(ctx, in.client); err == nil {
		c.outbox, err = messagingriver.NewSQLite(db, c.client, in.outbox)
	}
	if err != nil {
		c.close()
	}
	return err
}

// openPostgres has the messages of all campaigns in a schema of their own: other programs send none of them, and campaigns send none of theirs.
func (c *campaign) openPostgres(ctx context.Context, in settings) error {
	const schema = "campaign"
	pool, err := pgxpool.New(ctx, in.databaseURL)
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	c.db = db
	c.close = func() {
		_ = db.Close()
		pool.Close()
	}
	in.outbox.Schema = schema
	if err = c.guard(ctx, in.client); err == nil {
		c.outbox, err = messagingriver.NewPostgresSQL(pool, c.client, in.outbox)
	}
	if err != nil {
		c.close()
	}
	return err
}

// guard opens the book of opt-outs, and makes a client that asks it before each message. If your service gives senders of SMS in national form, set
// CountryCode.
func (c *campaign) guard(ctx context.Context, client *messaging.Client) error {
	var err error
	c.book, err = conversations.New(ctx, c.db, conversations.Options{AllChannels: true})
	if err != nil {
		return err
	}
	c.client, err = client.With(messaging.WithGuard(c.book.Guard))
	return err
}

// createTables creates the tables that do not exist, and updates those of the outbox. The table campaign_recipient has the recipient of each message,
// which the outbox deletes.
func (c *campaign) createTables(ctx context.Context) error {
	const recipients = `CREATE TABLE IF NOT EXISTS campaign_recipient (reference TEXT PRIMARY KEY, campaign TEXT NOT NULL,
		number TEXT NOT NULL, text_hash TEXT NOT NULL, delivery TEXT NOT NULL DEFAULT '')`
	if _, err := c.db.ExecContext(ctx, recipients); err != nil {
		return err
	}
	const zone = "CREATE TABLE IF NOT EXISTS campaign_zone (id INTEGER PRIMARY KEY CHECK (id = 1), zone TEXT NOT NULL)"
	if _, err := c.db.ExecContext(ctx, zone); err != nil {
		return err
	}
	return c.outbox.Migrate(ctx)
}

// checkZone stores the time zone of the first campaign, and returns an error if that of this one is another: each sends the messages of all, at its
// own hours.
func (c *campaign) checkZone(ctx context.Context, zone string) error {
	const insert = "INSERT INTO campaign_zone (id, zone) VALUES (1, $1) ON CONFLICT DO NOTHING"
	if _, err := c.db.ExecContext(ctx, insert, zone); err != nil {
		return err
	}
	var stored string
	if err := c.db.QueryRowContext(ctx, "SELECT zone FROM campaign_zone").Scan(&stored); err != nil {
		return err
	}
	if stored != zone {
		return fmt.Errorf("this database is for %s: use one database for each zone", stored)
	}
	return nil
}

// note notes a STOP or START. The webhook needs no store: to note one twice changes nothing.
func (c *campaign) note(ctx context.Context, m webhook.SMSMessage) error {
	_, err := c.book.Note(ctx, nil, conversations.FromSMS(m))
	if errors.Is(err, conversations.ErrNoPerson) { // such as a sender with letters; a second call would change nothing
		return nil
	}
	return err
}

// report stores the status of a message, which was sent even if its response was lost. A report that comes twice changes nothing. One without a
// reference ID is ignored: services whose reports have none need the message IDs in the table, as in examples/apps/shop.
func (c *campaign) report(ctx context.Context, report webhook.DeliveryReport) error {
	if report.Ambiguous {
		return nil
	}
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	const lock = "UPDATE campaign_recipient SET delivery = delivery WHERE reference = $1 RETURNING delivery"
	var before webhook.Status
	err = tx.QueryRowContext(ctx, lock, report.ReferenceID).Scan(&before)
	if errors.Is(err, sql.ErrNoRows) { // of another message
		return nil
	}
	if err != nil {
		return err
	}
	key := messagingriver.Key{Channel: messaging.ChannelSMS.String(), Reference: report.ReferenceID}
	if _, err = c.outbox.ResolveTx(ctx, tx, messagingriver.Sent, key); err != nil {
		return err
	}
	if report.Status.Supersedes(before) {
		const update = "UPDATE campaign_recipient SET delivery = $1 WHERE reference = $2"
		if _, err = tx.ExecContext(ctx, update, report.Status, report.ReferenceID); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// recipient is a row of campaign_recipient.
type recipient struct {
	number   string
	textHash string
	delivery webhook.Status
}

// recipientOf returns the row of a message. The table has no texts.
func recipientOf(message sms.Message) recipient {
	hash := sha256.Sum256([]byte(message.Text))
	return recipient{number: message.To, textHash: hex.EncodeToString(hash[:])}
}

// enqueue enqueues the messages that are new and returns how many there are. If a message that was enqueued before had another number or text,
// nothing is enqueued: the result of the earlier message would be taken for that of the new one.
func (c *campaign) enqueue(ctx context.Context, messages []sms.Message) (added int, err error) {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	newMessages, err := c.noteRecipients(ctx, tx, messages)
	if err != nil {
		return 0, err
	}
	options := messagingriver.InsertOptions{Campaign: c.name, Priority: messagingriver.Bulk, Expire: 48 * time.Hour}
	added, err = c.outbox.InsertMany(ctx, tx, newMessages, options)
	if err != nil {
		return 0, err
	}
	return added, tx.Commit()
}

// noteRecipients adds the recipients of new messages to their table, and returns these messages. The table also has the messages that the outbox has
// deleted since, which it would send again.
func (c *campaign) noteRecipients(ctx context.Context, tx *sql.Tx, messages []sms.Message) ([]messaging.Message, error) {
	known, err := c.recipients(ctx, tx)
	if err != nil {
		return nil, err
	}
	const insert = "INSERT INTO campaign_recipient (reference, campaign, number, text_hash) VALUES ($1, $2, $3, $4)"
	var added []messaging.Message
	for _, message := range messages {
		wanted := recipientOf(message)
		earlier, isKnown := known[message.ReferenceID]
		if isKnown && (earlier.number != wanted.number || earlier.textHash != wanted.textHash) {
			return nil, fmt.Errorf("%s was enqueued with another number or text: give the line a new id, or the campaign a folder with a new name",
				message.ReferenceID)
		}
		if isKnown {
			continue
		}
		if _, err := tx.ExecContext(ctx, insert, message.ReferenceID, c.name, wanted.number, wanted.textHash); err != nil {
			return nil, err
		}
		added = append(added, message)
	}
	return added, nil
}

// queryer is a *sql.DB or a *sql.Tx.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// recipients returns the recipients of the campaign by the reference IDs of their messages.
func (c *campaign) recipients(ctx context.Context, on queryer) (map[string]recipient, error) {
	const query = "SELECT reference, number, text_hash, delivery FROM campaign_recipient WHERE campaign = $1"
	rows, err := on.QueryContext(ctx, query, c.name)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err has its error
	found := map[string]recipient{}
	for rows.Next() {
		var reference string
		var row recipient
		if err := rows.Scan(&reference, &row.number, &row.textHash, &row.delivery); err != nil {
			return nil, err
		}
		found[reference] = row
	}
	return found, rows.Err()
}

// send writes the results once all messages are final. Then it goes on, for messages that a person resends, until the context ends.
func (c *campaign) send(ctx context.Context, in settings, lines lines) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	path := in.folder + "/results.csv"
	if err := c.writeResults(ctx, path, lines); err != nil {
		return err
	}
	log.Printf("all messages are final: see %s; Ctrl-C ends this, and writes it again with the delivery reports", path)
	in.hasResults()
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) { // the webhook failed
		return cause
	}
	return nil
}

// wait returns nil when all messages are final.
func (c *campaign) wait(ctx context.Context) error {
	for {
		left, err := c.unfinished(ctx)
		switch {
		case err == nil && left == 0:
			return nil
		case err == nil:
			log.Printf("%d left", left) //nolint:gosec // a number
		case ctx.Err() == nil: // such as a restart of the database
			log.Println("the messages cannot be counted yet:", err)
		}
		select {
		case <-time.After(5 * time.Second): // unfinished reads all messages
		case <-ctx.Done():
			return fmt.Errorf("stopped; start it again to go on: %w", context.Cause(ctx))
		}
	}
}

// unfinished returns how many messages are not final.
func (c *campaign) unfinished(ctx context.Context) (int, error) {
	campaigns, err := c.outbox.Campaigns(ctx, c.name)
	if errors.Is(err, messaging.ErrNotFound) { // no line is valid, or the outbox has deleted all messages
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return campaigns[0].Unfinished(), nil
}
