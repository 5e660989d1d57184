package chatapp2_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// show prints what a message with this content says, in the platform's shape.
func show(content chatapp2.Content) {
	body, err := json.Marshal(chatapp2.Message{To: "+639171234567", Content: content})
	if err != nil {
		fmt.Println(err)
		return
	}
	var members map[string]json.RawMessage
	var kind string
	if err := json.Unmarshal(body, &members); err != nil {
		fmt.Println(err)
		return
	}
	if err := json.Unmarshal(members["type"], &kind); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(kind, string(members[kind]))
}

func ExampleText() {
	show(chatapp2.Text{Body: "See https://shop.example.com/17", PreviewURL: true})
	// Output: text {"body":"See https://shop.example.com/17","preview_url":true}
}

func ExampleImage() {
	show(chatapp2.Image{
		Media:   chatapp2.MediaLink("https://shop.example.com/table.png"), // or MediaID, of an upload
		Caption: "Your table is ready",
	})
	// Output: image {"link":"https://shop.example.com/table.png","caption":"Your table is ready"}
}

func ExampleVideo() {
	show(chatapp2.Video{Media: chatapp2.MediaID("1013859600285441"), Caption: "How to assemble it"})
	// Output: video {"id":"1013859600285441","caption":"How to assemble it"}
}

func ExampleAudio() {
	show(chatapp2.Audio{Media: chatapp2.MediaID("1013859600285441"), Voice: true})
	// Output: audio {"id":"1013859600285441","voice":true}
}

func ExampleDocument() {
	show(chatapp2.Document{Media: chatapp2.MediaLink("https://shop.example.com/17"), FileName: "invoice-17.pdf"})
	// Output: document {"link":"https://shop.example.com/17","filename":"invoice-17.pdf"}
}

func ExampleSticker() {
	show(chatapp2.Sticker{Media: chatapp2.MediaID("1013859600285441")})
	// Output: sticker {"id":"1013859600285441"}
}

func ExampleLocation() {
	show(chatapp2.Location{Latitude: 14.5995, Longitude: 120.9842, Name: "The shop"})
	// Output: location {"latitude":14.5995,"longitude":120.9842,"name":"The shop"}
}

func ExampleContacts() {
	show(chatapp2.Contacts{{
		Name:   chatapp2.ContactName{FormattedName: "The shop", FirstName: "Shop"},
		Phones: []chatapp2.ContactPhone{{Phone: "+63 917 123 4567", Type: "WORK"}},
	}})
	// Output: contacts [{"name":{"formatted_name":"The shop","first_name":"Shop"},"phones":[{"phone":"+63 917 123 4567","type":"WORK"}]}]
}

func ExampleReaction() {
	show(chatapp2.Reaction{MessageID: "wamid.HBgLM", Emoji: "👍"})
	// Output: reaction {"message_id":"wamid.HBgLM","emoji":"👍"}
}

func ExampleInteractive() {
	show(chatapp2.Interactive{
		Header: chatapp2.HeaderText{Text: "Order 42"},
		Body:   "Your order is on its way.",
		Footer: "The shop",
		Action: chatapp2.CTAURL{DisplayText: "Track it", URL: "https://shop.example.com/42"},
	})
	// Output: interactive {"header":{"type":"text","text":"Order 42"},"body":{"text":"Your order is on its way."},"footer":{"text":"The shop"},"type":"cta_url","action":{"name":"cta_url","parameters":{"display_text":"Track it","url":"https://shop.example.com/42"}}}
}

func ExampleReplyButtons() {
	show(chatapp2.Interactive{
		Body:   "Shall we deliver today?",
		Action: chatapp2.ReplyButtons{{ID: "yes/42", Title: "Yes"}, {ID: "no/42", Title: "Another day"}},
	})
	// Output: interactive {"body":{"text":"Shall we deliver today?"},"type":"button","action":{"buttons":[{"type":"reply","reply":{"id":"yes/42","title":"Yes"}},{"type":"reply","reply":{"id":"no/42","title":"Another day"}}]}}
}

