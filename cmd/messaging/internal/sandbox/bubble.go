package sandbox

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
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
	Place    *place
	Contacts []contact
	JSON     string
	IsBlank  bool // a text that shows nothing

	About    string // the ID of the message that this one quotes or reacts to
	Reaction string // the emoji
}

// preview returns the line by which lists show a message of this kind.
func (b bubble) preview(kind string) string {
	switch {
	case b.Body != "" || b.Header != "":
		return cmp.Or(b.Body, b.Header)
	case b.Place != nil:
		return joinFilled("Location", b.Place.Name)
	case len(b.Contacts) > 0:
		return joinFilled("Contact", b.Contacts[0].Name)
	case b.Media != nil && b.Label == "":
		return joinFilled(title(b.Media.Kind), b.Media.Name)
	}
	return cmp.Or(b.Label, title(kind))
}

type media struct{ Kind, URL, ID, Caption, Name string }

type fact struct{ Name, Value string }

// A place is where a location is; latitude and longitude are decimal degrees.
type place struct{ Name, Address, Latitude, Longitude string }

type contact struct {
	Name, Company string
	Reach         []fact // numbers and addresses
}

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
	c, known := table.ChannelNamed(string(m.Channel))
	if !known || m.Channel == messagingtest.ChannelSMS {
		return bubble{Body: m.Text}
	}
	send := c.Send(t)
	if send.Wrap == nil {
		return fieldsBubble(m, send)
	}
	return platformBubble(m, platformMessage(document.Parse(m.Body), send.Wrap))
}

func fieldsBubble(m messagingtest.Sent, send *table.Send) bubble {
	body := formNode(m.Body)
	of := func(concept string) document.Node { return fieldIn(body, send, concept) }
	b := bubble{Body: m.Text}
	switch m.Kind {
	case "text":
	case "image":
		b.Media = &media{Kind: "image", URL: webURL(of("image").Text())}
	case "video":
		b.Media = &media{Kind: "video", URL: webURL(of("video").Text())}
		b.Facts = facts("Thumbnail", of("thumbnail").Text(), "Seconds", of("duration").Text(), "Bytes", of("size").Text())
	case "call_to_action":
		if image := of("image").Text(); image != "" {
			b.Media = &media{Kind: "image", URL: webURL(image)}
		}
		b.Buttons = []button{{Label: of("caption").Text(), URL: webURL(of("url").Text()), Hint: "opens a link"}}
	case "template":
		b.Label = joinFilled("Template", m.Template, of("language").Text())
		params := of("params")
		if inner := document.Parse([]byte(params.Text())); inner.Object() != nil { // a form holds them as JSON
			params = inner
		}
		for _, name := range slices.Sorted(maps.Keys(params.Object())) {
			b.Facts = append(b.Facts, fact{name, params.At(name).Text()})
		}
	default:
		b.Label, b.JSON = m.Kind, body.Indented()
	}
	return b
}

func platformBubble(m messagingtest.Sent, body document.Node) bubble {
	content := body.At(m.Kind)
	b := bubble{About: body.At("context.message_id").Text()}
	switch m.Kind {
	case "text":
		b.Body = content.At("body").Text()
	case "image", "video", "audio", "document", "sticker":
		b.Media = mediaOf(m.Kind, content)
		b.Body = b.Media.Caption
	case "location":
		b.Place = placeIn(content)
	case "contacts":
		b.Label = "Contacts"
		for _, c := range content.List() {
			b.Contacts = append(b.Contacts, contactIn(c))
		}
	case "reaction":
		b.About, b.Reaction = content.At("message_id").Text(), cmp.Or(content.At("emoji").Text(), "removed")
		b.Label = "Reaction"
	case "template":
		b.template(m.ID, content)
	case "interactive":
		b.interactive(m.ID, content)
	default:
		b.Label, b.JSON = m.Kind, content.Indented()
	}
	return b
}

