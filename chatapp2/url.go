package chatapp2

// CTAURL is a button that opens a web page. The Interactive takes any header. It can also be the CardAction of a Card.
type CTAURL struct {
	// DisplayText is the label of the button, at most 20 characters. Required.
	DisplayText string `json:"display_text,omitzero" rule:"required,max=20"`
	// URL is the page: an http or https URL. Required.
	URL string `json:"url,omitzero" rule:"required,url"`
	// PaymentLinkPreview shows a preview of a payment link, in India.
	PaymentLinkPreview bool `json:"payment_link_preview,omitzero"`
}
