package outbox

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/sms"
)

func prepared(t *testing.T) *engine.Connection {
	t.Helper()
	server, err := embedded.Start(t.TempDir(), 0)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	c, err := engine.Connect(t.Context(), engine.Options{URL: server.URL()})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{}))
	return c
}

func TestStatusCountsAndFollowsRecords(t *testing.T) {
	c := prepared(t)
	o, err := Open(t.Context(), c)
	require.NoError(t, err)

	empty, err := o.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "no messages; 0/s", empty.String())

	for n := range 5 {
		m, err := NewMessage(sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: fmt.Sprint(n)}, Options{})
		require.NoError(t, err)
		_, err = o.Put(t.Context(), m)
		require.NoError(t, err)
	}
	records, err := c.Bucket(t.Context(), engine.Records)
	require.NoError(t, err)
	set := func(reference, record string) {
		t.Helper()
		for e, err := range o.All(t.Context()) {
			if e.Reference == reference && assert.NoError(t, err) {
				_, err := records.PutString(t.Context(), e.Key, record)
				require.NoError(t, err)
			}
		}
	}
	set("0", `{"state":"parked","reference":"0"}`)
	set("1", `{"state":"accepted","reference":"1","overtaken":[{"attempt":1,"state":"unknown"}]}`)
	for key, record := range map[string]string{"sms.bad": "nonsense", "sms.newer": `{"state":"scheduled"}`, "sms.lonely": `{"state":"queued","lane":"normal"}`} {
		_, err = records.PutString(t.Context(), key, record)
		require.NoError(t, err)
	}
	_, err = c.JetStream.Publish(t.Context(), c.OutboxSubject("sms", "normal", "stray.0"), nil)
	require.NoError(t, err)
	limits, err := c.Bucket(t.Context(), engine.Limits)
	require.NoError(t, err)
	_, err = limits.PutString(t.Context(), "breaker.sms", `{"reason":"HTTP 401","opened":"2026-10-03T14:44:23Z"}`)
	require.NoError(t, err)

	status, err := o.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[State]int{Queued: 4, Accepted: 1, Parked: 1}, status.Messages)
	assert.Equal(t, 6, status.Total)
	assert.Equal(t, 2, status.Final())
	assert.EqualValues(t, 6, status.Waiting)
	assert.Positive(t, status.PerSecond)
	assert.Contains(t, status.String(), "4 queued, 1 accepted, 1 parked, 1 POSSIBLY SENT TWICE, 2 UNREADABLE, 1 WITHOUT A TOKEN (run campaign reconcile), 1 WITHOUT A RECORD")
	assert.Contains(t, status.String(), "\nBREAKER of sms open since 2026-10-03T14:44:23Z: HTTP 401")

	changed := false
	err = o.Watch(t.Context(), time.Millisecond, func(s Status) bool {
		if !changed {
			assert.Equal(t, 4, s.Messages[Queued])
			assert.Equal(t, 2, s.Unreadable)
			set("2", `{"state":"refused","reference":"2"}`)
			changed = true
		}
		return s.Messages[Refused] == 0
	})
	require.NoError(t, err)
}

func TestStatusTakesLittleMemory(t *testing.T) {
	c := prepared(t)
	o, err := Open(t.Context(), c)
	require.NoError(t, err)
	n := 20_000
	if *whole {
		n = 1_000_000
	}
	line := strings.Repeat("a", 300)
	for i := range n {
		_, err := c.JetStream.PublishAsync(c.BucketSubject(engine.Records, fmt.Sprint("sms.", i)), []byte(`{"state":"accepted","reason":"`+line+`"}`))
		require.NoError(t, err)
		if i%1000 == 0 {
			<-c.JetStream.PublishAsyncComplete()
		}
	}
	<-c.JetStream.PublishAsyncComplete()
	var most uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Millisecond):
				var now runtime.MemStats
				runtime.GC() // what is left is in use
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			}
		}
	}()
	started := time.Now()
	status, err := o.Status(t.Context())
	close(stop)
	<-stopped
	require.NoError(t, err)
	assert.Equal(t, n, status.Total)
	t.Logf("%d records in %v, %d MiB more (with the engine in this process)", n, time.Since(started), (max(most, before.HeapAlloc)-before.HeapAlloc)>>20)
	assert.Less(t, max(most, before.HeapAlloc)-before.HeapAlloc, uint64(100<<20))
}

func TestStatusEndsWhileRecordsAreRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{KeepRecords: time.Second})
	for n := range 200 {
		r.put(testSMS(t, n))
	}
	require.NoError(t, r.outbox.SetRate(t.Context(), 300))
	r.start(relaxedOptions())
	for r.queueLength() > 0 {
		status, err := r.outbox.Status(t.Context())
		require.NoError(t, err)
		assert.LessOrEqual(t, status.Total, 200, "a record that changed was counted twice")
	}
	for started := time.Now(); time.Since(started) < 3*time.Second; {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		_, err := r.outbox.Status(ctx)
		cancel()
		require.NoError(t, err)
	}
	records, err := r.engine.JetStream.Stream(t.Context(), r.engine.BucketStream(engine.Records))
	require.NoError(t, err)
	assert.Zero(t, records.CachedInfo().State.Consumers, "the engine keeps consumers that nobody uses")
}
