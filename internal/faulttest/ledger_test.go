package faulttest_test

import (
	"fmt"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// references names n messages.
func references(n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprint("r-", i)) {
				return
			}
		}
	}
}

// TestSendAllAgreesWithLedger sends through faults in a fixed order, and compares the verdicts with what the service has.
func TestSendAllAgreesWithLedger(t *testing.T) {
	t.Parallel()
	for _, channel := range channels {
		for _, settles := range []bool{false, true} {
			t.Run(fmt.Sprint(channel.name, ", settles=", settles), func(t *testing.T) {
				t.Parallel()
				const n, rounds = 150, 10
				srv := messagingtest.NewServer(t)
				srv.RefuseDuplicates(true) // a message that is sent twice shows in its outcome
				options := []messaging.Option{messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 3, MinWait: time.Millisecond, MaxWait: 2 * time.Second})}
				if settles {
					options = append(options, messaging.WithSettle(messaging.SettlePolicy{Window: 100 * time.Millisecond, Interval: 10 * time.Millisecond}))
				}
				for range rounds {
					for _, fault := range []messagingtest.Fault{
						messagingtest.FaultAcceptThenDrop(),
						messagingtest.FaultDropUnread(),
						messagingtest.FaultNotJSON(),
						{}, // no fault
						messagingtest.FaultTruncated(),
						messagingtest.FaultStatus(http.StatusTooManyRequests, -1),
						messagingtest.FaultStatus(http.StatusInternalServerError, 0),
						{},
					} {
						srv.Inject(fault, 1)
					}
				}
				verdicts, count := map[string]messaging.Verdict{}, map[messaging.Verdict]int{}
				for out := range channel.sendAll(t.Context(), newClientOf(t, srv, options...), references(n), 16) {
					assert.Equal(t, fmt.Sprint("r-", out.index), out.reference)
					assert.NotContains(t, verdicts, out.reference)
					verdicts[out.reference] = messaging.VerdictOf(out.err)
					count[messaging.VerdictOf(out.err)]++
				}
				assert.Len(t, verdicts, n)
				ledger := map[string]int{}
				for _, entry := range srv.Sent() {
					assert.Equal(t, channel.name, entry.Channel)
					ledger[entry.ReferenceID]++
				}
				assertLedger(t, verdicts, ledger)
				assert.Zero(t, count[messaging.NotSent], "%v", count)
				if settles && channel.listed {
					// What the service did not process stays unknown: it drops one request unread and refuses one with a 500 in each round.
					assert.GreaterOrEqual(t, count[messaging.Accepted], n-2*rounds, "%v", count)
				} else {
					assert.Equal(t, 5*rounds, count[messaging.Unknown], "nothing is settled: %v", count)
				}
			})
		}
	}
}

// TestSettleAgreesWithLedger sends through faults, forgets everything but the messages with an unknown outcome, as a crash does, and
// settles them in a new client.
func TestSettleAgreesWithLedger(t *testing.T) {
	t.Parallel()
	const n = 60
	srv := messagingtest.NewServer(t)
	faults := []messagingtest.Fault{
		messagingtest.FaultAcceptThenDrop(),
		messagingtest.FaultDropUnread(),
		messagingtest.FaultNotJSON(),
		messagingtest.FaultTruncated(),
		messagingtest.FaultStatus(http.StatusInternalServerError, 0),
	}
	client := newClientOf(t, srv)
	unknown := map[string]time.Time{} // since when each may have been sent
	for reference := range references(n) {
		srv.Inject(faults[len(unknown)%len(faults)], 1)
		_, err := client.SMS.Send(t.Context(), testMessage(reference))
		require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
		unknown[reference] = time.Now()
	}
	sent := map[string]string{}
	for _, entry := range srv.Sent() {
		sent[entry.ReferenceID] = entry.ID
	}
	assert.Len(t, sent, n*3/5)

	const window = 200 * time.Millisecond
	restarted := newClientOf(t, srv, messaging.WithSettle(messaging.SettlePolicy{Window: window, Interval: 10 * time.Millisecond}))
	for reference, since := range unknown {
		m := testMessage(reference)
		m.To = testNumber // as it may be stored: without the plus
		receipt, err := restarted.SMS.Settle(t.Context(), m, since)
		if id, ok := sent[reference]; ok {
			require.NoError(t, err)
			assert.Equal(t, id, receipt.ID)
			continue
		}
		require.ErrorIs(t, err, messaging.ErrNotListed)
		assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
		assert.GreaterOrEqual(t, time.Since(since), window)
	}
	assert.Len(t, srv.Sent(), len(sent), "Settle sends nothing")
}
