package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// campaign has the messages of a folder, in a database with those of other campaigns.
type campaign struct {
	name     string
	folder   string
	sender   string
	callback string // where the service reports delivery
	db       *database
	book     *conversations.Book // opt-outs
	store    *sqlstore.Store     // the events that were handled
	hooks    *webhook.Receiver
	client   *messaging.Client
	outbox   *messagingriver.Outbox[*sql.Tx]
}

// open opens a campaign with its database. The caller must close the database.
func open(ctx context.Context, in settings) (*campaign, error) {
	db, err := openDatabase(ctx, in.databaseURL)
	if err != nil {
		return nil, err
	}
	c, err := newCampaign(ctx, db, in)
	if err != nil {
		db.close()
		return nil, err
	}
	return c, nil
}

// newCampaign returns a campaign whose client asks the book of opt-outs before each message. If your service gives senders of SMS in national
// form, set CountryCode.
func newCampaign(ctx context.Context, db *database, in settings) (*campaign, error) {
	folder, err := filepath.Abs(in.folder)
	if err != nil {
		return nil, err
	}
	store, err := sqlstore.New(ctx, db.DB, 0)
	if err != nil {
		return nil, err
	}
	hooks, err := in.newReceiver(webhook.WithStore(store))
	if err != nil {
		return nil, err
	}
	callback, err := hooks.DeliveryURL(in.url + "/hooks/delivery")
	if err != nil {
		return nil, err
	}
	book, err := conversations.New(ctx, db.DB, conversations.Options{AllChannels: true})
	if err != nil {
		return nil, err
	}
	client, err := in.client.With(messaging.WithGuard(book.Guard))
	if err != nil {
		return nil, err
	}
	outbox, err := db.newOutbox(client, in.outbox)
	if err != nil {
		return nil, err
	}
	c := &campaign{
		name:     filepath.Base(folder),
		folder:   folder,
		sender:   in.sender,
		callback: callback,
		db:       db,
		book:     book,
		store:    store,
		hooks:    hooks,
		client:   client,
		outbox:   outbox,
	}
	if err = c.createTables(ctx); err != nil {
		return nil, err
	}
	return c, c.checkZone(ctx, in.zone)
}

// prune deletes old events and closed windows. Opt-outs stay.
func (c *campaign) prune(ctx context.Context) error {
	_, eventsErr := c.store.Prune(ctx, 7*24*time.Hour)
	_, windowsErr := c.book.Prune(ctx)
	return errors.Join(eventsErr, windowsErr)
}

// createTables creates the tables that do not exist, and updates those of the outbox.
func (c *campaign) createTables(ctx context.Context) error {
	const recipients = `CREATE TABLE IF NOT EXISTS campaign_recipient (reference TEXT PRIMARY KEY, campaign TEXT NOT NULL,
		number TEXT NOT NULL, text_hash TEXT NOT NULL, enqueued BIGINT NOT NULL, delivery TEXT NOT NULL DEFAULT '', cost TEXT NOT NULL DEFAULT '',
		currency TEXT NOT NULL DEFAULT '')`
	if _, err := c.db.ExecContext(ctx, recipients); err != nil {
		return err
	}
	const zone = "CREATE TABLE IF NOT EXISTS campaign_zone (id INTEGER PRIMARY KEY CHECK (id = 1), zone TEXT NOT NULL)"
	if _, err := c.db.ExecContext(ctx, zone); err != nil {
		return err
	}
	return c.outbox.Migrate(ctx)
}

// checkZone stores the time zone of the first campaign, and returns an error if the zone of this one is another: each process sends the messages
// of all campaigns, at its own hours.
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

// reference returns the reference ID of the message of a line. The name of a folder has no slash, so no two campaigns have the same.
func (c *campaign) reference(id string) string { return c.name + "/" + id }
