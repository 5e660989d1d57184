package main

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// database has the rows of each day, and where its listing continues.
type database struct {
	*sql.DB

	isSQLite bool
}

// openDatabase opens a database, by a PostgreSQL URL or the path of an SQLite file, and creates its tables. The rows of a listing arrive in a table
// of their own, and replace those of the day when it has ended. A row that comes twice, because others entered the listing before it in the
// meantime, is stored once.
func openDatabase(ctx context.Context, databaseURL string) (*database, error) {
	const columns = `day TEXT, id TEXT, reference TEXT, recipient TEXT, verdict TEXT, sender TEXT, status TEXT, currency TEXT,
	parts INT, price TEXT, is_timed BOOL, problem TEXT`
	const tables = `
CREATE TABLE IF NOT EXISTS progress (day TEXT PRIMARY KEY, next TEXT, omitted INT, total INT);
CREATE TABLE IF NOT EXISTS arriving (` + columns + `);
CREATE UNIQUE INDEX IF NOT EXISTS arriving_once ON arriving (day, id, reference, recipient) WHERE id <> '';
CREATE TABLE IF NOT EXISTS listed (` + columns + `);
CREATE INDEX IF NOT EXISTS listed_by_day ON listed (day, reference);
CREATE INDEX IF NOT EXISTS listed_by_reference ON listed (reference)`
	db, err := connect(databaseURL)
	if err != nil {
		return nil, err
	}
	if _, err = db.ExecContext(ctx, tables); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func connect(databaseURL string) (*database, error) {
	if strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://") {
		db, err := sql.Open("pgx", databaseURL)
		return &database{DB: db}, err
	}
	db, err := sql.Open("sqlite", "file:"+databaseURL+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &database{DB: db, isSQLite: true}, nil
}

// stamp returns a time as the database compares it. SQLite has no type for times: there, it is the text that datetime('now') has.
func (d *database) stamp(at time.Time) any {
	if d.isSQLite {
		return at.UTC().Format(time.DateTime)
	}
	return at
}

// unfinishedDays returns the days whose listing was interrupted and not continued.
func unfinishedDays(ctx context.Context, db *database) (days []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT day FROM progress WHERE next <> '' ORDER BY day")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has its error
	for rows.Next() {
		var key string
		if err = rows.Scan(&key); err != nil {
			return nil, err
		}
		days = append(days, key)
	}
	return days, rows.Err()
}
