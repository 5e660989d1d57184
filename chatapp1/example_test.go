package chatapp1_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// The service sends an SMS if it cannot reach the recipient within the TTL.
func ExampleMessage_WithFallback() {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	service.SetDelivery("+639171234567", messagingtest.DeliveryUnreachable())

	message := chatapp1.New("channel-1", "+639171234567").Text("Your order 17 is ready").
		WithTTL(10 * time.Minute).
		WithFallback(sms.Fallback{From: "ACME", Text: "Order 17 is ready"}).
		WithReference("order-17")
	receipt, err := client.ChatApp1.Send(context.Background(), message)
	if err != nil {
		fmt.Println(messaging.VerdictOf(err), err)
		return
	}
	service.Advance(10 * time.Minute) // the clock of the test server

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
	// {"from":"channel-1","to":"+639171234567","templateId":"order_ready","templateLanguage":"en","templateParams":{"name":"Ana","order":"17"}}
}

// One draft serves for messages of every kind. MarshalJSON writes them as they are stored, not as they are sent.
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
	// {"channelID":"channel-1","to":"+639171234567","payload":{"body":"Your order 17 is ready","type":"text"}}
	// {"channelID":"channel-1","to":"+639171234567","payload":{"type":"image","url":"https://cdn.example.com/order-17.png"}}
	// {"channelID":"channel-1","to":"+639171234567","payload":{"duration":"1m30s","thumbnailURL":"https://cdn.example.com/17.jpg","type":"video","url":"https://cdn.example.com/17.mp4"}}
	// {"channelID":"channel-1","to":"+639171234567","payload":{"caption":"See it","text":"Order 17 is ready","type":"callToAction","url":"https://shop.example.com/17"}}
	// {"channelID":"channel-1","to":"+639171234567","payload":{"id":"order_ready","params":{"order":"17"},"type":"template"}}
	// {"channelID":"channel-1","to":"+639171234567","payload":{"fields":{"sticker":"happy-17"},"type":"raw"}}
}

// A message survives a queue or a database as JSON.
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
	// {"channelID":"channel-1","to":"+639171234567","fallback":{"from":"ACME","text":"Order 17 is ready"},"referenceID":"order-17","payload":{"body":"Your order 17 is ready","type":"text"},"ttl":"10m0s"}
	// a text: Your order 17 is ready
	// 10m0s ACME order-17
}
