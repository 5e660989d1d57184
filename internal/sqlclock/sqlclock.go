// Package sqlclock makes SQL statements use the clock of the database, so that processes with different clocks agree.
package sqlclock

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Milliseconds since 1970, as SQL expressions.
const (
	postgresClock = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
	sqliteClock   = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
)

// Create creates tables unless they exist, and returns a replacer that replaces CLOCK in a statement by the clock of the database. It
// fails for a database that cannot be reached, one that is neither PostgreSQL nor SQLite, and SQLite with settings that do not allow concurrent
// writers.
func Create(ctx context.Context, db *sql.DB, tables ...string) (*strings.Replacer, error) {
	clock, err := clockOf(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		_, err := db.ExecContext(ctx, table)
		if err != nil { // another process may have created the table in the same moment
			_, err = db.ExecContext(ctx, table)
		}
		if err != nil {
			return nil, fmt.Errorf("a table cannot be created: %w", err)
		}
	}
	return strings.NewReplacer("CLOCK", clock), nil
}

// clockOf returns the expression for the clock of a database.
func clockOf(ctx context.Context, db *sql.DB) (string, error) {
	if err := db.PingContext(ctx); err != nil { // otherwise its error would be taken for that of an unknown function
		return "", fmt.Errorf("cannot reach the database: %w", err)
	}
	var version string
	err := db.QueryRowContext(ctx, "SELECT version()").Scan(&version)
	if err == nil && strings.HasPrefix(version, "PostgreSQL") {
		return postgresClock, nil
	}
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return "", fmt.Errorf("want PostgreSQL or SQLite: %w", err)
	}
	return sqliteClock, checkSQLite(ctx, db)
}

// checkSQLite returns an error if several connections to SQLite would disturb each other.
func checkSQLite(ctx context.Context, db *sql.DB) error {
	if db.Stats().MaxOpenConnections == 1 {
		return nil
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return fmt.Errorf("the journal mode cannot be read: %w", err)
	}
	var timeout int
	if err := db.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&timeout); err != nil {
		return fmt.Errorf("the busy timeout cannot be read: %w", err)
	}
	if !strings.EqualFold(mode, "wal") || timeout <= 0 {
		return fmt.Errorf("SQLite with several connections needs journal_mode(wal) and a busy_timeout, "+
			"but has %s and %d ms; set them in the name of the data source, or call db.SetMaxOpenConns(1)", mode, timeout)
	}
	return nil
}
