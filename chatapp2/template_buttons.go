package chatapp2

import (
	"slices"
	"strconv"
)

// QuickReplyButton fills a button of a template that answers.
type QuickReplyButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// Payload comes back in the answer. Empty leaves it to the platform, which sends the label.
	Payload string

	noIndex bool // a body that was read lacked it
}

// URLButton fills a button of a template that opens a web page. In an authentication template it is the button that copies or
// fills in the code, which then stands in the body too.
type URLButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// Suffix takes the place of the gap in the URL; of an authentication template it is the code, at most 15 characters. Required.
	Suffix string

	noIndex bool
}

// CopyCodeButton fills a button of a template that copies a coupon code. A template has at most one.
type CopyCodeButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// Code is at most 15 letters and digits. Required.
	Code string

	noIndex bool
}

// CatalogButton fills a button of a template that opens the catalog.
type CatalogButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// ThumbnailProductRetailerID is the product whose image is shown. Empty is the first of the catalog.
	ThumbnailProductRetailerID string

	noIndex bool
}

// ProductsButton fills a button of a template that shows products.
type ProductsButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// ThumbnailProductRetailerID is the product whose image is shown. Required.
	ThumbnailProductRetailerID string
	// Sections is 1 to 10 sections, with at most 30 products in all of them together.
	Sections []ProductSection

	noIndex bool
}

// FlowButton fills a button of a template that opens a form.
type FlowButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// Token comes back with the answer. Empty is the platform's default, "unused".
	Token string
	// Data is handed to the first screen: a map or struct that encodes as a JSON object which is not empty, or the text of one.
	// Optional.
	Data any

	noIndex bool
}

// VoiceCallButton fills a button of a template by which the recipient calls the sender.
type VoiceCallButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// TTLMinutes is how long the button works, 1 to 43200 minutes. 0 is that of the template.
	TTLMinutes int
	// Payload comes back with the call, at most 512 characters. Optional.
	Payload string

	noIndex, payloadFirst bool
}

// OrderDetailsButton fills a button of a template that asks to review and pay an order.
type OrderDetailsButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// Details is the order. Required.
	Details OrderDetails

	noIndex bool
}

// The kinds of a button, on the wire.
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

func button(kind string, index int, noIndex bool, parameters ...any) any {
	shape := componentShape{Type: componentButton, SubType: kind, Parameters: parameters}
	if !noIndex {
		shape.Index = &index
	}
	return shape
}

func (b QuickReplyButton) component() any {
	if b.Payload == "" {
		return button(buttonQuickReply, b.Index, b.noIndex)
	}
	return button(buttonQuickReply, b.Index, b.noIndex, typed{"payload", b.Payload})
}

func (b URLButton) component() any {
	if b.Suffix == "" {
		return button(buttonURL, b.Index, b.noIndex)
	}
	return button(buttonURL, b.Index, b.noIndex, typed{"text", b.Suffix})
}

func (b CopyCodeButton) component() any {
	if b.Code == "" {
		return button(buttonCopyCode, b.Index, b.noIndex)
	}
	return button(buttonCopyCode, b.Index, b.noIndex, typed{"coupon_code", b.Code})
}

type catalogBody struct {
	Thumbnail string           `json:"thumbnail_product_retailer_id,omitzero"`
	Sections  []ProductSection `json:"sections,omitzero"`
}

func (b CatalogButton) component() any {
	if b.ThumbnailProductRetailerID == "" {
		return button(buttonCatalog, b.Index, b.noIndex)
	}
	return button(buttonCatalog, b.Index, b.noIndex, typed{"action", catalogBody{Thumbnail: b.ThumbnailProductRetailerID}})
}

func (b ProductsButton) component() any {
	return button(buttonProducts, b.Index, b.noIndex, typed{"action", catalogBody{b.ThumbnailProductRetailerID, b.Sections}})
}

type flowActionBody struct {
	Token string `json:"flow_token,omitzero"`
	Data  any    `json:"flow_action_data,omitzero"`
}

func (b FlowButton) component() any {
	if b.Token == "" && b.Data == nil {
		return button(buttonFlow, b.Index, b.noIndex)
	}
	return button(buttonFlow, b.Index, b.noIndex, typed{"action", flowActionBody{b.Token, b.Data}})
}

func (b VoiceCallButton) component() any {
	var parameters []any
	if b.TTLMinutes != 0 {
		parameters = append(parameters, typed{"ttl_minutes", b.TTLMinutes})
	}
	if b.Payload != "" {
		parameters = append(parameters, typed{"payload", b.Payload})
	}
	if b.payloadFirst {
		slices.Reverse(parameters)
	}
	return button(buttonVoiceCall, b.Index, b.noIndex, parameters...)
}

type orderActionBody struct {
	Details OrderDetails `json:"order_details,omitzero"`
}

