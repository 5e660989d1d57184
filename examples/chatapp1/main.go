// Command chatapp1 sends messages of several kinds over chat app 1. One does not arrive in time, so the service sends it as an SMS.
//
//	go run ./examples/chatapp1
//
// The last line that it prints: the code was sent as the SMS msg-6
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	service := messagingtest.Start() // plays the service, so no account is needed
	defer service.Close()
	service.SetDelivery("+639181234567", messagingtest.DeliveryUnreachable())           // over chat app 1
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token)) // with an account: messaging.NewClientFromEnv
	if err != nil {
		return err
	}

	customer := chatapp1.New("channel-1", "+639171234567") // a draft; each of its methods returns a message
	for _, message := range []chatapp1.Message{
		customer.Text("Your order 17 is ready").WithReference("order-17"),
		customer.Image("https://shop.example.com/order-17.png"),
		customer.Template(chatapp1.Template{ID: "order_ready", Language: "en", Params: map[string]string{"order": "17"}}),
		customer.CallToAction(chatapp1.CallToAction{
			Text: "Your order 17 is ready", Caption: "Track it", URL: "https://shop.example.com/orders/17",
		}),
		chatapp1.New("channel-1", "+639181234567").Text("Your code is 4711").
			WithReference("code-4711").
			WithTTL(10 * time.Minute).
			WithFallback(sms.Fallback{From: "ACME", Text: "Your code is 4711"}),
	} {
		receipt, sendErr := client.ChatApp1.Send(ctx, message)
		if sendErr != nil {
			return sendErr // examples/sms-send says what to do about it
		}
		fmt.Printf("%T accepted as %s\n", message.Payload, receipt.ID)
	}

	service.Advance(10 * time.Minute) // the test server's clock: the code has not arrived within its TTL
	transaction, err := client.SMS.Find(ctx, "code-4711")
	if err != nil {
		return err
	}
	fmt.Println("the code was sent as the SMS", transaction.ID)
	return nil
}
