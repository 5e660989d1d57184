// Command chatapp2 sends messages of several kinds over chat app 2: a text, a list to choose from, and a template with a fallback to SMS.
//
//	go run ./examples/chatapp2
//
// The last line that it prints: messaging: chatapp2.send not sent: Content.Action[0].Title: want at most 20 characters, got 27
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

const customer = "+639171234567"

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	service := messagingtest.Start() // plays the service, so no account is needed
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token)) // with an account: messaging.NewClientFromEnv
	if err != nil {
		return err
	}
	for _, message := range []chatapp2.Message{
		{To: customer, Content: chatapp2.Text{Body: "Your order 17 is ready"}},
		{To: customer, Content: chatapp2.Interactive{
			Body: "When shall we come?",
			Action: chatapp2.List{Button: "Choose", Sections: []chatapp2.Section{
				{Title: "Today", Rows: []chatapp2.Row{{ID: "today-pm", Title: "Afternoon"}}},
				{Title: "Tomorrow", Rows: []chatapp2.Row{
					{ID: "tomorrow-am", Title: "Morning", Description: "8 to 12"},
					{ID: "tomorrow-pm", Title: "Afternoon", Description: "12 to 18"},
				}},
			}},
		}},
		{
			To:          customer,
			ReferenceID: "order-17",
			TTL:         time.Hour,
			Content: chatapp2.Template{Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{
				chatapp2.Body("Ana", "17"),
				chatapp2.URLButton{Index: 0, Suffix: "orders/17"},
				chatapp2.QuickReplyButton{Index: 1, Payload: "later"},
			}},
			Fallback: &sms.Fallback{From: "ACME", Text: "Your order 17 is ready"}, // if it does not arrive within the TTL
		},
	} {
		receipt, err := client.ChatApp2.Send(ctx, message)
		if err != nil {
			return err // examples/sms-send says what to do about it
		}
		fmt.Printf("%T accepted as %s\n", message.Content, receipt.ID)
	}

	tooLong := chatapp2.ReplyButtons{{ID: "yes", Title: "Yes, and as soon as you can"}}
	fmt.Println(client.ChatApp2.Validate(chatapp2.Message{To: customer, Content: chatapp2.Interactive{Body: "OK?", Action: tooLong}}))
	return nil
}
