package chatapp2_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
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
	receipt, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567", Content: chatapp2.Text{Body: "Your order 17 is ready"}, ReferenceID: "order-17",
	})
	if err != nil {
		fmt.Println(messaging.VerdictOf(err), err)
		return
	}
	fmt.Println(receipt.ID, receipt.ReferenceID)
	// Output: wamid.bXNnLTE= order-17
}

// connected starts a stand-in service, and makes a client of it.
func connected(options ...messaging.Option) (*messagingtest.Server, *messaging.Client) {
	service := messagingtest.Start()
	client, err := messaging.NewClient(service.URL, append(options, messaging.WithToken(service.Token))...)
	if err != nil {
		panic(err)
	}
	return service, client
}

func ExampleService_Send_problems() {
	service, client := connected()
	defer service.Close()
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To:      "0917 123 4567",
		Content: chatapp2.Interactive{Body: "Tea?", Action: chatapp2.ReplyButtons{{ID: "yes", Title: "Yes, with milk and sugar"}, {ID: "yes"}}},
	})
	if invalid, ok := errors.AsType[*messaging.ValidationError](err); ok {
		for _, problem := range invalid.Problems {
			fmt.Println(problem.Field+":", problem.Reason)
		}
	}
	// Output:
	// To: want 5 to 15 digits with an optional leading +, got white space
	// Content.Action[0].Title: want at most 20 characters, got 24
	// Content.Action[1].Title: required, but absent
	// Content.Action[1].ID: must differ from the others, and is that of index 0
}

func ExampleService_SendAll() {
	service, client := connected(messaging.WithRateLimit(1000, 100))
	defer service.Close()
	hello := chatapp2.Template{Name: "we_open_at_nine", Language: "en"}
	messages := slices.Values([]chatapp2.Message{
		{To: "+639171234567", Content: hello, ReferenceID: "nine-1"},
		{To: "+639181234567", Content: hello, ReferenceID: "nine-2"},
		{To: "not a number", Content: hello, ReferenceID: "nine-3"},
	})
	for out := range client.ChatApp2.SendAll(context.Background(), messages, 32) {
		fmt.Println(out.Index, out.Message.ReferenceID, messaging.VerdictOf(out.Err))
	}
	// Unordered output:
	// 0 nine-1 accepted
	// 1 nine-2 accepted
	// 2 nine-3 not sent
}

func ExampleTemplate() {
	service, client := connected()
	defer service.Close()
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567",
		Content: chatapp2.Template{
			Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana", "42")},
		},
	})
	sent := service.Sent()[0]
	fmt.Println(messaging.VerdictOf(err), sent.Template, sent.Category, sent.Route)
	// Output: accepted order_ready utility cloud
}

func ExampleNamed() {
	service, client := connected()
	defer service.Close()
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567",
		Content: chatapp2.Template{
			Name: "order_ready", Language: "en_US",
			Components: []chatapp2.Component{
				chatapp2.TemplateBody{chatapp2.Named("first_name", "Ana"), chatapp2.Named("order", "42")},
			},
		},
	})
	fmt.Println(messaging.VerdictOf(err), service.Sent()[0].Template)
	// Output: accepted order_ready
}

// A template with a picture above its text and two buttons below it, which are filled by their place.
func ExampleTemplate_buttons() {
	service, client := connected()
	defer service.Close()
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567",
		Content: chatapp2.Template{
			Name: "order_on_its_way", Language: "en_US",
			Components: []chatapp2.Component{
				chatapp2.TemplateHeader{Parameter: chatapp2.Image{Media: chatapp2.Media{Link: "https://shop.example.com/order-42.png"}}},
				chatapp2.Body("Ana", "42"),
				chatapp2.QuickReplyButton{Index: 0, Payload: "later/42"},
				chatapp2.URLButton{Index: 1, Suffix: "42/track"},
			},
		},
	})
	fmt.Println(messaging.VerdictOf(err), service.Sent()[0].Template)
	// Output: accepted order_on_its_way
}

