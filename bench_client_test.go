package messaging_test

import (
	"testing"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// BenchmarkNewClient measures a client with the default contract.
func BenchmarkNewClient(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token")); err != nil {
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
