package messaging_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

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

func ExampleSMSService_Settle() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token),
		messaging.WithSettle(messaging.SettlePolicy{Window: time.Second}))
	if err != nil {
		fmt.Println(err)
		return
	}
	// What a program finds in its own store after a crash: messages that it was about to send, and when.
	sent := sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "order-17"}
	service.Seed(messagingtest.Sent{ID: "m-17", To: "639171234567", ReferenceID: "order-17"}) // this one went out
	lost := sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "order-18"}

	for _, m := range []sms.Message{sent, lost} {
		receipt, err := client.SMS.Settle(context.Background(), m, time.Now().Add(-time.Minute))
		switch {
		case err == nil:
			fmt.Println(m.ReferenceID, "was accepted as", receipt.ID)
		case errors.Is(err, messaging.ErrNotListed):
			fmt.Println(m.ReferenceID, "is not listed: its outcome stays unknown")
		default:
			fmt.Println(m.ReferenceID, "is not known yet:", err)
		}
	}
	// Output:
	// order-17 was accepted as m-17
	// order-18 is not listed: its outcome stays unknown
}

func ExampleSMSService_Validate() {
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = client.SMS.Validate(sms.Message{From: "ACME", Text: "Hi"})
	fmt.Println(err)
	// Output: messaging: sms.send not sent: To: required, but absent
}

// A listing that is interrupted goes on where it was.
func ExampleSMSService_Pages_resume() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 5 {
		service.Seed(messagingtest.Sent{ID: fmt.Sprint("m-", i+1)})
	}
	options := sms.ListOptions{PageSize: 2, SortBy: sms.ByCreated}
	for page, err := range client.SMS.Pages(context.Background(), options) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(page.Transactions), "rows")
		options.After = page.Next // store it
		break                     // and stop here
	}
	for tx, err := range client.SMS.List(context.Background(), options) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tx.ID)
	}
	// Output:
	// 2 rows
	// m-3
	// m-4
	// m-5
}
