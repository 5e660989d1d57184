//go:build unix

package faulttest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
)

// frozenURL names the variable by which TestFrozenProcessGetsItsResponses shows its own child where to send.
const frozenURL = "MESSAGING_TEST_FROZEN_URL"

// A process that is stopped for longer than its timeout, while the service responds, gets the responses that the kernel holds.
func TestFrozenProcessGetsItsResponses(t *testing.T) {
	const inFlight, timeout, frozen = 32, 5 * time.Second, 7 * time.Second
	if url := os.Getenv(frozenURL); url != "" {
		client := newClient(t, url, messaging.WithTimeout(timeout))
		var c told
		var calls sync.WaitGroup
		for i := range inFlight {
			calls.Go(func() {
				_, err := client.SMS.Send(t.Context(), to(i, fmt.Sprint(i)))
				c.count(err)
			})
		}
		calls.Wait()
		fmt.Printf("accepted=%d.\n", c.accepted.Load())
		os.Exit(0) // at once: idle connections of a test whose server is in another process are no leak
	}
	t.Parallel()
	arrived, stopped := make(chan struct{}, inFlight), make(chan struct{})
	var responses sync.WaitGroup
	responses.Add(inFlight)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer responses.Done()
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-stopped
		_, _ = io.WriteString(w, acceptedBody)
	}))
	defer server.Close()
	var once sync.Once
	release := func() { once.Do(func() { close(stopped) }) }
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestFrozenProcessGetsItsResponses$")
	child.Env = append(os.Environ(), frozenURL+"="+server.URL)
	var out strings.Builder
	child.Stdout, child.Stderr = &out, &out
	require.NoError(t, child.Start())
	for range inFlight {
		select {
		case <-arrived:
		case <-ctx.Done():
			t.Fatal("the requests do not arrive")
		}
	}
	require.NoError(t, child.Process.Signal(syscall.SIGSTOP))
	release()
	responses.Wait()
	time.Sleep(frozen)
	require.NoError(t, child.Process.Signal(syscall.SIGCONT))
	require.NoError(t, child.Wait(), out.String())
	_, after, _ := strings.Cut(out.String(), "accepted=")
	accepted, _, _ := strings.Cut(after, ".")
	assert.Equal(t, strconv.Itoa(inFlight), accepted, out.String())
}
