// Command chatapp1 sends each kind of chat-app-1 message, and one that falls back to SMS.
//
// Without an environment it starts a test server and needs no account. With MESSAGING_BASE_URL and credentials (see
// messaging.NewClientFromEnv) it sends one text through that service, from the channel in MESSAGING_CHANNEL to the number in
// MESSAGING_TO and to no other.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func main() {
	run := testServer
	if os.Getenv("MESSAGING_BASE_URL") != "" {
		run = realService
	}
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "chatapp1:", err)
		os.Exit(1)
	}
}

// realService sends one message.
func realService(ctx context.Context) error {
	client, err := messaging.NewClientFromEnv()
	if err != nil {
		return err
	}
	channel, to := os.Getenv("MESSAGING_CHANNEL"), os.Getenv("MESSAGING_TO")
	if channel == "" || to == "" {
		return errors.New("MESSAGING_CHANNEL and MESSAGING_TO are required: the channel to send from and the number to send to")
	}
	receipt, err := client.ChatApp1.Send(ctx, chatapp1.New(channel, to).Text("Hello from messaging-go"))
	show("text", receipt, err)
	return err
}

func testServer(ctx context.Context) error {
	service := messagingtest.Start()
	defer service.Close()
	fmt.Println("No MESSAGING_BASE_URL: using a test server at", service.URL)

	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return err
	}
	to := chatapp1.New("channel-1", "+639171234567") // a draft; each of its methods returns a message

	fmt.Println("\nOne of each kind:")
	for _, example := range []struct {
		kind    string
		message chatapp1.Message
	}{
		{"text", to.Text("Your order 17 is ready")},
		{"image", to.Image("https://shop.example.com/order-17.png")},
		{"video", to.Video(chatapp1.Video{
			URL: "https://shop.example.com/tour.mp4", ThumbnailURL: "https://shop.example.com/tour.jpg", Duration: 90 * time.Second,
		})},
		{"button", to.CallToAction(chatapp1.CallToAction{
			Text: "Your order 17 is ready", Caption: "Track it", URL: "https://shop.example.com/orders/17",
		})},
		{"template", to.Template(chatapp1.Template{ID: "order_ready", Language: "en", Params: map[string]string{"order": "17"}})},
		{"raw", to.Raw(map[string]any{"text": "Your order 17 is ready", "priority": "high"})},
	} {
		receipt, sendErr := client.ChatApp1.Send(ctx, example.message.WithReference("order-17-"+example.kind))
		show(example.kind, receipt, sendErr)
	}

	fmt.Println("\nAn invalid message is never sent:")
	_, err = client.ChatApp1.Send(ctx, to.Image("order-17.png").WithTTL(1500*time.Millisecond))
	fmt.Println(" ", err)

	fmt.Println("\nA message that does not arrive within its TTL falls back to SMS:")
	service.SetDelivery("+639181234567", messagingtest.Unreachable())
	message := chatapp1.New("channel-1", "+639181234567").Text("Your code is 4711").
		WithTTL(10 * time.Minute).
		WithFallback(sms.Fallback{From: "ACME", Text: "Your code is 4711"}).
		WithReference("code-4711")
	receipt, err := client.ChatApp1.Send(ctx, message)
	show("text", receipt, err)
	service.Advance(10 * time.Minute) // the test server's clock
	tx, err := client.SMS.Find(ctx, "code-4711")
	if err != nil {
		return err
	}
	fmt.Printf("  after ten minutes the service lists the SMS %s with the reference %s\n", tx.ID, tx.ReferenceID)
	return nil
}

func show(kind string, receipt messaging.Receipt, err error) {
	fmt.Printf("  %-20s %s", kind, messaging.VerdictOf(err))
	if err == nil {
		fmt.Print(" as ", receipt.ID)
	} else {
		fmt.Print(": ", err)
	}
	fmt.Println()
}
