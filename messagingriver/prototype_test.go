package messagingriver_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// prototype is an outbox as one writes it by hand, to measure the module against: a table, batches, and no queue. It keeps the
// rules that cost time: an attempt is recorded before it is made, and its outcome after it. It has no schedules, priorities,
// retries, lookups, pauses or persons.
type prototype struct {
	db     *sql.DB
	client *messaging.Client
	spell  *strings.Replacer
}

func newPrototype(ctx context.Context, db *sql.DB, client *messaging.Client, postgres bool) (*prototype, error) {
	p := &prototype{db: db, client: client, spell: strings.NewReplacer("ROWS", "json_each(?1) AS r", "UNLOCKED", "", "$", "?", "SERIAL", "INTEGER")}
	if postgres {
		p.spell = strings.NewReplacer(
			"ROWS", "json_array_elements(CAST($1 AS json)) AS r(value)", "UNLOCKED", "FOR UPDATE SKIP LOCKED", "SERIAL", "BIGSERIAL")
	}
	for _, statement := range []string{
		`CREATE TABLE prototype (id SERIAL PRIMARY KEY, reference TEXT NOT NULL UNIQUE, state TEXT NOT NULL, message TEXT, receipt TEXT, began_at BIGINT)`,
		`CREATE INDEX prototype_state ON prototype (state, id)`,
	} {
		if _, err := p.exec(ctx, db, statement); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *prototype) exec(ctx context.Context, in interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, statement string, args ...any,
) (sql.Result, error) {
	return in.ExecContext(ctx, p.spell.Replace(statement), args...)
}

// insert enqueues messages in one transaction.
func (p *prototype) insert(ctx context.Context, messages []sms.Message) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after the commit it does nothing
	rows, err := json.Marshal(messages)
	if err != nil {
		return err
	}
	if _, err := p.exec(ctx, tx, `
		INSERT INTO prototype (reference, state, message) SELECT value->>'referenceID', 'waiting', CAST(value AS TEXT) FROM ROWS WHERE true
		ON CONFLICT DO NOTHING`, string(rows)); err != nil {
		return err
	}
	return tx.Commit()
}

type claimedRow struct {
	id      int64
	message sms.Message
}

type doneRow struct {
	ID      int64             `json:"id"`
	State   string            `json:"state"`
	Receipt messaging.Receipt `json:"receipt"`
}

// run sends everything that waits, in batches that one goroutine claims, many send, and one records.
func (p *prototype) run(ctx context.Context) error {
	const batch, workers = 500, 100
	for {
		claimed, err := p.claim(ctx, batch)
		if err != nil || len(claimed) == 0 {
			return err
		}
		done := make([]doneRow, len(claimed))
		var all sync.WaitGroup
		places := make(chan struct{}, workers)
		for i, row := range claimed {
			places <- struct{}{}
			all.Go(func() {
				defer func() { <-places }()
				receipt, err := p.client.SMS.Send(ctx, row.message)
				receipt.Raw = nil
				done[i] = doneRow{row.id, messaging.VerdictOf(err).String(), receipt}
			})
		}
		all.Wait()
		rows, err := json.Marshal(done)
		if err != nil {
			return err
		}
		if _, err := p.exec(ctx, p.db, `
			UPDATE prototype SET state = value->>'state', receipt = value->>'receipt', message = NULL FROM ROWS
			WHERE prototype.id = CAST(value->>'id' AS BIGINT)`, string(rows)); err != nil {
			return err
		}
	}
}

func (p *prototype) claim(ctx context.Context, n int) ([]claimedRow, error) {
	found, err := p.db.QueryContext(ctx, p.spell.Replace(`
		UPDATE prototype SET state = 'sending', began_at = $2
		WHERE id IN (SELECT id FROM prototype WHERE state = 'waiting' ORDER BY id LIMIT $1 UNLOCKED)
		RETURNING id, message`), n, time.Now().UnixMilli())
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var claimed []claimedRow
	for found.Next() {
		var row claimedRow
		var message string
		if err := found.Scan(&row.id, &message); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(message), &row.message); err != nil {
			return nil, fmt.Errorf("message %d: %w", row.id, err)
		}
		claimed = append(claimed, row)
	}
	return claimed, found.Err()
}
