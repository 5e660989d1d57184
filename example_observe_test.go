package messaging_test

import (
	"context"
	"fmt"
	"net/http"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// A printer is an Observer that prints each step when it has ended.
type printer struct{}

func (printer) StartStep(ctx context.Context, _ messaging.Step) context.Context { return ctx }

func (printer) EndStep(_ context.Context, step messaging.Step, result messaging.StepResult) {
	switch step.Kind {
	case messaging.StepCall:
		fmt.Println(step.Operation, result.Verdict, result.Attempts)
	case messaging.StepAttempt:
		fmt.Println("attempt", step.Attempt, result.StatusCode)
	default: // waits, lookups, tokens
	}
}

func ExampleWithObserver() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithObserver(printer{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
	_, _ = client.SMS.Send(context.Background(), sms.Message{From: "ACME", Text: "Hi"})
	// Output:
	// attempt 1 200
	// sms.send accepted 1
	// sms.send not sent 0
}

// A tracing adds a header to each request of the client.
type tracing struct{ base http.RoundTripper }

func (t tracing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context()) // a round tripper must not change a request
	r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	return t.base.RoundTrip(r)
}

func ExampleWithTransport() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token),
		messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper { return tracing{base} }))
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
	fmt.Println(messaging.VerdictOf(err), receipt.ID)
	// Output: accepted msg-1
}
