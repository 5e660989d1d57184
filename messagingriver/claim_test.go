package messagingriver_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// bulk returns SMS of a campaign.
func bulk(n int) []messaging.Message {
	all := make([]messaging.Message, n)
	for i := range all {
		all[i] = smsMessage(fmt.Sprint("bulk-", i))
	}
	return all
}

// TestUrgentMessagesGoFirst: behind a campaign that uses the rate for half a minute.
func TestUrgentMessagesGoFirst(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t)
		options := quick()
		options.Rate = 100
		r := t.newRig(t, client, options)
		insert(t, r, bulk(3000)...)
		for range 2 {
			defer r.start(t)()
		}
		becomes(t, r, smsKey("bulk-50"), messagingriver.Accepted)
		var took []time.Duration
		for i := range 20 {
			code := fmt.Sprint("code-", i)
			began := time.Now()
			require.NoError(t, r.insertWith(t.Context(), smsMessage(code), messagingriver.InsertOptions{Priority: messagingriver.Urgent}))
			becomes(t, r, smsKey(code), messagingriver.Accepted)
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		assert.Less(t, took[18], 3*time.Second, "%v", took)
		assert.Positive(t, r.counts(t.Context())[messagingriver.Waiting], "the campaign goes on")
	})
}

func TestExpiredMessageIsNotSent(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		require.NoError(t, r.Pause(t.Context()))
		require.NoError(t, r.insertWith(t.Context(), smsMessage("expired"), messagingriver.InsertOptions{Expire: time.Second}))
		require.NoError(t, r.insertWith(t.Context(), smsMessage("later"), messagingriver.InsertOptions{
			At: time.Now().Add(4 * time.Second), Expire: time.Minute,
		}))
		defer r.start(t)()
		record := becomes(t, r, smsKey("expired"), messagingriver.Expired)
		assert.Contains(t, record.Message, text, "a person may have it sent")
		require.NoError(t, r.Resume(t.Context()))
		becomes(t, r, smsKey("later"), messagingriver.Accepted)
		n, err := r.Resolve(t.Context(), messagingriver.Resend, smsKey("expired"))
		require.NoError(t, err)
		assert.Zero(t, n, "it needs a new expiry")
		_, err = r.Renew(t.Context(), 0, smsKey("expired"))
		require.ErrorContains(t, err, "want a positive one")
		assert.Len(t, service.Sent(), 1)
		n, err = r.Renew(t.Context(), time.Minute, smsKey("expired"), smsKey("later"))
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		becomes(t, r, smsKey("expired"), messagingriver.Accepted)
		assert.Equal(t, map[string]int{"expired": 1, "later": 1}, references(service))
	})
}

func TestInsertOptions(t *testing.T) {
	t.Parallel()
	_, client := connected(t)
	r := sqliteRig(t, client, quick())
	for want, options := range map[string]messagingriver.InsertOptions{
		"Priority must be 1 to 4, got 5":           {Priority: 5},
		"Expire and MaxAttempts must not be negat": {Expire: -1},
		"Campaign must be at most 255 bytes":       {Campaign: "a\x00"},
	} {
		require.ErrorContains(t, r.insertWith(t.Context(), smsMessage("a"), options), want)
	}
}

// TestEnqueuerKnowsNoTimesOfWorkers: what it stores does not depend on its own options.
func TestEnqueuerKnowsNoTimesOfWorkers(t *testing.T) {
	t.Parallel()
	_, client := connected(t)
	db := openSQLite(t)
	slow := quick()
	slow.SendTimeout = 24 * time.Hour
	enqueuer, err := rigOnSQLite(db, client, slow)
	require.NoError(t, err)
	worker, err := rigOnSQLite(db, client, quick())
	require.NoError(t, err)
	require.NoError(t, worker.Migrate(t.Context()))
	_, err = enqueuer.insert(t.Context(), false, smsMessage("a"))
	require.NoError(t, err)
	require.NoError(t, worker.exec(t.Context(), "DELETE FROM river_job")) // it could have ended with a process
	defer worker.start(t)()
	began := time.Now()
	becomes(t, worker, smsKey("a"), messagingriver.Accepted)
	assert.Less(t, time.Since(began), 10*time.Second)
}

// TestKillDelaysNothing: what a worker had begun when it was killed is unknown, and the other worker sends all else.
func TestKillDelaysNothing(t *testing.T) {
	for name, database := range sharedDatabases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const messages = 2000
			service := messagingtest.NewServer(t)
			worker := program{Database: database(t), Service: service.URL, Token: service.Token, PerSecond: 1000, Rate: 200}
			outbox, err := worker.open(t.Context())
			require.NoError(t, err)
			t.Cleanup(outbox.close)
			require.NoError(t, outbox.migrate(t.Context()))
			outbox.enqueue(t.Context(), t, 0, messages)
			victim := worker.begin(t)
			worker.begin(t)
			require.Eventually(t, func() bool { return service.Requests() > messages/4 }, time.Minute, 10*time.Millisecond)
			victim.signal(t, syscall.SIGKILL)
			victim.wait()
			began := time.Now()
			left := outbox.states(t.Context(), t)
			require.Eventually(t, func() bool {
				states := outbox.states(t.Context(), t)
				return states[messagingriver.Waiting]+states[messagingriver.Sending] == 0
			}, time.Minute, 50*time.Millisecond)
			bound := time.Duration(left[messagingriver.Waiting])*time.Second/150 + 30*time.Second
			assert.Less(t, time.Since(began), bound, "%v", left)
			states := outbox.states(t.Context(), t)
			assert.LessOrEqual(t, states[messagingriver.Unknown]+states[messagingriver.Parked], 50)
			assert.Equal(t, messages, states[messagingriver.Unknown]+states[messagingriver.Parked]+states[messagingriver.Accepted])
			assert.Zero(t, twice(processed(service)), "sent twice")
			victim.start(t)
		})
	}
}
