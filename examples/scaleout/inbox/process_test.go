package inbox_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// process is a receiver in its own process: this test binary, started again.
type process struct {
	command *exec.Cmd
	address string
	input   io.Closer // the process ends when it is closed
	once    sync.Once
}

// startProcess starts a receiver on the engine at url. It ends with the test.
func startProcess(tb testing.TB, url string, lease time.Duration) *process {
	tb.Helper()
	executable, err := os.Executable()
	require.NoError(tb, err)
	p := &process{command: exec.Command(executable)}
	p.command.Env = append(os.Environ(), engineVariable+"="+url, leaseVariable+"="+lease.String())
	p.command.Stderr = os.Stderr
	p.input, err = p.command.StdinPipe()
	require.NoError(tb, err)
	output, err := p.command.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, p.command.Start())
	tb.Cleanup(func() { p.end(tb) })
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(tb, err, "the receiver did not print its address")
	p.address = strings.TrimSpace(line)
	return p
}

// kill kills the process.
func (p *process) kill(tb testing.TB) {
	tb.Helper()
	p.once.Do(func() {
		require.NoError(tb, p.command.Process.Kill())
		_ = p.command.Wait()
		assert.Equal(tb, -1, p.command.ProcessState.ExitCode(), "the process had already exited")
	})
}

// end lets the process shut down.
func (p *process) end(tb testing.TB) {
	tb.Helper()
	p.once.Do(func() {
		_ = p.input.Close()
		assert.NoError(tb, p.command.Wait())
	})
}

// balancer is one address for several receivers: connections go to each in turn.
type balancer struct {
	addresses []atomic.Pointer[string]
	turn      atomic.Uint64
	client    *http.Client
	retries   atomic.Int64 // number of calls after the first of an event
}

func newBalancer(tb testing.TB, connections int, processes ...*process) *balancer {
	tb.Helper()
	b := &balancer{addresses: make([]atomic.Pointer[string], len(processes))}
	for i, p := range processes {
		b.addresses[i].Store(&p.address)
	}
	transport := &http.Transport{
		DialContext: b.dial, MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections,
	}
	b.client = &http.Client{Transport: transport, Timeout: time.Minute}
	tb.Cleanup(transport.CloseIdleConnections)
	return b
}

func (b *balancer) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	turn := b.turn.Add(1)
	return new(net.Dialer).DialContext(ctx, network, *b.addresses[turn%uint64(len(b.addresses))].Load())
}

// deliver calls a hook as the service does, until the event is accepted.
func (b *balancer) deliver(ctx context.Context, target string) error {
	for {
		status, err := b.get(ctx, "http://receivers.example"+target)
		switch {
		case status == http.StatusOK:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && status < http.StatusInternalServerError:
			return errors.New(http.StatusText(status)) // the service would not call again
		}
		b.retries.Add(1)
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (b *balancer) get(ctx context.Context, target string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return 0, err
	}
	response, err := b.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}
