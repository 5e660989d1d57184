package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

// Store is a webhook.Store over database/sql, for PostgreSQL and SQLite. Copy this file: it needs nothing else of this program.
//
// A handler takes its transaction with Tx. What it writes there is committed together with the note that the event was handled,
// so that it counts exactly once: also if the process is killed, or is frozen until another one has handled the event.
//
// SQLite needs two connections or more, journal_mode(wal) and a busy_timeout, and transactions that do not lock when they begin
// (no _txlock=immediate), so that one handler does not keep others waiting before it writes.
type Store struct {
	db    *sql.DB
	lease time.Duration
}

// NewStore returns a store, and creates its table. The lease is the time after which another call may handle an event whose
// handler has not ended: longer than webhook.WithHandlerTimeout allows.
func NewStore(ctx context.Context, db *sql.DB, lease time.Duration) (*Store, error) {
	if _, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS webhook_event (
		id TEXT PRIMARY KEY,
		holder TEXT NOT NULL,
		until BIGINT NOT NULL,
		handled_at BIGINT
	)`); err != nil {
		return nil, fmt.Errorf("webhook store: %w", err)
	}
	return &Store{db, lease}, nil
}

type txKey struct{}

// Tx returns the transaction of the handler that was called with ctx.
func Tx(ctx context.Context) *sql.Tx {
	tx, _ := ctx.Value(txKey{}).(*sql.Tx)
	return tx
}

// Once implements webhook.Store.
func (s *Store) Once(ctx context.Context, key string, handle func(context.Context) error) (err error) {
	holder := rand.Text()
	claimed, err := s.changes(ctx, s.db, `
		INSERT INTO webhook_event (id, holder, until) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE webhook_event.handled_at IS NULL AND webhook_event.until < $4`,
		key, holder, time.Now().Add(s.lease).UnixMilli(), time.Now().UnixMilli())
	if err != nil {
		return err
	}
	if !claimed {
		return s.handled(ctx, key)
	}
	committed := false
	defer func() { // also if handle panics
		if !committed {
			_, giveBack := s.changes(context.WithoutCancel(ctx), s.db,
				"DELETE FROM webhook_event WHERE id = $1 AND holder = $2 AND handled_at IS NULL", key, holder)
			err = errors.Join(err, giveBack)
		}
	}()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("webhook store: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // before the claim is given back; nothing after the commit
	if err = handle(context.WithValue(ctx, txKey{}, tx)); err != nil {
		return err
	}
	still, err := s.changes(ctx, tx, "UPDATE webhook_event SET handled_at = $1 WHERE id = $2 AND holder = $3",
		time.Now().UnixMilli(), key, holder)
	if err != nil {
		return err
	}
	if !still {
		return errors.New("webhook store: another call took over, because the lease was over")
	}
	if err = tx.Commit(); err != nil {
		return fmt.Errorf("webhook store: %w", err)
	}
	committed = true
	return nil
}

// handled returns nil if the event was handled, and webhook.ErrInProgress if another call handles it.
func (s *Store) handled(ctx context.Context, key string) error {
	var at sql.NullInt64
	err := s.db.QueryRowContext(ctx, "SELECT handled_at FROM webhook_event WHERE id = $1", key).Scan(&at)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && !at.Valid:
		return webhook.ErrInProgress
	case err != nil:
		return fmt.Errorf("webhook store: %w", err)
	default:
		return nil
	}
}

// Forget deletes events that were handled before a time. Keep them for as long as the service may call again, some days for
// many services.
func (s *Store) Forget(ctx context.Context, before time.Time) error {
	_, err := s.changes(ctx, s.db, "DELETE FROM webhook_event WHERE handled_at < $1", before.UnixMilli())
	return err
}

// changes runs a statement and reports whether it changed a row.
func (s *Store) changes(ctx context.Context, in interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, statement string, args ...any,
) (bool, error) {
	result, err := in.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, fmt.Errorf("webhook store: %w", err)
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