// An authentication template has its code twice: in the body, and in the button that copies it.
func ExampleURLButton_oneTimePassword() {
	service, client := connected()
	defer service.Close()
	service.RegisterTemplate("login_code", messagingtest.CategoryAuthentication)
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567",
		Content: chatapp2.Template{
			Name: "login_code", Language: "en_US",
			Components: []chatapp2.Component{chatapp2.Body("274123"), chatapp2.URLButton{Index: 0, Suffix: "274123"}},
		},
	})
	fmt.Println(messaging.VerdictOf(err), service.Sent()[0].Category)
	// Output: accepted authentication
}

// A marketing template goes by the marketing-messages interface, and by the cloud platform where that cannot be used.
func ExampleMarketing() {
	service, client := connected()
	defer service.Close()
	service.RegisterTemplate("spring_sale", messagingtest.CategoryMarketing)
	sale := chatapp2.Message{
		To:        "+639171234567",
		Content:   chatapp2.Template{Name: "spring_sale", Language: "en"},
		Marketing: chatapp2.Marketing{ActivitySharing: new(false)},
	}
	for _, available := range []bool{true, false} {
		service.SetMarketingRoute(available)
		if _, err := client.ChatApp2.Send(context.Background(), sale); err != nil {
			fmt.Println(err)
			return
		}
	}
	sale.Marketing.ProductPolicy = "STRICT" // by the marketing-messages interface or not at all
	_, err := client.ChatApp2.Send(context.Background(), sale)
	for _, sent := range service.Sent() {
		fmt.Println(sent.Template, sent.Category, sent.Route)
	}
	fmt.Println(messaging.VerdictOf(err))
	// Output:
	// spring_sale marketing marketing_messages
	// spring_sale marketing cloud
	// refused
}

func ExampleInteractive() {
	service, client := connected()
	defer service.Close()
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567",
		Content: chatapp2.Interactive{
			Header: chatapp2.HeaderText{Text: "Order 42"},
			Body:   "Your order is on its way.",
			Footer: "The shop",
			Action: chatapp2.CTAURL{DisplayText: "Track it", URL: "https://shop.example.com/42/track"},
		},
	})
	fmt.Println(messaging.VerdictOf(err), service.Sent()[0].Kind)
	// Output: accepted interactive
}

func ExampleReplyButtons() {
	service, client := connected()
	defer service.Close()
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567",
		Content: chatapp2.Interactive{
			Body: "Shall we deliver today?",
			Action: chatapp2.ReplyButtons{
				{ID: "yes/42", Title: "Yes"},
				{ID: "no/42", Title: "Another day"},
			},
		},
	})
	fmt.Println(messaging.VerdictOf(err), service.Sent()[0].Kind)
	// Output: accepted interactive
}

func ExampleList() {
	service, client := connected()
	defer service.Close()
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567",
		Content: chatapp2.Interactive{
			Body: "When shall we deliver?",
			Action: chatapp2.List{
				Button: "Choose a time",
				Sections: []chatapp2.Section{
					{Title: "Today", Rows: []chatapp2.Row{{ID: "today/15", Title: "At three"}}},
					{Title: "Tomorrow", Rows: []chatapp2.Row{
						{ID: "tomorrow/9", Title: "At nine", Description: "Before you go to work"},
						{ID: "tomorrow/15", Title: "At three"},
					}},
				},
			},
		},
	})
	fmt.Println(messaging.VerdictOf(err), service.Sent()[0].Kind)
	// Output: accepted interactive
}

