package messagingriver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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

// TestUrgentMessagesGoFirst: three workers, and a campaign that uses what the codes leave of the rate. Turns that a busy machine misses are
// lost, and other tests run beside this one: so one of five measurements must show the rate, and each that codes go first.
func TestUrgentMessagesGoFirst(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		options := quick()
		options.Rate = 200
		r := t.newRig(t, client, options)
		insert(t, r, bulk(12000)...)
		for range 3 {
			defer r.another(t, client, options).start(t)()
		}
		becomes(t, r, smsKey("bulk-10"), messagingriver.Accepted) // among the first by time and by name
		share := 0.0
		for measurement := range 5 {
			var took []time.Duration
			all, before := time.Now(), service.Requests()
			for i := range 20 {
				code := fmt.Sprint("code-", measurement, "-", i)
				began := time.Now()
				require.NoError(t, r.insertWith(t.Context(), smsMessage(code), messagingriver.InsertOptions{Priority: messagingriver.Urgent}))
				becomes(t, r, smsKey(code), messagingriver.Accepted)
				took = append(took, time.Since(began))
				time.Sleep(300 * time.Millisecond)
			}
			campaign := float64(service.Requests()-before-len(took)) / time.Since(all).Seconds()
			t.Logf("%.0f messages of the campaign a second; codes took %v", campaign, took)
			slices.Sort(took)
			assert.Less(t, took[18], 3*time.Second, "%v", took)
			if share = max(share, campaign/options.Rate); share >= 0.9 {
				break
			}
		}
		assert.GreaterOrEqual(t, share, 0.9, "of the rate")
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
	t.Parallel()
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

// hourFast builds this test with a package time whose wall clock is an hour fast, and returns the file.
func hourFast(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	require.NoError(t, err)
	const now = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	require.True(t, bytes.Contains(source, []byte(now)), "package time is another one")
	changed := filepath.Join(folder, "time.go")
	require.NoError(t, os.WriteFile(changed, bytes.ReplaceAll(source, []byte(now), []byte(now+"\tsec += 3600\n")), 0o600))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600))
	binary := filepath.Join(folder, "fast")
	said, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", filepath.Join(folder, "overlay.json"), "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", said)
	return binary
}

// TestClockOfAProcessDecidesNothing: the first worker, River's leader, is an hour fast, and so is what it enqueues. It runs with -whole,
// because it builds the standard library.
func TestClockOfAProcessDecidesNothing(t *testing.T) {
	if !*whole {
		return
	}
	binary := hourFast(t)
	for name, database := range sharedDatabases() {
		t.Run(name, func(t *testing.T) {
			service := messagingtest.NewServer(t)
			service.Inject(messagingtest.AcceptThenDrop(), 3)
			fast := program{Database: database(t), Service: service.URL, Token: service.Token, PerSecond: 500, Enqueue: 100, binary: binary}
			slow := fast
			slow.binary, slow.Enqueue = "", 0
			outbox, err := slow.open(t.Context())
			require.NoError(t, err)
			t.Cleanup(outbox.close)
			require.NoError(t, outbox.migrate(t.Context()))
			began := time.Now()
			fast.begin(t)
			require.Eventually(t, func() bool { return service.Requests() >= 100 }, 30*time.Second, 10*time.Millisecond)
			slow.begin(t)
			outbox.enqueue(t.Context(), t, 0, 100)
			require.Eventually(t, func() bool {
				return outbox.states(t.Context(), t)[messagingriver.Accepted] == 200
			}, time.Minute, 50*time.Millisecond, "also those that are looked up, by the rounds of the leader")
			assert.Less(t, time.Since(began), 30*time.Second)
			assert.Zero(t, twice(processed(service)))
		})
	}
}
