package sms_test

import (
	"context"
	"fmt"

	messaging "github.com/messaging-service/messaging-go"
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
	receipt, err := client.SMS.Send(context.Background(), sms.Message{
		From:        "ACME",
		To:          "+639171234567",
		Text:        "Your order 17 is ready",
		CallbackURL: "https://shop.example.com/delivery?status=%s&id=%i", // placeholders go out as they are
		ReferenceID: "order-17",
		Extra:       map[string]any{"campaign": "autumn"}, // a field of your account that this library does not know
	})
	if err != nil {
		fmt.Println(messaging.VerdictOf(err), err)
		return
	}
	fmt.Println(receipt.ID, receipt.ReferenceID, receipt.Cost, receipt.Balance)
	fmt.Println(service.Sent()[0].CallbackURL)
	// Output:
	// msg-1 order-17 0.50 999999.50
	// https://shop.example.com/delivery?status=%s&id=%i
}
