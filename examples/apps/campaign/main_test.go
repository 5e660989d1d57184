package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// The test binary is also the program that is killed.
func TestMain(m *testing.M) {
	if folder := os.Getenv("CAMPAIGN_FOLDER"); folder != "" {
		options := messagingriver.Options{SendTimeout: time.Second, SettleFor: 2 * time.Second, Rate: 40}
		if err := start(context.Background(), folder, options); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// TestEachRecipientOnce: the program is killed eleven times with kill -9. Who wrote STOP gets nothing.
func TestEachRecipientOnce(t *testing.T) {
	t.Parallel()
	const recipients = 300
	service := messagingtest.NewServer(t)
	free := httptest.NewServer(nil)
	address := free.Listener.Addr().String()
	free.Close()
	folder := t.TempDir()
	var lines strings.Builder
	lines.WriteString("id,number,text\n")
	for i := range recipients {
		fmt.Fprintf(&lines, "%03d,+63917%07d,\"Spring sale, number %d\"\n", i, i, i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "recipients.csv"), []byte(lines.String()), 0o600))
	begin := func() *exec.Cmd {
		process := exec.CommandContext(t.Context(), os.Args[0])
		process.Env = append(os.Environ(), "CAMPAIGN_FOLDER="+folder, "CAMPAIGN_ADDRESS="+address, "MESSAGING_WEBHOOK_SECRET=key=secret-of-a-demo",
			"MESSAGING_BASE_URL="+service.URL, "MESSAGING_TOKEN="+service.Token)
		require.NoError(t, process.Start())
		return process
	}
	process := begin()
	last := fmt.Sprintf("63917%07d", recipients-1)
	require.Eventually(t, func() bool { // until the program serves
		replies := service.CallWebhook(t.Context(), "http://"+address+"/hooks/sms?key=secret-of-a-demo", messagingtest.InboundSMS{ID: "stop", From: last, To: "ACME", Text: "STOP"})
		return len(replies) > 0 && replies[0].Err == nil && replies[0].StatusCode < 300
	}, time.Minute, 50*time.Millisecond)
	for range 11 {
		before := service.Requests()
		require.Eventually(t, func() bool { return service.Requests() > before+5 }, time.Minute, time.Millisecond)
		require.NoError(t, process.Process.Kill())
		_ = process.Wait()
		process = begin()
	}
	require.NoError(t, process.Wait())
	times := map[string]int{}
	for _, m := range service.Sent() {
		times[m.To]++
	}
	assert.NotContains(t, times, "+"+last)
	for to, n := range times {
		assert.Equal(t, 1, n, to)
	}
	results, err := os.ReadFile(filepath.Join(folder, "results.csv"))
	require.NoError(t, err)
	assert.Equal(t, len(times), strings.Count(string(results), ",completed,"), "%s", results)
	assert.Equal(t, 1, strings.Count(string(results), ",cancelled,"), "%s", results)
	assert.Contains(t, string(results), "opted out")
	assert.Equal(t, recipients, strings.Count(string(results), "\n"), "each is completed, cancelled or discarded")
}

func TestNothingIsSentWithoutTheWebhook(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "recipients.csv"), []byte("id,number,text\n17,+639171234567,Spring sale\n"), 0o600))
	service := messagingtest.NewServer(t)
	t.Setenv("MESSAGING_BASE_URL", service.URL)
	t.Setenv("MESSAGING_TOKEN", service.Token)
	t.Setenv("MESSAGING_WEBHOOK_SECRET", "key=secret-of-a-demo")
	taken := httptest.NewServer(nil)
	defer taken.Close()
	t.Setenv("CAMPAIGN_ADDRESS", taken.Listener.Addr().String())
	require.ErrorContains(t, start(t.Context(), folder, messagingriver.Options{}), "address already in use")
	assert.Empty(t, service.Sent())
}