func ExampleCarousel() {
	service, client := connected()
	defer service.Close()
	card := func(name, picture string) chatapp2.Card {
		return chatapp2.Card{
			Header: chatapp2.Image{Media: chatapp2.Media{Link: "https://shop.example.com/" + picture}},
			Body:   name,
			Action: chatapp2.ReplyButtons{{ID: "take/" + name, Title: "Take it"}},
		}
	}
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567",
		Content: chatapp2.Interactive{
			Body:   "Back in stock:",
			Action: chatapp2.Carousel{Cards: []chatapp2.Card{card("Table", "table.png"), card("Chair", "chair.png")}},
		},
	})
	fmt.Println(messaging.VerdictOf(err), service.Sent()[0].Kind)
	// Output: accepted interactive
}

func ExampleImage() {
	service, client := connected()
	defer service.Close()
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567",
		Content: chatapp2.Image{
			Media:   chatapp2.Media{Link: "https://shop.example.com/table.png"}, // or the ID of an upload
			Caption: "Your table is ready",
		},
	})
	fmt.Println(messaging.VerdictOf(err), service.Sent()[0].Kind)
	// Output: accepted image
}

func ExampleMessage_replyTo() {
	service, client := connected()
	defer service.Close()
	question, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567", Content: chatapp2.Text{Body: "We deliver today"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To: "+639171234567", ReplyTo: question.ID, Content: chatapp2.Text{Body: "At three, to be precise"},
	})
	fmt.Println(messaging.VerdictOf(err), string(service.Sent()[1].Body))
	// Output: accepted {"messaging_product":"whatsapp","recipient_type":"individual","to":"+639171234567","context":{"message_id":"wamid.bXNnLTE="},"type":"text","text":{"body":"At three, to be precise"}}
}

// A message that does not reach its recipient in ten minutes goes out as an SMS.
func ExampleMessage_fallback() {
	service, client := connected()
	defer service.Close()
	service.SetDelivery("+639171234567", messagingtest.Unreachable())
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To:          "+639171234567",
		Content:     chatapp2.Text{Body: "Your driver arrives at three"},
		TTL:         10 * time.Minute,
		Fallback:    &sms.Fallback{From: "ACME", Text: "Your driver arrives at 3 pm"},
		ReferenceID: "ride-7",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	service.Advance(10 * time.Minute) // the stand-in's clock, not yours
	for _, sent := range service.Sent() {
		fmt.Println(sent.Channel, sent.ReferenceID, sent.Text, sent.State)
	}
	// Output:
	// chatapp2 ride-7 Your driver arrives at three expired
	// sms ride-7 Your driver arrives at 3 pm
}

// A body that was written for the platform itself decodes into typed content, and is sent as any other message.
func ExampleMessage_UnmarshalJSON() {
	body := []byte(`{
		"messaging_product": "whatsapp", "to": "+639171234567", "type": "template",
		"template": {
			"name": "order_ready", "language": {"code": "en_US"},
			"components": [{"type": "body", "parameters": [{"type": "text", "text": "Ana"}]}]
		}
	}`)
	var message chatapp2.Message
	if err := json.Unmarshal(body, &message); err != nil {
		fmt.Println(err)
		return
	}
	if template, ok := message.Content.(chatapp2.Template); ok {
		fmt.Println(template.Name, template.Language, len(template.Components))
	}
	service, client := connected()
	defer service.Close()
	_, err := client.ChatApp2.Send(context.Background(), message)
	fmt.Println(messaging.VerdictOf(err), service.Sent()[0].Template)
	// Output:
	// order_ready en_US 1
	// accepted order_ready
}

// What the platform adds tomorrow is sent as it is.
func ExampleRaw() {
	service, client := connected()
	defer service.Close()
	_, err := client.ChatApp2.Send(context.Background(), chatapp2.Message{
		To:      "+639171234567",
		Content: chatapp2.Raw{Type: "poll", JSON: json.RawMessage(`{"question": "Tea?", "options": ["yes", "no"]}`)},
		Extra:   map[string]any{"recipient_identity_key_hash": "DF2lS5v2W6x="},
	})
	fmt.Println(messaging.VerdictOf(err), service.Sent()[0].Kind)
	// Output: accepted poll
}
