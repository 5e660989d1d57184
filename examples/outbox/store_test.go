package main

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// openStores opens the databases that a Store is tested with.
func openStores(t *testing.T) map[string]func(t *testing.T) *sql.DB {
	t.Helper()
	opened := func(t *testing.T, driver, url string) *sql.DB {
		t.Helper()
		db, err := sql.Open(driver, url)
		require.NoError(t, err)
		db.SetMaxOpenConns(20)
		t.Cleanup(func() { assert.NoError(t, db.Close()) })
		return db
	}
	all := map[string]func(t *testing.T) *sql.DB{
		"SQLite": func(t *testing.T) *sql.DB {
			t.Helper()
			return opened(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "store.db")+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_pragma=synchronous(normal)")
		},
	}
	if database, ok := databases(t)["PostgreSQL"]; ok {
		all["PostgreSQL"] = func(t *testing.T) *sql.DB {
			t.Helper()
			return opened(t, "pgx", database(t))
		}
	}
	return all
}

func TestStore(t *testing.T) {
	for name, openStore := range openStores(t) {
		t.Run(name, func(t *testing.T) {
			db := openStore(t)
			messagingtest.TestStore(t, func() webhook.Store {
				store, err := NewStore(t.Context(), db, 2*time.Second)
				require.NoError(t, err)
				return store
			})
		})
	}
}

func TestStoreCommitsWhatTheHandlerWroteOnce(t *testing.T) {
	for name, openStore := range openStores(t) {
		t.Run(name, func(t *testing.T) {
			db := openStore(t)
			store, err := NewStore(t.Context(), db, 100*time.Millisecond)
			require.NoError(t, err)
			_, err = db.ExecContext(t.Context(), "CREATE TABLE reply (body TEXT)")
			require.NoError(t, err)
			write := func(body string, result error) func(context.Context) error {
				return func(ctx context.Context) error {
					_, err := Tx(ctx).ExecContext(ctx, "INSERT INTO reply (body) VALUES ($1)", body)
					return errors.Join(err, result)
				}
			}
			require.ErrorIs(t, store.Once(t.Context(), "a", write("failed", assert.AnError)), assert.AnError)
			require.NoError(t, store.Once(t.Context(), "a", write("handled", nil)))
			require.NoError(t, store.Once(t.Context(), "a", write("again", nil)))
			// A handler outlives its lease, and another call handles the event: what the first writes then does not count.
			err = store.Once(t.Context(), "b", func(ctx context.Context) error {
				time.Sleep(300 * time.Millisecond)
				if err := store.Once(ctx, "b", write("second", nil)); err != nil {
					return err
				}
				return write("first", nil)(ctx)
			})
			require.ErrorContains(t, err, "another call took over")
			var bodies []string
			rows, err := db.QueryContext(t.Context(), "SELECT body FROM reply ORDER BY body")
			require.NoError(t, err)
			for rows.Next() {
				var body string
				require.NoError(t, rows.Scan(&body))
				bodies = append(bodies, body)
			}
			require.NoError(t, rows.Err())
			assert.Equal(t, []string{"handled", "second"}, bodies)
			require.NoError(t, store.Forget(t.Context(), time.Now().Add(time.Minute)))
			require.NoError(t, store.Once(t.Context(), "a", write("forgotten", nil)))
		})
	}
}
