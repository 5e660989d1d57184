package faulttest_test

import (
	"fmt"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

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
					options = append(options, messaging.WithSettle(messaging.SettlePolicy{Window: 100 * time.Millisecond, Interval: 10 * time.Millisecond, Resend: true}))
				}
				for range rounds {
					for _, fault := range []messagingtest.Fault{
						messagingtest.AcceptThenDrop(),
						messagingtest.DropUnread(),
						messagingtest.NotJSON(),
						{}, // no fault
						messagingtest.TruncatedResponse(),
						messagingtest.Status(http.StatusTooManyRequests, -1),
						messagingtest.Status(http.StatusInternalServerError, 0),
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
					assert.Equal(t, channel.name, string(entry.Channel))
					ledger[entry.ReferenceID]++
				}
				assertLedger(t, verdicts, ledger)
				assert.Zero(t, count[messaging.NotSent], "%v", count)
				if settles && channel.listed {
					assert.Greater(t, count[messaging.Accepted], n-10, "%v", count)
				} else {
					assert.Equal(t, 5*rounds, count[messaging.Unknown], "nothing is settled: %v", count)
				}
			})
		}
	}
}
