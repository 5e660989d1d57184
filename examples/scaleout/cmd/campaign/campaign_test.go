package main

import (
	"bufio"
	"math/rand/v2"
	neturl "net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/progress"
)

// runToTheEnd lets worker processes send everything, and kills one of them so many times on the way.
func (c *campaign) runToTheEnd(workers, kills int, at func(progress.Status)) {
	t := c.t
	t.Helper()
	running := make([]*process, workers)
	for i := range running {
		var err error
		running[i], err = c.workers.start(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { running[i].kill() })
	}
	killed, next := 0, 1
	deadline := time.Now().Add(4 * time.Minute)
	err := progress.Watch(t.Context(), c.engine, 5*time.Millisecond, func(s progress.Status) bool {
		at(s)
		if killed < kills && s.Final() >= next {
			victim := rand.IntN(workers)
			running[victim].kill()
			var err error
			running[victim], err = c.workers.start(t.Context())
			require.NoError(t, err)
			killed++
			share := s.Total / (kills + 1) // of the messages, between two kills on average
			next = s.Final() + share/2 + rand.IntN(share)
		}
		if !assert.True(t, time.Now().Before(deadline), "the campaign does not end: %v", s) {
			return false
		}
		return s.Final() < s.Total
	})
	require.NoError(t, err)
	assert.Positive(t, killed, "no worker was killed")
	for _, w := range running {
		assert.NoError(t, w.stop(), "a worker that is told to stop does not end well")
	}
}

func (c *campaign) compare() *comparison {
	c.t.Helper()
	result, err := compare(c.t.Context(), c.engine, c.service.Sent(), nil)
	require.NoError(c.t, err)
	var table strings.Builder
	result.print(&table)
	c.t.Log("\n" + table.String())
	return result
}

func size(t *testing.T, short int) int {
	t.Helper()
	if *whole {
		return 5000
	}
	return short
}

func TestACampaignOfSMSWithKilledWorkersSendsEachMessageExactlyOnce(t *testing.T) {
	t.Parallel()
	n := size(t, 200)
	c := newCampaign(t, quick(), startedEngine(t).URL())
	c.service.InjectRandomly(rand.Uint64(), 0.1, faults()...)
	c.load(n, onlySMS)
	c.runToTheEnd(3, n/50, func(progress.Status) {})
	c.compare()
	ids := map[string]bool{}
	for _, s := range c.service.Sent() {
		ids[s.ReferenceID] = true
	}
	assert.Len(t, ids, n)
	assert.Len(t, c.service.Sent(), n, "a message was sent twice")
	for e, err := range outbox.All(t.Context(), c.engine) {
		require.NoError(t, err)
		assert.Equal(t, outbox.Accepted, e.State, "%s: %s", e.Reference, e.Reason)
	}
}

func TestACampaignOfAllChannelsWithKilledWorkersSendsNothingTwice(t *testing.T) {
	t.Parallel()
	n := size(t, 200)
	c := newCampaign(t, quick(), startedEngine(t).URL())
	c.service.InjectRandomly(rand.Uint64(), 0.1, faults()...)
	c.load(n, mixed)
	c.runToTheEnd(3, n/50, func(progress.Status) {})
	result := c.compare()
	assert.True(t, result.agrees(), "the verdicts and the ledger disagree")
	assert.Nil(t, result.rows[verdict{outbox.SMS, outbox.Parked}], "an SMS was parked, which a look-up settles")
}

func TestACampaignOutlivesTheKillOfItsEngine(t *testing.T) {
	t.Parallel()
	n := size(t, 200)
	directory := t.TempDir()
	server, url := startEngineProcess(t, directory, "0")
	at, err := neturl.Parse(url)
	require.NoError(t, err)
	c := newCampaign(t, quick(), url)
	c.service.InjectRandomly(rand.Uint64(), 0.05, faults()...)
	c.load(n, mixed)
	kills := 0
	c.runToTheEnd(2, 1, func(s progress.Status) {
		if kills < 2 && s.Final() > (kills+1)*n/3 {
			kills++
			require.NoError(t, server.Process.Kill())
			_ = server.Wait()
			server, _ = startEngineProcess(t, directory, at.Port())
		}
	})
	assert.Equal(t, 2, kills)
	assert.True(t, c.compare().agrees(), "the verdicts and the ledger disagree")
}

// startEngineProcess starts an engine as a process of its own.
func startEngineProcess(t *testing.T, directory, port string) (engine *exec.Cmd, url string) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(program, "engine", "-dir", directory, "-port", port)
	command.Env = append(bare(os.Environ()), asCommand+"=1")
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	_, url, _ = strings.Cut(strings.TrimSpace(line), "=")
	return command, url
}

func TestACampaignOutlivesANodeOfItsCluster(t *testing.T) {
	n := 150
	if *whole {
		n = 2000
	}
	nodes, err := engine.StartCluster(t.TempDir(), 3)
	require.NoError(t, err)
	var urls []string
	for _, node := range nodes {
		t.Cleanup(node.Close)
		urls = append(urls, node.URL())
	}
	s := quick()
	s.setup.Replicas = 3
	c := newCampaign(t, s, strings.Join(urls, ","))
	c.service.InjectRandomly(rand.Uint64(), 0.05, faults()...)
	c.load(n, onlySMS)
	lost := false
	c.runToTheEnd(3, 5, func(s progress.Status) {
		if !lost && s.Final() > n/3 {
			lost = true
			nodes[rand.IntN(len(nodes))].Close()
		}
	})
	assert.True(t, lost)
	assert.True(t, c.compare().agrees(), "the verdicts and the ledger disagree")
	assert.Len(t, c.service.Sent(), n)
}