func (b OrderDetailsButton) component() any {
	return button(buttonOrderDetails, b.Index, b.noIndex, typed{"action", orderActionBody{b.Details}})
}

// readButton reads a button. Where its parameters are not those of its kind, nothing holds it.
func readButton(m *members) Component {
	kind := m.word("sub_type")
	var index *int
	m.into("index", &index)
	none := index == nil
	if none {
		index = new(int)
	}
	parameters := m.list("parameters")
	m.failed = m.failed || parameters != nil && len(parameters) == 0
	// parameter reads the parameter of a type, if it is there.
	parameter := func(kind string, to any) {
		for i, value := range parameters {
			p := membersOf(value)
			if p.word("type") != kind {
				continue
			}
			p.into(kind, to)
			if p.whole() {
				parameters = append(parameters[:i:i], parameters[i+1:]...)
			}
			return
		}
	}
	var found Component
	var catalog catalogBody
	switch kind {
	case buttonQuickReply:
		b := QuickReplyButton{Index: *index, noIndex: none}
		parameter("payload", &b.Payload)
		found = b
	case buttonURL:
		b := URLButton{Index: *index, noIndex: none}
		parameter("text", &b.Suffix)
		found = b
	case buttonCopyCode:
		b := CopyCodeButton{Index: *index, noIndex: none}
		parameter("coupon_code", &b.Code)
		found = b
	case buttonCatalog:
		parameter("action", &catalog)
		m.failed = m.failed || catalog.Sections != nil
		found = CatalogButton{*index, catalog.Thumbnail, none}
	case buttonProducts:
		parameter("action", &catalog)
		found = ProductsButton{*index, catalog.Thumbnail, catalog.Sections, none}
	case buttonFlow:
		var action flowActionBody
		parameter("action", &action)
		found = FlowButton{*index, action.Token, action.Data, none}
	case buttonVoiceCall:
		b := VoiceCallButton{Index: *index, noIndex: none}
		if len(parameters) == 2 {
			b.payloadFirst = membersOf(parameters[0]).word("type") == "payload"
		}
		parameter("ttl_minutes", &b.TTLMinutes)
		parameter("payload", &b.Payload)
		found = b
	case buttonOrderDetails:
		var action orderActionBody
		parameter("action", &action)
		found = OrderDetailsButton{*index, action.Details, none}
	}
	m.failed = m.failed || len(parameters) > 0
	return found
}

func buttonIdentity(index int) string { return componentButton + " " + strconv.Itoa(index) }

func (b QuickReplyButton) identity() string   { return buttonIdentity(b.Index) }
func (b URLButton) identity() string          { return buttonIdentity(b.Index) }
func (b CopyCodeButton) identity() string     { return buttonIdentity(b.Index) }
func (b CatalogButton) identity() string      { return buttonIdentity(b.Index) }
func (b ProductsButton) identity() string     { return buttonIdentity(b.Index) }
func (b FlowButton) identity() string         { return buttonIdentity(b.Index) }
func (b VoiceCallButton) identity() string    { return buttonIdentity(b.Index) }
func (b OrderDetailsButton) identity() string { return buttonIdentity(b.Index) }

func checkIndex(c *checks, path string, index int, noIndex bool) {
	switch {
	case noIndex:
		c.found(path+".Index", "required, but absent; want 0 to 9")
	case index < 0:
		c.found(path+".Index", "must not be negative")
	default:
		c.between(path+".Index", index, 0, 9)
	}
}

func (b QuickReplyButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.noIndex)
	c.text(path+".Payload", b.Payload, 0)
}

func (b URLButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.noIndex)
	c.required(path+".Suffix", b.Suffix, 2000)
}

func (b CopyCodeButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.noIndex)
	c.required(path+".Code", b.Code, 15)
	if b.Code != "" && !isAlphanumeric(b.Code) {
		c.limit(path+".Code", "want letters and digits alone")
	}
}

func (b CatalogButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.noIndex)
	c.text(path+".ThumbnailProductRetailerID", b.ThumbnailProductRetailerID, 0)
}

func (b ProductsButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.noIndex)
	c.required(path+".ThumbnailProductRetailerID", b.ThumbnailProductRetailerID, 0)
	checkProductSections(c, path+".Sections", b.Sections)
}

func (b FlowButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.noIndex)
	c.text(path+".Token", b.Token, 0)
	if b.Data != nil {
		checkObject(c, path+".Data", b.Data)
	}
}

func (b VoiceCallButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, false) // the platform's own sample has none
	checkCallTTL(c, path+".TTLMinutes", b.TTLMinutes)
	c.text(path+".Payload", b.Payload, 512)
}

func (b OrderDetailsButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.noIndex)
	b.Details.check(c, path+".Details")
}
