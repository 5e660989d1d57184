package messagingriver_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// storeDatabases are the pools that package sqlstore is tested with. Its tests are here because this module has the drivers.
func storeDatabases() map[string]func(*testing.T) *sql.DB {
	databases := map[string]func(*testing.T) *sql.DB{
		"SQLite, the pool of an outbox": func(t *testing.T) *sql.DB {
			t.Helper()
			return openPoolOfOne(t)
		},
		"SQLite, several connections": func(t *testing.T) *sql.DB {
			t.Helper()
			return openSQLite(t, wal)
		},
		"SQLite, several connections, immediate": func(t *testing.T) *sql.DB {
			t.Helper()
			return openSQLite(t, wal+"&_txlock=immediate")
		},
	}
	if os.Getenv("OUTBOX_POSTGRES") != "" {
		databases["PostgreSQL"] = func(t *testing.T) *sql.DB {
			t.Helper()
			db := stdlib.OpenDBFromPool(openPostgres(t))
			t.Cleanup(func() { _ = db.Close() })
			return db
		}
	}
	return databases
}

func TestSQLStore(t *testing.T) { //nolint:tparallel // see isSlow
	if isSlow() { // otherwise so many other tests run at the same time that ten thousand keys may take longer than TestStore allows
		t.Parallel()
	}
	databases := storeDatabases()
	if !*whole { // ten thousand keys take a while; the other tests have this one
		delete(databases, "SQLite, several connections, immediate")
	}
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t)
			messagingtest.TestStore(t, func() webhook.Store {
				store, err := sqlstore.New(t.Context(), db, 3*time.Second)
				require.NoError(t, err)
				return store
			})
		})
	}
}

func TestSQLStoreCommitsWhatTheHandlerWroteOnce(t *testing.T) {
	for name, open := range storeDatabases() {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			store, err := sqlstore.New(t.Context(), db, 100*time.Millisecond)
			require.NoError(t, err)
			_, err = db.ExecContext(t.Context(), "CREATE TABLE reply (body TEXT)")
			require.NoError(t, err)
			write := func(body string, result error) func(context.Context) error {
				return func(ctx context.Context) error {
					tx, err := sqlstore.Tx(ctx)
					if err != nil {
						return err
					}
					again, err := sqlstore.Tx(ctx)
					assert.Same(t, tx, again)
					_, writeErr := tx.ExecContext(ctx, "INSERT INTO reply (body) VALUES ($1)", body)
					return errors.Join(err, writeErr, result)
				}
			}
			require.ErrorIs(t, store.Once(t.Context(), "a", write("failed", assert.AnError)), assert.AnError)
			assert.Panics(t, func() {
				_ = store.Once(t.Context(), "a", func(ctx context.Context) error {
					_ = write("panicked", nil)(ctx)
					panic("handle")
				})
			})
			var kept context.Context
			require.NoError(t, store.Once(t.Context(), "a", func(ctx context.Context) error {
				kept = ctx //nolint:fatcontext // to see what is left of it
				return write("handled", nil)(ctx)
			}))
			require.NoError(t, store.Once(t.Context(), "a", write("again", nil)))
			_, err = sqlstore.Tx(kept)
			require.ErrorContains(t, err, "after its handler has returned")

			// A handler outlives its lease, and another call handles the event: what the first writes then does not count.
			err = store.Once(t.Context(), "b", func(ctx context.Context) error {
				time.Sleep(300 * time.Millisecond)
				if err := store.Once(t.Context(), "b", write("second", nil)); err != nil {
					return err
				}
				return write("first", nil)(ctx)
			})
			require.ErrorContains(t, err, "another call has taken over")

			// The context ends in the handler: nothing is committed, and the event is handled when it comes again.
			ctx, cancel := context.WithCancel(t.Context())
			require.Error(t, store.Once(ctx, "c", func(ctx context.Context) error {
				err := write("cancelled", nil)(ctx)
				cancel()
				return err
			}))
			require.NoError(t, store.Once(t.Context(), "c", write("third", nil)))
			assert.Equal(t, []string{"handled", "second", "third"}, bodiesIn(t, db))

			pruned, err := store.Prune(t.Context(), time.Hour)
			require.NoError(t, err)
			assert.Zero(t, pruned)
			time.Sleep(10 * time.Millisecond)
			pruned, err = store.Prune(t.Context(), 0)
			require.NoError(t, err)
			assert.EqualValues(t, 3, pruned)
			require.NoError(t, store.Once(t.Context(), "a", write("forgotten", nil)))
		})
	}
}

func bodiesIn(t *testing.T, db *sql.DB) (bodies []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT body FROM reply ORDER BY body")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var body string
		require.NoError(t, rows.Scan(&body))
		bodies = append(bodies, body)
	}
	require.NoError(t, rows.Err())
	return bodies
}

// A function that does not use the transaction has done its work when it returns nil, even if its context has ended.
func TestSQLStoreRemembersEventHandledAfterItsContext(t *testing.T) {
	for name, open := range storeDatabases() {
		t.Run(name, func(t *testing.T) {
			store, err := sqlstore.New(t.Context(), open(t), time.Minute)
			require.NoError(t, err)
			handled := 0
			for range 2 {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				require.NoError(t, store.Once(ctx, "late", func(context.Context) error {
					handled++
					cancel()
					return nil
				}))
			}
			assert.Equal(t, 1, handled)
		})
	}
}

func TestSQLStoreSaysWhatItNeeds(t *testing.T) {
	for options, want := range map[string]string{
		"": "has delete and 0 ms", "?_pragma=journal_mode(wal)": "has wal and 0 ms", "?_pragma=busy_timeout(5000)": "has delete and 5000 ms",
		"?mode=memory": "has memory and",
	} {
		_, err := sqlstore.New(t.Context(), openSQLite(t, options), 0)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "SetMaxOpenConns(1)")
	}
	_, err := sqlstore.New(t.Context(), nil, 0)
	require.ErrorContains(t, err, "nil")
	_, err = sqlstore.New(t.Context(), openPoolOfOne(t), -1)
	require.ErrorContains(t, err, "negative")
	store, err := sqlstore.New(t.Context(), openPoolOfOne(t), 0)
	require.NoError(t, err)
	_, err = store.Prune(t.Context(), -1)
	require.ErrorContains(t, err, "negative")
	_, err = sqlstore.Tx(t.Context())
	require.ErrorContains(t, err, "webhook.WithStore")
}
