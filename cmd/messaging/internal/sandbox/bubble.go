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
	Media    media
	Header   string
	Body     string
	Footer   string
	Facts    []fact
	Buttons  []button
	Menu     string // the button that opens the rows
	Rows     []button
	Cards    []bubble
	Place    document.Node
	Contacts []document.Node
	JSON     string
	IsMarked bool // by chat app 2, which formats texts with marks

	About    string // the ID of the message that this one quotes or reacts to
	Reaction string // the emoji
}

// preview returns the line by which lists show a message of this kind.
func (b bubble) preview(kind string) string {
	return cmp.Or(b.Reaction, b.Body, b.Header, joinFilled(cmp.Or(b.Label, title(kind)), b.Place.At("name").Text(), b.Media.Name))
}

type media struct{ Kind, URL, ID, Name string }

type fact struct{ Name, Value string }

// A button of a message, or a row of its list. One with an Answer can be tapped, and the answer goes to the webhook; one with a URL
// opens it. A row with a Title alone begins a section.
type button struct {
	Title, Label, Hint string
	URL                string
	Answer             *Answer
}

// offers returns what can be tapped on a message.
func (b bubble) offers() (all []*Answer) {
	for _, button := range slices.Concat(b.Buttons, b.Rows) {
		if button.Answer != nil {
			all = append(all, button.Answer)
		}
	}
	for _, card := range b.Cards {
		all = append(all, card.offers()...)
	}
	return all
}

// bubbleOf returns how a message looks. The contract says under which names the fields of chat app 1 stand.
func bubbleOf(m messagingtest.Sent, t *table.Table) bubble {
	c, known := table.ChannelNamed(m.Channel)
	if !known || m.Channel == channelSMS {
		return bubble{Body: said(m.Kind, m.Text)}
	}
	send := c.Send(t)
	if send.Wrap == nil {
		return fieldsBubble(m, send)
	}
	b := platformBubble(m.Kind, platformMessage(document.Parse(m.Body), send.Wrap))
	for _, offer := range b.offers() {
		offer.Channel, offer.From, offer.Message = m.Channel, m.To, m.ID
	}
	return b
}

// fieldsBubble shows the fields that a message has, whatever its kind.
func fieldsBubble(m messagingtest.Sent, send *table.Send) bubble {
	body := formNode(m.Body)
	of := func(concept string) string { return fieldIn(body, send, concept).Text() }
	b := bubble{Body: said(m.Kind, m.Text)}
	for _, kind := range []string{"image", "video"} {
		if link := of(kind); link != "" {
			b.Media = media{Kind: kind, URL: webURL(link)}
		}
	}
	if label := of("caption"); label != "" {
		b.Buttons = []button{{Label: label, URL: webURL(of("url"))}}
	}
	if m.Template != "" {
		b.Label = joinFilled("Template", m.Template, of("language"))
		params := fieldIn(body, send, "params")
		if inner := document.Parse([]byte(params.Text())); inner.Object() != nil { // a form holds them as JSON
			params = inner
		}
		b.Facts = leaves(params, "")
	}
	return b
}

func platformBubble(kind string, body document.Node) bubble {
	content := body.At(kind)
	b := bubble{About: body.At("context.message_id").Text(), IsMarked: true}
	switch kind {
	case "text":
		b.Body = said(kind, content.At("body").Text())
	case "image", "video", "audio", "document", "sticker":
		b.Media, b.Body = mediaOf(kind, content), content.At("caption").Text()
	case "location":
		b.Place = content
	case "contacts":
		b.Label, b.Contacts = "Contacts", append(b.Contacts, content.List()...)
	case "reaction":
		b.About, b.Reaction = content.At("message_id").Text(), cmp.Or(content.At("emoji").Text(), "removed")
		b.Label = "Reaction"
	case "template": // the values of its parameters: the texts around them are at the platform
		b.Label = joinFilled("Template", content.At("name").Text(), content.At("language.code").Text())
		b.components(content)
	case "interactive":
		b.interactive(content)
	default:
		b.Label, b.JSON = kind, content.Indented()
	}
	return b
}

func mediaOf(kind string, n document.Node) media {
	return media{Kind: kind, URL: webURL(n.At("link").Text()), ID: n.At("id").Text(), Name: n.At("filename").Text()}
}

func (b *bubble) components(n document.Node) {
	for _, c := range n.At("components").List() {
		switch kind := strings.ToLower(c.At("type").Text()); kind {
		case "header", "body":
			for i, p := range c.At("parameters").List() {
				b.parameter(kind, i, p)
			}
		case "button":
			b.templateButton(strings.ToLower(c.At("sub_type").Text()), c.At("parameters.0"))
		case "carousel":
			for _, card := range c.At("cards").List() {
				inner := bubble{IsMarked: true}
				inner.components(card)
				b.Cards = append(b.Cards, inner)
			}
		default:
			b.Facts = append(b.Facts, leaves(c.At("parameters"), "")...)
		}
	}
}

