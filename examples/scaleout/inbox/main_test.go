package inbox_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
)

var whole = flag.Bool("whole", false, "run the long versions of the tests")

const (
	secret = "s3cret"
	// engineVariable turns the test binary into a receiver on the engine that it names.
	engineVariable = "INBOX_TEST_ENGINE"
	leaseVariable  = "INBOX_TEST_LEASE"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(engineVariable); url != "" {
		if err := receive(url, os.Getenv(leaseVariable)); err != nil {
			fmt.Fprintln(os.Stderr, "receiver:", err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	// The tests mostly wait for leases, so more of them than processors can run at once.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// receive is the main function of a receiver's process. It prints its address and ends when its standard input is closed.
func receive(url, lease string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	c, err := engine.Connect(ctx, engine.Options{URL: url, Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		return err
	}
	defer c.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	config := inbox.Config{Secret: secret}
	if config.Lease, err = time.ParseDuration(lease); err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return inbox.Serve(ctx, listener, c, config)
}

// startEngine starts and prepares an engine for one test.
func startEngine(tb testing.TB) (*embedded.Server, *engine.Connection) {
	tb.Helper()
	s, err := embedded.Start(tb.TempDir(), 0)
	require.NoError(tb, err)
	tb.Cleanup(s.Close)
	c := connect(tb, s.URL())
	require.NoError(tb, c.Prepare(tb.Context(), engine.Setup{}))
	return s, c
}

func connect(tb testing.TB, url string) *engine.Connection {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Second)
	defer cancel()
	c, err := engine.Connect(ctx, engine.Options{URL: url})
	require.NoError(tb, err)
	tb.Cleanup(c.Close)
	return c
}

// stored returns the number of events in the stream.
func stored(tb testing.TB, c *engine.Connection) int {
	tb.Helper()
	stream, err := c.Stream(tb.Context(), engine.Inbox)
	require.NoError(tb, err)
	return int(stream.CachedInfo().State.Msgs)
}
