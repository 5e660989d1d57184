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

// A bubble is a message as the recipient's phone shows it. Kinds that the page cannot draw show their name and their JSON.
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

	About    string // the ID of the message that this one quotes or reacts to
	Reaction string // the emoji
}

// preview returns a line for lists.
func (b bubble) preview(kind string) string {
	return cmp.Or(b.Reaction, b.Body, b.Header, joinFilled(cmp.Or(b.Label, title(kind)), b.Place.At("name").Text(), b.Media.Name))
}

type media struct{ Kind, URL, ID, Name string }

type fact struct{ Name, Value string }

// A button of a message, or a row of its list. A tap sends the Answer to the webhook, or opens the URL. A row with only a Title begins a
// section.
type button struct {
	Title, Label, Hint string
	URL                string
	Answer             *Answer
}

// offers returns the answers that a message offers.
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

// bubbleOf returns the bubble of a message. The contract names the fields of chat app 1.
func bubbleOf(m messagingtest.Sent, t *table.Table) bubble {
	c, known := table.ChannelNamed(m.Channel)
	if !known || m.Channel == channelSMS {
		return bubble{Body: orBlank(m.Kind, m.Text)}
	}
	send := c.Send(t)
	if send.Wrap == nil {
		return fieldsBubble(m, send)
	}
	b := platformBubble(m.Kind, platformMessage(document.Parse(m.Body), send.Wrap))
	for _, offer := range b.offers() {
		offer.Channel = m.Channel
		offer.From = m.To
		offer.Message = m.ID
	}
	return b
}

// fieldsBubble shows the fields of a message, whatever its kind.
func fieldsBubble(m messagingtest.Sent, send *table.Send) bubble {
	body := formNode(m.Body)
	of := func(concept string) string { return fieldIn(body, send, concept).Text() }
	b := bubble{Body: orBlank(m.Kind, m.Text)}
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

func mediaOf(kind string, n document.Node) media {
	return media{Kind: kind, URL: webURL(n.At("link").Text()), ID: n.At("id").Text(), Name: n.At("filename").Text()}
}

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

// addInteractive adds the parts of an interactive message.
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

// addSection adds a section of a list or of products.
func (b *bubble) addSection(n document.Node) {
	b.Rows = append(b.Rows, button{Title: n.At("title").Text()})
	for _, row := range n.At("rows").List() {
		b.Rows = append(b.Rows, choice(AnswerListRow, row))
	}
	for _, item := range n.At("product_items").List() {
		b.Rows = append(b.Rows, button{Label: item.At("product_retailer_id").Text()})
	}
}

// addAction adds the single button of an interactive message, or the values of its action if it has none.
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

// choice returns a reply button, or a row of a list.
func choice(kind AnswerKind, n document.Node) button {
	a := &Answer{Kind: kind, Payload: n.At("id").Text(), Text: n.At("title").Text(), Description: n.At("description").Text()}
	return button{Label: a.Text, Hint: a.Description, Answer: a}
}

// leaves returns the values in an object by their paths, without positions in lists.
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

// webhookURL returns the URL of a webhook, or "". An address without a scheme, such as localhost:8080/hook, means http. Its host must have
// a port or a dot, or be localhost: other texts may be paths.
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

// webURL returns s if it is an http or https URL, and otherwise "".
func webURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return ""
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return s
}
