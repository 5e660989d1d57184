package sandbox

import (
	"cmp"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// This file draws messages in the format of the platform behind chat app 2. It walks through their JSON instead of decoding a
// chatapp2.Message, because that keeps a whole part as JSON if one of its members is unknown. Programs in any language send to the sandbox,
// and the page shows what it knows of their messages.

// platformBubble returns the bubble of a message: {"type": KIND, KIND: {…}}.
func platformBubble(kind string, body document.Node) bubble {
	content := body.At(kind)
	b := bubble{About: body.At("context.message_id").Text()}
	switch kind {
	case "text":
		b.Body = orBlank(kind, content.At("body").Text())
	case "image", "video", "audio", "document", "sticker":
		b.Media = mediaOf(kind, content)
		b.Body = content.At("caption").Text()
	case "location":
		b.Place = content
	case "contacts":
		b.Label = "Contacts"
		b.Contacts = append(b.Contacts, content.List()...)
	case "reaction":
		b.Label = "Reaction"
		b.About = content.At("message_id").Text()
		b.Reaction = cmp.Or(content.At("emoji").Text(), "removed")
	case "template": // only the values of its parameters, because the platform has the text
		b.Label = joinFilled("Template", content.At("name").Text(), content.At("language.code").Text())
		b.addComponents(content)
	case "interactive":
		b.addInteractive(content)
	default:
		b.Label = kind
		b.JSON = content.Indented()
	}
	return b
}

// mediaOf reads {"link": …, "id": …, "filename": …}.
func mediaOf(kind string, n document.Node) media {
	return media{Kind: kind, URL: webURL(n.At("link").Text()), ID: n.At("id").Text(), Name: n.At("filename").Text()}
}

// addComponents adds the components of a template, or of one of its cards: {"components": [{"type": "body", "parameters": […]}, …]}.
func (b *bubble) addComponents(n document.Node) {
	for _, c := range n.At("components").List() {
		switch kind := strings.ToLower(c.At("type").Text()); kind {
		case "header", "body":
			for i, p := range c.At("parameters").List() {
				b.addParameter(kind, i, p)
			}
		case "button":
			b.addTemplateButton(strings.ToLower(c.At("sub_type").Text()), c.At("parameters.0"))
		case "carousel":
			for _, card := range c.At("cards").List() {
				inner := bubble{}
				inner.addComponents(card)
				b.Cards = append(b.Cards, inner)
			}
		default:
			b.Facts = append(b.Facts, leaves(c.At("parameters"), "")...)
		}
	}
}

// addParameter adds a parameter of the header or the body: {"type": KIND, KIND: …}. A text in a body fills a placeholder such as {{1}}.
func (b *bubble) addParameter(component string, index int, p document.Node) {
	kind := p.At("type").Text()
	value := p.At(kind)
	name := component
	if component == "body" {
		name = "{{" + cmp.Or(p.At("parameter_name").Text(), itoa(index+1)) + "}}"
	}
	switch kind {
	case "image", "video", "document", "gif":
		b.Media = mediaOf(kind, value)
	case "location":
		b.Place = value
	default:
		text := cmp.Or(value.Text(), value.At("fallback_value").Text(), value.At("product_retailer_id").Text(), p.Indented())
		b.Facts = append(b.Facts, fact{name, text})
	}
}

// buttonLabel returns the label of a button without a text.
func buttonLabel(kind string) string {
	return map[string]string{
		"quick_reply": "Quick reply", "url": "Open link", "copy_code": "Copy code", "flow": "Open form", "catalog": "View catalog",
		"mpm": "View items", "product_list": "View items", "voice_call": "Call", "order_details": "Review and pay",
		"catalog_message": "View catalog", "location_request_message": "Send location",
	}[kind]
}

// addTemplateButton adds a button of a template with its first parameter. kind is its sub_type.
func (b *bubble) addTemplateButton(kind string, p document.Node) {
	value := cmp.Or(p.At("payload").Text(), p.At("text").Text(), p.At("coupon_code").Text())
	tap := button{Label: joinFilled(cmp.Or(buttonLabel(kind), kind), value), Hint: kind}
	switch kind {
	case "quick_reply":
		tap.Label = cmp.Or(value, tap.Label)
		tap.Answer = &Answer{Kind: AnswerQuickReply, Text: tap.Label, Payload: value}
	case "flow":
		tap.Answer = &Answer{Kind: AnswerForm, Payload: p.At("action.flow_token").Text()}
	}
	b.Buttons = append(b.Buttons, tap)
}

// addInteractive adds the parts of an interactive message, or of one of its cards:
// {"type": KIND, "header": …, "body": …, "footer": …, "action": …}.
func (b *bubble) addInteractive(n document.Node) {
	b.Header = n.At("header.text").Text()
	b.Body = n.At("body.text").Text()
	b.Footer = n.At("footer.text").Text()
	if kind := n.At("header.type").Text(); kind != "" && kind != "text" {
		b.Media = mediaOf(kind, n.At("header."+kind))
	}
	kind := n.At("type").Text()
	action := n.At("action")
	for _, reply := range action.At("buttons").List() {
		b.Buttons = append(b.Buttons, choice(AnswerButton, reply.At(reply.At("type").Text())))
	}
	for _, section := range action.At("sections").List() {
		b.Menu = cmp.Or(action.At("button").Text(), buttonLabel(kind))
		b.addSection(section)
	}
	for _, c := range action.At("cards").List() {
		card := bubble{}
		card.addInteractive(c)
		b.Cards = append(b.Cards, card)
	}
	if b.Buttons == nil && b.Rows == nil && b.Cards == nil {
		b.addAction(kind, action)
	}
}

// addSection adds a section of a list, {"title": …, "rows": […]}, or of products, {"title": …, "product_items": […]}.
func (b *bubble) addSection(n document.Node) {
	b.Rows = append(b.Rows, button{Title: n.At("title").Text()})
	for _, row := range n.At("rows").List() {
		b.Rows = append(b.Rows, choice(AnswerListRow, row))
	}
	for _, item := range n.At("product_items").List() {
		b.Rows = append(b.Rows, button{Label: item.At("product_retailer_id").Text()})
	}
}

// addAction adds the single button of an interactive message, which its action describes: {"parameters": {…}}. If the button is unknown,
// it adds the values of the action instead.
func (b *bubble) addAction(kind string, action document.Node) {
	params := action.At("parameters")
	label := cmp.Or(params.At("display_text").Text(), params.At("flow_cta").Text(), buttonLabel(kind))
	if label == "" {
		b.Label = strings.ReplaceAll(kind, "_", " ")
		b.Facts = leaves(action, "")
		return
	}
	tap := button{Label: label, URL: webURL(params.At("url").Text()), Hint: kind}
	switch kind {
	case "flow":
		tap.Answer = &Answer{Kind: AnswerForm, Payload: params.At("flow_token").Text()}
	case "location_request_message":
		tap.Answer = &Answer{Kind: AnswerLocation, Latitude: "14.5995", Longitude: "120.9842", Text: "Manila"}
	}
	b.Buttons = append(b.Buttons, tap)
}

// choice returns a reply button, or a row of a list: {"id": …, "title": …, "description": …}.
func choice(kind AnswerKind, n document.Node) button {
	a := &Answer{Kind: kind, Payload: n.At("id").Text(), Text: n.At("title").Text(), Description: n.At("description").Text()}
	return button{Label: a.Text, Hint: a.Description, Answer: a}
}
