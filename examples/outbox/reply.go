package main

import (
	"context"
	"net/http"

	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// replies returns the handler of inbound SMS, which are written into the database of the shop. Each counts exactly once, however often
// the service calls and whenever the process is killed: its row and the note that it was handled are one transaction.
func (s shop[TTx]) replies(ctx context.Context, options ...webhook.Option) (http.Handler, error) {
	store, err := sqlstore.New(ctx, s.db, 0)
	if err != nil {
		return nil, err
	}
	if _, err = s.db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS shop_reply (sender TEXT NOT NULL, body TEXT NOT NULL)"); err != nil {
		return nil, err
	}
	hooks, err := webhook.NewReceiver(append(options, webhook.WithStore(store))...)
	if err != nil {
		return nil, err
	}
	return hooks.SMS(func(ctx context.Context, m webhook.SMSMessage) error {
		tx, err := sqlstore.Tx(ctx)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO shop_reply (sender, body) VALUES ($1, $2)", m.From, m.Text)
		return err
	}), nil
}

// countReplies returns how many replies the shop has.
func (s shop[TTx]) countReplies(ctx context.Context) (n int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM shop_reply").Scan(&n)
	return n, err
}
