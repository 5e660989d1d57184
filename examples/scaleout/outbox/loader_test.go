package outbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/sms"
)

func file(t *testing.T, messages ...Message) string {
	t.Helper()
	var lines strings.Builder
	for _, m := range messages {
		data, err := m.Line()
		require.NoError(t, err)
		fmt.Fprintf(&lines, "%s\n", data)
	}
	return lines.String()
}

func TestParseLineReadsLine(t *testing.T) {
	for _, m := range []Message{testSMS(t, 1), testChatApp1(t, 1), testChatApp2(t, 1)} {
		data, err := m.Line()
		require.NoError(t, err)
		read, err := ParseLine(data)
		require.NoError(t, err)
		assert.Equal(t, m, read)
	}
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

func TestLoaderQueuesOnceBeyondDuplicateWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{DuplicateWindow: 100 * time.Millisecond})
	lines := file(t, testSMS(t, 1), testChatApp1(t, 1), testChatApp2(t, 1), testSMS(t, 2), testSMS(t, 1))
	loaded, err := r.loader.Load(t.Context(), strings.NewReader(lines), nil)
	require.NoError(t, err)
	assert.Equal(t, LoadResult{Queued: 4, Known: 1}, loaded)
	assert.Equal(t, 4, r.queueLength())

	r.purge() // as if all were sent; the stream is empty
	time.Sleep(200 * time.Millisecond)
	loaded, err = r.loader.Load(t.Context(), strings.NewReader(lines), nil)
	require.NoError(t, err)
	assert.Equal(t, LoadResult{Known: 5}, loaded)
	assert.Equal(t, 0, r.queueLength())
}

func TestLoaderReportsBadLinesAndContinues(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	other, err := FromSMS(sms.Message{From: "ACME", To: "+639170000001", Text: "We open at ten", ReferenceID: "order-1"})
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
	loaded, err := r.loader.Load(t.Context(), strings.NewReader(lines), func(line int, err error) { bad[line] = err })
	require.NoError(t, err)
	assert.Equal(t, LoadResult{Queued: 2, Bad: 7}, loaded)
	assert.ErrorIs(t, bad[7], ErrConflict)
	assert.ErrorIs(t, bad[8], ErrLineTooLong)
	for line, err := range bad {
		assert.Contains(t, []int{2, 4, 5, 6, 7, 8, 9}, line)
		assert.NotContains(t, err.Error(), "secret")
	}
}

func TestLoaderRejectsTooLargeMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m, err := FromSMS(sms.Message{From: "ACME", To: "+639170000001", Text: strings.Repeat("a", 1<<20-500), ReferenceID: "large"})
	require.NoError(t, err)
	_, err = r.loader.Put(t.Context(), m)
	assert.ErrorIs(t, err, ErrTooLarge)
	assert.Zero(t, r.record(m))
}

func TestLoaderCompletesInterruptedLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m := testSMS(t, 1)
	r.forceRecord(m, Record{State: Loading})
	queued, err := r.loader.Put(t.Context(), m)
	require.NoError(t, err)
	assert.True(t, queued)
	assert.Equal(t, Queued, r.record(m).State)
	assert.Equal(t, 1, r.queueLength())
}

func TestWorkerSendsOnceAfterInterruptedLoad(t *testing.T) {
	t.Parallel()
	for _, republished := range []bool{false, true} {
		r := newRig(t, engine.Setup{})
		m := testSMS(t, 1)
		r.forceRecord(m, Record{State: Loading})
		r.publish(m, 0)
		if republished { // beyond the duplicate window, the stream holds it twice
			r.publish(m, 7)
			r.put(m)
		}
		r.start(fastOptions())
		r.waitForAll()
		assert.Equal(t, Accepted, r.record(m).State)
		assert.Equal(t, 1, r.sendCount(m))
	}
}
