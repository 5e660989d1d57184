package chatapp2

import (
	"reflect"
	"strings"
)

// ReplyButtons is 1 to 3 buttons, one of which the recipient taps to answer. The Interactive takes any header. It can also be
// the CardAction of a Card.
type ReplyButtons []ReplyButton

// ReplyButton is a button that sends a reply.
type ReplyButton struct {
	// ID comes back in the reply, at most 256 characters, without white space around it. Required and unique.
	ID string `json:"id,omitzero"`
	// Title is the label, at most 20 characters. Required and unique.
	Title string `json:"title,omitzero"`
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

func (b ReplyButtons) json(kind string) buttonsJSON {
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
	return buttons, f.exactIf(reflect.DeepEqual(buttons.json(kind), all))
}

func (ReplyButtons) actionType() string { return actionButton }

func (b ReplyButtons) action() any { return b.json(buttonReply) }

func (ReplyButtons) needs() needs { return needs{} }

// cardType is that of a card with a URL, also for cards that have none, as the platform documents it.
func (ReplyButtons) cardType() string { return actionCTAURL }

func (b ReplyButtons) cardAction() any { return b.json(buttonCardReply) }

func (b ReplyButtons) check(c *checks, path string) {
	c.count(path, "buttons", len(b), 1, 3)
	b.checkEach(c, path)
}

func (b ReplyButtons) checkEach(c *checks, path string) {
	for i, button := range b {
		c.required(at(path, i)+".ID", button.ID, 256)
		if strings.TrimSpace(button.ID) != button.ID {
			c.Limit(at(path, i)+".ID", "must not have white space around it")
		}
		c.required(at(path, i)+".Title", button.Title, 20)
	}
	unique(c, path, ".ID", b, func(one ReplyButton) string { return one.ID })
	unique(c, path, ".Title", b, func(one ReplyButton) string { return one.Title })
}
