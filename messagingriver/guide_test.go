package messagingriver_test

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// The functions of this file are the blocks of docs/outbox.md that need a PostgreSQL. They are compiled, and not run.
var _ = []any{enqueueOnPostgres, runUntilStopped, replyInTheTransaction}

func enqueueOnPostgres(ctx context.Context, pool *pgxpool.Pool, tx pgx.Tx, client *messaging.Client, to string) error {
	outbox, err := messagingriver.NewPostgres(pool, client, messagingriver.Options{}) // a *pgxpool.Pool, and the client that sends
	if err != nil {
		return err
	}
	if err := outbox.Migrate(ctx); err != nil { // in one process, before the others start
		return err
	}
	// ... in the transaction tx that writes the order:
	_, err = outbox.Insert(ctx, tx, sms.Message{From: "ACME", To: to, Text: "Your order 17 is ready", ReferenceID: "order-17"})
	return err
}

func runUntilStopped(ctx context.Context, outbox *messagingriver.Outbox[pgx.Tx]) (err error) {
	if err := outbox.Start(ctx); err != nil {
		return err
	}
	// ... until the process is told to end:
	err = outbox.Stop(context.Background())
	return err
}

func replyInTheTransaction(ctx context.Context, databaseURL string, client *messaging.Client) error {
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool) // for sqlstore and the program's own tables
	outbox, err := messagingriver.NewPostgresSQL(pool, client, messagingriver.Options{})
	if err != nil {
		return err
	}
	_, err = sqlstore.New(ctx, db, 0)
	if err != nil {
		return err
	}
	return outbox.Start(ctx)
}