func ExampleList() {
	show(chatapp2.Interactive{
		Body: "When shall we deliver?",
		Action: chatapp2.List{
			Button: "Choose a time",
			Sections: []chatapp2.Section{
				{Title: "Today", Rows: []chatapp2.Row{{ID: "today/15", Title: "At three"}}},
				{Title: "Tomorrow", Rows: []chatapp2.Row{{ID: "tomorrow/9", Title: "At nine", Description: "Before work"}}},
			},
		},
	})
	// Output: interactive {"body":{"text":"When shall we deliver?"},"type":"list","action":{"button":"Choose a time","sections":[{"title":"Today","rows":[{"id":"today/15","title":"At three"}]},{"title":"Tomorrow","rows":[{"id":"tomorrow/9","title":"At nine","description":"Before work"}]}]}}
}

func ExampleFlow() {
	show(chatapp2.Interactive{
		Body:   "Book a delivery",
		Action: chatapp2.Flow{Name: "booking", CTA: "Book", Screen: "DATES", Data: map[string]any{"first": "2026-10-03"}},
	})
	// Output: interactive {"body":{"text":"Book a delivery"},"type":"flow","action":{"name":"flow","parameters":{"flow_message_version":"3","flow_name":"booking","flow_cta":"Book","flow_action_payload":{"screen":"DATES","data":{"first":"2026-10-03"}}}}}
}

func ExampleCarousel() {
	card := func(name, picture string) chatapp2.Card {
		return chatapp2.Card{
			Header: chatapp2.Image{Media: chatapp2.MediaLink("https://shop.example.com/" + picture)},
			Action: chatapp2.ReplyButtons{{ID: "take/" + name, Title: "Take it"}},
		}
	}
	message := chatapp2.Message{To: "+639171234567", Content: chatapp2.Interactive{
		Body:   "Back in stock:",
		Action: chatapp2.Carousel{Cards: []chatapp2.Card{card("Table", "table.png"), card("Chair", "chair.png")}},
	}}
	body, err := json.Marshal(message)
	fmt.Println(json.Valid(body), err)
	// Output: true <nil>
}

// An order to review and pay has no type in this package. A RawAction sends it.
func ExampleRawAction() {
	action := chatapp2.RawAction{Type: "order_details", JSON: json.RawMessage(`{
		"name": "review_and_pay",
		"parameters": {
			"reference_id": "order-42", "type": "physical-goods", "currency": "INR",
			"total_amount": {"value": 165000, "offset": 100},
			"order": {
				"status": "pending",
				"items": [{"name": "Table", "amount": {"value": 165000, "offset": 100}, "quantity": 1}],
				"subtotal": {"value": 165000, "offset": 100}, "tax": {"value": 0, "offset": 100}
			}
		}
	}`)}
	body, err := json.Marshal(chatapp2.Message{
		To: "+919876543210", Content: chatapp2.Interactive{Body: "Your order", Action: action},
	})
	fmt.Println(json.Valid(body), err)
	// Output: true <nil>
}

// A template that opens a web page when tapped has a component without a type in this package. A RawComponent sends it.
func ExampleRawComponent() {
	show(chatapp2.Template{Name: "offer", Language: "en", Components: []chatapp2.Component{
		chatapp2.Body("Ana"),
		chatapp2.RawComponent{JSON: json.RawMessage(
			`{"type":"tap_target_configuration","parameters":[{"type":"tap_target_configuration",` +
				`"tap_target_configuration":[{"url":"https://shop.example.com/42","title":"The shop"}]}]}`,
		)},
	}})
	// Output: template {"name":"offer","language":{"code":"en"},"components":[{"type":"body","parameters":[{"type":"text","text":"Ana"}]},{"type":"tap_target_configuration","parameters":[{"type":"tap_target_configuration","tap_target_configuration":[{"url":"https://shop.example.com/42","title":"The shop"}]}]}]}
}

func ExampleTemplate() {
	show(chatapp2.Template{
		Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana", "42")},
	})
	// Output: template {"name":"order_ready","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"Ana"},{"type":"text","text":"42"}]}]}
}

