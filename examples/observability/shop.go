package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"go.opentelemetry.io/otel/metric"
	_ "modernc.org/sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// A shop has an outbox in a temporary SQLite file. Each of its channels is in trouble: SMS is paused because the service refuses the
// account, messages over chat app 1 are parked because their outcomes are lost, and over chat app 2 the service is down.
type shop struct {
	service *messagingtest.Server
	folder  string
	db      *sql.DB
	outbox  *messagingriver.Outbox[*sql.Tx]
	gauges  metric.Registration
	queue   *river.Client[*sql.Tx]
}

// openShop returns a shop whose gauges are registered with meter. It is to be closed, also after an error.
func openShop(ctx context.Context, meter metric.Meter) (*shop, error) {
	s := &shop{service: messagingtest.Start()}
	client, err := messaging.NewClient(s.service.URL, messaging.WithToken(s.service.Token))
	if err != nil {
		return s, err
	}
	if s.folder, err = os.MkdirTemp("", "observability"); err != nil {
		return s, err
	}
	s.db, err = sql.Open("sqlite", filepath.Join(s.folder, "outbox.db")+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return s, err
	}
	s.db.SetMaxOpenConns(1)
	if s.outbox, err = messagingriver.NewSQLite(s.db, client, messagingriver.Options{}); err != nil {
		return s, err
	}
	if err = s.outbox.Migrate(ctx); err != nil {
		return s, err
	}
	if s.gauges, err = s.outbox.Observe(meter); err != nil {
		return s, err
	}
	config := &river.Config{Logger: slog.New(slog.DiscardHandler)}
	if err = s.outbox.AddTo(config); err != nil {
		return s, err
	}
	s.queue, err = river.NewClient(riversqlite.New(s.db), config)
	if err != nil {
		return s, err
	}
	return s, s.queue.Start(context.WithoutCancel(ctx)) // until close stops it
}

// trouble enqueues messages of each channel, and breaks it.
func (s *shop) trouble(ctx context.Context) error {
	s.service.Inject(messagingtest.AcceptThenDrop(), 3)
	for i := range 3 {
		lost := chatapp1.New("channel-1", customer).Text("Your order is ready").WithReference(fmt.Sprint("lost-", i))
		if err := s.enqueue(ctx, lost); err != nil {
			return err
		}
	}
	if err := s.until(ctx, func(c messagingriver.ChannelStatus) bool {
		return slices.ContainsFunc(c.States, func(n messagingriver.StateCount) bool { return n.State == messagingriver.Parked && n.Messages == 3 })
	}); err != nil {
		return err
	}
	s.service.InjectFor(24*time.Hour, messagingtest.Status(http.StatusUnauthorized, 0))
	if err := s.enqueue(ctx, sms.Message{From: "ACME", To: customer, Text: "Your order is ready", ReferenceID: "waits"}); err != nil {
		return err
	}
	if err := s.until(ctx, func(c messagingriver.ChannelStatus) bool { return c.Paused }); err != nil {
		return err
	}
	s.service.InjectFor(24*time.Hour, messagingtest.Status(http.StatusServiceUnavailable, 0))
	for i := range 100 {
		waits := chatapp2.Message{To: customer, Content: chatapp2.Text{Body: "Your order is ready"}, ReferenceID: fmt.Sprint("waits-", i)}
		if err := s.enqueue(ctx, waits); err != nil {
			return err
		}
	}
	return nil
}

func (s *shop) enqueue(ctx context.Context, m messagingriver.Message) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after the commit
	if _, err = s.outbox.Insert(ctx, tx, m); err != nil {
		return err
	}
	return tx.Commit()
}

// until waits until some channel is in a state.
func (s *shop) until(ctx context.Context, is func(messagingriver.ChannelStatus) bool) error {
	for {
		status, err := s.outbox.Status(ctx)
		if err != nil || slices.ContainsFunc(status.Channels, is) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// close stops the queue and deletes the database.
func (s *shop) close() error {
	var errs []error
	if s.queue != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		errs = append(errs, s.queue.StopAndCancel(ctx))
	}
	if s.gauges != nil {
		errs = append(errs, s.gauges.Unregister())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	s.service.Close()
	return errors.Join(append(errs, os.RemoveAll(s.folder))...)
}
