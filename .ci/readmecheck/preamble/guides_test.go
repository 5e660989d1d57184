package readme

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestGuides runs each send and each handler of a page while the service loses a response, cuts one, or refuses a request. A queue calls a send again
// for as long as the page says so, and the service calls a handler again, as it does after a response that is no success. Nobody gets a
// message twice, every handler's reply goes out, and each event is stored once.
func TestGuides(t *testing.T) {
	faults := map[string]messagingtest.Fault{
		"none": {}, "response lost": messagingtest.FaultAcceptThenDrop(), "response cut": messagingtest.FaultTruncated(),
		"too many requests": messagingtest.FaultStatus(http.StatusTooManyRequests, time.Second),
	}
	for _, f := range fragments {
		for name, fault := range faults {
			t.Run(f.page+", "+name, func(t *testing.T) {
				stored := 0
				again := begin(t, &stored)
				service.Inject(fault, 1)
				for attempt := 0; *again && attempt < 5; attempt++ {
					*again = false
					if err := f.run(); err != nil && name == "none" {
						t.Error(err)
					}
				}
				for path, kind := range f.handlers {
					deliver(t, kind, path)
				}
				if times := timesSent(); len(times) > 0 && slices.Max(times) > 1 {
					t.Error("somebody got a message twice")
				} else if len(times) == 0 && f.sends && len(f.handlers) > 0 {
					t.Error("nobody got a reply")
				}
				if len(f.handlers) > 0 && !f.sends && stored != len(f.handlers) {
					t.Errorf("%d events were stored, want %d", stored, len(f.handlers))
				}
			})
		}
	}
}

// begin starts a service for the fragments alone. What it returns says whether a queue has to call a send again.
func begin(t *testing.T, stored *int) *bool {
	service = messagingtest.NewServer(t)
	url, token, secret, key = service.URL, service.Token, "a-secret-of-one-receiver", "key"
	t.Setenv("MESSAGING_BASE_URL", url)
	t.Setenv("MESSAGING_TOKEN", token)
	var clientErr, hooksErr error
	client, clientErr = messaging.NewClient(url, messaging.WithToken(token),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
		messaging.WithSettle(messaging.SettlePolicy{Window: time.Second, Interval: 100 * time.Millisecond}))
	hooks, hooksErr = webhook.NewReceiver(webhook.WithSecret("key", secret), webhook.WithStore(webhook.NewMemoryStore(100, time.Hour)))
	if err := errors.Join(clientErr, hooksErr); err != nil {
		t.Fatal(err)
	}
	ctx, mux, handlers = t.Context(), http.NewServeMux(), nil
	use(mux)
	message = sms.Message{From: "ACME", To: "+639171234567", Text: "Your order 17 is ready", ReferenceID: "order-17"}
	other := sms.Message{From: "ACME", To: "+639180001111", Text: "Your order 18 is ready", ReferenceID: "order-18"}
	messages = slices.Values([]sms.Message{message, other})

	again := true
	tryLater = func(time.Duration) error { again = true; return nil }
	save = func(string) error { return nil }
	record = func(string, messaging.Verdict, string) {}
	askAPerson = func(string, error) error { return nil }
	store := &failsOnce{stored: stored, failed: map[string]bool{}}
	queue, orders = store, store
	return &again
}

// failsOnce is a database that fails the first time.
type failsOnce struct {
	stored *int
	failed map[string]bool
}

func (s *failsOnce) Put(_ context.Context, values ...string) error {
	if name := values[0]; !s.failed[name] {
		s.failed[name] = true
		return errors.New("the database is away")
	}
	*s.stored++
	return nil
}

func (s *failsOnce) Status(context.Context, string) (webhook.Status, error) {
	return webhook.StatusSent, nil
}

func (s *failsOnce) SetStatus(ctx context.Context, referenceID string, _ webhook.Status) error {
	return s.Put(ctx, referenceID)
}

// deliver calls a handler with one event: twice at once, again until it succeeds, and once more, as if a response had been lost.
func deliver(t *testing.T, kind, path string) {
	server := httptest.NewServer(handlers[len(handlers)-1])
	defer server.Close()
	var event messagingtest.Callback
	switch kind {
	case "SMS":
		event = messagingtest.InboundSMS{ID: "in-17", From: "639171234567", To: "ACME", Text: "Hello"}
	case "Delivery":
		event = messagingtest.DeliveryReport{ID: "msg-17", ReferenceID: "order-17", To: "639171234567", Status: "delivered"}
	default:
		channel := strings.ToLower(kind)
		event = messagingtest.InboundChatApp{Channel: channel, ID: "in-17", From: "639171234567", To: "channel-1", Kind: "text", Text: "Hello"}
	}
	target := server.URL + path + "?key=" + secret
	service.CallWebhook(ctx, target, event, messagingtest.TwiceAtOnce())
	for range 10 {
		replies := service.CallWebhook(ctx, target, event)
		if replies[0].StatusCode == http.StatusOK {
			service.CallWebhook(ctx, target, event)
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Errorf("%s is never handled", path)
}

// timesSent returns how often each message that the service has processed was sent, on all channels together.
func timesSent() []int {
	times := map[string]int{}
	for _, m := range service.Sent() {
		times[m.To+" "+m.Text]++
	}
	counts := make([]int, 0, len(times))
	for _, n := range times {
		counts = append(counts, n)
	}
	return counts
}
