package browsertest

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

const (
	ana = "+639171234567"
	ben = "+639180001111"
)

var (
	load  = flag.Duration("load", 2*time.Second, "how long to send 100 messages a second with the page open")
	axe   = flag.String("axe", "node_modules/axe-core/axe.min.js", "the file of axe-core, which npm ci installs; none if empty")
	whole = flag.Bool("whole", false, "every width in both color schemes")
)

// conversation returns the path of a conversation.
func conversation(channel, to string) string {
	return "/_sandbox/?" + url.Values{"channel": {channel}, "to": {to}}.Encode()
}

// TestPage runs all tests of the page in one tab of one browser. Each starts a sandbox of its own.
func TestPage(t *testing.T) {
	tab := startBrowser(t)
	command := buildCommand(t)
	for _, part := range []struct {
		name string
		test func(t *testing.T, tab browser, command string)
	}{
		{"the whole way", testTheWholeWay},
		{"the first minute", testFirstMinute},
		{"drafts", testDrafts},
		{"server started again", testRestart},
		{"reading", testOldMessage},
		{"search", testSearch},
		{"field of a webhook", testWebhookField},
		{"media and cards", testMedia},
		{"signs", testSigns},
		{"a long URL", testLongURL},
		{"touch, zoom and paper", testTouch},
		{"one-time codes", testOTP},
		{"traffic and faults", testTrafficPage},
		{"twelve tabs", testTwelveTabs},
		{"no shared workers", testNoSharedWorkers},
		{"a reader of old lines", testReaderIsNotMoved},
		{"a tap", testTap},
		{"the only conversation", testOnlyConversation},
		{"what is gone", testMissingPages},
		{"toasts, chips and hover", testToastsAndActions},
		{"forced colors", testForcedColors},
		{"a fault that hit", testFaultHit},
		{"hostile texts", testHostileTexts},
		{"labels, contrast and widths", testAudit},
		{"keyboard alone", testKeyboard},
		{"many conversations", testManyConversations},
		{"load", testLoad},
		{"screenshots", testScreenshots},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, tab, command) })
	}
}

// A bot is a program that receives answers and delivery reports, and has an image.
type bot struct {
	*httptest.Server

	mu       sync.Mutex
	received []webhook.Content // the answers
	reports  []string          // the statuses
	media    atomic.Int32      // requests for the image
}

// startBot starts a bot.
func startBot(t *testing.T) *bot {
	t.Helper()
	b := &bot{}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", "a-long-enough-secret"), webhook.WithStore(webhook.NewMemoryStore(1000, time.Hour)))
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/chatapp2", hooks.ChatApp2(func(_ context.Context, m webhook.ChatMessage) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.received = append(b.received, m.Content)
		return nil
	}))
	mux.HandleFunc("/delivery", func(_ http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.reports = append(b.reports, r.URL.Query().Get("s"))
	})
	mux.HandleFunc("/table.svg", func(w http.ResponseWriter, _ *http.Request) {
		b.media.Add(1)
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60"><rect width="80" height="60" fill="teal"/></svg>`))
	})
	b.Server = httptest.NewServer(mux)
	t.Cleanup(b.Close)
	return b
}

// args returns the flags of a sandbox that sends answers by chat app 2 to the bot.
func (b *bot) args() []string {
	return []string{"-webhook-chatapp2", b.URL + "/chatapp2?key=a-long-enough-secret"}
}
