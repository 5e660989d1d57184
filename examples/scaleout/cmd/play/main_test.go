package main

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/messagingtest"
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
	t       *testing.T
	url     string
	engine  *engine.Connection
	service *messagingtest.Server
	workers *launcher
}

func newCampaign(t *testing.T, setup engine.Setup, url string) *campaign {
	t.Helper()
	c := &campaign{t: t, url: url, service: messagingtest.NewServer(t)}
	var err error
	on := engine.Options{URL: url, Timeout: 10 * time.Second}
	c.engine, err = engine.Connect(t.Context(), on)
	require.NoError(t, err)
	t.Cleanup(c.engine.Close)
	setup.AckWait = 2 * time.Second
	require.NoError(t, c.engine.Prepare(t.Context(), setup))
	c.workers = newLauncher(on, c.service.URL, c.service.Token, quickArguments()...)
	c.workers.environment = append(c.workers.environment, asCommand+"=1")
	return c
}

func startedEngine(t *testing.T) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(t.TempDir(), 0)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

func (c *campaign) load(n int, kind func(string, int) (outbox.Message, error)) {
	c.t.Helper()
	loader, err := outbox.NewLoader(c.t.Context(), c.engine, slog.New(slog.DiscardHandler))
	require.NoError(c.t, err)
	loaded, err := loader.Load(c.t.Context(), strings.NewReader(lines(c.t, n, kind)), outbox.Report{})
	require.NoError(c.t, err)
	require.Equal(c.t, outbox.LoadResult{Queued: n}, loaded)
}

func lines(t *testing.T, n int, kind func(string, int) (outbox.Message, error)) string {
	t.Helper()
	all, err := sampleFile("test", n, kind)
	require.NoError(t, err)
	return all
}

// command runs the command until it exits.
func (c *campaign) command(input string, args ...string) (output string, status int) {
	c.t.Helper()
	program, err := os.Executable()
	require.NoError(c.t, err)
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	var out bytes.Buffer
	command.Env, command.Stdin, command.Stdout, command.Stderr = c.workers.environment, strings.NewReader(input), &out, &out
	err = command.Run()
	if _, ended := err.(*exec.ExitError); !ended {
		require.NoError(c.t, err)
	}
	return out.String(), command.ProcessState.ExitCode()
}
