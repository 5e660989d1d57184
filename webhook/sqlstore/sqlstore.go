// Package sqlstore is a [webhook.Store] in PostgreSQL or SQLite, whose transaction the handler shares: what a handler writes there is
// committed together with the note that the event was handled. So it counts exactly once, also if the process is killed at any moment.
//
//	store, err := sqlstore.New(ctx, db, 0)
//	...
//	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", secret), webhook.WithStore(store))
//	...
//	mux.Handle("/hooks/sms", hooks.SMS(func(ctx context.Context, m webhook.SMSMessage) error {
//		tx, err := sqlstore.Tx(ctx)
//		if err != nil {
//			return err
//		}
//		_, err = tx.ExecContext(ctx, "INSERT INTO inbox (id, text) VALUES ($1, $2)", m.ID, m.Text)
//		return err
//	}))
//
// It works with any driver of database/sql for the two databases, and imports none.
package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/internal/sqlclock"
	"github.com/messaging-service/messaging-go/webhook"
)

// A Store remembers in a database which events were handled. Any number of processes may share the database. Get one from [New]; many
// goroutines may use it at once.
//
// Its table is webhook_event. A row is the claim of one call to handle an event, and then the note that the event was handled. Times
// are those of the database, so that machines whose clocks differ agree.
type Store struct {
	db    *sql.DB
	lease time.Duration
	clock *strings.Replacer // of CLOCK in a statement
}

var _ webhook.Store = (*Store)(nil)

// DefaultLease is the lease of a Store that is made with none.
const DefaultLease = time.Minute

// giveBackTimeout bounds how long a failed event keeps a call, whose context may have ended.
const giveBackTimeout = 10 * time.Second

// New returns a store, and creates its table unless it exists. The lease is how long one call may handle an event before another may
// take it over, as after a crash; zero is [DefaultLease]. Keep it above webhook.WithHandlerTimeout.
//
// On SQLite the pool needs either one connection (db.SetMaxOpenConns(1)), or a file with journal_mode(wal) and a busy_timeout. New
// returns an error that says so. With several connections, open the file with _txlock=immediate if a handler reads before it writes:
// SQLite may refuse its writes otherwise. With one connection or _txlock=immediate, handlers that use [Tx] run one after the other.
func New(ctx context.Context, db *sql.DB, lease time.Duration) (*Store, error) {
	switch {
	case db == nil:
		return nil, errors.New("sqlstore: the database is nil")
	case lease < 0:
		return nil, errors.New("sqlstore: the lease is negative")
	case lease == 0:
		lease = DefaultLease
	}
	clock, err := sqlclock.Create(ctx, db, `CREATE TABLE IF NOT EXISTS webhook_event (
		id TEXT PRIMARY KEY, holder TEXT NOT NULL, until BIGINT NOT NULL, handled_at BIGINT
	)`)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	return &Store{db: db, lease: lease, clock: clock}, nil
}

// claim is the right of one call to handle an event, with the transaction of its handler.
type claim struct {
	store       *Store
	key, holder string

	mu    sync.Mutex
	tx    *sql.Tx // nil until the handler asks for it
	ended bool
}

type claimKey struct{}

// Tx returns the transaction of a handler that was called with ctx, and begins it when it is first asked for. The store commits it when
// the handler returns nil, and rolls it back otherwise: do neither yourself. It ends with ctx. Over a pool of one connection, use nothing
// but the transaction once it has begun: another query would wait for it.
//
// It returns an error if the transaction cannot begin, and outside of a handler of a receiver with webhook.WithStore and this store.
func Tx(ctx context.Context) (*sql.Tx, error) {
	c, ok := ctx.Value(claimKey{}).(*claim)
	if !ok {
		return nil, errors.New("sqlstore: Tx needs the context of a handler whose receiver has this store (webhook.WithStore)")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended:
		return nil, errors.New("sqlstore: Tx is called after its handler has returned")
	case c.tx != nil:
		return c.tx, nil
	}
	tx, err := c.store.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: the transaction cannot begin: %w", err)
	}
	c.tx = tx
	return tx, nil
}

