package main

import (
	"bufio"
	"math/rand/v2"
	neturl "net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
)

// runToEnd lets worker processes send everything, and kills a worker the given number of times on the way. It calls at with each status.
func (c *campaign) runToEnd(workers, kills int, at func(outbox.Status)) {
	t := c.t
	t.Helper()
	running := make([]*worker, workers)
	for i := range running {
		running[i] = c.start()
	}
	killed, next := 0, 1
	deadline := time.Now().Add(4 * time.Minute)
	err := c.outbox.Watch(t.Context(), 5*time.Millisecond, func(s outbox.Status) bool {
		at(s)
		if killed < kills && s.Final() >= next {
			victim := rand.IntN(workers)
			running[victim].kill()
			running[victim] = c.start()
			killed++
			share := s.Total / (kills + 1) // average number of verdicts between two kills
			next = s.Final() + share/2 + rand.IntN(share)
		}
		if !assert.True(t, time.Now().Before(deadline), "the campaign did not end: %v", s) {
			return false
		}
		return s.Final() < s.Total
	})
	require.NoError(t, err)
	assert.Positive(t, killed, "no worker was killed")
	for _, w := range running {
		assert.NoError(t, w.stop(), "a stopped worker must exit cleanly")
	}
}

// verify compares the records with what the service received.
func (c *campaign) verify() {
	c.t.Helper()
	wrong, err := mismatches(c.t.Context(), c.outbox, c.service.Sent())
	require.NoError(c.t, err)
	assert.Empty(c.t, wrong)
	status, err := c.outbox.Status(c.t.Context())
	require.NoError(c.t, err)
	c.t.Log(status)
	assert.Zero(c.t, status.Missing+status.Lost+status.Unreadable)
}

func size(t *testing.T, short int) int {
	t.Helper()
	if *whole {
		return 5000
	}
	return short
}

func TestCampaignSendsSMSExactlyOnceAfterKills(t *testing.T) {
	t.Parallel()
	n := size(t, 120)
	c := newCampaign(t, engine.Setup{}, startedEngine(t).URL())
	c.service.InjectRandomly(rand.Uint64(), 0.1, faults()...)
	c.load(n, smsMessage)
	c.runToEnd(3, n/50, func(outbox.Status) {})
	c.verify()
	ids := map[string]bool{}
	for _, s := range c.service.Sent() {
		ids[s.ReferenceID] = true
	}
	assert.Len(t, ids, n)
	assert.Len(t, c.service.Sent(), n, "a message was sent twice")
	for e, err := range c.outbox.All(t.Context()) {
		require.NoError(t, err)
		assert.Equal(t, outbox.Accepted, e.State, "%s: %s", e.Reference, e.Reason)
	}
}

func TestCampaignSendsNothingTwiceAfterKills(t *testing.T) {
	t.Parallel()
	n := size(t, 120)
	c := newCampaign(t, engine.Setup{}, startedEngine(t).URL())
	c.service.InjectRandomly(rand.Uint64(), 0.1, faults()...)
	c.load(n, mixedMessage)
	c.runToEnd(3, n/50, func(outbox.Status) {})
	c.verify()
	for e, err := range c.outbox.All(t.Context()) {
		require.NoError(t, err)
		assert.False(t, e.Channel == outbox.SMS && e.State == outbox.Parked, "an SMS was parked that a lookup can settle")
	}
}

func TestCampaignSurvivesEngineKill(t *testing.T) {
	t.Parallel()
	n := size(t, 120)
	directory := t.TempDir()
	server, url := startEngineProcess(t, directory, "0")
	at, err := neturl.Parse(url)
	require.NoError(t, err)
	c := newCampaign(t, engine.Setup{}, url)
	c.service.InjectRandomly(rand.Uint64(), 0.05, faults()...)
	c.load(n, mixedMessage)
	kills := 0
	c.runToEnd(2, 1, func(s outbox.Status) {
		if kills < 2 && s.Final() > (kills+1)*n/3 {
			kills++
			require.NoError(t, server.Process.Kill())
			_ = server.Wait()
			server, _ = startEngineProcess(t, directory, at.Port())
		}
	})
	assert.Equal(t, 2, kills)
	c.verify()
}

// startEngineProcess starts an engine in its own process.
func startEngineProcess(t *testing.T, directory, port string) (process *exec.Cmd, url string) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	process = exec.Command(program, "engine", "-dir", directory, "-port", port)
	process.Env = append(bare(), asCommand+"=1")
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	_, url, _ = strings.Cut(strings.TrimSpace(line), "=")
	return process, url
}

func TestCampaignSurvivesNodeLoss(t *testing.T) {
	n := 150
	if *whole {
		n = 2000
	}
	nodes, err := embedded.StartCluster(t.TempDir(), 3)
	require.NoError(t, err)
	var urls []string
	for _, node := range nodes {
		t.Cleanup(node.Close)
		urls = append(urls, node.URL())
	}
	c := newCampaign(t, engine.Setup{Replicas: 3}, strings.Join(urls, ","))
	c.service.InjectRandomly(rand.Uint64(), 0.05, faults()...)
	c.load(n, smsMessage)
	lost := false
	c.runToEnd(3, 5, func(s outbox.Status) {
		if !lost && s.Final() > n/3 {
			lost = true
			nodes[rand.IntN(len(nodes))].Close()
		}
	})
	assert.True(t, lost)
	c.verify()
	assert.Len(t, c.service.Sent(), n)
}

func TestCampaignSurvivesStoppedWorkers(t *testing.T) {
	t.Parallel()
	n, workers, perSecond := 90, 2, 15.0
	if *whole {
		n, workers, perSecond = 5000, 3, 80
	}
	c := newCampaign(t, engine.Setup{}, startedEngine(t).URL())
	c.load(n, smsMessage)
	require.NoError(t, c.outbox.SetRate(t.Context(), perSecond))
	running := make([]*worker, workers)
	for i := range running {
		running[i] = c.start()
	}
	ended := make(chan struct{})
	stops := 0
	var stopper sync.WaitGroup
	stopper.Go(func() {
		for isOver := false; !isOver; stops++ {
			w := running[stops%workers]
			assert.NoError(t, w.command.Process.Signal(syscall.SIGSTOP))
			select { // for longer than AckWait and the settle window together
			case <-ended:
				isOver = true
			case <-time.After(time.Duration(2700+rand.IntN(1500)) * time.Millisecond):
			}
			assert.NoError(t, w.command.Process.Signal(syscall.SIGCONT))
		}
	})
	assert.NoError(t, c.outbox.Watch(t.Context(), 50*time.Millisecond, func(s outbox.Status) bool { return s.Final() < s.Total }))
	close(ended)
	stopper.Wait()
	for _, w := range running {
		require.NoError(t, w.stop())
	}
	assert.Greater(t, stops, 1)
	c.verify()
}
