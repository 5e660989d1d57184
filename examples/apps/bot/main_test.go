package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// The test binary is also the program that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("BOT_DATABASE"); path != "" {
		fmt.Fprintln(os.Stderr, serveUntilKilled(path))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func serveUntilKilled(path string) error {
	ctx := context.Background()
	b, err := open(ctx, path, os.Getenv("BOT_SERVICE"), os.Getenv("BOT_TOKEN"))
	if err != nil {
		return err
	}
	if err := b.outbox.Start(ctx); err != nil {
		return err
	}
	server := &http.Server{Addr: os.Getenv("BOT_ADDRESS"), Handler: b.hook, ReadHeaderTimeout: time.Second}
	return server.ListenAndServe()
}

func TestRun(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	require.NoError(t, run(t.Context(), service))
	sent := service.Sent()
	require.Len(t, sent, 2, "one reply to each message, which came twice")
	assert.Equal(t, "interactive", sent[0].Kind)
	assert.Equal(t, "Your order is on its way.", sent[1].Text)
}

// However often the process is killed, each message has one reply, since the service calls again.
func TestOneReplyAlthoughTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	const messages = 30
	service := messagingtest.NewServer(t)
	path := filepath.Join(t.TempDir(), "bot.db")
	free := httptest.NewServer(nil)
	address := free.Listener.Addr().String()
	free.Close()
	start := func() *exec.Cmd {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), "BOT_DATABASE="+path, "BOT_SERVICE="+service.URL, "BOT_TOKEN="+service.Token, "BOT_ADDRESS="+address)
		require.NoError(t, command.Start())
		return command
	}
	process := start()
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for range 4 {
			time.Sleep(700 * time.Millisecond)
			_ = process.Process.Kill()
			_ = process.Wait()
			process = start()
		}
	}()
	for i := range messages {
		message := messagingtest.InboundChatApp{
			Channel: "chatapp2", ID: fmt.Sprintf("in-%d", i), From: fmt.Sprintf("6391712345%02d", i), To: "channel-1", Kind: "text", Text: "menu",
		}
		assert.Eventually(t, func() bool { // as the service does: until one of its two calls gets a 2xx
			handled := false
			for _, reply := range service.CallWebhook(t.Context(), "http://"+address+"/?key=secret-of-a-demo", message, messagingtest.TwiceAtOnce()) {
				handled = handled || reply.Err == nil && reply.StatusCode/100 == 2
			}
			return handled
		}, 2*time.Minute, 50*time.Millisecond) // a call that was killed holds its event for the lease of a minute
	}
	<-killed
	_ = process.Process.Kill()
	_ = process.Wait()
	replied := map[string]int{}
	for _, sent := range service.Sent() {
		replied[sent.ReferenceID]++
	}
	assert.NotEmpty(t, replied)
	for reference, n := range replied {
		assert.Equal(t, 1, n, reference)
	}
	b, err := open(t.Context(), path, service.URL, service.Token)
	require.NoError(t, err)
	defer b.db.Close()
	var rows int
	require.NoError(t, b.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM river_job WHERE kind = 'messaging'").Scan(&rows))
	assert.Equal(t, messages, rows)
}
