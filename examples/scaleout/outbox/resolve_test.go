package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	sent, resend, drop, interrupted, unknown := testChatApp1(t, 1), testChatApp1(t, 2), testChatApp1(t, 3), testChatApp1(t, 4), testChatApp1(t, 5)
	for _, m := range []Message{sent, resend, drop} {
		r.forceRecord(m, Record{State: Parked, Attempt: 1})
	}
	r.forceRecord(interrupted, Record{State: Queued, Attempt: 1, Token: 1}) // an operator wanted it sent again, and the process was killed

	require.NoError(t, r.outbox.Resolve(t.Context(), ChatApp1, "order-1", MarkSent, "the note"))
	require.NoError(t, r.outbox.Resolve(t.Context(), ChatApp1, "order-2", Resend, "the note"))
	require.NoError(t, r.outbox.Resolve(t.Context(), ChatApp1, "order-3", Drop, "the note"))
	require.NoError(t, r.outbox.Resolve(t.Context(), ChatApp1, "order-4", Resend, "the note"))
	require.ErrorIs(t, r.outbox.Resolve(t.Context(), ChatApp1, "order-1", Resend, "the note"), ErrNotResolvable)
	require.ErrorIs(t, r.outbox.Resolve(t.Context(), ChatApp1, unknown.reference, MarkSent, "the note"), ErrNotResolvable)
	require.Error(t, r.outbox.Resolve(t.Context(), ChatApp1, "order-3", "perhaps", "the note"))

	r.start(relaxedOptions())
	r.waitForAll()
	for m, want := range map[*Message]struct {
		state State
		sent  int
	}{&sent: {Accepted, 0}, &resend: {Accepted, 1}, &drop: {Refused, 0}, &interrupted: {Accepted, 1}} {
		assert.Equal(t, want.state, r.record(*m).State, m.reference)
		assert.Equal(t, want.sent, r.sendCount(*m), m.reference)
	}
	assert.Contains(t, r.record(drop).Reason, "the note")
}

func TestResolveAllSelectsByReason(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	const n = 60
	for i := range n {
		r.forceRecord(testSMS(t, i), Record{State: Refused, Attempt: 1, Reason: "HTTP 401, unauthorized"})
		r.forceRecord(testChatApp1(t, i), Record{State: Parked, Attempt: 1, Reason: "HTTP 503"})
	}
	resolved, err := r.outbox.ResolveAll(t.Context(), Selection{State: Parked, Reason: "HTTP 401"}, Resend, "")
	require.NoError(t, err)
	assert.Zero(t, resolved)
	started := time.Now()
	resolved, err = r.outbox.ResolveAll(t.Context(), Selection{Reason: "HTTP 401"}, Resend, "the token is right now")
	require.NoError(t, err)
	assert.Equal(t, n, resolved)
	assert.Equal(t, n, r.queueLength())
	t.Log(n, "in", time.Since(started))
	e := r.record(testSMS(t, 1))
	assert.Equal(t, Queued, e.State)
	assert.Contains(t, e.Reason, "the token is right now")
	assert.Equal(t, Parked, r.record(testChatApp1(t, 1)).State)
}
