package sandbox

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// A bubble is what a message looks like on the recipient's phone. What has no picture shows its name and its JSON.
type bubble struct {
	Label    string // above the message, such as the name of a template
	Media    *media
	Header   string
	Body     string
	Footer   string
	Facts    []fact
	Buttons  []button
	Menu     string // the button that opens the sections
	Sections []section
	Cards    []bubble
	JSON     string

	About    string // the ID of the message that this one quotes, pins or reacts to
	Reaction string // the emoji
}

type media struct{ Kind, URL, ID, Caption, Name string }

type fact struct{ Name, Value string }

// A button of a message. One with an Answer can be tapped, and the answer goes to the webhook; one with a URL opens it.
type button struct {
	Label, Hint string
	URL         string
	Answer      *Answer
}

type section struct {
	Title string
	Rows  []row
}

type row struct {
	Title, Description string
	Answer             *Answer
}

// bubbleOf returns how a message looks. The contract says under which names the fields of chat app 1 stand.
func bubbleOf(m messagingtest.Sent, t *table.Table) bubble {
	switch m.Channel {
	case messagingtest.ChannelChatApp1:
		return chatApp1Bubble(m, t.ChatApp1Send.Fields)
	case messagingtest.ChannelChatApp2:
		body := parseNode(m.Body)
		if wrap := t.ChatApp2Send.Wrap; wrap != nil && *wrap != "" {
			if inner := body.at(*wrap); inner.exists() {
				body = inner
			}
		}
		return chatApp2Bubble(m, body)
	default:
		return bubble{Body: m.Text}
	}
}

// formNode returns the body of a request as a node, be it JSON or a form.
func formNode(raw []byte) node {
	if n := parseNode(raw); n.object() != nil {
		return n
	}
	values, err := url.ParseQuery(string(raw))
	if err != nil {
		return node{}
	}
	o := map[string]any{}
	for name := range values {
		o[name] = values.Get(name)
	}
	return node{o}
}

func chatApp1Bubble(m messagingtest.Sent, names map[string]string) bubble {
	body := formNode(m.Body)
	of := func(concept string) node {
		if names[concept] == "" {
			return node{}
		}
		if n := body.at(names[concept]); n.exists() {
			return n
		}
		return node{body.object()[names[concept]]} // a name of a form may have dots
	}
	b := bubble{Body: m.Text}
	switch m.Kind {
	case "text":
	case "image":
		b.Media = &media{Kind: "image", URL: webURL(of("image").text())}
	case "video":
		b.Media = &media{Kind: "video", URL: webURL(of("video").text())}
		b.Facts = facts("Thumbnail", of("thumbnail").text(), "Seconds", of("duration").text(), "Bytes", of("size").text())
	case "call_to_action":
		if image := of("image").text(); image != "" {
			b.Media = &media{Kind: "image", URL: webURL(image)}
		}
		b.Buttons = []button{{Label: of("caption").text(), URL: webURL(of("url").text()), Hint: "opens a link"}}
	case "template":
		b.Label = joinFilled("Template", m.Template, of("language").text())
		params := of("params")
		if inner := parseNode([]byte(params.text())); inner.object() != nil { // a form holds them as JSON
			params = inner
		}
		for _, name := range slices.Sorted(maps.Keys(params.object())) {
			b.Facts = append(b.Facts, fact{name, params.at(name).text()})
		}
	default:
		b.Label, b.JSON = m.Kind, body.indented()
	}
	return b
}

func chatApp2Bubble(m messagingtest.Sent, body node) bubble {
	content := body.at(m.Kind)
	b := bubble{About: body.at("context.message_id").text()}
	switch m.Kind {
	case "text":
		b.Body = content.at("body").text()
	case "image", "video", "audio", "document", "sticker":
		b.Media = mediaOf(m.Kind, content)
		b.Body = b.Media.Caption
	case "location":
		b.Label = "Location"
		b.Facts = locationFacts(content)
	case "contacts":
		b.Label = "Contacts"
		for _, c := range content.list() {
			var phones []string
			for _, p := range c.at("phones").list() {
				phones = append(phones, p.at("phone").text())
			}
			for _, e := range c.at("emails").list() {
				phones = append(phones, e.at("email").text())
			}
			b.Facts = append(b.Facts, fact{c.at("name.formatted_name").text(), strings.Join(phones, ", ")})
		}
	case "reaction":
		b.About, b.Reaction = content.at("message_id").text(), cmp.Or(content.at("emoji").text(), "removed")
		b.Label = "Reaction"
	case "pin":
		b.About = content.at("message_id").text()
		b.Label = joinFilled(map[bool]string{true: "Unpinned", false: "Pinned"}[content.at("type").text() == "unpin"], "a message")
		b.Facts = facts("Days", content.at("expiration_days").text())
	case "template":
		b.template(m.ID, content)
	case "interactive":
		b.interactive(m.ID, content)
	default:
		b.Label, b.JSON = m.Kind, content.indented()
	}
	return b
}

