package messagingriver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// withContent counts the accepted messages whose content is kept.
const withContent = "SELECT COUNT(*) FROM JOBS WHERE kind = 'messaging' AND state = 'completed' AND args->'message' IS NOT NULL"

// A process that stops as soon as the last message was accepted leaves no content.
func TestStopDeletesTheContentOfAccepted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, texts("m", 100)...)
		stop := r.start(t)
		require.Eventually(t, func() bool { return len(service.Sent()) == 100 }, patience, 10*time.Millisecond)
		stop()
		require.Equal(t, 100, countOf(t, r, completed))
		require.Zero(t, r.number(t, withContent))
		require.Nil(t, show(t, r, "m99").Message)
	})
}

// Start deletes at once what a killed process left, although the process ends before the maintenance runs again. One run deletes all of it:
// runs of 5,000 messages would take 10 seconds for 12,000.
func TestStartDeletesTheContentOfAcceptedAtOnce(t *testing.T) {
	t.Parallel()
	for messages, most := range map[int]time.Duration{1: 5 * time.Second, 1_100: 10 * time.Second} {
		onBoth(t, func(t test) {
			service := messagingtest.NewServer(t)
			r := t.newRig(t, newClient(t, service), messagingriver.Options{})
			r.insert(t, messagingriver.InsertOptions{}, texts("m", messages)...)
			r.exec(t, "UPDATE JOBS SET state = 'completed', finalized_at = CURRENT_TIMESTAMP")
			began := time.Now()
			r.start(t)
			require.Eventually(t, func() bool { return r.number(t, withContent) == 0 }, patience, 10*time.Millisecond)
			require.Less(t, time.Since(began), most)
			require.Empty(t, service.Sent())
		})
	}
}
