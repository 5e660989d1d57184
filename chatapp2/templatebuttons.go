package chatapp2

import "time"

// QuickReplyButton is a button of a template that sends a reply.
type QuickReplyButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int `rule:"index"`
	// Payload comes back in the reply. If it is empty, the platform sends the label.
	Payload string
	// Text is what older examples of the platform have in place of Payload. At most one of them is set.
	Text string
}

// URLButton is a button of a template that opens a web page. In an authentication template it is the button that copies or
// fills in the code, which is also in the body.
type URLButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int `rule:"index"`
	// Suffix completes the URL, at most 2000 characters. In an authentication template it is the code, at most 15 characters.
	// Required.
	Suffix string `rule:"required,max=2000"`
	// PaymentLinkPreview shows a preview of a payment link, in India.
	PaymentLinkPreview bool
}

// CopyCodeButton is a button of a template that copies a coupon code. A template has at most one.
type CopyCodeButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int `rule:"index"`
	// Code is at most 20 letters and digits. Required.
	Code string `rule:"required,max=20,alnum"`
}

// CatalogButton is a button of a template that opens the catalog.
type CatalogButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int `rule:"index"`
	// ThumbnailProductRetailerID is the product whose image is shown. Empty is the first of the catalog.
	ThumbnailProductRetailerID string
}

// ProductsButton is a button of a template that shows products.
type ProductsButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int `rule:"index"`
	// ThumbnailProductRetailerID is the product whose image is shown. Required.
	ThumbnailProductRetailerID string `rule:"required"`
	// Sections is 1 to 10 sections, with at most 30 products in total.
	Sections []ProductSection
}

// FlowButton is a button of a template that opens a form.
type FlowButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int `rule:"index"`
	// Token comes back with the response. Empty is the platform's default, "unused".
	Token string
	// Data is passed to the first screen: a value that encodes as a JSON object that is not empty, or the text of one. Optional.
	Data any
}

// VoiceCallButton is a button of a template with which the recipient calls the sender. It cannot be sent to a group.
type VoiceCallButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int `rule:"index"`
	// TTL is how long the button works: whole minutes, at most 30 days. 0 is the template's own.
	TTL time.Duration
	// Payload comes back with the call, at most 512 characters. Optional.
	Payload string `rule:"max=512"`
}

// OrderDetailsButton is a button of a template with which the recipient reviews and pays an order.
type OrderDetailsButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int `rule:"index"`
	// Details is the order. Required.
	Details OrderDetails
}

func (b QuickReplyButton) check(c *checks, path string) {
	if b.Payload != "" && b.Text != "" {
		c.Found(path+".Text", "must be empty if Payload is set")
	}
}

func (b ProductsButton) check(c *checks, path string) {
	checkProductSections(c, path+".Sections", b.Sections)
}

func (b FlowButton) check(c *checks, path string) {
	if b.Data != nil {
		checkFlowData(c, path+".Data", b.Data)
	}
}

func (b VoiceCallButton) check(c *checks, path string) {
	if c.group {
		c.Limit(path, "cannot be sent to a group")
	}
	checkCallTTL(c, path+".TTL", b.TTL)
}
