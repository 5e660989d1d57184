package engine_test

import (
	"context"
	"flag"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

var _ = flag.Bool("whole", false, "accepted for the whole module; this package has no long tests")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t *testing.T, options engine.Options) *engine.Connection {
	t.Helper()
	c, err := engine.Connect(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func start(t *testing.T) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(t.TempDir(), 0)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func TestWorkersDoNotLinkTheServer(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../cmd/campaign").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "github.com/nats-io/nats.go/jetstream")
	for _, linked := range []string{"nats-server", "scaleout/embedded", "messagingtest"} {
		assert.NotContains(t, string(out), linked)
	}
}

func TestEngineKeepsDataAndPasswordAcrossRestart(t *testing.T) {
	directory := t.TempDir()
	var url string
	for i := range 2 {
		s, err := embedded.Start(directory, 0)
		require.NoError(t, err)
		_, secret, _ := strings.Cut(s.URL(), "//")
		secret, _, _ = strings.Cut(secret, "@")
		if i > 0 {
			assert.Equal(t, url, secret)
		}
		url = secret
		c, err := engine.Connect(t.Context(), engine.Options{URL: s.URL()})
		require.NoError(t, err)
		require.NoError(t, c.Prepare(t.Context(), engine.Setup{}))
		require.NoError(t, c.Prepare(t.Context(), engine.Setup{AckWait: time.Minute}), "Prepare can be called again")
		records, err := c.Bucket(t.Context(), engine.Records)
		require.NoError(t, err)
		_, err = records.Create(t.Context(), "sms.one", []byte("1"))
		if i > 0 {
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

func TestEmbeddedEngineNeedsPasswordOnLoopback(t *testing.T) {
	s := start(t)
	assert.Contains(t, s.URL(), "@127.0.0.1:")
	_, address, _ := strings.Cut(s.URL(), "@")
	_, err := engine.Connect(t.Context(), engine.Options{URL: "nats://" + address, Timeout: time.Second})
	assert.ErrorContains(t, err, "Authorization Violation")
	assert.NotEqual(t, s.URL(), start(t).URL())
}

func TestConnectRejectsBadEnvironmentAndOldServer(t *testing.T) {
	s := start(t)
	_, err := engine.Connect(t.Context(), engine.Options{URL: s.URL(), Environment: "prod.eu"})
	require.ErrorContains(t, err, `the environment is "prod.eu", want 1 to 40 letters`)
	for version, supported := range map[string]bool{"2.10.29": false, "2.11.0": true, "2.15.2": true, "3.0.0": true, "1.4.1": false, "": false, "dev": false} {
		assert.Equal(t, supported, engine.IsSupported(version), version)
	}
}

func TestPrepareKeepsUnsetOptions(t *testing.T) {
	c := connect(t, engine.Options{URL: start(t).URL()})
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{}))
	setup, err := c.Setup(t.Context())
	require.NoError(t, err)
	assert.Equal(t, engine.Setup{Replicas: 1, AckWait: 30 * time.Second, MaxBytes: -1, KeepEvents: 7 * 24 * time.Hour, KeepRecords: 30 * 24 * time.Hour}, setup)
	changed := engine.Setup{AckWait: 5 * time.Second, MaxBytes: 1 << 20, KeepEvents: time.Hour, KeepRecords: 2 * time.Hour}
	require.NoError(t, c.Prepare(t.Context(), changed))
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{}))
	setup, err = c.Setup(t.Context())
	require.NoError(t, err)
	changed.Replicas = 1
	assert.Equal(t, changed, setup)
	require.ErrorContains(t, c.Prepare(t.Context(), engine.Setup{KeepRecords: time.Millisecond}), "want at least 1s")
}

func TestStreamsRejectWhatDoesNotFit(t *testing.T) {
	c := connect(t, engine.Options{URL: start(t).URL()})
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{MaxBytes: 1000}))
	for streams := c.JetStream.ListStreams(t.Context()); ; {
		info, ok := <-streams.Info()
		if !ok {
			break
		}
		assert.Equal(t, jetstream.DiscardNew, info.Config.Discard, info.Config.Name)
	}
	_, err := c.JetStream.Publish(t.Context(), c.InboxSubject("sms", "1"), make([]byte, 2000))
	assert.True(t, engine.IsFull(err), "%v", err)
}

func TestEnvironmentsShareNothing(t *testing.T) {
	s := start(t)
	one, two := connect(t, engine.Options{URL: s.URL(), Environment: "test"}), connect(t, engine.Options{URL: s.URL(), Environment: "prod"})
	empty, err := one.IsEmpty(t.Context())
	require.NoError(t, err)
	assert.True(t, empty)
	require.NoError(t, one.Prepare(t.Context(), engine.Setup{}))
	_, err = two.Stream(t.Context(), engine.Outbox)
	require.ErrorContains(t, err, "environment prod is not prepared, run campaign prepare")
	_, err = two.Bucket(t.Context(), engine.Records)
	require.ErrorContains(t, err, "environment prod is not prepared, run campaign prepare")
	empty, err = two.IsEmpty(t.Context())
	require.NoError(t, err)
	assert.False(t, empty, "the play would run on an engine that others use")
	require.NoError(t, two.Prepare(t.Context(), engine.Setup{}))
	_, err = one.JetStream.Publish(t.Context(), one.OutboxSubject("sms", "normal", "a.0"), nil)
	require.NoError(t, err)
	_, err = one.JetStream.Publish(t.Context(), one.OutboxSubject("sms", "normal", "a.0"), nil)
	assert.True(t, engine.IsPresent(err), "a token must exist once: %v", err)
	for c, want := range map[*engine.Connection]uint64{one: 1, two: 0} {
		stream, err := c.Stream(t.Context(), engine.Outbox)
		require.NoError(t, err)
		assert.Equal(t, want, stream.CachedInfo().State.Msgs)
	}
}

func TestClusterSurvivesNodeLoss(t *testing.T) {
	nodes, err := embedded.StartCluster(t.TempDir(), 3)
	require.NoError(t, err)
	for _, n := range nodes {
		t.Cleanup(n.Close)
	}
	c := connect(t, engine.Options{URL: nodes[0].URL() + "," + nodes[1].URL() + "," + nodes[2].URL()})
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{Replicas: 3}))
	records, err := c.Bucket(t.Context(), engine.Records)
	require.NoError(t, err)
	_, err = records.Create(t.Context(), "sms.one", []byte("1"))
	require.NoError(t, err)
	_, err = c.JetStream.Publish(t.Context(), c.OutboxSubject("sms", "normal", "a.0"), nil)
	require.NoError(t, err)
	_, err = c.JetStream.Publish(t.Context(), c.OutboxSubject("sms", "normal", "a.0"), nil)
	assert.True(t, engine.IsPresent(err), "a token must exist once on a cluster, too: %v", err)
	nodes[0].Close()
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		entry, err := records.Get(ctx, "sms.one")
		return err == nil && string(entry.Value()) == "1"
	}, 30*time.Second, 50*time.Millisecond)
}
