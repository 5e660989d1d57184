package messagingriver

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

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
	require.NoError(t, o.beat(t.Context()))
	claimed, _, err := o.claim(t.Context(), o.channels["sms"], 10, false)
	require.NoError(t, err)
	require.Len(t, claimed, 1)
	return o, &claimed[0]
}

func TestAttemptBeginsOnce(t *testing.T) {
	t.Parallel()
	o, a := claimed(t)
	assert.Equal(t, 1, a.number)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			again, _, err := o.claim(t.Context(), o.channels["sms"], 10, false)
			assert.NoError(t, err)
			assert.Empty(t, again)
		})
	}
	all.Wait()
	require.NoError(t, o.recordUntil(t.Context(), time.Now(), result{Key: a.Key, Attempt: 1, State: Waiting}))
	twice, _, err := o.claim(t.Context(), o.channels["sms"], 10, false)
	require.NoError(t, err)
	require.Len(t, twice, 1)
	assert.Equal(t, 2, twice[0].number)
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
		{Waiting, 1, Unknown, Waiting}, // a person has decided to send it again
		{Waiting, 1, Parked, Waiting},
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
			require.NoError(t, o.recordUntil(t.Context(), time.Now(), result{Key: a.Key, Attempt: a.number, State: tt.late}))
			states, err := o.database.keys(t.Context(), "SELECT state, reference FROM messaging_outbox")
			require.NoError(t, err)
			assert.Equal(t, []Key{{string(tt.want), "a"}}, states)
		})
	}
}

// TestAttemptIsNotMadeByAWorkerThatWasHeldUp: as after a freeze, or while its database is away.
func TestAttemptIsNotMadeByAWorkerThatWasHeldUp(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(o *Outbox[*sql.Tx], a *attempt){
		"the claim is old":         func(_ *Outbox[*sql.Tx], a *attempt) { a.claimed -= claimAge },
		"the proof of life is old": func(o *Outbox[*sql.Tx], _ *attempt) { o.live.at.Add(-int64(claimAge)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, a := claimed(t)
			hold(o, a)
			r := o.send(t.Context(), o.channels["sms"], a, time.Time{})
			assert.Contains(t, r.Problem, "was held up", "nothing is requested")
			assert.Equal(t, Waiting, r.State)
			assert.Zero(t, r.Failed)
		})
	}
}

func TestMessageThatExpiresBetweenClaimAndRequest(t *testing.T) {
	t.Parallel()
	o, a := claimed(t)
	a.expires = sql.NullInt64{Int64: 1, Valid: true}
	time.Sleep(2 * time.Millisecond)
	r := o.send(t.Context(), o.channels["sms"], a, time.Time{})
	assert.Equal(t, Expired, r.State)
}

func TestClaimEndsInTime(t *testing.T) {
	assert.Less(t, claimAge+5*time.Second, lifetime, "what a worker claimed begins before others take it for dead")
}
