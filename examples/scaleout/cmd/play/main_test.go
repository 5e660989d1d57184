package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/messaging-service/messaging-go/examples/scaleout/command"
	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

var whole = flag.Bool("whole", false, "run full-size campaigns")

// asCommand turns the test binary into the command, so that workers are real processes.
const asCommand = "CAMPAIGN_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	flag.Parse()
	// The tests mostly wait, so more of them than processors can run at once.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// quickArguments are the flags of workers under which a killed worker is noticed soon.
func quickArguments() []string {
	return []string{
		"-log=error+1", "-concurrency=16", "-send-timeout=1s", "-resend", "-settle-window=500ms", "-settle-interval=100ms", "-settle-for=1h",
	}
}

// campaign is an engine, a test server and worker processes.
type campaign struct {
	t        testing.TB
	settings command.Settings
	engine   *engine.Connection
	outbox   *outbox.Outbox
	service  *messagingtest.Server
	workers  *launcher
}

func newCampaign(t testing.TB, setup engine.Setup, url string) *campaign {
	t.Helper()
	c := &campaign{t: t, service: messagingtest.NewServer(t)}
	c.settings.Engine = engine.Options{URL: url, Timeout: 10 * time.Second}
	var err error
	c.engine, err = engine.Connect(t.Context(), c.settings.Engine)
	require.NoError(t, err)
	t.Cleanup(c.engine.Close)
	setup.AckWait = cmp.Or(setup.AckWait, 2*time.Second)
	require.NoError(t, c.engine.Prepare(t.Context(), setup))
	c.outbox, err = outbox.Open(t.Context(), c.engine)
	require.NoError(t, err)
	c.workers = asTest(newLauncher(&c.settings, c.service, quickArguments()...))
	return c
}

// asTest turns the test binary into the program of a launcher.
func asTest(l *launcher) *launcher {
	l.environment = append(l.environment, asCommand+"=1")
	return l
}

// start starts a worker that does not outlive the test.
func (c *campaign) start() *worker {
	c.t.Helper()
	w, err := c.workers.start(c.t.Context())
	require.NoError(c.t, err)
	c.t.Cleanup(w.kill)
	return w
}

func startedEngine(t testing.TB) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(t.TempDir(), 0)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

func (c *campaign) load(n int, kind func(int) (outbox.Message, error)) {
	c.t.Helper()
	loaded, err := c.outbox.Load(c.t.Context(), strings.NewReader(lines(c.t, n, kind)), func(int, outbox.LoadResult, error) {})
	require.NoError(c.t, err)
	require.Equal(c.t, outbox.LoadResult{Queued: n}, loaded)
}

func lines(t testing.TB, n int, kind func(int) (outbox.Message, error)) string {
	t.Helper()
	all, err := samples(n, kind)
	require.NoError(t, err)
	return all
}

// smsMessage returns the n-th message of an SMS campaign.
func smsMessage(n int) (outbox.Message, error) {
	return outbox.NewMessage(sms.Message{
		From: "ACME", To: fmt.Sprintf("+63917%07d", n), Text: "We open at nine", ReferenceID: fmt.Sprintf("test-%d", n),
	}, outbox.Options{})
}

// command runs the command until it exits.
func (c *campaign) command(input string, args ...string) (output string, status int) {
	c.t.Helper()
	program, err := os.Executable()
	require.NoError(c.t, err)
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	process := exec.CommandContext(ctx, program, args...)
	var out bytes.Buffer
	process.Env, process.Stdin, process.Stdout, process.Stderr = c.workers.environment, strings.NewReader(input), &out, &out
	err = process.Run()
	if _, ended := err.(*exec.ExitError); !ended {
		require.NoError(c.t, err)
	}
	return out.String(), process.ProcessState.ExitCode()
}
