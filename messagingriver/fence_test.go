package messagingriver

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// claimed returns an outbox with one message whose first attempt has begun.
func claimed(t *testing.T) (*Outbox[*sql.Tx], *attempt) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "outbox.db"))
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	client, err := messaging.NewClient("http://127.0.0.1:1", messaging.WithToken("t"))
	require.NoError(t, err)
	o, err := NewSQLite(db, client, Options{})
	require.NoError(t, err)
	require.NoError(t, o.Migrate(t.Context()))
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	fresh, err := o.Insert(t.Context(), tx, sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "a"})
	require.NoError(t, err)
	require.True(t, fresh)
	require.NoError(t, tx.Commit())
	a, err := o.claims.do(Key{"sms", "a"})
	require.NoError(t, err)
	require.NotNil(t, a)
	return o, a
}

func TestAttemptBeginsOnce(t *testing.T) {
	t.Parallel()
	o, a := claimed(t)
	assert.Equal(t, 1, a.number)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			again, err := o.claims.do(a.Key)
			assert.NoError(t, err)
			assert.Nil(t, again)
		})
	}
	all.Wait()
	twice, err := o.claim([]Key{a.Key, a.Key})
	require.NoError(t, err)
	assert.Equal(t, []*attempt{nil, nil}, twice)
	require.NoError(t, o.recordUntil(a.deadline, result{Key: a.Key, Attempt: 1, State: Waiting}))
	twice, err = o.claim([]Key{a.Key, a.Key})
	require.NoError(t, err)
	require.NotNil(t, twice[0])
	assert.Equal(t, 2, twice[0].number)
	assert.Nil(t, twice[1])
}

// A process can be frozen for longer than its lease, and then learn the outcome of its attempt.
func TestLateOutcomeCountsUnlessSomebodyKnowsBetter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		meanwhile State
		attempt   int
		late      State
		want      State
	}{
		{Sending, 1, Accepted, Accepted},
		{Unknown, 1, Accepted, Accepted},
		{Parked, 1, Accepted, Accepted},
		{Parked, 1, Refused, Refused},
		{Parked, 1, Waiting, Waiting}, // it was not sent
		{Waiting, 1, Accepted, Accepted},
		{Accepted, 1, Waiting, Accepted},
		{Dropped, 1, Accepted, Dropped},
		{Refused, 1, Waiting, Refused},
		{Sending, 2, Waiting, Sending}, // a person had it sent again
		{Parked, 2, Waiting, Parked},
	} {
		t.Run(fmt.Sprint(tt.meanwhile, tt.attempt, " then ", tt.late), func(t *testing.T) {
			t.Parallel()
			o, a := claimed(t)
			require.NoError(t, o.database.exec(t.Context(), "UPDATE messaging_outbox SET state = $1, attempt = $2", string(tt.meanwhile), tt.attempt))
			require.NoError(t, o.recordUntil(a.deadline, result{Key: a.Key, Attempt: a.number, State: tt.late}))
			record, err := o.Record(t.Context(), a.Key)
			require.NoError(t, err)
			assert.Equal(t, tt.want, record.State)
		})
	}
}

func TestAttemptIsNotMadeAfterItsDeadline(t *testing.T) {
	t.Parallel()
	o, a := claimed(t)
	a.deadline = a.deadline.Add(-o.lease())
	r, err := o.send(t.Context(), a)
	require.ErrorIs(t, err, messaging.ErrNotSent)
	assert.Equal(t, Waiting, r.State)
}
