package progress_test

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/progress"
	"github.com/messaging-service/messaging-go/sms"
)

var _ = flag.Bool("whole", false, "accepted for the whole module; this package has no long tests")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStatusCountsAndFollowsRecords(t *testing.T) {
	server, err := engine.Start(t.TempDir(), 0)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	c, err := engine.Connect(t.Context(), server.URL(), "test")
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{}))
	log := slog.New(slog.DiscardHandler)
	loader, err := outbox.NewLoader(t.Context(), c, log)
	require.NoError(t, err)

	empty, err := progress.Read(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, "no messages; 0/s", empty.String())

	for n := range 5 {
		m, err := outbox.FromSMS(sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: fmt.Sprint(n)})
		require.NoError(t, err)
		_, err = loader.Put(t.Context(), m)
		require.NoError(t, err)
	}
	records, err := c.Bucket(t.Context(), engine.Records)
	require.NoError(t, err)
	set := func(reference, record string) {
		t.Helper()
		for e, err := range outbox.All(t.Context(), c) {
			require.NoError(t, err)
			if e.Reference == reference {
				_, err := records.PutString(t.Context(), e.Key, record)
				require.NoError(t, err)
			}
		}
	}
	set("0", `{"state":"parked","reference":"0"}`)
	set("1", `{"state":"accepted","reference":"1","otherIds":["x"]}`)

	status, err := progress.Read(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, map[outbox.State]int{outbox.Queued: 3, outbox.Accepted: 1, outbox.Parked: 1}, status.Messages)
	assert.Equal(t, 5, status.Total)
	assert.Equal(t, 2, status.Final())
	assert.EqualValues(t, 5, status.Waiting)
	assert.Positive(t, status.PerSecond)
	assert.Contains(t, status.String(), "3 queued, 1 accepted, 1 parked, 1 POSSIBLY SENT TWICE")

	changed := false
	err = progress.Watch(t.Context(), c, time.Millisecond, func(s progress.Status) bool {
		if !changed {
			assert.Equal(t, 3, s.Messages[outbox.Queued])
			set("2", `{"state":"refused","reference":"2"}`)
			changed = true
		}
		return s.Messages[outbox.Refused] == 0
	})
	require.NoError(t, err)
}

func TestDisplayWritesPlainLinesToFile(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	display, interval := progress.NewDisplay(file)
	assert.Equal(t, time.Second, interval)
	display.Show(progress.Status{Messages: map[outbox.State]int{outbox.Accepted: 2}, Total: 2, PerSecond: 7})
	display.Println("a worker was killed")
	display.End()
	require.NoError(t, file.Close())
	written, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	assert.Equal(t, "2 accepted; 7/s\na worker was killed\n", string(written))
}
