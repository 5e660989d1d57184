package engine_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

var _ = flag.Bool("whole", false, "accepted for the whole module; this package has no long tests")

func TestEngineKeepsDataAcrossRestart(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	directory := t.TempDir()
	for range 2 {
		s, err := engine.Start(directory, 0)
		require.NoError(t, err)
		c, err := engine.Connect(t.Context(), s.URL(), "test")
		require.NoError(t, err)
		require.NoError(t, c.Prepare(t.Context(), engine.Setup{}))
		require.NoError(t, c.Prepare(t.Context(), engine.Setup{AckWait: time.Minute}), "Prepare can be called again")
		records, err := c.Bucket(t.Context(), engine.Records)
		require.NoError(t, err)
		_, err = records.Create(t.Context(), "sms.one", []byte("1"))
		if err != nil {
			assert.True(t, engine.IsConflict(err), "%v", err)
			entry, err := records.Get(t.Context(), "sms.one")
			require.NoError(t, err)
			_, err = records.Update(t.Context(), "sms.one", nil, entry.Revision()+1)
			assert.True(t, engine.IsConflict(err), "%v", err)
		}
		c.Close()
		s.Close()
	}
}

func TestPrepareKeepsUnsetOptions(t *testing.T) {
	s, err := engine.Start(t.TempDir(), 0)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	c, err := engine.Connect(t.Context(), s.URL(), "test")
	require.NoError(t, err)
	t.Cleanup(c.Close)
	ackWait := func() time.Duration {
		consumer, err := c.JetStream.Consumer(t.Context(), engine.Outbox, engine.Senders)
		require.NoError(t, err)
		return consumer.CachedInfo().Config.AckWait
	}
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{}))
	assert.Equal(t, 30*time.Second, ackWait())
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{AckWait: 5 * time.Second, KeepEvents: time.Hour}))
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{}))
	assert.Equal(t, 5*time.Second, ackWait())
	inbox, err := c.JetStream.Stream(t.Context(), engine.Inbox)
	require.NoError(t, err)
	assert.Equal(t, time.Hour, inbox.CachedInfo().Config.MaxAge)
}

func TestClusterSurvivesNodeLoss(t *testing.T) {
	nodes, err := engine.StartCluster(t.TempDir(), 3)
	require.NoError(t, err)
	for _, n := range nodes {
		t.Cleanup(n.Close)
	}
	c, err := engine.Connect(t.Context(), nodes[0].URL()+","+nodes[1].URL()+","+nodes[2].URL(), "test")
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{Replicas: 3}))
	records, err := c.Bucket(t.Context(), engine.Records)
	require.NoError(t, err)
	_, err = records.Create(t.Context(), "sms.one", []byte("1"))
	require.NoError(t, err)
	nodes[0].Close()
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		entry, err := records.Get(ctx, "sms.one")
		return err == nil && string(entry.Value()) == "1"
	}, 30*time.Second, 50*time.Millisecond)
}
