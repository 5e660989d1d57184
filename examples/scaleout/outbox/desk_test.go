package outbox

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

func TestAPersonDecidesOnWhatIsParked(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	desk, err := NewDesk(t.Context(), r.engine, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	wasSent, sendAgain, drop, broken, open := testChatApp1(t, 1), testChatApp1(t, 2), testChatApp1(t, 3), testChatApp1(t, 4), testChatApp1(t, 5)
	for _, m := range []Message{wasSent, sendAgain, drop, broken} {
		r.put(m)
	}
	r.purge()
	for _, m := range []Message{wasSent, sendAgain, drop, broken} {
		line, err := m.Line()
		require.NoError(t, err)
		r.force(m, Record{State: Parked, Attempt: 1}.keeping(line))
	}
	line, err := broken.Line()
	require.NoError(t, err)
	r.force(broken, Record{State: Loading, Attempt: 1}.keeping(line)) // a person wanted it sent again, and the process was killed

	require.NoError(t, desk.Resolve(t.Context(), ChatApp1, "order-1", WasSent))
	require.NoError(t, desk.Resolve(t.Context(), ChatApp1, "order-2", SendAgain))
	require.NoError(t, desk.Resolve(t.Context(), ChatApp1, "order-3", Drop))
	require.NoError(t, desk.Resolve(t.Context(), ChatApp1, "order-4", SendAgain))
	require.ErrorIs(t, desk.Resolve(t.Context(), ChatApp1, "order-1", SendAgain), ErrNothingToDecide)
	require.ErrorIs(t, desk.Resolve(t.Context(), ChatApp1, "order-3", SendAgain), ErrNothingToDecide, "the message itself is gone")
	require.ErrorIs(t, desk.Resolve(t.Context(), ChatApp1, open.reference, WasSent), ErrNothingToDecide)
	require.Error(t, desk.Resolve(t.Context(), ChatApp1, "order-3", "perhaps"))

	r.start(patient())
	r.waitForAll()
	for m, want := range map[*Message]struct {
		state State
		sent  int
	}{&wasSent: {Accepted, 0}, &sendAgain: {Accepted, 1}, &drop: {Refused, 0}, &broken: {Accepted, 1}} {
		assert.Equal(t, want.state, r.record(*m).State, m.reference)
		assert.Equal(t, want.sent, r.sent(*m), m.reference)
		assert.Empty(t, r.record(*m).Line, "the record keeps a message that nobody needs")
	}
}
