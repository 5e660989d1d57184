package outbox

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

func TestResolver(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	resolver, err := NewResolver(t.Context(), r.engine, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	sent, resend, drop, interrupted, unknown := testChatApp1(t, 1), testChatApp1(t, 2), testChatApp1(t, 3), testChatApp1(t, 4), testChatApp1(t, 5)
	for _, m := range []Message{sent, resend, drop, interrupted} {
		r.put(m)
	}
	r.purge()
	for _, m := range []Message{sent, resend, drop, interrupted} {
		line, err := m.Line()
		require.NoError(t, err)
		r.forceRecord(m, Record{State: Parked, Attempt: 1}.withLine(line))
	}
	line, err := interrupted.Line()
	require.NoError(t, err)
	r.forceRecord(interrupted, Record{State: Loading, Attempt: 1}.withLine(line)) // an operator wanted it sent again, and the process was killed

	require.NoError(t, resolver.Resolve(t.Context(), ChatApp1, "order-1", MarkSent))
	require.NoError(t, resolver.Resolve(t.Context(), ChatApp1, "order-2", Resend))
	require.NoError(t, resolver.Resolve(t.Context(), ChatApp1, "order-3", Drop))
	require.NoError(t, resolver.Resolve(t.Context(), ChatApp1, "order-4", Resend))
	require.ErrorIs(t, resolver.Resolve(t.Context(), ChatApp1, "order-1", Resend), ErrNotResolvable)
	require.ErrorIs(t, resolver.Resolve(t.Context(), ChatApp1, "order-3", Resend), ErrNotResolvable, "the message is gone")
	require.ErrorIs(t, resolver.Resolve(t.Context(), ChatApp1, unknown.reference, MarkSent), ErrNotResolvable)
	require.Error(t, resolver.Resolve(t.Context(), ChatApp1, "order-3", "perhaps"))

	r.start(relaxedOptions())
	r.waitForAll()
	for m, want := range map[*Message]struct {
		state State
		sent  int
	}{&sent: {Accepted, 0}, &resend: {Accepted, 1}, &drop: {Refused, 0}, &interrupted: {Accepted, 1}} {
		assert.Equal(t, want.state, r.record(*m).State, m.reference)
		assert.Equal(t, want.sent, r.sendCount(*m), m.reference)
		assert.Empty(t, r.record(*m).Line, "the record keeps a message that it no longer needs")
	}
}
