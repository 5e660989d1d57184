package sandbox

import (
	"cmp"
	"maps"
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
	isSeed := len(m.Body) == 0 // it has a text, but no object of the platform
	if send.Wrap == nil || isSeed {
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
