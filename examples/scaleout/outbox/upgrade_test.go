package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// newerParse parses as a version would that knows one more member of a line.
func newerParse(data []byte) (Message, error) {
	m, err := ParseLine(bytes.Replace(data, []byte(`"campaign":"autumn",`), nil, 1))
	m.line = data
	return m, err
}

// newer returns a line that only a newer version can read.
func newer(t *testing.T, m Message) Message {
	t.Helper()
	m.line = append([]byte(`{"campaign":"autumn",`), m.line[1:]...)
	require.True(t, json.Valid(m.line))
	return m
}

func TestRollingUpgradeSendsEveryMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	var all []Message
	for n := range 12 {
		m := testSMS(t, n)
		switch n % 3 {
		case 0:
			m = newer(t, m)
		case 1: // an encoder of another version writes the fields in another order
			var l struct {
				Channel Channel
				Message struct{ From, To, Text, ReferenceID string }
			}
			require.NoError(t, json.Unmarshal(m.line, &l))
			line, err := json.Marshal(map[string]any{"message": map[string]string{
				"text": l.Message.Text, "referenceID": l.Message.ReferenceID, "to": l.Message.To, "from": l.Message.From,
			}, "channel": "sms"})
			require.NoError(t, err)
			m, err = ParseLine(line)
			require.NoError(t, err)
			require.JSONEq(t, string(line), string(m.Line()))
		}
		all = append(all, m)
	}
	r.put(all...)
	old, current := r.worker(relaxedOptions()), r.worker(relaxedOptions())
	current.parse = newerParse
	stopOld := r.run(old)
	r.waitFor(all[1], Accepted)
	r.run(current) // side by side
	r.waitFor(all[2], Accepted)
	stopOld()
	r.waitForAll()
	for _, m := range all {
		assert.Equal(t, Accepted, r.record(m).State)
		assert.Equal(t, 1, r.sendCount(m))
	}
	for _, m := range all {
		queued, err := r.outbox.Put(t.Context(), m)
		require.NoError(t, err)
		assert.False(t, queued, "the same line is another message after the upgrade")
	}
}

func TestWorkerParksMessageThatNobodyCanRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m := newer(t, testSMS(t, 1))
	r.put(m)
	w := r.worker(relaxedOptions())
	w.maxTries = 3
	stop := r.run(w)
	record := r.waitFor(m, Parked)
	assert.JSONEq(t, string(m.line), string(record.Line), "the content was lost")
	assert.Contains(t, record.Reason, "no worker could read the message")
	stop()

	require.NoError(t, r.outbox.Resolve(t.Context(), SMS, "order-1", Resend, "after the upgrade"))
	current := r.worker(relaxedOptions())
	current.parse = newerParse
	r.run(current)
	r.waitFor(m, Accepted)
	assert.Equal(t, 1, r.sendCount(m))
}

func TestWorkerLeavesRecordOfNewerVersionAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m, other := testSMS(t, 1), testSMS(t, 2)
	r.put(m, other)
	r.forceRecord(m, Record{State: "scheduled", Attempt: 3})
	r.start(fastOptions())
	r.waitFor(other, Accepted)
	found, err := r.outbox.records.Get(t.Context(), m.Key())
	require.NoError(t, err)
	assert.Contains(t, string(found.Value()), `"scheduled"`)
	r.waitForQueue(1) // that of the other message leaves soon
	unreadable := 0
	for _, err := range r.outbox.All(t.Context()) {
		if errors.Is(err, ErrUnreadable) {
			unreadable++
		}
	}
	assert.Equal(t, 1, unreadable)
	assert.Zero(t, r.sendCount(m))
}

func TestReconcileMendsBothDirections(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m, unknown, final, lost, lostChat := testSMS(t, 1), testSMS(t, 2), testSMS(t, 3), testSMS(t, 4), testChatApp1(t, 5)
	r.put(m, unknown, lost, lostChat)
	require.NoError(t, r.outbox.records.Purge(t.Context(), lost.Key()))
	require.NoError(t, r.outbox.records.Purge(t.Context(), lostChat.Key()))
	stream, err := r.engine.Stream(t.Context(), engine.Outbox)
	require.NoError(t, err)
	for _, sequence := range []uint64{1, 2} { // as DiscardOld or an operator would
		require.NoError(t, stream.DeleteMsg(t.Context(), sequence))
	}
	r.forceRecord(unknown, Record{State: Unknown, Attempt: 1, Lane: settleLane, Token: 1, SentAt: time.Now()})
	r.forceRecord(final, Record{State: Accepted})
	_, err = testSMS(t, 4).send(t.Context(), r.worker(fastOptions()).client) // it was sent before its record was lost
	require.NoError(t, err)

	for i, read := range []func(context.Context) (Status, error){r.outbox.Status, r.outbox.Reconcile, r.outbox.Status} {
		found, err := read(t.Context())
		require.NoError(t, err)
		want := []int{2, 2, 0}[i]
		assert.Equal(t, []int{want, want, 0}, []int{found.Missing, found.Lost, found.Unreadable})
	}
	assert.Contains(t, r.record(lost).Reason, "load the message again")

	for _, again := range []Message{lost, lostChat} {
		queued, err := r.outbox.Put(t.Context(), again)
		require.NoError(t, err)
		assert.True(t, queued)
	}
	r.start(fastOptions())
	r.waitFor(m, Accepted)
	r.waitFor(unknown, Accepted)
	r.waitFor(lost, Accepted)
	assert.Contains(t, r.waitFor(lostChat, Parked).Reason, "its record was lost")
	assert.Equal(t, 1, r.sendCount(lost), "a message whose record was lost was sent again")
	assert.Zero(t, r.sendCount(lostChat))
}

func TestWorkerParksMessageWithoutRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m := testSMS(t, 1)
	r.put(m)
	require.NoError(t, r.outbox.records.Purge(t.Context(), m.Key()))
	r.start(fastOptions())
	assert.Contains(t, r.waitFor(m, Parked).Reason, "lost the record")
	assert.Zero(t, r.sendCount(m))
}