func mediaOf(kind string, n document.Node) *media {
	return &media{
		Kind: kind, URL: webURL(n.At("link").Text()), ID: n.At("id").Text(), Caption: n.At("caption").Text(), Name: n.At("filename").Text(),
	}
}

func placeIn(n document.Node) *place {
	return &place{n.At("name").Text(), n.At("address").Text(), n.At("latitude").Text(), n.At("longitude").Text()}
}

func contactIn(n document.Node) contact {
	c := contact{Name: cmp.Or(n.At("name.formatted_name").Text(), n.At("name.first_name").Text()), Company: n.At("org.company").Text()}
	for _, way := range []struct{ list, member string }{{"phones", "phone"}, {"emails", "email"}, {"urls", "url"}} {
		for _, reach := range n.At(way.list).List() {
			c.Reach = append(c.Reach, fact{cmp.Or(reach.At("type").Text(), way.member), reach.At(way.member).Text()})
		}
	}
	return c
}

// template shows the values of a template's parameters: the texts around them are at the platform.
func (b *bubble) template(id string, n document.Node) {
	b.Label = joinFilled("Template", n.At("name").Text(), n.At("language.code").Text())
	b.components(id, n)
}

func (b *bubble) components(id string, n document.Node) {
	for _, c := range n.At("components").List() {
		switch kind := strings.ToLower(c.At("type").Text()); kind {
		case "header", "body":
			for i, p := range c.At("parameters").List() {
				b.parameter(kind, i, p)
			}
		case "button":
			b.templateButton(id, c)
		case "carousel":
			for _, card := range c.At("cards").List() {
				var inner bubble
				inner.components(id, card)
				b.Cards = append(b.Cards, inner)
			}
		case "limited_time_offer":
			b.Facts = append(b.Facts, facts("Offer ends", c.At("parameters.0.limited_time_offer.expiration_time_ms").Text())...)
		default:
			b.Facts = append(b.Facts, fact{kind, c.At("parameters").Indented()})
		}
	}
}

func (b *bubble) parameter(place string, index int, p document.Node) {
	name := place
	if place == "body" {
		name = "{{" + cmp.Or(p.At("parameter_name").Text(), itoa(index+1)) + "}}"
	}
	switch kind := p.At("type").Text(); kind {
	case "text":
		b.Facts = append(b.Facts, fact{name, p.At("text").Text()})
	case "currency", "date_time":
		b.Facts = append(b.Facts, fact{name, p.At(kind + ".fallback_value").Text()})
	case "image", "video", "document", "gif":
		b.Media = mediaOf(kind, p.At(kind))
	case "location":
		b.Place = placeIn(p.At("location"))
	case "product":
		b.Facts = append(b.Facts, facts("Product", p.At("product.product_retailer_id").Text())...)
	default:
		b.Facts = append(b.Facts, fact{name, p.Indented()})
	}
}

func (b *bubble) templateButton(id string, c document.Node) {
	kind, p := strings.ToLower(c.At("sub_type").Text()), c.At("parameters.0")
	value := cmp.Or(p.At("payload").Text(), p.At("text").Text(), p.At("coupon_code").Text())
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
		tap.Answer = &Answer{Kind: AnswerForm, Message: id, Payload: p.At("action.flow_token").Text()}
	}
	b.Buttons = append(b.Buttons, tap)
}