func mediaOf(kind string, n node) *media {
	return &media{
		Kind: kind, URL: webURL(n.at("link").text()), ID: n.at("id").text(), Caption: n.at("caption").text(), Name: n.at("filename").text(),
	}
}

func locationFacts(n node) []fact {
	return facts("Name", n.at("name").text(), "Address", n.at("address").text(),
		"Latitude", n.at("latitude").text(), "Longitude", n.at("longitude").text())
}

// template shows the values of a template's parameters: the texts around them are at the platform.
func (b *bubble) template(id string, n node) {
	b.Label = joinFilled("Template", n.at("name").text(), n.at("language.code").text())
	b.components(id, n)
}

func (b *bubble) components(id string, n node) {
	for _, c := range n.at("components").list() {
		switch kind := strings.ToLower(c.at("type").text()); kind {
		case "header", "body":
			for i, p := range c.at("parameters").list() {
				b.parameter(kind, i, p)
			}
		case "button":
			b.templateButton(id, c)
		case "carousel":
			for _, card := range c.at("cards").list() {
				var inner bubble
				inner.components(id, card)
				b.Cards = append(b.Cards, inner)
			}
		case "limited_time_offer":
			b.Facts = append(b.Facts, facts("Offer ends", c.at("parameters.0.limited_time_offer.expiration_time_ms").text())...)
		default:
			b.Facts = append(b.Facts, fact{kind, c.at("parameters").indented()})
		}
	}
}

func (b *bubble) parameter(place string, index int, p node) {
	name := place
	if place == "body" {
		name = "{{" + cmp.Or(p.at("parameter_name").text(), node{json.Number(itoa(index + 1))}.text()) + "}}"
	}
	switch kind := p.at("type").text(); kind {
	case "text":
		b.Facts = append(b.Facts, fact{name, p.at("text").text()})
	case "currency", "date_time":
		b.Facts = append(b.Facts, fact{name, p.at(kind + ".fallback_value").text()})
	case "image", "video", "document", "gif":
		b.Media = mediaOf(kind, p.at(kind))
	case "location":
		b.Facts = append(b.Facts, locationFacts(p.at("location"))...)
	case "product":
		b.Facts = append(b.Facts, facts("Product", p.at("product.product_retailer_id").text())...)
	default:
		b.Facts = append(b.Facts, fact{name, p.indented()})
	}
}

func (b *bubble) templateButton(id string, c node) {
	kind, p := strings.ToLower(c.at("sub_type").text()), c.at("parameters.0")
	value := cmp.Or(p.at("payload").text(), p.at("text").text(), p.at("coupon_code").text())
	label := map[string]string{
		"quick_reply": "Quick reply", "url": "Open link", "copy_code": "Copy code", "flow": "Open form", "catalog": "View catalog",
		"mpm": "View items", "voice_call": "Call", "order_details": "Review and pay",
	}[kind]
	tap := button{Label: joinFilled(cmp.Or(label, kind), value), Hint: kind}
	switch kind {
	case "quick_reply":
		tap.Label = cmp.Or(value, tap.Label)
		tap.Answer = &Answer{Kind: AnswerQuickReply, Message: id, Text: tap.Label, Payload: value}
	case "flow":
		tap.Answer = &Answer{Kind: AnswerForm, Message: id, Payload: p.at("action.flow_token").text()}
	}
	b.Buttons = append(b.Buttons, tap)
}

