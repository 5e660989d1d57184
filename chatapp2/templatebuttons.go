package chatapp2

import "time"

// QuickReplyButton is a button of a template that sends a reply. In all buttons, Index is the place in the template, 0 to 9.
type QuickReplyButton struct {
	Index int `at:"index!,index"`
	// Payload comes back in the reply. Empty is the label.
	Payload string `at:"parameters[type=payload].payload"`
	// Text replaces Payload in older examples of the platform. At most one of them is set.
	Text string `at:"parameters[type=text].text"`
}

// URLButton is a button of a template that opens a web page. In an authentication template it is the button that copies or
// fills in the code, which is also in the body.
type URLButton struct {
	Index int `at:"index!,index"`
	// Suffix completes the URL. In an authentication template it is the code.
	Suffix string `at:"parameters[type=text].text,required,max=2000"`
	// OneTimeCode says that Suffix is a one-time code, which has at most 15 characters. It is neither sent nor stored.
	OneTimeCode bool `at:"-"`
	// PaymentLinkPreview shows a preview of a payment link, in India.
	PaymentLinkPreview bool `at:"parameters[type=text].payment_link_preview"`
}

// CopyCodeButton is a button of a template that copies a coupon code. A template has at most one. The code is at most 20 characters, or
// 15 beside a LimitedTimeOffer.
type CopyCodeButton struct {
	Index int    `at:"index!,index"`
	Code  string `at:"parameters[type=coupon_code].coupon_code,required,alnum"`
}

// CatalogButton is a button of a template that opens the catalog. Without a thumbnail, the first product of the catalog is shown.
type CatalogButton struct {
	Index                      int    `at:"index!,index"`
	ThumbnailProductRetailerID string `at:"parameters[type=action].action.thumbnail_product_retailer_id"`
}

// ProductsButton is a button of a template that shows products, in 1 to 10 sections with at most 30 in total.
type ProductsButton struct {
	Index                      int              `at:"index!,index"`
	ThumbnailProductRetailerID string           `at:"parameters[type=action].action.thumbnail_product_retailer_id,required"`
	Sections                   []ProductSection `at:"parameters[type=action].action.sections"`
}

// FlowButton is a button of a template that opens a form. Token and Data are as in a Flow.
type FlowButton struct {
	Index int    `at:"index!,index"`
	Token string `at:"parameters[type=action].action.flow_token"`
	Data  any    `at:"parameters[type=action].action.flow_action_data,object"`
}

// VoiceCallButton is a button of a template with which the recipient calls the sender.
type VoiceCallButton struct {
	Index int `at:"index!,optional,index"`
	// TTL is how long the button works: whole minutes, at most 30 days. 0 is the template's own.
	TTL time.Duration `at:"parameters[type=ttl_minutes].ttl_minutes,minutes"`
	// Payload comes back with the call.
	Payload string `at:"parameters[type=payload].payload,max=512"`
}

// OrderDetailsButton is a button of a template with which the recipient reviews and pays an order.
type OrderDetailsButton struct {
	Index   int          `at:"index!,index"`
	Details OrderDetails `at:"parameters[type=action].action.order_details"`
}

func (b QuickReplyButton) check(c *checks) {
	if b.Payload != "" && b.Text != "" {
		c.Found("Text", "must be empty if Payload is set")
	}
}

func (b URLButton) check(c *checks) {
	if b.OneTimeCode {
		c.Length("Suffix", b.Suffix, 15)
	}
}

func (b ProductsButton) check(c *checks) {
	checkProductSections(c, "Sections", b.Sections)
}
