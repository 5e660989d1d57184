package chatapp2

import "fmt"

// ReplyButtons is 1 to 3 buttons, one of which the recipient taps to answer. The Interactive takes any header. It is also the
// CardAction of a Card.
type ReplyButtons []ReplyButton

// ReplyButton is a button that sends an answer.
type ReplyButton struct {
	// ID comes back in the answer, at most 256 characters, or 20 on a Card, without white space around it. Required, and
	// different on each button.
	ID string `json:"id,omitzero"`
	// Title is the label, at most 20 characters. Required, and different on each button.
	Title string `json:"title,omitzero"`
}

type buttonsBody struct {
	Buttons []buttonBody `json:"buttons"`
}

// buttonBody is a button on the wire: of a message, or of a card.
type buttonBody struct {
	Type       string       `json:"type"`
	Reply      *ReplyButton `json:"reply,omitzero"`
	QuickReply *ReplyButton `json:"quick_reply,omitzero"`
}

func (ReplyButtons) interactive() (string, needs) { return actionButton, needs{} }

func (b ReplyButtons) action() any {
	all := buttonsBody{[]buttonBody{}}
	for _, button := range b {
		all.Buttons = append(all.Buttons, buttonBody{Type: "reply", Reply: &button})
	}
	return all
}

func (b ReplyButtons) card() (string, any) {
	all := buttonsBody{[]buttonBody{}}
	for _, button := range b {
		all.Buttons = append(all.Buttons, buttonBody{Type: "quick_reply", QuickReply: &button})
	}
	return actionCTAURL, all // by the platform's documentation, also for cards that have no URL
}

// readButtons reads buttons of one kind.
func readButtons(m *members, kind string) ReplyButtons {
	list := m.list("buttons")
	buttons := make(ReplyButtons, len(list))
	for i, value := range list {
		button := membersOf(value)
		if button.word("type") != kind {
			m.failed = true
		}
		button.into(kind, &buttons[i])
		if !button.whole() {
			m.failed = true
		}
	}
	return buttons
}

// checkRawButtons holds buttons that stayed raw to what all have.
func checkRawButtons(c *checks, path string, action *members) {
	for i, one := range action.list("buttons") {
		if membersOf(one).word("type") == "" {
			c.found(path, fmt.Sprintf("buttons[%d]: type is required, but absent", i))
		}
	}
}

func (b ReplyButtons) check(c *checks, path string) {
	c.count(path, "buttons", len(b), 1, 3)
	b.checkEach(c, path, 256)
}

func (b ReplyButtons) checkEach(c *checks, path string, mostID int) {
	for i, button := range b {
		c.required(at(path, i)+".ID", button.ID, mostID)
		checkTrimmed(c, at(path, i)+".ID", button.ID)
		c.required(at(path, i)+".Title", button.Title, 20)
	}
	unique(c, b, func(one ReplyButton) string { return one.ID }, func(i int) string { return at(path, i) + ".ID" })
	unique(c, b, func(one ReplyButton) string { return one.Title }, func(i int) string { return at(path, i) + ".Title" })
}
