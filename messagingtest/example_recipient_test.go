package messagingtest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// A test asks a question, taps the answer, and sees how the bot went on.
func ExampleSent_Tap() {
	ctx := context.Background()
	srv := messagingtest.Start()
	srv.SetWindow(24 * time.Hour)
	defer srv.Close()
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	hooks, err := webhook.NewReceiver(webhook.WithoutProof())
	if err != nil {
		fmt.Println(err)
		return
	}
	bot := httptest.NewServer(hooks.ChatApp2(func(_ context.Context, m webhook.ChatMessage) error {
		if reply, ok := m.Content.(webhook.Reply); ok {
			fmt.Println(m.From, "taps", reply.ID)
		}
		return nil
	}))
	defer bot.Close()

	question := chatapp2.Message{To: "+639171234567", Content: chatapp2.Interactive{
		Body: "Deliver today?", Action: chatapp2.ReplyButtons{{ID: "yes", Title: "Yes"}, {ID: "no", Title: "No"}},
	}}
	_, err = client.ChatApp2.Send(ctx, question)
	fmt.Println(errors.Is(err, messaging.ErrWindowClosed), messaging.VerdictOf(err))

	srv.CallWebhook(ctx, bot.URL, messagingtest.InboundChatApp{Channel: "chatapp2", From: "639171234567", Text: "Hello"})
	if _, err = client.ChatApp2.Send(ctx, question); err != nil {
		fmt.Println(err)
		return
	}
	srv.CallWebhook(ctx, bot.URL, srv.Sent()[0].Tap("Yes"))
	// Output:
	// true refused
	// 639171234567 taps yes
}

// A message was accepted, and could not be delivered later. The report says why.
func ExampleWithErrorCode() {
	srv := messagingtest.Start()
	defer srv.Close()
	hooks, err := webhook.NewReceiver(webhook.WithoutProof())
	if err != nil {
		fmt.Println(err)
		return
	}
	shop := httptest.NewServer(hooks.Delivery(func(_ context.Context, report webhook.DeliveryReport) error {
		if report.ErrorCode == "131026" { // chat app 2 cannot reach the recipient
			fmt.Println(report.ReferenceID, "is", report.Status)
		}
		return nil
	}))
	defer shop.Close()
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	callback, err := hooks.DeliveryURL(shop.URL)
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	receipt, err := client.ChatApp2.Send(ctx, chatapp2.Message{
		To: "+639171234567", Content: chatapp2.Text{Body: "Your order is ready"}, ReferenceID: "order-17", CallbackURL: callback,
	})
	fmt.Println(messaging.VerdictOf(err))
	srv.ReportDelivery(ctx, receipt.ID, "failed", messagingtest.WithErrorCode("131026"))
	// Output:
	// accepted
	// order-17 is failed
}
