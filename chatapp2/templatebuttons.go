package chatapp2

import (
	"reflect"
	"strings"
	"time"
)

// QuickReplyButton is a button of a template that sends a reply.
type QuickReplyButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int
	// Payload comes back in the reply. If it is empty, the platform sends the label.
	Payload string
	// Text is what older examples of the platform have in place of Payload. At most one of them is set.
	Text string
}

// URLButton is a button of a template that opens a web page. In an authentication template it is the button that copies or
// fills in the code, which is also in the body.
type URLButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int
	// Suffix completes the URL, at most 2000 characters. In an authentication template it is the code, at most 15 characters.
	// Required.
	Suffix string
	// PaymentLinkPreview shows a preview of a payment link, in India.
	PaymentLinkPreview bool
}

// CopyCodeButton is a button of a template that copies a coupon code. A template has at most one.
type CopyCodeButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int
	// Code is at most 20 letters and digits. Required.
	Code string
}

// CatalogButton is a button of a template that opens the catalog.
type CatalogButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int
	// ThumbnailProductRetailerID is the product whose image is shown. Empty is the first of the catalog.
	ThumbnailProductRetailerID string
}

// ProductsButton is a button of a template that shows products.
type ProductsButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int
	// ThumbnailProductRetailerID is the product whose image is shown. Required.
	ThumbnailProductRetailerID string
	// Sections is 1 to 10 sections, with at most 30 products in total.
	Sections []ProductSection
}

// FlowButton is a button of a template that opens a form.
type FlowButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int
	// Token comes back with the response. Empty is the platform's default, "unused".
	Token string
	// Data is passed to the first screen: a value that encodes as a JSON object, or the text of one. Optional.
	Data any
}

// VoiceCallButton is a button of a template with which the recipient calls the sender. It cannot be sent to a group.
type VoiceCallButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int
	// TTL is how long the button works: whole minutes, at most 30 days. 0 is the template's own.
	TTL time.Duration
	// Payload comes back with the call, at most 512 characters. Optional.
	Payload string
}

// OrderDetailsButton is a button of a template with which the recipient reviews and pays an order.
type OrderDetailsButton struct {
	// Index is the place of the button in the template, 0 to 9.
	Index int
	// Details is the order. Required.
	Details OrderDetails
}

// templateButton is a component that is a button.
type templateButton interface {
	Component
	// place returns what kind of button it is, and its index.
	place() (subType string, index int)
	parameters() []buttonParameter
}

// The sub-types of a button.
const (
	buttonQuickReply   = "quick_reply"
	buttonURL          = "url"
	buttonCopyCode     = "copy_code"
	buttonCatalog      = "catalog"
	buttonProducts     = "mpm"
	buttonFlow         = "flow"
	buttonVoiceCall    = "voice_call"
	buttonOrderDetails = "order_details"
)

// buttonParameter is a parameter of a button in the platform's shape.
type buttonParameter struct {
	Type               string            `json:"type"`
	Text               string            `json:"text,omitzero"`
	PaymentLinkPreview bool              `json:"payment_link_preview,omitzero"`
	Payload            string            `json:"payload,omitzero"`
	CouponCode         string            `json:"coupon_code,omitzero"`
	TTLMinutes         float64           `json:"ttl_minutes,omitzero"`
	Action             *buttonActionJSON `json:"action,omitzero"`
}

type buttonActionJSON struct {
	Thumbnail    string           `json:"thumbnail_product_retailer_id,omitzero"`
	Sections     []ProductSection `json:"sections,omitzero"`
	FlowToken    string           `json:"flow_token,omitzero"`
	FlowData     any              `json:"flow_action_data,omitzero"`
	OrderDetails *OrderDetails    `json:"order_details,omitzero"`
}

func (b QuickReplyButton) place() (string, int)   { return buttonQuickReply, b.Index }
func (b URLButton) place() (string, int)          { return buttonURL, b.Index }
func (b CopyCodeButton) place() (string, int)     { return buttonCopyCode, b.Index }
func (b CatalogButton) place() (string, int)      { return buttonCatalog, b.Index }
func (b ProductsButton) place() (string, int)     { return buttonProducts, b.Index }
func (b FlowButton) place() (string, int)         { return buttonFlow, b.Index }
func (b VoiceCallButton) place() (string, int)    { return buttonVoiceCall, b.Index }
func (b OrderDetailsButton) place() (string, int) { return buttonOrderDetails, b.Index }

func (b QuickReplyButton) component() any   { return buttonComponent(b) }
func (b URLButton) component() any          { return buttonComponent(b) }
func (b CopyCodeButton) component() any     { return buttonComponent(b) }
func (b CatalogButton) component() any      { return buttonComponent(b) }
func (b ProductsButton) component() any     { return buttonComponent(b) }
func (b FlowButton) component() any         { return buttonComponent(b) }
func (b VoiceCallButton) component() any    { return buttonComponent(b) }
func (b OrderDetailsButton) component() any { return buttonComponent(b) }

func buttonComponent(b templateButton) componentJSON {
	subType, index := b.place()
	c := componentJSON{Type: componentButton, SubType: subType, Index: &index}
	for _, parameter := range b.parameters() {
		c.Parameters = append(c.Parameters, parameter)
	}
	return c
}

