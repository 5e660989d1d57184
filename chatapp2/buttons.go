package chatapp2

import "strings"

// ReplyButtons is 1 to 3 buttons, one of which the recipient taps to reply. The Interactive takes any header. It can also be
// the CardAction of a Card.
type ReplyButtons []ReplyButton

// ReplyButton is a button that sends a reply.
type ReplyButton struct {
	// ID comes back in the reply. It is unique and has no white space around it.
	ID string `at:"id" rule:"required,max=256"`
	// Title is the label. It is unique.
	Title string `at:"title" rule:"required,max=20"`
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
	DisplayText string `at:"display_text" rule:"required,max=20"`
	URL         string `at:"url" rule:"required,url"`
	// PaymentLinkPreview shows a preview of a payment link, in India.
	PaymentLinkPreview bool `at:"payment_link_preview"`
}
