package readme

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// A fragment is a block of a page that sends, or that has handlers.
type fragment struct {
	page     string // and line
	run      func() error
	sends    bool
	handlers map[string]string // by path, the method of the receiver, such as ChatApp1
}

// TestGuides runs each send and each handler of the pages while the service loses a response, cuts one, or refuses a request. The service
// calls a handler again, as it does after a response that is no success. Nobody gets a message twice, every handler's reply goes out, and
// each event is stored once.
func TestGuides(t *testing.T) {
	faults := map[string]messagingtest.Fault{
		"none": {}, "response lost": messagingtest.FaultAcceptThenDrop(), "response cut": messagingtest.FaultTruncated(),
		"too many requests": messagingtest.FaultStatus(http.StatusTooManyRequests, time.Second),
	}
	for _, f := range fragments {
		for name, fault := range faults {
			t.Run(f.page+", "+name, func(t *testing.T) {
				begin(t)
				service.Inject(fault, 1)
				if err := f.run(); err != nil && name == "none" {
					t.Error(err)
				}
				for path, kind := range f.handlers {
					deliver(t, kind, path)
				}
				sent := map[string]bool{}
				for _, m := range service.Sent() {
					assert.False(t, sent[m.To+m.Text], "somebody got a message twice")
					sent[m.To+m.Text] = true
				}
				if !f.sends {
					assert.Equal(t, len(f.handlers), queue.stored, "stored events")
				} else if len(f.handlers) > 0 {
					assert.NotEmpty(t, sent, "nobody got a reply")
				}
			})
		}
	}
}

// begin starts a service for one fragment, and a database for its handlers.
func begin(t *testing.T) {
	service = messagingtest.NewServer(t)
	url, token, secret, key = service.URL, service.Token, "a-secret-of-one-receiver", "key"
	t.Setenv("MESSAGING_BASE_URL", url)
	t.Setenv("MESSAGING_TOKEN", token)
	client, err = messaging.NewClient(url, messaging.WithToken(token), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
		messaging.WithSettle(messaging.SettlePolicy{Window: time.Second, Interval: 100 * time.Millisecond}))
	require.NoError(t, err)
	hooks, err = webhook.NewReceiver(webhook.WithSecret("key", secret), webhook.WithStore(webhook.NewMemoryStore(100, time.Hour)))
	require.NoError(t, err)
	ctx, mux, handlers = t.Context(), http.NewServeMux(), nil
	use(mux)
	message = sms.Message{From: "ACME", To: "+639171234567", Text: "Your order 17 is ready", ReferenceID: "order-17"}
	other := sms.Message{From: "ACME", To: "+639180001111", Text: "Your order 18 is ready", ReferenceID: "order-18"}
	messages = slices.Values([]sms.Message{message, other})
	queue = &failsOnce{failed: map[string]bool{}}
	orders = queue
}

// deliver calls a handler with one event: twice at once, again until it succeeds, and once more, as if a response had been lost.
func deliver(t *testing.T, kind, path string) {
	server := httptest.NewServer(handlers[len(handlers)-1])
	defer server.Close()
	event := map[string]messagingtest.Callback{
		"SMS":      messagingtest.InboundSMS{ID: "in-17", From: "639171234567", To: "ACME", Text: "Hello"},
		"ChatApp2": messagingtest.InboundChatApp{Channel: "chatapp2", ID: "in-17", From: "639171234567", To: "channel-1", Kind: "text", Text: "Hello"},
		"Delivery": messagingtest.DeliveryReport{ID: "msg-17", ReferenceID: "order-17", To: "639171234567", Status: "delivered"},
	}[kind]
	target := server.URL + path + "?key=" + secret
	service.CallWebhook(ctx, target, event, messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
	replies := service.CallWebhook(ctx, target, event)
	assert.Equal(t, http.StatusOK, replies[0].StatusCode, "it is never handled")
}
