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

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

type otp struct {
	http.ServeMux

	db       *sql.DB
	pool     *pgxpool.Pool   // of db, or nil on SQLite
	store    *sqlstore.Store // reports that were handled
	outbox   *messagingriver.Outbox[*sql.Tx]
	sender   string        // of SMS
	smsAfter time.Duration // after a request
	callback string        // where the service reports delivery
}

// open opens the program in a database with tables, and serves its forms, callbacks and the readiness probe. The caller must close the program.
func open(ctx context.Context, in settings) (*otp, error) {
	o := &otp{sender: in.sender, smsAfter: in.smsAfter}
	if err := o.connect(ctx, in.databaseURL); err != nil {
		return nil, err
	}
	if err := o.build(ctx, in); err != nil {
		o.close()
		return nil, err
	}
	o.HandleFunc("GET /healthz", health(o.outbox.Alive))
	o.HandleFunc("POST /codes", o.serveSend)
	o.HandleFunc("POST /codes/status", o.serveStatus)
	o.HandleFunc("POST /codes/verify", o.serveVerify)
	return o, nil
}

// connect opens a database: PostgreSQL if it is a URL, and otherwise an SQLite file.
func (o *otp) connect(ctx context.Context, database string) (err error) {
	if isPostgres(database) {
		o.pool, err = pgxpool.New(ctx, database)
		if err != nil {
			return err
		}
		o.db = stdlib.OpenDBFromPool(o.pool) // all transactions are those of database/sql
		return nil
	}
	o.db, err = sql.Open("sqlite", "file:"+database+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	o.db.SetMaxOpenConns(1) // the program, the receiver and the outbox share the connection
	return nil
}

func isPostgres(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}

// build makes the parts of the program on its database.
func (o *otp) build(ctx context.Context, in settings) (err error) {
	in.outbox.OnOutcome = o.noteOutcome
	in.outbox.Keep = 24 * time.Hour // of no use after that: each code has reference IDs of its own
	if o.pool != nil {
		o.outbox, err = messagingriver.NewPostgresSQL(o.pool, in.client, in.outbox)
	} else {
		o.outbox, err = messagingriver.NewSQLite(o.db, in.client, in.outbox)
	}
	if err != nil {
		return err
	}
	o.store, err = sqlstore.New(ctx, o.db, 0)
	if err != nil {
		return err
	}
	return o.serveHooks(in)
}

// close closes the database. Everything is committed.
func (o *otp) close() {
	_ = o.db.Close()
	if o.pool != nil {
		o.pool.Close()
	}
}

// serveHooks serves delivery reports and the statuses of chat app 2's platform, with a store in the database of the program.
func (o *otp) serveHooks(in settings) error {
	hooks, err := in.newReceiver(
		webhook.WithStore(o.store),
		webhook.WithStatuses(o.report), // of chat app 2's platform, which come to /hooks/chatapp2
		webhook.WithHook(webhook.LogHook(slog.Default())),
		webhook.WithHook(errorHook()),
	)
	if err != nil {
		return err
	}
	o.Handle("/hooks/delivery", hooks.Delivery(o.report))
	o.Handle("/hooks/chatapp2", hooks.ChatApp2(ignoreMessage))
	o.callback, err = hooks.DeliveryURL(in.url + "/hooks/delivery")
	return err
}

// ignoreMessage ignores what a person writes on chat app 2. If the account has one URL for the messages of several programs, reply here.
func ignoreMessage(context.Context, webhook.ChatMessage) error { return nil }

// createTables creates the tables that do not exist, and updates those of the outbox. Only one process may call it at a time.
func (o *otp) createTables(ctx context.Context) error {
	if err := o.outbox.Migrate(ctx); err != nil {
		return err
	}
	_, err := o.db.ExecContext(ctx, codeTable)
	return err
}

// prune deletes codes that have expired, with their digits and numbers, the IDs of their messages, the counts of earlier days, and old reports.
func (o *otp) prune(ctx context.Context) error {
	expired := "SELECT reference FROM otp_code WHERE expires <= $1"
	if o.pool != nil { // a request may delete the same rows in another order: a deadlock
		expired += " FOR UPDATE SKIP LOCKED"
	}
	_, codesErr := o.db.ExecContext(ctx, "DELETE FROM otp_code WHERE reference IN ("+expired+")", time.Now().UnixMilli())
	_, messagesErr := o.db.ExecContext(ctx, "DELETE FROM otp_message WHERE noted <= $1", time.Now().Add(-validFor).UnixMilli())
	_, countsErr := o.db.ExecContext(ctx, "DELETE FROM otp_count WHERE day < $1", today())
	_, reportsErr := o.store.Prune(ctx, 7*24*time.Hour)
	return errors.Join(codesErr, messagesErr, countsErr, reportsErr)
}
