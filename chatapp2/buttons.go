package chatapp2

import (
	"reflect"
	"strings"
)

// ReplyButtons is 1 to 3 buttons, one of which the recipient taps to reply. The Interactive takes any header. It can also be
// the CardAction of a Card.
type ReplyButtons []ReplyButton

// ReplyButton is a button that sends a reply.
type ReplyButton struct {
	// ID comes back in the reply. It is unique and has no white space around it.
	ID string `json:"id,omitzero" rule:"required,max=256"`
	// Title is the label. It is unique.
	Title string `json:"title,omitzero" rule:"required,max=20"`
}

// The types of a reply button.
const (
	buttonReply     = "reply"       // of a message
	buttonCardReply = "quick_reply" // of a card
)

// buttonsJSON is ReplyButtons in the platform's shape.
type buttonsJSON struct {
	Buttons []buttonJSON `json:"buttons"`
}

type buttonJSON struct {
	Type       string       `json:"type"`
	Reply      *ReplyButton `json:"reply,omitzero"`
	QuickReply *ReplyButton `json:"quick_reply,omitzero"`
}

func (b ReplyButtons) shape() any { return b.buttons(buttonReply) }

func (b ReplyButtons) buttons(kind string) buttonsJSON {
	all := buttonsJSON{make([]buttonJSON, len(b))}
	for i, button := range b {
		all.Buttons[i].Type = kind
		if kind == buttonReply {
			all.Buttons[i].Reply = &button
		} else {
			all.Buttons[i].QuickReply = &button
		}
	}
	return all
}

func (b *ReplyButtons) read(value any) (f fit) {
	*b, f = readButtons(value, buttonReply)
	return f
}

func readButtons(value any, kind string) (ReplyButtons, fit) {
	all, f := readAs[buttonsJSON](value)
	buttons := make(ReplyButtons, len(all.Buttons))
	for i, one := range all.Buttons {
		all.Buttons[i].Type = strings.ToLower(one.Type)
		switch {
		case one.Reply != nil:
			buttons[i] = *one.Reply
		case one.QuickReply != nil:
			buttons[i] = *one.QuickReply
		}
	}
	return buttons, f.exactIf(reflect.DeepEqual(buttons.buttons(kind), all))
}

func (b ReplyButtons) check(c *checks, path string) {
	for i, button := range b {
		if strings.TrimSpace(button.ID) != button.ID {
			c.Limit(at(path, i)+".ID", "must not have white space around it")
		}
	}
	unique(c, path, ".ID", b, func(one ReplyButton) string { return one.ID })
	unique(c, path, ".Title", b, func(one ReplyButton) string { return one.Title })
}

// CTAURL is a button that opens a web page. The Interactive takes any header. It can also be the CardAction of a Card.
type CTAURL struct {
	// DisplayText is the label of the button.
	DisplayText string `json:"display_text,omitzero" rule:"required,max=20"`
	URL         string `json:"url,omitzero" rule:"required,url"`
	// PaymentLinkPreview shows a preview of a payment link, in India.
	PaymentLinkPreview bool `json:"payment_link_preview,omitzero"`
}
