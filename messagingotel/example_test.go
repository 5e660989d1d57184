package messagingotel_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingotel"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// One observer watches a client and a webhook.
func Example() {
	observed := func(url, token, secret string) error {
		observer, err := messagingotel.New() // sends to the global providers of OpenTelemetry
		if err != nil {
			return err
		}
		client, err := messaging.NewClient(url, messaging.WithToken(token), messaging.WithObserver(observer))
		if err != nil {
			return err
		}
		hooks, err := webhook.NewReceiver(webhook.WithSecret("key", secret), webhook.WithHook(observer.Hook()))
		if err != nil {
			return err
		}
		return serve(client, hooks)
	}
	fmt.Println(observed("https://api.example.com", "token", "s3cret-of-16-chars"))
	// Output: <nil>
}

// serve is a placeholder for a program.
func serve(*messaging.Client, *webhook.Receiver) error { return nil }

func ExampleNew() {
	spans := tracetest.NewInMemoryExporter() // a program has an exporter of its own, and sets its providers with otel.SetTracerProvider
	observer, err := messagingotel.New(messagingotel.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))))
	if err != nil {
		fmt.Println(err)
		return
	}
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithObserver(observer))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
	_, _ = client.SMS.Send(context.Background(), sms.Message{From: "ACME", Text: "Hi"})
	for _, span := range spans.GetSpans() {
		fmt.Printf("%s: %v %q\n", span.Name, span.Status.Code, span.Status.Description)
	}
	// Output:
	// POST: Unset ""
	// send sms: Unset ""
	// send sms: Error "messaging: sms.send not sent: To: required, but absent"
}

// An Observer watches a webhook as well.
func ExampleObserver_Hook() {
	spans := tracetest.NewInMemoryExporter()
	observer, err := messagingotel.New(messagingotel.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))))
	if err != nil {
		fmt.Println(err)
		return
	}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", "s3cret-of-16-chars"), webhook.WithHook(observer.Hook()))
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := hooks.SMS(func(context.Context, webhook.SMSMessage) error { return nil })
	message := messagingtest.InboundSMS{ID: "m-1", From: "+639171234567", Text: "YES"}
	handler.ServeHTTP(httptest.NewRecorder(), messagingtest.NewRequest("/hooks/sms?key=s3cret-of-16-chars", message))
	for _, span := range spans.GetSpans() {
		fmt.Println(span.Name, span.SpanKind)
		for _, attribute := range span.Attributes {
			if attribute.Key == messagingotel.OutcomeKey {
				fmt.Println(attribute.Value.AsString())
			}
		}
	}
	// Output:
	// process sms consumer
	// handled
}

// A counter is a middleware that shows URLs, as otelhttp puts them into spans.
type counter struct{ base http.RoundTripper }

func (c counter) RoundTrip(r *http.Request) (*http.Response, error) {
	fmt.Printf("%s, query %q\n", r.Method, r.URL.RawQuery)
	return c.base.RoundTrip(r)
}

func ExampleHideQuery() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token),
		messaging.WithTransport(messagingotel.HideQuery(func(base http.RoundTripper) http.RoundTripper { return counter{base} })))
	if err != nil {
		fmt.Println(err)
		return
	}
	service.Seed(messagingtest.Sent{ID: "m-17", ReferenceID: "order-17"})
	tx, err := client.SMS.Find(context.Background(), "order-17")
	fmt.Println(tx.ID, err)
	// Output:
	// GET, query ""
	// m-17 <nil>
}

func ExamplePropagate() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token),
		messaging.WithTransport(messagingotel.Propagate))
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi"})
	fmt.Println(messaging.VerdictOf(err), receipt.ID)
	// Output: accepted msg-1
}
