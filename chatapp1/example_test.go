package chatapp1_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func ExampleService_Send() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	message := chatapp1.New("channel-1", "+639171234567").Text("Your order 17 is ready")
	receipt, err := client.ChatApp1.Send(context.Background(), message)
	if err != nil {
		fmt.Println(messaging.VerdictOf(err), err)
		return
	}
	fmt.Println(receipt.ID, receipt.Cost)
	// Output: msg-1 0.50
}

func ExampleService_Send_refused() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.ChatApp1.Send(context.Background(), chatapp1.Message{
		ChannelID: "channel-1",
		To:        "+639171234567,+639181234567",
		Payload:   chatapp1.CallToAction{Text: "Spring sale", URL: "shop.example.com"},
	})
	if invalid, ok := errors.AsType[*messaging.ValidationError](err); ok {
		for _, problem := range invalid.Problems {
			fmt.Printf("%s: %s\n", problem.Field, problem.Reason)
		}
	}
	fmt.Println(messaging.VerdictOf(err), service.Requests())
	// Output:
	// To: want 5 to 15 digits with an optional leading +, got a separator: one message goes to one recipient
	// Payload.Caption: required, but absent
	// Payload.URL: want an absolute URL that begins with http:// or https:// and a host
	// not sent 0
}

// A message that does not reach its recipient within its lifetime goes out as an SMS.
func ExampleMessage_WithFallback() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	service.SetDelivery("+639171234567", messagingtest.Unreachable())

	message := chatapp1.New("channel-1", "+639171234567").Text("Your order 17 is ready").
		WithTTL(10 * time.Minute).
		WithFallback(sms.Fallback{From: "ACME", Text: "Order 17 is ready"}).
		WithReference("order-17")
	receipt, err := client.ChatApp1.Send(context.Background(), message)
	if err != nil {
		fmt.Println(messaging.VerdictOf(err), err)
		return
	}
	service.Advance(10 * time.Minute) // the clock of the stand-in service

	for _, sent := range service.Sent() {
		fmt.Printf("%s from %s: %q, reference %s\n", sent.Channel, sent.From, sent.Text, sent.ReferenceID)
		if sent.FallbackOf == receipt.ID {
			fmt.Println("in place of", receipt.ID)
		}
	}
	// Output:
	// chatapp1 from channel-1: "Your order 17 is ready", reference order-17
	// sms from ACME: "Order 17 is ready", reference order-17
	// in place of msg-1
}

func ExampleTemplate() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.ChatApp1.Send(context.Background(), chatapp1.New("channel-1", "+639171234567").Template(chatapp1.Template{
		ID:       "order_ready",
		Language: "en",
		Params:   map[string]string{"order": "17", "name": "Ana"},
	}))
	if err != nil {
		fmt.Println(messaging.VerdictOf(err), err)
		return
	}
	fmt.Printf("%s\n", service.Sent()[0].Body)
	// Output:
	// {"from":"channel-1","to":"+639171234567","templateId":"order_ready","templateParams":{"name":"Ana","order":"17"},"templateLanguage":"en"}
}

// One draft serves for messages of every kind.
func ExampleDraft() {
	to := chatapp1.New("channel-1", "+639171234567")
	for _, message := range []chatapp1.Message{
		to.Text("Your order 17 is ready"),
		to.Image("https://cdn.example.com/order-17.png"),
		to.Video(chatapp1.Video{URL: "https://cdn.example.com/17.mp4", ThumbnailURL: "https://cdn.example.com/17.jpg", Duration: 90 * time.Second}),
		to.CallToAction(chatapp1.CallToAction{Text: "Order 17 is ready", Caption: "See it", URL: "https://shop.example.com/17"}),
		to.Template(chatapp1.Template{ID: "order_ready", Params: map[string]string{"order": "17"}}),
		to.Raw(map[string]any{"sticker": "happy-17"}), // what this library does not know
	} {
		body, err := json.Marshal(message)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(string(body))
	}
	// Output:
	// {"from":"channel-1","to":"+639171234567","text":"Your order 17 is ready"}
	// {"from":"channel-1","to":"+639171234567","image":"https://cdn.example.com/order-17.png"}
	// {"from":"channel-1","to":"+639171234567","video":"https://cdn.example.com/17.mp4","thumbnail":"https://cdn.example.com/17.jpg","duration":90}
	// {"from":"channel-1","to":"+639171234567","text":"Order 17 is ready","caption":"See it","action":"https://shop.example.com/17"}
	// {"from":"channel-1","to":"+639171234567","templateId":"order_ready","templateParams":{"order":"17"}}
	// {"from":"channel-1","to":"+639171234567","sticker":"happy-17"}
}

// A message goes into a queue as JSON, and is what it was when it comes out.
func ExampleMessage_MarshalJSON() {
	message := chatapp1.New("channel-1", "+639171234567").Text("Your order 17 is ready").
		WithTTL(10 * time.Minute).
		WithFallback(sms.Fallback{From: "ACME", Text: "Order 17 is ready"}).
		WithReference("order-17")
	queued, err := json.Marshal(message)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(queued))

	var taken chatapp1.Message
	if err := json.Unmarshal(queued, &taken); err != nil {
		fmt.Println(err)
		return
	}
	switch payload := taken.Payload.(type) {
	case chatapp1.Text:
		fmt.Println("a text:", payload.Body)
	case chatapp1.Image, chatapp1.Video, chatapp1.CallToAction, chatapp1.Template, chatapp1.Raw:
		fmt.Println("something else")
	}
	fmt.Println(taken.TTL, taken.Fallback.From, taken.ReferenceID)
	// Output:
	// {"from":"channel-1","to":"+639171234567","text":"Your order 17 is ready","ttl":600,"sms_from":"ACME","sms_text":"Order 17 is ready","referenceId":"order-17"}
	// a text: Your order 17 is ready
	// 10m0s ACME order-17
}

func ExampleService_SendAll() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	messages := slices.Values([]chatapp1.Message{
		chatapp1.New("channel-1", "+639171234567").Text("We open at nine").WithReference("nine-1"),
		chatapp1.New("channel-1", "+639181234567").Image("https://cdn.example.com/nine.png").WithReference("nine-2"),
		chatapp1.New("channel-1", "not a number").Text("We open at nine").WithReference("nine-3"),
	})
	for out := range client.ChatApp1.SendAll(context.Background(), messages, 32) {
		fmt.Println(out.Index, out.Message.ReferenceID, messaging.VerdictOf(out.Err))
	}
	// Unordered output:
	// 0 nine-1 accepted
	// 1 nine-2 accepted
	// 2 nine-3 not sent
}
