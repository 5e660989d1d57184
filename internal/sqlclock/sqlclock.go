// Package sqlclock knows the clocks of the databases that packages of this library work on.
package sqlclock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// of returns the expression of a database for its clock, in milliseconds since 1970, and checks the pool of SQLite.
func of(ctx context.Context, db *sql.DB) (string, error) {
	var word string
	postgresErr := db.QueryRowContext(ctx, "SELECT version()").Scan(&word)
	if postgresErr == nil && strings.HasPrefix(word, "PostgreSQL") {
		return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)", nil
	}
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&word); err != nil {
		return "", fmt.Errorf("want PostgreSQL or SQLite: %w", errors.Join(postgresErr, err))
	}
	const clock = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
	if db.Stats().MaxOpenConnections == 1 {
		return clock, nil
	}
	var mode string
	var wait int
	err := errors.Join(
		db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode),
		db.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&wait),
	)
	switch {
	case err != nil:
		return "", err
	case !strings.EqualFold(mode, "wal") || wait <= 0:
		return "", fmt.Errorf("SQLite with several connections needs journal_mode(wal) and a busy_timeout, "+
			"but has %s and %d ms; set them in the name of the data source, or call db.SetMaxOpenConns(1)", mode, wait)
	default:
		return clock, nil
	}
}

// Create creates tables unless they exist, and returns what replaces CLOCK in a statement by the clock of the database. Another process may
// create them in the same moment.
func Create(ctx context.Context, db *sql.DB, tables ...string) (*strings.Replacer, error) {
	clock, err := of(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		_, err := db.ExecContext(ctx, table)
		if err != nil {
			_, err = db.ExecContext(ctx, table)
		}
		if err != nil {
			return nil, fmt.Errorf("a table cannot be created: %w", err)
		}
	}
	return strings.NewReplacer("CLOCK", clock), nil
}