func (b *bubble) interactive(id string, n node) {
	b.Header, b.Body, b.Footer = n.at("header.text").text(), n.at("body.text").text(), n.at("footer.text").text()
	if kind := n.at("header.type").text(); kind != "" && kind != "text" {
		b.Media = mediaOf(kind, n.at("header."+kind))
	}
	action := n.at("action")
	params := action.at("parameters")
	switch kind := n.at("type").text(); kind {
	case "button":
		b.replyButtons(id, action)
	case "list":
		b.Menu = action.at("button").text()
		for _, s := range action.at("sections").list() {
			b.Sections = append(b.Sections, listSection(id, s))
		}
	case "cta_url":
		b.Buttons = append(b.Buttons, linkButton(params))
	case "carousel":
		for _, c := range action.at("cards").list() {
			var card bubble
			card.interactive(id, c)
			if c.at("action.buttons").exists() {
				card.Buttons = nil
				card.replyButtons(id, c.at("action"))
			}
			b.Cards = append(b.Cards, card)
		}
	case "flow":
		b.Buttons = append(b.Buttons, button{
			Label: cmp.Or(params.at("flow_cta").text(), "Open form"), Hint: "sends the form back",
			Answer: &Answer{Kind: AnswerForm, Message: id, Payload: params.at("flow_token").text()},
		})
	case "location_request_message":
		b.Buttons = append(b.Buttons, button{
			Label: "Send location", Hint: "answers with a location",
			Answer: &Answer{Kind: AnswerLocation, Message: id, Latitude: "14.5995", Longitude: "120.9842", Text: "Manila"},
		})
	case "product":
		b.Facts = facts("Catalog", action.at("catalog_id").text(), "Product", action.at("product_retailer_id").text())
	case "product_list":
		for _, s := range action.at("sections").list() {
			b.Sections = append(b.Sections, productSection(s))
		}
		b.Menu = "View items"
	case "catalog_message":
		b.Buttons = append(b.Buttons, button{Label: "View catalog", Hint: kind})
	case "order_details":
		b.order(params)
		b.Buttons = append(b.Buttons, button{Label: "Review and pay", Hint: kind})
	case "order_status":
		b.Facts = facts("Order", params.at("reference_id").text(), "Status", params.at("order.status").text(),
			"Note", params.at("order.description").text(), "Payment", params.at("payment.status").text())
	case "voice_call":
		b.Buttons = append(b.Buttons, button{Label: cmp.Or(params.at("display_text").text(), "Call"), Hint: kind})
	default:
		b.Label, b.JSON = kind, action.indented()
	}
}

func (b *bubble) replyButtons(id string, action node) {
	for _, n := range action.at("buttons").list() {
		reply := n.at(n.at("type").text())
		label := reply.at("title").text()
		b.Buttons = append(b.Buttons, button{
			Label: label, Answer: &Answer{Kind: AnswerButton, Message: id, Payload: reply.at("id").text(), Text: label},
		})
	}
}

func linkButton(params node) button {
	return button{Label: params.at("display_text").text(), URL: webURL(params.at("url").text()), Hint: "opens a link"}
}

func listSection(id string, n node) section {
	s := section{Title: n.at("title").text()}
	for _, r := range n.at("rows").list() {
		title, description := r.at("title").text(), r.at("description").text()
		s.Rows = append(s.Rows, row{title, description, &Answer{
			Kind: AnswerListRow, Message: id, Payload: r.at("id").text(), Text: title, Description: description,
		}})
	}
	return s
}

func productSection(n node) section {
	s := section{Title: n.at("title").text()}
	for _, item := range n.at("product_items").list() {
		s.Rows = append(s.Rows, row{Title: item.at("product_retailer_id").text()})
	}
	return s
}

func (b *bubble) order(params node) {
	for _, item := range params.at("order.items").list() {
		b.Facts = append(b.Facts, fact{item.at("quantity").text() + " × " + item.at("name").text(), price(item.at("amount"))})
	}
	b.Facts = append(b.Facts, facts("Total", strings.TrimSpace(price(params.at("total_amount"))+" "+params.at("currency").text()))...)
}

// price returns an amount of the platform: a value in units of one part of offset.
func price(n node) string {
	value, offset := n.at("value").text(), n.at("offset").text()
	if digits := len(offset) - 1; digits > 0 && strings.Trim(offset, "0") == "1" && strings.Trim(value, "0123456789") == "" && value != "" {
		value = strings.Repeat("0", max(0, digits+1-len(value))) + value
		return value[:len(value)-digits] + "." + value[len(value)-digits:]
	}
	return value
}

// facts returns the pairs that have a value.
func facts(pairs ...string) []fact {
	var list []fact
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			list = append(list, fact{pair[0], pair[1]})
		}
	}
	return list
}

func joinFilled(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// webURL returns an http or https URL, or "": nothing else becomes a link.
func webURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return s
}
