// Package sqlstore is a [webhook.Store] in PostgreSQL or SQLite, whose transaction the handler shares: what a handler writes there is
// committed together with the record that the event was handled. The event takes effect exactly once, even if the process is killed.
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
//		_, err = tx.ExecContext(ctx, "INSERT INTO inbox (sender, body) VALUES ($1, $2)", m.From, m.Text)
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

// A Store remembers in a database which events were handled. Any number of processes may share the database. Get a Store from [New]. It is
// safe for concurrent use.
//
// Its table is webhook_event. A row is the claim of one call to handle an event, and then the record that the event was handled. Times
// come from the database, so that machines whose clocks differ agree.
type Store struct {
	db    *sql.DB
	lease time.Duration
	clock *strings.Replacer // replaces CLOCK in a statement by the database's expression for now, in milliseconds
}

var _ webhook.Store = (*Store)(nil)

// DefaultLease is the lease of a Store if New gets zero.
const DefaultLease = time.Minute

// commitTimeout limits the time to record that an event was handled, and releaseTimeout the time to release a claim. The context of the call
// may have ended by then.
const (
	commitTimeout  = 10 * time.Second
	releaseTimeout = 10 * time.Second
)

// New returns a store, and creates its table unless it exists. Several processes may call it at once. On PostgreSQL the user needs the right to
// create tables in the schema, even if the table exists. The lease is how long one call may handle an event before another may
// take it over, as after a crash. Zero means [DefaultLease]. Keep it above webhook.WithHandlerTimeout.
//
// On SQLite the pool needs either one connection (db.SetMaxOpenConns(1)), or a file with journal_mode(wal) and a busy_timeout. New
// returns an error that says so. With several connections, open the file with _txlock=immediate if a handler reads before it writes:
// SQLite may refuse its writes otherwise. With one connection or _txlock=immediate, handlers that use [Tx] run one after the other.
func New(ctx context.Context, db *sql.DB, lease time.Duration) (*Store, error) {
	if db == nil {
		return nil, errors.New("sqlstore: the database is nil")
	}
	if lease < 0 {
		return nil, errors.New("sqlstore: the lease is negative")
	}
	if lease == 0 {
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
	store *Store
	key   string
	token string // distinguishes this claim from later claims for the same event

	mu       sync.Mutex
	tx       *sql.Tx // nil until the handler asks for it
	isClosed bool
}

type claimKey struct{}

// execer is a database or a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Tx returns the transaction of the handler, or of the function of webhook.WithStatuses, WithPreferences or WithOther, that was called with ctx.
// The first call begins it. The store commits it when the handler returns nil, and rolls it back otherwise: do neither yourself. It ends with
// ctx. If the pool has one connection, use only the transaction once it has begun: any other query would wait for it.
//
// It returns an error if the transaction cannot begin, or if ctx does not come from a receiver with webhook.WithStore and this store.
func Tx(ctx context.Context) (*sql.Tx, error) {
	c, ok := ctx.Value(claimKey{}).(*claim)
	if !ok {
		return nil, errors.New("sqlstore: Tx needs the context of a handler whose receiver has this store (webhook.WithStore)")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.isClosed:
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

// Once implements [webhook.Store]. A panic of handle counts as an error. If the lease ended and another call took over the event, Once
// returns an error and the transaction is rolled back. If handle does not call [Tx] and returns nil, the event counts as handled even if ctx
// has ended.
func (s *Store) Once(ctx context.Context, key string, handle func(context.Context) error) (err error) {
	c := &claim{store: s, key: key, token: rand.Text()}
	isClaimed, err := s.exec(ctx, s.db, `INSERT INTO webhook_event (id, holder, until) VALUES ($1, $2, CLOCK + $3)
		ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE webhook_event.handled_at IS NULL AND webhook_event.until < CLOCK`, key, c.token, s.lease.Milliseconds())
	if err != nil {
		return err
	}
	if !isClaimed {
		return s.checkHandled(ctx, key)
	}
	isDone := false
	defer func() { // even if handle panics or ends its goroutine
		if isDone {
			return
		}
		if releaseErr := c.release(ctx); releaseErr != nil {
			err = errors.Join(err, releaseErr)
		}
	}()
	err = handle(context.WithValue(ctx, claimKey{}, c))
	if err == nil {
		err = c.commit(ctx)
	}
	isDone = err == nil
	return err
}

// checkHandled returns nil if the event was handled, and webhook.ErrInProgress if another call handles it.
func (s *Store) checkHandled(ctx context.Context, key string) error {
	var handledAt sql.NullInt64
	err := s.db.QueryRowContext(ctx, "SELECT handled_at FROM webhook_event WHERE id = $1", key).Scan(&handledAt)
	if errors.Is(err, sql.ErrNoRows) { // the other call has just released it
		return webhook.ErrInProgress
	}
	if err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	if !handledAt.Valid {
		return webhook.ErrInProgress
	}
	return nil
}

// commit records that the event was handled, and commits the transaction if there is one.
func (c *claim) commit(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isClosed = true
	var db execer = c.store.db
	if c.tx != nil {
		db = c.tx
	} else { // the function has done its work elsewhere, even if its context has ended since
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
		defer cancel()
	}
	isOwned, err := c.store.exec(ctx, db, "UPDATE webhook_event SET handled_at = CLOCK WHERE id = $1 AND holder = $2", c.key, c.token)
	if err != nil {
		return err
	}
	if !isOwned {
		return errors.New("sqlstore: the lease ended, and another call has taken over the event")
	}
	if c.tx == nil {
		return nil
	}
	if err = c.tx.Commit(); err != nil {
		return fmt.Errorf("sqlstore: the transaction cannot be committed: %w", err)
	}
	return nil
}

// release rolls back the transaction and deletes the claim, so that the event can be handled again at once.
func (c *claim) release(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isClosed = true
	if c.tx != nil {
		_ = c.tx.Rollback() // it may have ended with the context
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	const release = "DELETE FROM webhook_event WHERE id = $1 AND holder = $2 AND handled_at IS NULL"
	_, err := c.store.exec(ctx, c.store.db, release, c.key, c.token)
	return err
}

// Prune deletes events that were handled longer ago than age, and claims whose lease ended longer ago, as after a crash. It returns how many
// rows it deleted. Keep events for as long as the service may call again, which is some days for many services. Call it from time to time,
// such as once an hour, from any process.
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

// exec runs a statement and reports whether it changed a row.
func (s *Store) exec(ctx context.Context, db execer, statement string, args ...any) (hasChanged bool, err error) {
	result, err := db.ExecContext(ctx, s.clock.Replace(statement), args...)
	if err != nil {
		return false, fmt.Errorf("sqlstore: %w", err)
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("sqlstore: %w", err)
	}
	return rows > 0, nil
}
