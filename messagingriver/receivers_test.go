package messagingriver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// openDatabase opens the database of a receiver.
func (p program) openDatabase() (*sql.DB, error) {
	if strings.HasPrefix(p.Database, "postgres://") {
		return sql.Open("pgx", p.Database)
	}
	return openShared(p.Database)
}

// receive serves webhooks. Each event is a row that is written in the transaction of the store.
func (p program) receive(ctx context.Context) error {
	db, err := p.openDatabase()
	if err != nil {
		return err
	}
	defer db.Close()
	var store *sqlstore.Store
	for store == nil { // until the database is there
		if store, err = sqlstore.New(ctx, db, 2*time.Second); err != nil {
			if sleep(ctx, 100*time.Millisecond); ctx.Err() != nil {
				return err
			}
		}
	}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", "secret-of-a-demo"), webhook.WithStore(store), webhook.WithHandlerTimeout(time.Second))
	if err != nil {
		return err
	}
	write := func(ctx context.Context, key string) error {
		tx, err := sqlstore.Tx(ctx)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO event (id) VALUES ($1)", key)
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/hooks/sms", hooks.SMS(func(ctx context.Context, m webhook.SMSMessage) error { return write(ctx, m.Text) }))
	mux.Handle("/hooks/chatapp2", hooks.ChatApp2(func(ctx context.Context, m webhook.ChatMessage) error {
		return write(ctx, m.Content.(webhook.Text).Body)
	}))
	mux.Handle("/hooks/delivery", hooks.Delivery(func(ctx context.Context, d webhook.DeliveryReport) error { return write(ctx, d.ReferenceID) }))
	server := &http.Server{Addr: p.Address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Shutdown(context.WithoutCancel(ctx)) })
	defer stop()
	if err = server.ListenAndServe(); errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// callback returns the request with which the service sends an event to a receiver. There are four kinds of events.
func callback(address string, n int) *http.Request {
	hook := func(name string) string { return "http://" + address + "/hooks/" + name + "?key=secret-of-a-demo" }
	text := fmt.Sprint("event ", n)
	var r *http.Request
	switch n % 4 {
	case 0:
		r = messagingtest.NewRequest(hook("sms"), messagingtest.InboundSMS{ID: fmt.Sprint("in-", n), From: "639171234567", Text: text})
	case 1: // without an ID: its parameters and its time identify it
		r = messagingtest.NewRequest(hook("sms"), messagingtest.InboundSMS{
			From: "639171234567", Text: text, ReceivedAt: time.Unix(1791038663+60*int64(n), 0),
		})
	case 2:
		r = messagingtest.NewRequest(hook("chatapp2"), messagingtest.InboundChatApp{
			Channel: "chatapp2", ID: fmt.Sprint("in-", n), From: "639171234567", Text: text,
		})
	default:
		r = messagingtest.NewRequest(hook("delivery"), messagingtest.DeliveryReport{ID: fmt.Sprint("out-", n), ReferenceID: text, Status: "delivered"})
	}
	r.RequestURI = "" // it is a client's now
	return r
}

// TestEachEventIsHandledOnce: receivers share a store in one database. Every event comes twice, to two of them, while they are killed
// and frozen, and a PostgreSQL is killed and started. The service calls again until the response is 200.
func TestEachEventIsHandledOnce(t *testing.T) {
	parallelUnlessWhole(t)
	events, torment, limit := 300, 2*time.Second, 2*time.Minute
	if *whole {
		events, torment, limit = 10_000, 20*time.Second, 20*time.Minute
	}
	databases := map[string]func(t *testing.T) (address string, restart func()){
		"SQLite": func(t *testing.T) (string, func()) {
			t.Helper()
			return filepath.Join(t.TempDir(), "inbox.db"), func() {}
		},
	}
	if postgresPrograms() != "" {
		databases["PostgreSQL"] = func(t *testing.T) (string, func()) {
			t.Helper()
			server := newPrimary(t)
			return server.url(), func() {
				server.kill(t)
				server.start(t)
			}
		}
	}
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			parallelUnlessWhole(t)
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			address, restart := database(t)
			db, err := program{Database: address}.openDatabase()
			require.NoError(t, err)
			t.Cleanup(func() { _ = db.Close() })
			_, err = db.ExecContext(ctx, "CREATE TABLE event (id TEXT NOT NULL)")
			require.NoError(t, err)
			var processes []*process
			for range 3 {
				receiver := program{Database: address, Address: fmt.Sprint("127.0.0.1:", freePort(t))}
				processes = append(processes, receiver.begin(t))
			}

			tormented, done := context.WithTimeout(ctx, torment)
			defer done()
			var all sync.WaitGroup
			all.Go(func() {
				kills, freezes := torments(tormented, t, processes)
				t.Logf("%d kills, %d freezes", kills, freezes)
			})
			all.Go(func() {
				sleep(tormented, torment/2)
				restart()
			})
			client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
			calls := make(chan int)
			for range 16 {
				all.Go(func() {
					for n := range calls {
						for ctx.Err() == nil && !handled(client, callback(processes[n%3].program.Address, n/2).WithContext(ctx)) {
							sleep(ctx, 20*time.Millisecond)
						}
					}
				})
			}
			for n := range 2 * events {
				calls <- n
				sleep(tormented, torment/time.Duration(2*events)/2)
			}
			close(calls)
			all.Wait()
			require.NoError(t, ctx.Err())

			var different, rows int
			require.NoError(t, db.QueryRowContext(ctx, "SELECT COUNT(DISTINCT id), COUNT(*) FROM event").Scan(&different, &rows))
			assert.Equal(t, events, different, "lost")
			assert.Equal(t, events, rows, "handled twice")
		})
	}
}

func handled(client *http.Client, r *http.Request) bool {
	response, err := client.Do(r)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
