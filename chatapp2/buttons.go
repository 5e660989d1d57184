package chatapp2

// ReplyButtons is 1 to 3 buttons, one of which the recipient taps to reply. The Interactive takes any header. It can also be
// the CardAction of a Card.
type ReplyButtons []ReplyButton

// ReplyButton is a button that sends a reply.
type ReplyButton struct {
	// ID comes back in the reply. It is unique and has no white space around it.
	ID string `at:"id" rule:"required,max=256,trimmed,unique"`
	// Title is the label. It is unique.
	Title string `at:"title" rule:"required,max=20,unique"`
}

// CTAURL is a button that opens a web page. The Interactive takes any header. It can also be the CardAction of a Card.
type CTAURL struct {
	// DisplayText is the label of the button.
	DisplayText string `at:"display_text" rule:"required,max=20"`
	URL         string `at:"url" rule:"required,url"`
	// PaymentLinkPreview shows a preview of a payment link, in India.
	PaymentLinkPreview bool `at:"payment_link_preview"`
}
