package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel/metric"
	_ "modernc.org/sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// A shop has an outbox in SQLite, and a test server of its own. trouble brings its channels into trouble.
type shop struct {
	service *messagingtest.Server
	db      *sql.DB
	outbox  *messagingriver.Outbox[*sql.Tx]
	gauges  metric.Registration
}

// openShop returns a shop whose gauges are registered with meter.
func openShop(ctx context.Context, meter metric.Meter) (*shop, error) {
	db, err := sql.Open("sqlite", ":memory:") // a real shop has a file
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &shop{service: messagingtest.Start(), db: db}
	if err := s.start(ctx, meter); err != nil {
		s.service.Close()
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// start starts the outbox. close stops it.
func (s *shop) start(ctx context.Context, meter metric.Meter) error {
	client, err := messaging.NewClient(s.service.URL, messaging.WithToken(s.service.Token))
	if err != nil {
		return err
	}
	s.outbox, err = messagingriver.NewSQLite(s.db, client, messagingriver.Options{
		OnOutcome: failToReport,
		Logger:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	if err = s.outbox.Migrate(ctx); err != nil {
		return err
	}
	s.gauges, err = s.outbox.Observe(meter) // such as otel.Meter("shop")
	if err != nil {
		return err
	}
	return s.outbox.Start(ctx)
}

// failToReport is an OnOutcome that fails, as if the table of the shop's orders were away.
func failToReport(context.Context, messagingriver.Outcome) error {
	return errors.New("the outcome cannot be written")
}

// trouble brings each channel into trouble, one after another.
func (s *shop) trouble(ctx context.Context) error {
	if err := s.loseOutcomes(ctx); err != nil {
		return err
	}
	if err := s.refuseAccount(ctx); err != nil {
		return err
	}
	return s.takeServiceDown(ctx)
}

// loseOutcomes has messages over chat app 1 discarded, and pauses the channel, as a person does.
func (s *shop) loseOutcomes(ctx context.Context) error {
	s.service.Inject(messagingtest.FaultAcceptThenDrop(), 3)
	for i := range 3 {
		lost := chatapp1.New("channel-1", customer).Text("Ready").WithReference(fmt.Sprint("lost-", i))
		if err := s.enqueue(ctx, lost); err != nil {
			return err
		}
	}
	err := s.until(ctx, func(c messagingriver.ChannelStatus) bool { return c.States["discarded"] == 3 })
	if err != nil {
		return err
	}
	return s.outbox.PauseChannel(ctx, "chatapp1")
}

// refuseAccount has the outbox pause SMS, because the service refuses the account.
func (s *shop) refuseAccount(ctx context.Context) error {
	s.service.InjectFor(24*time.Hour, messagingtest.FaultStatus(http.StatusUnauthorized, 0))
	waits := sms.Message{From: "ACME", To: customer, Text: "Your order is ready", ReferenceID: "waits"}
	if err := s.enqueue(ctx, waits); err != nil {
		return err
	}
	return s.until(ctx, func(c messagingriver.ChannelStatus) bool { return c.Cause != "" })
}

// takeServiceDown has messages over chat app 2 wait, because the service is down.
func (s *shop) takeServiceDown(ctx context.Context) error {
	s.service.InjectFor(24*time.Hour, messagingtest.FaultStatus(http.StatusServiceUnavailable, 0))
	for i := range 100 {
		waits := chatapp2.Message{To: customer, Content: chatapp2.Text{Body: "Ready"}, ReferenceID: fmt.Sprint("waits-", i)}
		if err := s.enqueue(ctx, waits); err != nil {
			return err
		}
	}
	return nil
}

// enqueue enqueues a message in a transaction of its own.
func (s *shop) enqueue(ctx context.Context, m messaging.Message) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	if _, err = s.outbox.Insert(ctx, tx, m); err != nil {
		return err
	}
	return tx.Commit()
}

// until waits until some channel is in a state.
func (s *shop) until(ctx context.Context, is func(messagingriver.ChannelStatus) bool) error {
	for {
		channels, err := s.outbox.Status(ctx)
		if err != nil || slices.ContainsFunc(channels, is) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// close stops the queue, and closes the database.
func (s *shop) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := errors.Join(s.gauges.Unregister(), s.outbox.Stop(ctx), s.db.Close())
	s.service.Close()
	return err
}
