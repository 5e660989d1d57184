package main

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// shop takes orders and notifies customers of them, on either database. A program with one database needs no type parameter.
type shop[TTx any] struct {
	*messagingriver.Outbox[TTx]

	db     *sql.DB
	driver riverdriver.Driver[TTx]
	begin  func(ctx context.Context) (transaction[TTx], error)
	closed func() // closes what the shop opened
}

// transaction is a transaction of the shop's own, with what the two databases spell differently.
type transaction[TTx any] struct {
	tx       TTx
	exec     func(statement string, args ...any) error
	commit   func() error
	rollback func() error
}

// anyShop is a shop on one of the databases.
type anyShop interface {
	Resolve(ctx context.Context, decision messagingriver.Decision, keys ...messagingriver.Key) (int, error)
	SetRate(ctx context.Context, perSecond float64) error
	parked(ctx context.Context) ([]messagingriver.Record, error)
	order(ctx context.Context, first, n int) error
	work(ctx context.Context) (stop func(context.Context) error, err error)
	counts(ctx context.Context) (map[messagingriver.State]int, error)
	paused(ctx context.Context) (string, error)
	replies(ctx context.Context, options ...webhook.Option) (http.Handler, error)
	countReplies(ctx context.Context) (int, error)
	close()
}

// open opens a shop in the database at a URL: postgres://… or the path of an SQLite file.
func open(ctx context.Context, url string, client *messaging.Client, options messagingriver.Options) (anyShop, error) {
	if strings.HasPrefix(url, "postgres://") {
		return openPostgres(ctx, url, client, options)
	}
	return openSQLite(url, client, options)
}

func openSQLite(path string, client *messaging.Client, options messagingriver.Options) (anyShop, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	outbox, err := messagingriver.NewSQLite(db, client, options)
	if err != nil {
		return nil, err
	}
	begin := func(ctx context.Context) (transaction[*sql.Tx], error) {
		tx, err := db.BeginTx(ctx, nil)
		return transaction[*sql.Tx]{tx, func(statement string, args ...any) error {
			_, execErr := tx.ExecContext(ctx, statement, args...)
			return execErr
		}, tx.Commit, tx.Rollback}, err
	}
	return shop[*sql.Tx]{outbox, db, riversqlite.New(db), begin, func() { _ = db.Close() }}, nil
}

func openPostgres(ctx context.Context, url string, client *messaging.Client, options messagingriver.Options) (anyShop, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	outbox, err := messagingriver.NewPostgres(pool, client, options)
	if err != nil {
		return nil, err
	}
	begin := func(ctx context.Context) (transaction[pgx.Tx], error) {
		tx, err := pool.Begin(ctx)
		return transaction[pgx.Tx]{tx, func(statement string, args ...any) error {
			_, execErr := tx.Exec(ctx, statement, args...)
			return execErr
		}, func() error { return tx.Commit(ctx) }, func() error { return tx.Rollback(ctx) }}, err
	}
	db := stdlib.OpenDBFromPool(pool)
	closed := func() {
		_ = db.Close()
		pool.Close()
	}
	return shop[pgx.Tx]{outbox, db, riverpgxv5.New(pool), begin, closed}, nil
}

func (s shop[TTx]) close() { s.closed() }

// migrate creates the tables. A test does it before it starts processes.
func migrate(ctx context.Context, shop anyShop) error {
	m, ok := shop.(interface {
		Migrate(ctx context.Context) error
		createOrders(ctx context.Context) error
	})
	if !ok {
		return fmt.Errorf("%T cannot be migrated", shop)
	}
	if err := m.Migrate(ctx); err != nil {
		return err
	}
	return m.createOrders(ctx)
}

func (s shop[TTx]) createOrders(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS shop_order (id BIGINT PRIMARY KEY)")
	return err
}

// order takes n orders, numbered from first, and enqueues the message of each, in one transaction.
func (s shop[TTx]) order(ctx context.Context, first, n int) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.rollback() //nolint:errcheck // nothing after the commit
	messages := make([]messagingriver.Message, 0, n)
	for id := first; id < first+n; id++ {
		if err := t.exec("INSERT INTO shop_order (id) VALUES ($1)", id); err != nil {
			return err
		}
		messages = append(messages, message(id))
	}
	if _, err := s.InsertMany(ctx, t.tx, messages, river.InsertOpts{}); err != nil {
		return err
	}
	return t.commit()
}

// message returns the message of an order: most are SMS.
func message(id int) messagingriver.Message {
	to, text, reference := fmt.Sprintf("+63917%07d", id), fmt.Sprintf("Your order %d is ready", id), fmt.Sprintf("order-%d", id)
	switch id % 10 {
	case 3:
		return chatapp1.New("channel-1", to).Text(text).WithReference(reference)
	case 6:
		return chatapp2.Message{To: to, Content: chatapp2.Text{Body: text}, ReferenceID: reference}
	default:
		return sms.Message{From: "ACME", To: to, Text: text, ReferenceID: reference}
	}
}

// work sends messages until stop is called.
func (s shop[TTx]) work(ctx context.Context) (stop func(context.Context) error, err error) {
	// River's log would disturb the display. In production, pass yours.
	config := &river.Config{Logger: slog.New(slog.DiscardHandler)}
	if err = s.AddTo(config); err != nil {
		return nil, err
	}
	client, err := river.NewClient(s.driver, config)
	if err != nil {
		return nil, err
	}
	return client.Stop, client.Start(ctx)
}

func (s shop[TTx]) parked(ctx context.Context) ([]messagingriver.Record, error) {
	var all []messagingriver.Record
	var after messagingriver.Key
	for {
		some, err := s.Parked(ctx, after)
		if err != nil || len(some) == 0 {
			return all, err
		}
		all = append(all, some...)
		after = some[len(some)-1].Key
	}
}

// counts returns how many messages are in each state.
func (s shop[TTx]) counts(ctx context.Context) (map[messagingriver.State]int, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT state, COUNT(*) FROM messaging_outbox GROUP BY state")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err reports it
	counts := map[messagingriver.State]int{}
	for rows.Next() {
		var state messagingriver.State
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return nil, err
		}
		counts[state] = n
	}
	return counts, rows.Err()
}

// paused returns why the outbox paused its queue, or "".
func (s shop[TTx]) paused(ctx context.Context) (string, error) {
	var problem string
	err := s.db.QueryRowContext(ctx, "SELECT COALESCE(MAX(problem), '') FROM messaging_pause").Scan(&problem)
	return problem, err
}
