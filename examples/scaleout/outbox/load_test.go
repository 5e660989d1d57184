package outbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func ignore(int, LoadResult, error) {}

func file(t *testing.T, messages ...Message) string {
	t.Helper()
	var lines strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&lines, "%s\n", m.Line())
	}
	return lines.String()
}

func TestParseLineReadsLine(t *testing.T) {
	for _, m := range []Message{testSMS(t, 1), testChatApp1(t, 1), testChatApp2(t, 1)} {
		read, err := ParseLine(m.Line())
		require.NoError(t, err)
		assert.Equal(t, m, read)
	}
}

func TestOpenNeedsPreparation(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{MaxBytes: 1 << 20})
	stream, err := r.engine.Stream(t.Context(), engine.Outbox)
	require.NoError(t, err)
	config := stream.CachedInfo().Config
	config.Metadata = nil // as another version made it
	_, err = r.engine.JetStream.UpdateStream(t.Context(), config)
	require.NoError(t, err)
	_, err = Open(t.Context(), r.engine)
	require.ErrorIs(t, err, engine.ErrNotPrepared)
	require.NoError(t, r.engine.Prepare(t.Context(), engine.Setup{}))
	_, err = Open(t.Context(), r.engine)
	require.NoError(t, err)
	setup, err := r.engine.Setup(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 1<<20, setup.MaxBytes, "the limit is lost")
}

func TestKeyIsUniquePerReference(t *testing.T) {
	keys := map[string]bool{}
	long := strings.Repeat("a", 500)
	for _, channel := range []Channel{SMS, ChatApp1, ChatApp2} {
		for _, reference := range []string{"a", "A", "a b", "ä", "*", ">", "a.b", long, long + "b"} {
			k := key(channel, reference)
			assert.LessOrEqual(t, len(k), 200)
			assert.Regexp(t, `^[-/_=.a-zA-Z0-9]+$`, k)
			keys[k] = true
		}
	}
	assert.Len(t, keys, 27)
}

func TestLoadQueuesOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	lines := file(t, testSMS(t, 1), testChatApp1(t, 1), testChatApp2(t, 1), testSMS(t, 2), testSMS(t, 1))
	var progress []LoadResult
	loaded, err := r.outbox.Load(t.Context(), strings.NewReader(lines), func(_ int, l LoadResult, _ error) { progress = append(progress, l) })
	require.NoError(t, err)
	assert.Equal(t, LoadResult{Queued: 4, Known: 1}, loaded)
	assert.Len(t, progress, 5)
	assert.Equal(t, loaded, progress[4])
	assert.Equal(t, 4, r.queueLength())

	loaded, err = r.outbox.Load(t.Context(), strings.NewReader(lines), ignore)
	require.NoError(t, err)
	assert.Equal(t, LoadResult{Known: 5}, loaded)
	assert.Equal(t, 4, r.queueLength())
}

func TestLoadReportsBadLinesAndContinues(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	other, err := NewMessage(sms.Message{From: "ACME", To: "+639170000001", Text: "We open at ten", ReferenceID: "order-1"}, Options{})
	require.NoError(t, err)
	lines := strings.Join([]string{
		strings.TrimSpace(file(t, testSMS(t, 1))),
		`{"channel":"sms","message":{"from":"ACME","to":"+639170000002","text":"secret"}}`,
		``,
		`{"channel":"fax","message":{}}`,
		`secret`,
		`{"channel":"sms"}`,
		strings.TrimSpace(file(t, other)),
		`{"channel":"sms","message":{"text":"` + strings.Repeat("secret", MaxLineBytes/6) + `"}}`,
		strings.TrimSpace(file(t, testSMS(t, 2))) + ` {}`,
		strings.TrimSpace(file(t, testSMS(t, 3))), // without a newline
	}, "\r\n")
	bad := map[int]error{}
	loaded, err := r.outbox.Load(t.Context(), strings.NewReader(lines), func(line int, _ LoadResult, err error) {
		if err != nil {
			bad[line] = err
		}
	})
	require.NoError(t, err)
	assert.Equal(t, LoadResult{Queued: 2, Bad: 7}, loaded)
	assert.ErrorIs(t, bad[7], ErrConflict)
	assert.ErrorIs(t, bad[8], ErrLineTooLong)
	for line, err := range bad {
		assert.Contains(t, []int{2, 4, 5, 6, 7, 8, 9}, line)
		assert.NotContains(t, err.Error(), "secret")
	}
}

func TestLoadRejectsTooLargeMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m, err := NewMessage(sms.Message{From: "ACME", To: "+639170000001", Text: strings.Repeat("a", 1<<20-500), ReferenceID: "large"}, Options{})
	require.NoError(t, err)
	_, err = r.outbox.Put(t.Context(), m)
	assert.ErrorIs(t, err, ErrTooLarge)
	assert.Zero(t, r.record(m))
}

func TestLoadCompletesInterruptedLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m := testSMS(t, 1)
	r.forceRecord(m, Record{State: Queued})
	queued, err := r.outbox.Put(t.Context(), m)
	require.NoError(t, err)
	assert.True(t, queued)
	assert.Equal(t, 1, r.queueLength())
}

func TestLoadTakesRemovedRecordInAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m := testSMS(t, 1)
	r.put(m)
	stop := r.start(relaxedOptions())
	r.waitForAll()
	stop()
	require.NoError(t, r.outbox.records.Purge(t.Context(), m.Key())) // within any duplicate window
	queued, err := r.outbox.Put(t.Context(), m)
	require.NoError(t, err)
	assert.True(t, queued)
	assert.Equal(t, 1, r.queueLength(), "queued, and nothing in the stream")
	r.start(relaxedOptions())
	r.waitFor(m, Accepted)
}

func TestLoadReportsFullEngine(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{MaxBytes: 20_000})
	var all []Message
	var err error
	for n := 0; err == nil && n < 1000; n++ {
		m := testSMS(t, n)
		if _, err = r.outbox.Put(t.Context(), m); err == nil {
			all = append(all, m)
		}
	}
	require.ErrorIs(t, err, engine.ErrFull)
	require.NotEmpty(t, all)
	assert.Equal(t, len(all), r.queueLength(), "a message that was taken in was discarded")
	require.NoError(t, r.engine.Prepare(t.Context(), engine.Setup{MaxBytes: 1 << 20}))
	r.start(relaxedOptions())
	for _, m := range all {
		r.waitFor(m, Accepted)
	}
}

func TestDoneRecordsAreRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{KeepRecords: time.Second})
	r.service.Inject(messagingtest.Status(400, 0), 1)
	refused, parked := testSMS(t, 1), testChatApp1(t, 1)
	r.forceRecord(parked, Record{State: Parked})
	r.put(refused)
	r.start(relaxedOptions())
	require.Eventually(t, func() bool { return r.record(refused).State == Refused }, 30*time.Second, time.Millisecond)
	require.Eventually(t, func() bool { return r.record(refused).State == "" }, 30*time.Second, 20*time.Millisecond, "text and number are kept for ever")
	assert.Equal(t, Parked, r.record(parked).State, "an operator has still to decide")
	queued, err := r.outbox.Put(t.Context(), refused)
	require.NoError(t, err)
	assert.True(t, queued)
}
