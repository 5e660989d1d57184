package sms_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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

// connected starts a stand-in service with three messages in it, and a client of it.
func connected(options ...messaging.Option) (*messagingtest.Server, *messaging.Client) {
	service := messagingtest.Start()
	for i, text := range []string{"one", "two", "three"} {
		service.Seed(messagingtest.Sent{
			From: "ACME", To: "+639171234567", Text: text, ReferenceID: fmt.Sprintf("order-%d", i+1), DeliveryStatus: "1",
			At: time.Date(2026, time.October, 3, 14, 0, i, 0, time.UTC),
		})
	}
	client, err := messaging.NewClient(service.URL, append(options, messaging.WithToken(service.Token))...)
	if err != nil {
		panic(err)
	}
	return service, client
}

func ExampleService_List() {
	service, client := connected()
	defer service.Close()
	for tx, err := range client.SMS.List(context.Background(), sms.ListOptions{
		CreatedAfter: time.Date(2026, time.October, 3, 0, 0, 0, 0, time.UTC), PageSize: 500, SortBy: "dateCreated", Descending: true,
	}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tx.ID, tx.ReferenceID, tx.CreatedAt.Format(time.TimeOnly), tx.Price)
	}
	// Output:
	// msg-3 order-3 14:00:02 0.50
	// msg-2 order-2 14:00:01 0.50
	// msg-1 order-1 14:00:00 0.50
}

func ExampleService_Pages() {
	service, client := connected()
	defer service.Close()
	for page, err := range client.SMS.Pages(context.Background(), sms.ListOptions{PageSize: 2, SortBy: "dateCreated"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("page %d of %d: %d of %d messages\n", page.Number, page.TotalPages, len(page.Transactions), page.Total)
	}
	// Output:
	// page 1 of 2: 2 of 3 messages
	// page 2 of 2: 1 of 3 messages
}

func ExampleService_Find() {
	service, client := connected()
	defer service.Close()
	tx, err := client.SMS.Find(context.Background(), "order-2")
	fmt.Println(tx.ID, tx.DeliveryStatus, err)

	_, err = client.SMS.Find(context.Background(), "order-99")
	fmt.Println(errors.Is(err, messaging.ErrNotFound))
	// Output:
	// msg-2 1 <nil>
	// true
}

func ExampleService_SendOnce() {
	service, client := connected(messaging.WithSettle(messaging.SettlePolicy{Window: 10 * time.Second, Interval: time.Second}))
	defer service.Close()
	service.Inject(messagingtest.AcceptThenDrop(), 1) // the message goes out, and the answer is lost

	receipt, err := client.SMS.SendOnce(context.Background(), sms.Message{
		From: "ACME", To: "+639171234567", Text: "Your order 17 is ready", ReferenceID: "order-17",
	})
	fmt.Println(messaging.VerdictOf(err), receipt.ID)
	// Output: accepted msg-4
}

func ExampleService_SendAll() {
	service, client := connected(messaging.WithRateLimit(1000, 100))
	defer service.Close()
	messages := slices.Values([]sms.Message{
		{From: "ACME", To: "+639171234567", Text: "We open at nine", ReferenceID: "nine-1"},
		{From: "ACME", To: "+639181234567", Text: "We open at nine", ReferenceID: "nine-2"},
		{From: "ACME", To: "not a number", Text: "We open at nine", ReferenceID: "nine-3"},
	})
	for out := range client.SMS.SendAll(context.Background(), messages, 32) {
		fmt.Println(out.Index, out.Message.ReferenceID, messaging.VerdictOf(out.Err))
	}
	// Unordered output:
	// 0 nine-1 accepted
	// 1 nine-2 accepted
	// 2 nine-3 not sent
}
