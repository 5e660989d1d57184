package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// receive receives STOP and delivery reports of all campaigns until the context ends, and sends nothing.
func receive(ctx context.Context, listener net.Listener, in settings) error {
	defer listener.Close() //nolint:errcheck // the server has closed it, unless there was none
	c, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer c.db.close()
	mux := newMux(c, c.hooks)
	mux.HandleFunc("/healthz", health(func() bool { return c.db.PingContext(ctx) == nil }))
	return serveOn(ctx, listener, mux, startTasks(ctx, task{name: "prune", interval: time.Hour, do: c.prune}))
}

// newMux returns the mux of the webhook.
func newMux(c *campaign, hooks *webhook.Receiver) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/hooks/sms", hooks.SMS(c.note))
	mux.Handle("/hooks/delivery", hooks.Delivery(c.report))
	return mux
}

// note notes a STOP or START, in the transaction that notes the event as handled: a START that the service repeats must not end a later STOP.
func (c *campaign) note(ctx context.Context, m webhook.SMSMessage) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	_, err = c.book.Note(ctx, tx, conversations.FromSMS(m))
	if errors.Is(err, conversations.ErrNoPerson) { // such as a sender with letters; a second call would change nothing
		logger := slog.Default()
		logger.WarnContext(ctx, "a message is not noted", "message", m, "error", err)
		return nil
	}
	return err
}

// report stores the status of a message, which was sent even if its response was lost. A report that comes twice changes nothing. A report without
// a reference ID is ignored: services that report none need the message IDs in the table, as in examples/apps/shop.
func (c *campaign) report(ctx context.Context, report webhook.DeliveryReport) error {
	if report.Ambiguous {
		return nil
	}
	return c.noteSent(ctx, report.ReferenceID, report.Status)
}

// noteSent notes the status of a message that was sent. It does nothing for a message of another program.
func (c *campaign) noteSent(ctx context.Context, reference string, status webhook.Status) error {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	const lock = "UPDATE campaign_recipient SET delivery = delivery WHERE reference = $1 RETURNING delivery"
	var before webhook.Status
	err = tx.QueryRowContext(ctx, lock, reference).Scan(&before)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	key := messagingriver.Key{Channel: messaging.ChannelSMS.String(), Reference: reference}
	if _, err = c.outbox.ResolveTx(ctx, tx, messagingriver.Sent, key); err != nil {
		return err
	}
	if status.Supersedes(before) {
		const update = "UPDATE campaign_recipient SET delivery = $1 WHERE reference = $2"
		if _, err = tx.ExecContext(ctx, update, status, reference); err != nil {
			return err
		}
	}
	return tx.Commit()
}