// Once implements [webhook.Store]. A panic of handle counts as an error. A call whose lease has ended and whose event another call has
// taken over returns an error, and nothing that it wrote counts.
func (s *Store) Once(ctx context.Context, key string, handle func(context.Context) error) (err error) {
	c := &claim{store: s, key: key, holder: rand.Text()}
	claimed, err := s.changes(ctx, s.db, `INSERT INTO webhook_event (id, holder, until) VALUES ($1, $2, CLOCK + $3)
		ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE webhook_event.handled_at IS NULL AND webhook_event.until < CLOCK`, key, c.holder, s.lease.Milliseconds())
	if err != nil {
		return err
	}
	if !claimed {
		return s.handled(ctx, key)
	}
	done := false
	defer func() { // also if handle panics or ends its goroutine
		if !done {
			if giveBackErr := c.giveBack(ctx); giveBackErr != nil {
				err = errors.Join(err, giveBackErr)
			}
		}
	}()
	if err = handle(context.WithValue(ctx, claimKey{}, c)); err != nil {
		return err
	}
	err = c.commit(ctx)
	done = err == nil
	return err
}

// handled returns nil if the event was handled, and webhook.ErrInProgress if another call handles it.
func (s *Store) handled(ctx context.Context, key string) error {
	var at sql.NullInt64
	err := s.db.QueryRowContext(ctx, "SELECT handled_at FROM webhook_event WHERE id = $1", key).Scan(&at)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && !at.Valid:
		return webhook.ErrInProgress
	case err != nil:
		return fmt.Errorf("sqlstore: %w", err)
	default:
		return nil
	}
}

func (c *claim) commit(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	var in execer = c.store.db
	if c.tx != nil {
		in = c.tx
	}
	still, err := c.store.changes(ctx, in, "UPDATE webhook_event SET handled_at = CLOCK WHERE id = $1 AND holder = $2", c.key, c.holder)
	switch {
	case err != nil:
		return err
	case !still:
		return errors.New("sqlstore: the lease ended, and another call has taken over the event")
	case c.tx == nil:
		return nil
	}
	if err = c.tx.Commit(); err != nil {
		return fmt.Errorf("sqlstore: the transaction cannot be committed: %w", err)
	}
	return nil
}

// giveBack rolls back the transaction and ends the claim, so that the event can be handled again at once.
func (c *claim) giveBack(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.tx != nil {
		_ = c.tx.Rollback() // it may have ended with the context
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTimeout)
	defer cancel()
	const release = "DELETE FROM webhook_event WHERE id = $1 AND holder = $2 AND handled_at IS NULL"
	_, err := c.store.changes(ctx, c.store.db, release, c.key, c.holder)
	return err
}

// Prune forgets events that were handled longer ago than an age, and returns how many. Keep them for as long as the service may call
// again, some days for many services. Call it now and then, as once an hour, from any process.
func (s *Store) Prune(ctx context.Context, age time.Duration) (int64, error) {
	if age < 0 {
		return 0, errors.New("sqlstore: the age is negative")
	}
	prune := s.clock.Replace("DELETE FROM webhook_event WHERE COALESCE(handled_at, until) < CLOCK - $1")
	result, err := s.db.ExecContext(ctx, prune, age.Milliseconds())
	if err != nil {
		return 0, fmt.Errorf("sqlstore: %w", err)
	}
	return result.RowsAffected()
}

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// changes runs a statement and reports whether it changed a row.
func (s *Store) changes(ctx context.Context, in execer, statement string, args ...any) (bool, error) {
	result, err := in.ExecContext(ctx, s.clock.Replace(statement), args...)
	if err != nil {
		return false, fmt.Errorf("sqlstore: %w", err)
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
