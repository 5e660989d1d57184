package main

import (
	"context"
	"database/sql"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// database is a database on PostgreSQL, or an SQLite file.
type database struct {
	*sql.DB

	pool *pgxpool.Pool // nil on SQLite
}

func openDatabase(ctx context.Context, databaseURL string) (*database, error) {
	if strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://") {
		pool, err := pgxpool.New(ctx, databaseURL)
		if err != nil {
			return nil, err
		}
		return &database{DB: stdlib.OpenDBFromPool(pool), pool: pool}, nil
	}
	db, err := sql.Open("sqlite", "file:"+databaseURL+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // the campaign, the opt-outs and the outbox share the connection
	return &database{DB: db}, nil
}

func (d *database) close() {
	_ = d.Close()
	if d.pool != nil {
		d.pool.Close()
	}
}

// newOutbox returns the outbox of all campaigns. On PostgreSQL it has a schema of its own: other programs send none of its messages, and it sends
// none of theirs.
func (d *database) newOutbox(client *messaging.Client, options messagingriver.Options) (*messagingriver.Outbox[*sql.Tx], error) {
	if d.pool == nil {
		return messagingriver.NewSQLite(d.DB, client, options)
	}
	options.Schema = "campaign"
	return messagingriver.NewPostgresSQL(d.pool, client, options)
}
