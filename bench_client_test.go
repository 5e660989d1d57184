package messaging_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// BenchmarkNewClient measures a client with the default contract and the first use of an operation, which compiles it.
func BenchmarkNewClient(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"))
		if err != nil {
			b.Fatal(err)
		}
		if err := client.SMS.Validate(one); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClientWith measures a derived client that keeps contract and credentials.
func BenchmarkClientWith(b *testing.B) {
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"))
	if err != nil {
		b.Fatal(err)
	}
	option := messaging.WithTimeout(2 * time.Second)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.With(option); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkObserver measures a send without observers, which costs nothing, and with one or two.
func BenchmarkObserver(b *testing.B) {
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"),
		messaging.WithHTTPClient(&http.Client{Transport: inMemory{}}))
	if err != nil {
		b.Fatal(err)
	}
	for n := range 3 {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.SMS.Send(b.Context(), one); err != nil {
					b.Fatal(err)
				}
			}
		})
		if client, err = client.With(messaging.WithObserver(observerFuncs{
			start: func(ctx context.Context, _ messaging.Step) context.Context { return ctx },
			end:   func(context.Context, messaging.Step, messaging.StepResult) {},
		})); err != nil {
			b.Fatal(err)
		}
	}
}