func (b *bubble) interactive(id string, n document.Node) {
	b.Header, b.Body, b.Footer = n.At("header.text").Text(), n.At("body.text").Text(), n.At("footer.text").Text()
	if kind := n.At("header.type").Text(); kind != "" && kind != "text" {
		b.Media = mediaOf(kind, n.At("header."+kind))
	}
	action := n.At("action")
	params := action.At("parameters")
	switch kind := n.At("type").Text(); kind {
	case "button":
		b.replyButtons(id, action)
	case "list":
		b.Menu = action.At("button").Text()
		for _, s := range action.At("sections").List() {
			b.Sections = append(b.Sections, listSection(id, s))
		}
	case "cta_url":
		b.Buttons = append(b.Buttons, linkButton(params))
	case "carousel":
		for _, c := range action.At("cards").List() {
			var card bubble
			card.interactive(id, c)
			if c.At("action.buttons").Exists() {
				card.Buttons = nil
				card.replyButtons(id, c.At("action"))
			}
			b.Cards = append(b.Cards, card)
		}
	case "flow":
		b.Buttons = append(b.Buttons, button{
			Label: cmp.Or(params.At("flow_cta").Text(), "Open form"), Hint: "sends the form back",
			Answer: &Answer{Kind: AnswerForm, Message: id, Payload: params.At("flow_token").Text()},
		})
	case "location_request_message":
		b.Buttons = append(b.Buttons, button{
			Label: "Send location", Hint: "answers with a location",
			Answer: &Answer{Kind: AnswerLocation, Message: id, Latitude: "14.5995", Longitude: "120.9842", Text: "Manila"},
		})
	case "product":
		b.Facts = facts("Catalog", action.At("catalog_id").Text(), "Product", action.At("product_retailer_id").Text())
	case "product_list":
		for _, s := range action.At("sections").List() {
			b.Sections = append(b.Sections, productSection(s))
		}
		b.Menu = "View items"
	case "catalog_message":
		b.Buttons = append(b.Buttons, button{Label: "View catalog", Hint: kind})
	case "order_details":
		b.order(params)
		b.Buttons = append(b.Buttons, button{Label: "Review and pay", Hint: kind})
	case "order_status":
		b.Facts = facts("Order", params.At("reference_id").Text(), "Status", params.At("order.status").Text(),
			"Note", params.At("order.description").Text(), "Payment", params.At("payment.status").Text())
	case "voice_call":
		b.Buttons = append(b.Buttons, button{Label: cmp.Or(params.At("display_text").Text(), "Call"), Hint: kind})
	default:
		b.Label, b.JSON = kind, action.Indented()
	}
}

func (b *bubble) replyButtons(id string, action document.Node) {
	for _, n := range action.At("buttons").List() {
		reply := n.At(n.At("type").Text())
		label := reply.At("title").Text()
		b.Buttons = append(b.Buttons, button{
			Label: label, Answer: &Answer{Kind: AnswerButton, Message: id, Payload: reply.At("id").Text(), Text: label},
		})
	}
}

func linkButton(params document.Node) button {
	return button{Label: params.At("display_text").Text(), URL: webURL(params.At("url").Text()), Hint: "opens a link"}
}

func listSection(id string, n document.Node) section {
	s := section{Title: n.At("title").Text()}
	for _, r := range n.At("rows").List() {
		title, description := r.At("title").Text(), r.At("description").Text()
		s.Rows = append(s.Rows, row{title, description, &Answer{
			Kind: AnswerListRow, Message: id, Payload: r.At("id").Text(), Text: title, Description: description,
		}})
	}
	return s
}

func productSection(n document.Node) section {
	s := section{Title: n.At("title").Text()}
	for _, item := range n.At("product_items").List() {
		s.Rows = append(s.Rows, row{Title: item.At("product_retailer_id").Text()})
	}
	return s
}

func (b *bubble) order(params document.Node) {
	for _, item := range params.At("order.items").List() {
		b.Facts = append(b.Facts, fact{item.At("quantity").Text() + " × " + item.At("name").Text(), price(item.At("amount"))})
	}
	b.Facts = append(b.Facts, facts("Total", strings.TrimSpace(price(params.At("total_amount"))+" "+params.At("currency").Text()))...)
}

// price returns an amount of the platform: a value in units of one part of offset.
func price(n document.Node) string {
	value, offset := n.At("value").Text(), n.At("offset").Text()
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
