package chatapp2

import (
	"reflect"
	"slices"
	"strconv"
)

// QuickReplyButton fills a button of a template that answers.
type QuickReplyButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// Payload (parameter of type payload) comes back in the answer. Empty leaves it to the platform, which sends the label.
	Payload string

	read buttonRead
}

// URLButton fills a button of a template that opens a web page. In an authentication template it is the button that copies or
// fills in the code, which then stands in the body too.
type URLButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// Suffix (parameter of type text) takes the place of the gap in the URL; of an authentication template it is the code, at most 15 characters. Required.
	Suffix string

	read buttonRead
}

// CopyCodeButton fills a button of a template that copies a coupon code. A template has at most one.
type CopyCodeButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// Code (coupon_code) is at most 15 letters and digits. Required.
	Code string

	read buttonRead
}

// CatalogButton fills a button of a template that opens the catalog.
type CatalogButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// ThumbnailProductRetailerID (thumbnail_product_retailer_id) is the product whose image is shown. Empty is the first of the catalog.
	ThumbnailProductRetailerID string

	read buttonRead
}

// ProductsButton fills a button of a template that shows products.
type ProductsButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// ThumbnailProductRetailerID (thumbnail_product_retailer_id) is the product whose image is shown. Required.
	ThumbnailProductRetailerID string
	// Sections is 1 to 10 sections, with at most 30 products in all of them together.
	Sections []ProductSection

	read buttonRead
}

// FlowButton fills a button of a template that opens a form.
type FlowButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// Token (flow_token) comes back with the answer. Empty is the platform's default, "unused".
	Token string
	// Data (flow_action_data) is handed to the first screen: a map or struct that encodes as a JSON object, or the text of one. Optional.
	Data any

	read buttonRead
}

// VoiceCallButton fills a button of a template by which the recipient calls the sender.
type VoiceCallButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// TTLMinutes (ttl_minutes) is how long the button works, 1 to 43200 minutes. 0 is that of the template.
	TTLMinutes int
	// Payload comes back with the call, at most 512 characters. Optional.
	Payload string

	zeroTTL, payloadFirst bool
	read                  buttonRead
}

// OrderDetailsButton fills a button of a template that asks to review and pay an order.
type OrderDetailsButton struct {
	// Index is the button's place in the template, from 0 to 9.
	Index int
	// Details (order_details) is the order. Required.
	Details OrderDetails

	read buttonRead
}

