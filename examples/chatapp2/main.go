// Command chatapp2 sends chat-app-2 messages: text, a list, a template with buttons, a marketing template, and a body written
// for the platform.
//
// Without an environment it starts a test server and needs no account. With MESSAGING_BASE_URL and credentials (see
// messaging.NewClientFromEnv) it sends one text through that service, to the number in MESSAGING_TO and to no other.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func main() {
	run := testServer
	if os.Getenv("MESSAGING_BASE_URL") != "" {
		run = realService
	}
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "chatapp2:", err)
		os.Exit(1)
	}
}

// realService sends one message.
func realService(ctx context.Context) error {
	client, err := messaging.NewClientFromEnv()
	if err != nil {
		return err
	}
	to := os.Getenv("MESSAGING_TO")
	if to == "" {
		return errors.New("MESSAGING_TO is required: the number to send to")
	}
	receipt, err := client.ChatApp2.Send(ctx, chatapp2.Message{To: to, Content: chatapp2.Text{Body: "Hello from messaging-go"}})
	show("text", receipt, err)
	return err
}

const to = "+639171234567"

func testServer(ctx context.Context) error {
	service := messagingtest.Start()
	defer service.Close()
	fmt.Println("No MESSAGING_BASE_URL: using a test server at", service.URL)

	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return err
	}

	fmt.Println("\nText, and a list to choose from:")
	receipt, err := client.ChatApp2.Send(ctx, chatapp2.Message{To: to, Content: chatapp2.Text{Body: "Your order 17 is ready"}})
	show("text", receipt, err)
	receipt, err = client.ChatApp2.Send(ctx, chatapp2.Message{To: to, Content: whenToCome()})
	show("list", receipt, err)

	fmt.Println("\nA template with SMS fallback:")
	receipt, err = client.ChatApp2.Send(ctx, chatapp2.Message{
		To: to, Content: orderReady(), TTL: time.Hour, ReferenceID: "order-17",
		Fallback: &sms.Fallback{From: "ACME", Text: "Your order 17 is ready"},
	})
	show("template", receipt, err)

	fmt.Println("\nA marketing template takes the marketing-messages route, or the platform's if that is unavailable:")
	service.RegisterTemplate("spring_sale", messagingtest.CategoryMarketing)
	for _, available := range []bool{true, false} {
		service.SetMarketingRoute(available)
		receipt, err = client.ChatApp2.Send(ctx, chatapp2.Message{To: to, Content: chatapp2.Template{Name: "spring_sale", Language: "en"}})
		show("marketing", receipt, err)
		sent := service.Sent()
		fmt.Println("  its route was", sent[len(sent)-1].Route)
	}

	fmt.Println("\nA body written for the platform decodes into the same types:")
	var message chatapp2.Message
	if err = json.Unmarshal([]byte(written), &message); err != nil {
		return err
	}
	fmt.Printf("  its content is %T\n", message.Content)
	receipt, err = client.ChatApp2.Send(ctx, message)
	show("decoded", receipt, err)

	fmt.Println("\nAn invalid message is never sent:")
	_, err = client.ChatApp2.Send(ctx, chatapp2.Message{To: to, Content: chatapp2.Interactive{
		Body: "Shall we deliver?", Action: chatapp2.ReplyButtons{{ID: "yes", Title: "Yes, and as soon as you can"}, {ID: "yes", Title: "No"}},
	}})
	fmt.Println(" ", err)
	return nil
}

func whenToCome() chatapp2.Interactive {
	return chatapp2.Interactive{
		Header: chatapp2.HeaderText{Text: "Order 17"},
		Body:   "When shall we come?",
		Action: chatapp2.List{Button: "Choose", Sections: []chatapp2.Section{
			{Title: "Today", Rows: []chatapp2.Row{{ID: "today-pm", Title: "Afternoon"}}},
			{Title: "Tomorrow", Rows: []chatapp2.Row{
				{ID: "tomorrow-am", Title: "Morning", Description: "8 to 12"},
				{ID: "tomorrow-pm", Title: "Afternoon", Description: "12 to 18"},
			}},
		}},
	}
}

func orderReady() chatapp2.Template {
	return chatapp2.Template{Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{
		chatapp2.TemplateHeader{Parameter: chatapp2.Image{Media: chatapp2.Media{Link: "https://shop.example.com/order-17.png"}}},
		chatapp2.Body("Ana", "17"),
		chatapp2.URLButton{Index: 0, Suffix: "orders/17"},
		chatapp2.QuickReplyButton{Index: 1, Payload: "later"},
	}}
}

const written = `{
	"messaging_product": "whatsapp", "to": "639171234567", "type": "interactive",
	"interactive": {
		"type": "cta_url", "body": {"text": "Your order 17 is on its way"},
		"action": {"name": "cta_url", "parameters": {"display_text": "Track it", "url": "https://shop.example.com/orders/17"}}
	}
}`

func show(kind string, receipt messaging.Receipt, err error) {
	fmt.Printf("  %-10s %s", kind, messaging.VerdictOf(err))
	if err == nil {
		fmt.Print(" as ", receipt.ID)
	} else {
		fmt.Print(": ", err)
	}
	fmt.Println()
}