// A template with an image above its text and two buttons below it.
func ExampleTemplate_buttons() {
	show(chatapp2.Template{
		Name: "order_on_its_way", Language: "en_US",
		Components: []chatapp2.Component{
			chatapp2.TemplateHeader{Parameter: chatapp2.Image{Media: chatapp2.MediaLink("https://shop.example.com/42.png")}},
			chatapp2.Body("Ana"),
			chatapp2.QuickReplyButton{Index: 0, Payload: "later/42"},
			chatapp2.URLButton{Index: 1, Suffix: "42/track"},
		},
	})
	// Output: template {"name":"order_on_its_way","language":{"code":"en_US"},"components":[{"type":"header","parameters":[{"type":"image","image":{"link":"https://shop.example.com/42.png"}}]},{"type":"body","parameters":[{"type":"text","text":"Ana"}]},{"type":"button","sub_type":"quick_reply","index":0,"parameters":[{"type":"payload","payload":"later/42"}]},{"type":"button","sub_type":"url","index":1,"parameters":[{"type":"text","text":"42/track"}]}]}
}

func ExampleNamed() {
	show(chatapp2.Template{
		Name: "order_ready", Language: "en_US",
		Components: []chatapp2.Component{chatapp2.TemplateBody{chatapp2.Named("first_name", "Ana"), chatapp2.Named("order", "42")}},
	})
	// Output: template {"name":"order_ready","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","parameter_name":"first_name","text":"Ana"},{"type":"text","parameter_name":"order","text":"42"}]}]}
}

// An authentication template has its code twice: in the body, and in the button that copies it.
func ExampleURLButton_oneTimePassword() {
	show(chatapp2.Template{
		Name: "login_code", Language: "en_US",
		Components: []chatapp2.Component{chatapp2.Body("274123"), chatapp2.URLButton{Suffix: "274123", OneTimeCode: true}},
	})
	// Output: template {"name":"login_code","language":{"code":"en_US"},"components":[{"type":"body","parameters":[{"type":"text","text":"274123"}]},{"type":"button","sub_type":"url","index":0,"parameters":[{"type":"text","text":"274123"}]}]}
}

// Content that this package does not know is sent as it is.
func ExampleRaw() {
	show(chatapp2.Raw{Type: "poll", JSON: json.RawMessage(`{"question":"Tea?","options":["yes","no"]}`)})
	// Output: poll {"question":"Tea?","options":["yes","no"]}
}

// The service falls back to SMS if it cannot reach the recipient over chat app 2 in ten minutes.
func ExampleMessage_fallback() {
	message := chatapp2.Message{
		To:          "+639171234567",
		Content:     chatapp2.Text{Body: "Your driver arrives at three"},
		TTL:         10 * time.Minute,
		Fallback:    &sms.Fallback{From: "ACME", Text: "Your driver arrives at 3 pm"},
		ReferenceID: "ride-7",
	}
	stored, err := json.Marshal(message)
	fmt.Println(string(stored), err)
	// Output: {"fallback":{"from":"ACME","text":"Your driver arrives at 3 pm"},"messaging_product":"whatsapp","recipient_type":"individual","referenceID":"ride-7","text":{"body":"Your driver arrives at three"},"to":"+639171234567","ttl":"10m0s","type":"text"} <nil>
}

func ExampleMessage_Members() {
	members, err := chatapp2.Message{To: "+639171234567", Content: chatapp2.Text{Body: "Hi"}}.Members()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, member := range members {
		fmt.Printf("%s: %s\n", member.Name, member.Value)
	}
	// Output:
	// messaging_product: "whatsapp"
	// recipient_type: "individual"
	// to: "+639171234567"
	// type: "text"
	// text: {"body":"Hi"}
}

// A body written for the platform decodes into typed content.
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
	switch content := message.Content.(type) { //nolint:gochecksumtype // only these kinds are concerned
	case chatapp2.Template:
		fmt.Println(content.Name, content.Language, content.Components)
	case chatapp2.Raw:
		fmt.Println("not known:", content.Type)
	}
	// Output: order_ready en_US [[{ Ana}]]
}