func (b *bubble) parameter(place string, index int, p document.Node) {
	kind := p.At("type").Text()
	value, name := p.At(kind), place
	if place == "body" {
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

// buttonLabel returns what a button says that has no text of its own.
func buttonLabel(kind string) string {
	return map[string]string{
		"quick_reply": "Quick reply", "url": "Open link", "copy_code": "Copy code", "flow": "Open form", "catalog": "View catalog",
		"mpm": "View items", "product_list": "View items", "voice_call": "Call", "order_details": "Review and pay",
		"catalog_message": "View catalog", "location_request_message": "Send location",
	}[kind]
}

func (b *bubble) templateButton(kind string, p document.Node) {
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

// interactive shows what there is to tap, whatever its kind, and otherwise the values that the message has.
func (b *bubble) interactive(n document.Node) {
	b.Header, b.Body, b.Footer = n.At("header.text").Text(), n.At("body.text").Text(), n.At("footer.text").Text()
	if kind := n.At("header.type").Text(); kind != "" && kind != "text" {
		b.Media = mediaOf(kind, n.At("header."+kind))
	}
	kind, action := n.At("type").Text(), n.At("action")
	params := action.At("parameters")
	for _, reply := range action.At("buttons").List() {
		reply = reply.At(reply.At("type").Text())
		b.Buttons = append(b.Buttons, choice(AnswerButton, reply))
	}
	for _, s := range action.At("sections").List() {
		b.Menu = cmp.Or(action.At("button").Text(), buttonLabel(kind))
		b.Rows = append(b.Rows, button{Title: s.At("title").Text()})
		for _, row := range s.At("rows").List() {
			b.Rows = append(b.Rows, choice(AnswerListRow, row))
		}
		for _, item := range s.At("product_items").List() {
			b.Rows = append(b.Rows, button{Label: item.At("product_retailer_id").Text()})
		}
	}
	for _, c := range action.At("cards").List() {
		card := bubble{IsMarked: true}
		card.interactive(c)
		b.Cards = append(b.Cards, card)
	}
	label := cmp.Or(params.At("display_text").Text(), params.At("flow_cta").Text(), buttonLabel(kind))
	switch {
	case b.Buttons != nil || b.Rows != nil || b.Cards != nil:
	case label != "":
		tap := button{Label: label, URL: webURL(params.At("url").Text()), Hint: kind}
		switch kind {
		case "flow":
			tap.Answer = &Answer{Kind: AnswerForm, Payload: params.At("flow_token").Text()}
		case "location_request_message":
			tap.Answer = &Answer{Kind: AnswerLocation, Latitude: "14.5995", Longitude: "120.9842", Text: "Manila"}
		}
		b.Buttons = append(b.Buttons, tap)
	default:
		b.Label, b.Facts = strings.ReplaceAll(kind, "_", " "), leaves(action, "")
	}
}

// choice returns a reply button, or a row of a list.
func choice(kind AnswerKind, n document.Node) button {
	label, description := n.At("title").Text(), n.At("description").Text()
	return button{Label: label, Hint: description, Answer: &Answer{Kind: kind, Payload: n.At("id").Text(), Text: label, Description: description}}
}

// leaves returns the values in an object under the paths by which they are reached, without the places in lists.
func leaves(n document.Node, path string) (all []fact) {
	if text := n.Text(); text != "" {
		all = append(all, fact{path, text})
	}
	for _, name := range slices.Sorted(maps.Keys(n.Object())) {
		all = append(all, leaves(document.Node{Value: n.Object()[name]}, strings.TrimPrefix(path+"."+name, "."))...)
	}
	for _, element := range n.List() {
		all = append(all, leaves(element, path)...)
	}
	return all[:min(len(all), maxLines)]
}

func joinFilled(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// webhookURL returns the URL of a webhook, or "". An address without a scheme, such as localhost:8080/hook, is one of http. Its host has a
// port or a dot, or is localhost: anything else is taken for a path.
func webhookURL(address string) string {
	address = strings.TrimSpace(address)
	if strings.Contains(address, "://") {
		return webURL(address)
	}
	host, _, _ := strings.Cut(address, "/")
	if host != "localhost" && !strings.ContainsAny(host, ".:") {
		return ""
	}
	return webURL("http://" + address)
}

// webURL returns an http or https URL, or "": nothing else becomes a link.
func webURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return s
}
