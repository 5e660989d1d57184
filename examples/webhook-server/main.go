// Command webhook-server receives SMS, messages of both chat apps and delivery reports. A test server calls it, and it ends.
//
//	go run ./examples/webhook-server
//
// The last line that it prints: the service got 200
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

func main() {
	hooks, err := webhook.NewReceiver( // with an account, webhook.NewReceiverFromEnv, with a secret of your own
		webhook.WithSecret("key", "secret-of-a-demo"),                    // a call without it gets 403
		webhook.WithStore(webhook.NewMemoryStore(100_000, 24*time.Hour)), // each event is handled once, however often it arrives
		webhook.WithHook(webhook.LogHook(slog.Default())),                // each event, and why a call was refused
	)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/hooks/sms", hooks.SMS(receiveSMS))
	mux.Handle("/hooks/chatapp1", hooks.ChatApp1(receiveChat))
	mux.Handle("/hooks/chatapp2", hooks.ChatApp2(receiveChat))
	mux.Handle("/hooks/delivery", hooks.Delivery(receiveReport))
	server := httptest.NewServer(mux) // in production an http.Server with limits, as in docs/webhooks.md
	defer server.Close()

	ctx := context.Background()
	service := messagingtest.Start()
	defer service.Close()
	text := messagingtest.InboundSMS{ID: "in-1", From: "+639171234567", Text: "STOP"}
	service.CallWebhook(ctx, server.URL+"/hooks/sms?key=secret-of-a-demo", text, messagingtest.TwiceAtOnce())
	chat := messagingtest.InboundChatApp{ID: "in-2", From: "+639171234567", Kind: "text", Text: "Hi"}
	service.CallWebhook(ctx, server.URL+"/hooks/chatapp1?key=secret-of-a-demo", chat)
	report := messagingtest.DeliveryReport{ReferenceID: "order-17", Status: "delivered"}
	for _, response := range service.CallWebhook(ctx, server.URL+"/hooks/delivery?key=secret-of-a-demo", report) {
		fmt.Println("the service got", response.StatusCode)
	}
}

// receiveSMS handles one SMS. It returns nil once the SMS is stored. After an error the service calls again.
func receiveSMS(_ context.Context, m webhook.SMSMessage) error {
	_, err := fmt.Printf("SMS %s: %d characters\n", m.ID, utf8.RuneCountInString(m.Text))
	return err
}

func receiveChat(_ context.Context, m webhook.ChatMessage) error {
	_, err := fmt.Printf("%s %s: %T\n", m.Callback, m.ID, m.Content) // a Text, a Reply (a tapped button), a Media, …
	return err
}

func receiveReport(_ context.Context, d webhook.DeliveryReport) error {
	_, err := fmt.Println(d.ReferenceID, "is", d.Status)
	return err
}
