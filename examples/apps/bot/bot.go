package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

type bot struct {
	http.ServeMux

	logger    *slog.Logger
	db        *sql.DB
	pool      *pgxpool.Pool       // of db, or nil on SQLite
	book      *conversations.Book // opt-outs, and when people wrote
	store     *sqlstore.Store     // the events that were handled
	outbox    *messagingriver.Outbox[*sql.Tx]
	sender    string // of SMS
	channelID string // of chat app 1
	callback  string // where the service reports delivery
}

// open connects to the database and registers the handlers of the callbacks and of the readiness probe. The tables of the outbox and of the replies
// need not exist yet; see createTables. The caller must close the bot.
func open(ctx context.Context, in settings) (*bot, error) {
	b := &bot{logger: slog.Default(), sender: in.sender, channelID: in.channelID}
	if err := b.connect(ctx, in.database); err != nil {
		return nil, err
	}
	if err := b.build(ctx, in); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// connect opens a database: PostgreSQL if it is a URL, and otherwise an SQLite file.
func (b *bot) connect(ctx context.Context, database string) (err error) {
	if isPostgres(database) {
		b.pool, err = pgxpool.New(ctx, database)
		if err != nil {
			return err
		}
		b.db = stdlib.OpenDBFromPool(b.pool) // the receiver's store and the book use database/sql
		return nil
	}
	b.db, err = sql.Open("sqlite", "file:"+database+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	b.db.SetMaxOpenConns(1) // the receiver and the outbox share the connection
	return nil
}

func isPostgres(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}

// If the process is killed while it handles an event, the event can be handled again only after its lease has ended. The lease is short, because the
// service may soon stop calling.
const (
	handlerTimeout = 10 * time.Second
	lease          = 15 * time.Second
)

// build makes the parts of the bot on its database.
func (b *bot) build(ctx context.Context, in settings) (err error) {
	// CANCEL and END opt a person out, like STOP: if they mean something else to your bot, set Options.StopWords.
	b.book, err = conversations.New(ctx, b.db, conversations.Options{AllChannels: true})
	if err != nil {
		return err
	}
	client, err := in.client.With(messaging.WithGuard(b.book.Guard))
	if err != nil {
		return err
	}
	if err = b.openOutbox(client); err != nil {
		return err
	}
	b.store, err = sqlstore.New(ctx, b.db, lease)
	if err != nil {
		return err
	}
	b.HandleFunc("GET /healthz", health(b.outbox.Alive))
	return b.serveHooks(in)
}

// openOutbox opens the outbox in the bot's database.
func (b *bot) openOutbox(client *messaging.Client) (err error) {
	options := messagingriver.Options{
		OnOutcome: b.noteOutcome,
		SettleFor: 2 * time.Minute, // a person waits; set more if the service lists an SMS later than that
	}
	if b.pool != nil {
		b.outbox, err = messagingriver.NewPostgresSQL(b.pool, client, options)
	} else {
		b.outbox, err = messagingriver.NewSQLite(b.db, client, options)
	}
	return err
}

// startOutbox starts the outbox. On SQLite, where one process serves, it first creates the tables. On PostgreSQL, where several processes may start
// at once, "bot migrate" creates them.
func (b *bot) startOutbox(ctx context.Context) error {
	if b.pool == nil {
		if err := b.createTables(ctx); err != nil {
			return err
		}
	}
	return b.outbox.Start(ctx)
}

// createTables creates or updates the tables of the outbox, and creates the table of the replies.
func (b *bot) createTables(ctx context.Context) error {
	if err := b.outbox.Migrate(ctx); err != nil {
		return err
	}
	_, err := b.db.ExecContext(ctx, replyTable)
	return err
}

// close closes the database. It ignores the error, because no transaction is open.
func (b *bot) close() {
	_ = b.db.Close()
	if b.pool != nil {
		b.pool.Close()
	}
}

// serveHooks serves the callbacks, with a store in the bot's database.
func (b *bot) serveHooks(in settings) error {
	hooks, err := in.newReceiver(
		webhook.WithStore(b.store),
		webhook.WithHandlerTimeout(handlerTimeout),
		webhook.WithStatuses(b.report), // of chat app 2's platform, which come to /hooks/chatapp2
		webhook.WithPreferences(b.notePreference),
		webhook.WithHook(webhook.LogHook(b.logger)),
		webhook.WithHook(errorHook()),
	)
	if err != nil {
		return err
	}
	b.Handle("/hooks/sms", hooks.SMS(b.receiveSMS))
	b.Handle("/hooks/chatapp1", hooks.ChatApp1(b.receiveChat))
	b.Handle("/hooks/chatapp2", hooks.ChatApp2(b.receiveChat))
	b.Handle("/hooks/delivery", hooks.Delivery(b.report))
	b.callback, err = hooks.DeliveryURL(in.url + "/hooks/delivery")
	return err
}

// prune deletes old events, old replies and closed windows. Open questions stay.
func (b *bot) prune(ctx context.Context) error {
	const keep = 7 * 24 * time.Hour
	_, eventsErr := b.store.Prune(ctx, keep)
	_, windowsErr := b.book.Prune(ctx)
	repliesErr := pruneReplies(ctx, b.db, time.Now().Add(-keep))
	return errors.Join(eventsErr, windowsErr, repliesErr)
}
