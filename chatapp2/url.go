package chatapp2

// CTAURL is a button that opens a web page. The Interactive takes any header. It can also be the CardAction of a Card.
type CTAURL struct {
	// DisplayText is the label of the button, at most 20 characters. Required.
	DisplayText string `json:"display_text,omitzero"`
	// URL is the page: an http or https URL. Required.
	URL string `json:"url,omitzero"`
	// PaymentLinkPreview shows a preview of a payment link, in India.
	PaymentLinkPreview bool `json:"payment_link_preview,omitzero"`
}

func (CTAURL) actionType() string { return actionCTAURL }

func (a CTAURL) action() any { return named[CTAURL]{actionCTAURL, a} }

func (CTAURL) needs() needs { return needs{} }

func (CTAURL) cardType() string { return actionCTAURL }

func (a CTAURL) cardAction() any { return a.action() }

func (a CTAURL) check(c *checks, path string) {
	c.required(path+".DisplayText", a.DisplayText, 20)
	c.url(path+".URL", a.URL)
}