func (b QuickReplyButton) parameters() []buttonParameter {
	var all []buttonParameter
	if b.Payload != "" {
		all = append(all, buttonParameter{Type: "payload", Payload: b.Payload})
	}
	if b.Text != "" {
		all = append(all, buttonParameter{Type: typeText, Text: b.Text})
	}
	return all
}

func (b URLButton) parameters() []buttonParameter {
	return []buttonParameter{{Type: typeText, Text: b.Suffix, PaymentLinkPreview: b.PaymentLinkPreview}}
}

func (b CopyCodeButton) parameters() []buttonParameter {
	return []buttonParameter{{Type: "coupon_code", CouponCode: b.Code}}
}

func (b CatalogButton) parameters() []buttonParameter {
	return actionParameter(buttonActionJSON{Thumbnail: b.ThumbnailProductRetailerID})
}

func (b ProductsButton) parameters() []buttonParameter {
	return actionParameter(buttonActionJSON{Thumbnail: b.ThumbnailProductRetailerID, Sections: b.Sections})
}

func (b FlowButton) parameters() []buttonParameter {
	return actionParameter(buttonActionJSON{FlowToken: b.Token, FlowData: b.Data})
}

func (b VoiceCallButton) parameters() []buttonParameter {
	var all []buttonParameter
	if b.TTL != 0 {
		all = append(all, buttonParameter{Type: "ttl_minutes", TTLMinutes: b.TTL.Minutes()})
	}
	if b.Payload != "" {
		all = append(all, buttonParameter{Type: "payload", Payload: b.Payload})
	}
	return all
}

func (b OrderDetailsButton) parameters() []buttonParameter {
	return []buttonParameter{{Type: "action", Action: &buttonActionJSON{OrderDetails: &b.Details}}}
}

// actionParameter returns the parameter for an action, none if the action holds nothing.
func actionParameter(action buttonActionJSON) []buttonParameter {
	if reflect.ValueOf(action).IsZero() {
		return nil
	}
	return []buttonParameter{{Type: "action", Action: &action}}
}

// readButton reads a button whose component fits as f says. It returns nil if the sub-type is not known.
func readButton(b componentJSON, f fit) (Component, fit) {
	subType := strings.ToLower(b.SubType)
	index := valueOf(b.Index)
	parameters := make([]buttonParameter, len(b.Parameters))
	var all buttonParameter // what they hold together
	for i, value := range b.Parameters {
		f = min(f, read(value, &parameters[i]), read(value, &all))
		parameters[i].Type = strings.ToLower(parameters[i].Type)
	}
	if subType == buttonVoiceCall && len(parameters) == 2 && parameters[0].Type == "payload" { // in either order
		parameters[0], parameters[1] = parameters[1], parameters[0]
	}
	action := valueOf(all.Action)
	var button templateButton
	switch subType {
	case buttonQuickReply:
		button = QuickReplyButton{index, all.Payload, all.Text}
	case buttonURL:
		button = URLButton{index, all.Text, all.PaymentLinkPreview}
	case buttonCopyCode:
		button = CopyCodeButton{index, all.CouponCode}
	case buttonCatalog:
		button = CatalogButton{index, action.Thumbnail}
	case buttonProducts:
		button = ProductsButton{index, action.Thumbnail, action.Sections}
	case buttonFlow:
		button = FlowButton{index, action.FlowToken, action.FlowData}
	case buttonVoiceCall:
		button = VoiceCallButton{index, fromMinutes(all.TTLMinutes), all.Payload}
	case buttonOrderDetails:
		button = OrderDetailsButton{index, valueOf(action.OrderDetails)}
	default:
		return nil, misfit
	}
	// The platform's own example of a voice call has no index.
	f = f.exactIf(b.Cards == nil && (b.Index != nil || subType == buttonVoiceCall))
	return button, f.exactIf(reflect.DeepEqual(button.parameters(), parameters) || len(parameters) == 0 && b.Parameters == nil && button.parameters() == nil)
}

func checkIndex(c *checks, path string, b templateButton) {
	switch _, index := b.place(); {
	case index < 0:
		c.Found(path+".Index", "must not be negative")
	case index > 9:
		c.Limit(path+".Index", "want 0 to 9")
	}
}

func (b QuickReplyButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b)
	if b.Payload != "" && b.Text != "" {
		c.Found(path+".Text", "must be empty if Payload is set")
	}
}

func (b URLButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b)
	c.required(path+".Suffix", b.Suffix, 2000)
}

func (b CopyCodeButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b)
	c.required(path+".Code", b.Code, 20)
	c.alphabet(path+".Code", b.Code, "letters and digits", isAlphanumeric)
}

func (b CatalogButton) check(c *checks, path string, _ place) { checkIndex(c, path, b) }

func (b ProductsButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b)
	c.required(path+".ThumbnailProductRetailerID", b.ThumbnailProductRetailerID, 0)
	checkProductSections(c, path+".Sections", b.Sections)
}

func (b FlowButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b)
	if b.Data != nil {
		checkFlowData(c, path+".Data", b.Data, 0)
	}
}

func (b VoiceCallButton) check(c *checks, path string, _ place) {
	if c.group {
		c.Limit(path, "cannot be sent to a group")
	}
	checkIndex(c, path, b)
	checkCallTTL(c, path+".TTL", b.TTL)
	c.length(path+".Payload", b.Payload, 512)
}

func (b OrderDetailsButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b)
	b.Details.check(c, path+".Details")
}
