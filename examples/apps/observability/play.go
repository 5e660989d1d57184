package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingotel"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

const (
	hookPath = "/hooks/sms"
	pause    = 100 * time.Millisecond // between two rounds
	customer = "+639171234567"
)

// A play is a shop that sends to its customer, and a customer who replies.
type play struct {
	service *messagingtest.Server
	client  *messaging.Client
	hook    http.Handler
	target  string // the address of the hook
}

// newPlay returns a play with a test server, whose hook is served at base. One request in five fails.
func newPlay(service *messagingtest.Server, observer *messagingotel.Observer, base string) (*play, error) {
	const secret = "s3cret-of-16-chars" // of a test server
	service.InjectRandomly(17, 0.2,
		messagingtest.FaultAcceptThenDrop(),
		messagingtest.FaultStatus(http.StatusTooManyRequests, 0),
		messagingtest.FaultStatus(http.StatusInternalServerError, 0),
		messagingtest.FaultSlow(50*time.Millisecond))
	client, err := newClient(service, observer)
	if err != nil {
		return nil, err
	}
	if _, err = observer.ObserveBreakers(client); err != nil { // measured as long as the process runs
		return nil, err
	}
	hooks, err := webhook.NewReceiver(
		webhook.WithSecret("key", secret),
		webhook.WithHook(observer.Hook()),
		webhook.WithStore(webhook.NewMemoryStore(10_000, time.Hour)))
	if err != nil {
		return nil, err
	}
	p := &play{service: service, client: client, target: base + hookPath + "?key=" + secret}
	p.hook = hooks.SMS(p.reply)
	return p, nil
}

// newClient returns a client of the test server, which is observed. It waits less than a program would, so that a play takes seconds.
func newClient(service *messagingtest.Server, observer *messagingotel.Observer) (*messaging.Client, error) {
	return messaging.NewClient(service.URL,
		messaging.WithToken(service.Token),
		messaging.WithObserver(observer),
		messaging.WithRateLimit(40, 1),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 3, MinWait: 20 * time.Millisecond}),
		messaging.WithSettle(messaging.SettlePolicy{Window: time.Second, Interval: 100 * time.Millisecond}))
}

// reply thanks the customer. The send is within the span of the message, because it has its context.
func (p *play) reply(ctx context.Context, m webhook.SMSMessage) error {
	_, err := p.client.SMS.Send(ctx, sms.Message{From: "ACME", To: m.From, Text: "Thank you", ReferenceID: "reply-" + rand.Text()})
	if after, ok := messaging.Retryable(err); ok {
		return webhook.RetryLater(after) // it has not gone out: the service calls again
	}
	return nil // what was refused would be refused again, and what may have gone out could go out twice
}

// rounds plays n rounds, or without end if n is 0, until the context ends.
func (p *play) rounds(ctx context.Context, n int) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for i := 1; n == 0 || i <= n; i++ {
		p.round(ctx, i)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// round plays round i: the shop sends an order, and something else happens, good or bad. Traces and metrics show the results, so errors are
// ignored.
func (p *play) round(ctx context.Context, i int) {
	if i%60 == 30 {
		p.storm(ctx, i)
	}
	order := sms.Message{From: "ACME", To: customer, Text: "Your order is ready", ReferenceID: fmt.Sprint("order-", i)}
	answer := messagingtest.InboundSMS{ID: fmt.Sprint("in-", i), From: customer, To: "21581", Text: "OK", ReceivedAt: time.Now()}
	p.sendEverywhere(ctx, order)
	switch i % 5 {
	case 1:
		p.sendWithoutRecipient(ctx, order)
		p.receive(ctx, answer)
	case 2:
		p.list(ctx)
		p.receive(ctx, answer)
	case 3:
		p.receive(ctx, answer)
		p.receive(ctx, answer) // a duplicate
	case 4:
		p.receiveWithWrongSecret(ctx, answer)
	default:
		p.sendRefused(ctx, order)
		p.receiveWithoutSender(ctx, answer)
	}
}

// sendEverywhere sends an order by SMS, and its text over both chat apps.
func (p *play) sendEverywhere(ctx context.Context, order sms.Message) {
	_, _ = p.client.SMS.SendOnce(ctx, order)
	_, _ = p.client.ChatApp1.Send(ctx, chatapp1.New("channel-1", order.To).Text(order.Text))
	_, _ = p.client.ChatApp2.Send(ctx, chatapp2.Message{To: order.To, Content: chatapp2.Text{Body: order.Text}})
}

// sendWithoutRecipient sends an order without a recipient: the client rejects it.
func (p *play) sendWithoutRecipient(ctx context.Context, order sms.Message) {
	order.To = ""
	_, _ = p.client.SMS.Send(ctx, order)
}

// sendRefused sends an order that the service refuses.
func (p *play) sendRefused(ctx context.Context, order sms.Message) {
	p.service.Inject(messagingtest.FaultStatus(http.StatusUnprocessableEntity, 0), 1)
	_, _ = p.client.SMS.Send(ctx, order)
}

// list lists the messages, up to the first error.
func (p *play) list(ctx context.Context) {
	for _, err := range p.client.SMS.List(ctx, sms.ListOptions{PageSize: 50}) {
		if err != nil {
			return
		}
	}
}

// receive has the service call the hook with an answer of the customer.
func (p *play) receive(ctx context.Context, answer messagingtest.InboundSMS) {
	p.service.CallWebhook(ctx, p.target, answer)
}

// receiveWithWrongSecret calls the hook like a stranger, who does not know its secret.
func (p *play) receiveWithWrongSecret(ctx context.Context, answer messagingtest.InboundSMS) {
	p.service.CallWebhook(ctx, p.target+"-wrong", answer)
}

// receiveWithoutSender has the service call the hook with an answer that the hook refuses, because it has no sender.
func (p *play) receiveWithoutSender(ctx context.Context, answer messagingtest.InboundSMS) {
	answer.From = ""
	p.receive(ctx, answer)
}

// storm sends a campaign while the service is down: the circuit breaker opens, and SendAll waits for it.
func (p *play) storm(ctx context.Context, i int) {
	p.service.InjectFor(5*time.Second, messagingtest.FaultStatus(http.StatusServiceUnavailable, 0))
	campaign := make([]chatapp1.Message, 40)
	for n := range campaign {
		campaign[n] = chatapp1.New("channel-1", customer).Text("Everything must go").WithReference(fmt.Sprint("sale-", i, "-", n))
	}
	for out := range p.client.ChatApp1.SendAll(ctx, slices.Values(campaign), 8) {
		_ = out.Err
	}
}