// buttonRead is what a button is that a body held, where its fields do not tell.
type buttonRead struct {
	noIndex    bool
	parameters []any // as they came, where they had no value
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

// button is a button on the wire, with its parameters, or those that it was read with where it has none.
func button(kind string, index int, read buttonRead, parameters ...any) any {
	if parameters == nil {
		parameters = read.parameters
	}
	shape := componentShape{Type: componentButton, SubType: kind, Parameters: parameters}
	if !read.noIndex {
		shape.Index = &index
	}
	return shape
}

// textParameter is a parameter that holds a text, none where that is empty.
func textParameter(kind, text string) []any {
	if text == "" {
		return nil
	}
	return []any{typed{kind, text}}
}

func (b QuickReplyButton) component() any {
	return button(buttonQuickReply, b.Index, b.read, textParameter("payload", b.Payload)...)
}

func (b URLButton) component() any {
	return button(buttonURL, b.Index, b.read, textParameter("text", b.Suffix)...)
}

func (b CopyCodeButton) component() any {
	return button(buttonCopyCode, b.Index, b.read, textParameter("coupon_code", b.Code)...)
}

type catalogBody struct {
	Thumbnail string           `json:"thumbnail_product_retailer_id,omitzero"`
	Sections  []ProductSection `json:"sections,omitzero"`
}

func (b CatalogButton) component() any {
	if b.ThumbnailProductRetailerID == "" {
		return button(buttonCatalog, b.Index, b.read)
	}
	return button(buttonCatalog, b.Index, b.read, typed{"action", catalogBody{Thumbnail: b.ThumbnailProductRetailerID}})
}

func (b ProductsButton) component() any {
	if b.ThumbnailProductRetailerID == "" && b.Sections == nil {
		return button(buttonProducts, b.Index, b.read)
	}
	return button(buttonProducts, b.Index, b.read, typed{"action", catalogBody{b.ThumbnailProductRetailerID, b.Sections}})
}

type flowActionBody struct {
	Token string `json:"flow_token,omitzero"`
	Data  any    `json:"flow_action_data,omitzero"`
}

func (b FlowButton) component() any {
	if b.Token == "" && b.Data == nil {
		return button(buttonFlow, b.Index, b.read)
	}
	return button(buttonFlow, b.Index, b.read, typed{"action", flowActionBody{b.Token, b.Data}})
}

func (b VoiceCallButton) component() any {
	var parameters []any
	if b.TTLMinutes != 0 || b.zeroTTL {
		parameters = append(parameters, typed{"ttl_minutes", b.TTLMinutes})
	}
	parameters = append(parameters, textParameter("payload", b.Payload)...)
	if b.payloadFirst {
		slices.Reverse(parameters)
	}
	return button(buttonVoiceCall, b.Index, b.read, parameters...)
}

type orderActionBody struct {
	Details OrderDetails `json:"order_details,omitzero"`
}

func (b OrderDetailsButton) component() any {
	if reflect.ValueOf(b.Details).IsZero() {
		return button(buttonOrderDetails, b.Index, b.read)
	}
	return button(buttonOrderDetails, b.Index, b.read, typed{"action", orderActionBody{b.Details}})
}

// readButton reads a button. Where its parameters are not those of its kind, nothing holds it.
func readButton(m *members) Component {
	kind := m.word("sub_type")
	var index *int
	m.into("index", &index)
	read := buttonRead{noIndex: index == nil}
	if index == nil {
		index = new(int)
	}
	all := m.list("parameters")
	left := slices.Clone(all)
	// parameter reads the parameter of a type, if it is there.
	parameter := func(kind string, to any) {
		for i, value := range left {
			p := membersOf(value)
			if p.word("type") != kind {
				continue
			}
			p.into(kind, to)
			if p.whole() {
				left = slices.Delete(left, i, i+1)
			}
			return
		}
	}
	// bare keeps parameters that have no value.
	bare := func(empty bool) buttonRead {
		if empty {
			read.parameters = all
		}
		return read
	}
	var found Component
	var text string
	var catalog catalogBody
	switch kind {
	case buttonQuickReply:
		parameter("payload", &text)
		found = QuickReplyButton{*index, text, bare(text == "")}
	case buttonURL:
		parameter("text", &text)
		found = URLButton{*index, text, bare(text == "")}
	case buttonCopyCode:
		parameter("coupon_code", &text)
		found = CopyCodeButton{*index, text, bare(text == "")}
	case buttonCatalog:
		parameter("action", &catalog)
		m.failed = m.failed || catalog.Sections != nil
		found = CatalogButton{*index, catalog.Thumbnail, bare(catalog.Thumbnail == "")}
	case buttonProducts:
		parameter("action", &catalog)
		found = ProductsButton{*index, catalog.Thumbnail, catalog.Sections, bare(catalog.Thumbnail == "" && catalog.Sections == nil)}
	case buttonFlow:
		var action flowActionBody
		parameter("action", &action)
		found = FlowButton{*index, action.Token, action.Data, bare(action.Token == "" && action.Data == nil)}
	case buttonVoiceCall:
		var ttl *int
		payloadFirst := len(all) == 2 && membersOf(all[0]).word("type") == "payload"
		parameter("ttl_minutes", &ttl)
		parameter("payload", &text)
		b := VoiceCallButton{Index: *index, Payload: text, zeroTTL: ttl != nil && *ttl == 0, payloadFirst: payloadFirst, read: bare(ttl == nil && text == "")}
		if ttl != nil {
			b.TTLMinutes = *ttl
		}
		m.failed = m.failed || len(all) == 2 && (ttl == nil || text == "")
		found = b
	case buttonOrderDetails:
		var action orderActionBody
		parameter("action", &action)
		found = OrderDetailsButton{*index, action.Details, bare(reflect.ValueOf(action.Details).IsZero())}
	}
	m.failed = m.failed || len(left) > 0 || len(all) > 1 && kind != buttonVoiceCall
	return found
}

// identity is that of a button; one without an index has none.
func (r buttonRead) identity(index int) string {
	if r.noIndex {
		return ""
	}
	return componentButton + " " + strconv.Itoa(index)
}

func (b QuickReplyButton) identity() string   { return b.read.identity(b.Index) }
func (b URLButton) identity() string          { return b.read.identity(b.Index) }
func (b CopyCodeButton) identity() string     { return b.read.identity(b.Index) }
func (b CatalogButton) identity() string      { return b.read.identity(b.Index) }
func (b ProductsButton) identity() string     { return b.read.identity(b.Index) }
func (b FlowButton) identity() string         { return b.read.identity(b.Index) }
func (b VoiceCallButton) identity() string    { return b.read.identity(b.Index) }
func (b OrderDetailsButton) identity() string { return b.read.identity(b.Index) }

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
	checkIndex(c, path, b.Index, b.read.noIndex)
	if b.read.parameters != nil {
		c.found(path+".Payload", "required where the button has a parameter, but absent")
	}
	c.text(path+".Payload", b.Payload, 0)
}

func (b URLButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.read.noIndex)
	c.required(path+".Suffix", b.Suffix, 2000)
}

func (b CopyCodeButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.read.noIndex)
	c.required(path+".Code", b.Code, 15)
	if b.Code != "" && !isAlphanumeric(b.Code) {
		c.limit(path+".Code", "want letters and digits alone")
	}
}

func (b CatalogButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.read.noIndex)
	c.text(path+".ThumbnailProductRetailerID", b.ThumbnailProductRetailerID, 0)
}

func (b ProductsButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.read.noIndex)
	c.required(path+".ThumbnailProductRetailerID", b.ThumbnailProductRetailerID, 0)
	checkProductSections(c, path+".Sections", b.Sections)
}

func (b FlowButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.read.noIndex)
	c.text(path+".Token", b.Token, 0)
	if b.Data != nil {
		checkObject(c, path+".Data", b.Data, 0)
	}
}

func (b VoiceCallButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, false) // the platform's own sample has none
	checkCallTTL(c, path+".TTLMinutes", b.TTLMinutes, b.zeroTTL)
	c.text(path+".Payload", b.Payload, 512)
}

func (b OrderDetailsButton) check(c *checks, path string, _ place) {
	checkIndex(c, path, b.Index, b.read.noIndex)
	b.Details.check(c, path+".Details")
}
