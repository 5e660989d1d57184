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

type shop struct {
	http.ServeMux

	db       *sql.DB
	pool     *pgxpool.Pool // of db, or nil on SQLite
	client   *messaging.Client
	book     *conversations.Book // of opt-outs
	store    *sqlstore.Store     // events that were handled
	outbox   *messagingriver.Outbox[*sql.Tx]
	sender   string // of SMS
	callback string // where the service reports delivery
}

// open opens the shop in a database with tables, and serves orders, callbacks and the readiness probe. The caller must close the shop.
func open(ctx context.Context, in settings) (*shop, error) {
	s, err := openDatabase(ctx, in)
	if err != nil {
		return nil, err
	}
	if err = s.serveHooks(in); err != nil {
		s.close()
		return nil, err
	}
	s.HandleFunc("GET /healthz", health(s.outbox.Alive))
	s.HandleFunc("POST /orders", s.order)
	s.HandleFunc("GET /orders/{id}", s.showOrder)
	return s, nil
}

// openDatabase opens the database, with the outbox, the opt-outs and the receiver's store in it. All use the transactions of database/sql.
func openDatabase(ctx context.Context, in settings) (*shop, error) {
	s := &shop{sender: in.sender}
	if err := s.connect(ctx, in.databaseURL); err != nil {
		return nil, err
	}
	if err := s.build(ctx, in); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// connect opens a database: PostgreSQL if it is a URL, and otherwise an SQLite file.
func (s *shop) connect(ctx context.Context, databaseURL string) (err error) {
	if isPostgres(databaseURL) {
		s.pool, err = pgxpool.New(ctx, databaseURL)
		if err != nil {
			return err
		}
		s.db = stdlib.OpenDBFromPool(s.pool)
		return nil
	}
	s.db, err = sql.Open("sqlite", "file:"+databaseURL+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1) // the shop, the receiver and the outbox share the connection
	return nil
}

func isPostgres(databaseURL string) bool {
	return strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://")
}

// build makes the parts of the shop on its database. The client asks the book of opt-outs before each message.
func (s *shop) build(ctx context.Context, in settings) (err error) {
	s.store, err = sqlstore.New(ctx, s.db, 0)
	if err != nil {
		return err
	}
	s.book, err = conversations.New(ctx, s.db, conversations.Options{AllChannels: true})
	if err != nil {
		return err
	}
	s.client, err = in.client.With(messaging.WithGuard(s.book.Guard))
	if err != nil {
		return err
	}
	in.outbox.OnOutcome = s.noteOutcome
	if s.pool != nil {
		s.outbox, err = messagingriver.NewPostgresSQL(s.pool, s.client, in.outbox)
	} else {
		s.outbox, err = messagingriver.NewSQLite(s.db, s.client, in.outbox)
	}
	return err
}

// close closes the database. Everything is committed.
func (s *shop) close() {
	_ = s.db.Close()
	if s.pool != nil {
		s.pool.Close()
	}
}

// serveHooks serves the callbacks, with a store in the shop's database.
func (s *shop) serveHooks(in settings) error {
	hooks, err := in.newReceiver(
		webhook.WithStore(s.store),
		webhook.WithStatuses(s.report), // of chat app 2's platform, which come to /hooks/chatapp2
		webhook.WithHook(webhook.LogHook(slog.Default())),
		webhook.WithHook(errorHook()),
	)
	if err != nil {
		return err
	}
	s.Handle("/hooks/delivery", hooks.Delivery(s.report))
	s.Handle("/hooks/sms", hooks.SMS(s.reply))
	s.Handle("/hooks/chatapp2", hooks.ChatApp2(func(ctx context.Context, m webhook.ChatMessage) error {
		return s.note(ctx, conversations.FromChat(m))
	}))
	s.callback, err = hooks.DeliveryURL(in.url + "/hooks/delivery")
	return err
}

// orderTable has the orders. Each has one message at a time: the SMS replaces the chat-app message. If its verdict is other than accepted, or its
// delivery failed, the customer may not have heard from the shop.
const orderTable = `
CREATE TABLE IF NOT EXISTS shop_order (
	id         TEXT PRIMARY KEY,
	phone      TEXT NOT NULL,
	reference  TEXT NOT NULL UNIQUE,       -- reference ID of the message: the ID of the order, or that of its SMS
	message_id TEXT NOT NULL DEFAULT '',   -- ID that the service gave the message, once it is known
	verdict    TEXT NOT NULL DEFAULT '',   -- empty while the message waits; a person's decisions are in the outbox alone
	delivery   TEXT NOT NULL DEFAULT '',   -- last final status that was reported, such as delivered
	error_code TEXT NOT NULL DEFAULT '',   -- of the report, if it failed
	reports    INT NOT NULL DEFAULT 0,
	enqueued   BIGINT NOT NULL             -- when the message was enqueued, in seconds since 1970
);
CREATE INDEX IF NOT EXISTS shop_order_message ON shop_order (message_id);
CREATE INDEX IF NOT EXISTS shop_order_open ON shop_order (enqueued) WHERE message_id = '' AND verdict IN ('', 'unknown');`

// createTables creates the tables that do not exist, and updates those of the outbox. Only one process may call it at a time.
func (s *shop) createTables(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, orderTable); err != nil {
		return err
	}
	return s.outbox.Migrate(ctx)
}

// prune deletes the events and windows that are no longer needed.
func (s *shop) prune(ctx context.Context) error {
	_, eventsErr := s.store.Prune(ctx, 7*24*time.Hour)
	_, windowsErr := s.book.Prune(ctx)
	return errors.Join(eventsErr, windowsErr)
}
