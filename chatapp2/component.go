package chatapp2

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/shape"
)

// Component holds values for a part of a Template. It is one of TemplateHeader, TemplateBody, the buttons (QuickReplyButton,
// URLButton, CopyCodeButton, CatalogButton, ProductsButton, FlowButton, VoiceCallButton, OrderDetailsButton), TemplateCards,
// LimitedTimeOffer, TapTarget, TemplateOrderStatus and RawComponent: values of these types, not pointers. A part or a button
// without parameters needs none.
//
//sumtype:decl
type Component interface{ component() place }

func (TemplateHeader) component() place      { return placed("type=header", "") }
func (TemplateBody) component() place        { return placed("type=body", "parameters") }
func (LimitedTimeOffer) component() place    { return onlyParameter("limited_time_offer", "") }
func (TapTarget) component() place           { return onlyParameter("tap_target_configuration", "[]!") }
func (TemplateOrderStatus) component() place { return onlyParameter("order_status", "") }
func (QuickReplyButton) component() place    { return placed("type=button sub_type=quick_reply", "") }
func (URLButton) component() place           { return placed("type=button sub_type=url", "") }
func (CopyCodeButton) component() place      { return placed("type=button sub_type=copy_code", "") }
func (CatalogButton) component() place       { return placed("type=button sub_type=catalog", "") }
func (ProductsButton) component() place      { return placed("type=button sub_type=mpm", "") }
func (FlowButton) component() place          { return placed("type=button sub_type=flow", "") }
func (VoiceCallButton) component() place     { return placed("type=button sub_type=voice_call", "") }

func (OrderDetailsButton) component() place { return placed("type=button sub_type=order_details", "") }
func (RawComponent) component() place       { return place{} }

func (TemplateCards) component() place {
	return placed("type=carousel", "cards[each card_index=#].components")
}

// onlyParameter is the place of a component that is the value of its only parameter, of the same type.
func onlyParameter(kind, end string) place {
	return placed("type="+kind, "parameters[type="+kind+"]!."+kind+end)
}

// partOf names what a template has at most once: a part, or the button at an index; "" if it is unknown.
func partOf(component Component) string {
	kind, index := strings.TrimPrefix(component.component().Words, "type="), 0
	if raw, isRaw := component.(RawComponent); isRaw {
		object, _ := shape.Decode(raw.JSON).(map[string]any)
		name, _ := object["type"].(string)
		kind = strings.ToLower(name)
		index, _ = strconv.Atoi(shape.NumberText(object["index"]))
	} else if strings.HasPrefix(kind, "button") {
		kind, index = "button", int(reflect.ValueOf(component).FieldByName("Index").Int())
	}
	switch kind {
	case "button":
		return "button " + strconv.Itoa(index)
	case "header", "body", "carousel", "limited_time_offer", "tap_target_configuration", "order_status":
		return kind
	default:
		return ""
	}
}

// TemplateHeader is the header of a template: a TextParam, an Image, a Video, a Document, a GIF (in marketing messages), a
// Location or a Product. A text is at most 60 characters.
type TemplateHeader struct {
	Parameter Parameter `at:"parameters[],required"`
}

// TemplateBody holds the parameters of the body of a template, in order, or by name if the template has names: TextParam,
// Currency and DateTime. The texts together are at most 1024 characters, or 600 beside a LimitedTimeOffer, 160 on a card, and
// 32768 if the template has no other component.
//
// Body makes one from texts in order. TemplateBody{Named("first_name", "Ana")} has a parameter with a name.
type TemplateBody []Parameter

// Body returns the parameters of a body that takes texts, in order.
func Body(texts ...string) TemplateBody {
	body := make(TemplateBody, len(texts))
	for i, text := range texts {
		body[i] = TextParam{Text: text}
	}
	return body
}

// LimitedTimeOffer says when the offer of a template ends, to the millisecond. Required.
type LimitedTimeOffer struct {
	ExpiresAt time.Time `at:"expiration_time_ms,milli,present"`
}

// TapTarget changes the web page that a tap on a template opens. Title is shown in place of the URL.
type TapTarget struct {
	URL   string `at:"url,required,url"`
	Title string `at:"title,required"`
}

// TemplateOrderStatus informs about the progress of an order, in a template. Its fields are as in an OrderStatus.
type TemplateOrderStatus struct {
	ReferenceID string     `at:"reference_id,required,max=60,reference"`
	Status      OrderState `at:"order.status,required"`
	Description string     `at:"order.description,max=120"`
}

// RawComponent is a component that no other type holds. JSON is the whole component, an object with a type, and is sent as it is.
type RawComponent struct {
	JSON json.RawMessage `at:""`
}

// componentLimits are the limits that depend on what else a template has, in characters: of the texts of a body, and of a coupon code.
type componentLimits struct{ body, code int }

func checkComponents(c *checks, name string, components []Component, most componentLimits) {
	first := map[string]int{}
	copyCodes, urls := 0, 0
	for i, component := range components {
		if !shape.IsValue(component) {
			continue
		}
		part := partOf(component)
		if before, ok := first[part]; ok && part != "" {
			c.Found(fmt.Sprintf("%s[%d]", name, i), fmt.Sprintf("must be another part than the one at index %d", before))
			continue
		}
		first[part] = i
		switch component := component.(type) { //nolint:gochecksumtype // only these kinds are concerned
		case TemplateBody:
			if reason := checkTexts(component, most.body); reason != "" {
				c.Limit(fmt.Sprintf("%s[%d]", name, i), reason)
			}
		case CopyCodeButton:
			if copyCodes++; copyCodes == 2 {
				c.Limit(fmt.Sprintf("%s[%d]", name, i), "want at most one CopyCodeButton")
			}
			c.Length(fmt.Sprintf("%s[%d].Code", name, i), component.Code, most.code)
		case URLButton:
			if urls++; urls == 3 {
				c.Limit(fmt.Sprintf("%s[%d]", name, i), "want at most two URLButtons")
			}
		}
	}
}

func (h TemplateHeader) check(c *checks) {
	switch parameter := h.Parameter.(type) { //nolint:gochecksumtype // only these kinds are concerned
	case Currency, DateTime:
		c.Found("Parameter", "want a TextParam, an Image, a Video, a Document, a GIF, a Location or a Product in a header")
	case Location:
		c.Required("Parameter.Name", parameter.Name)
		c.Required("Parameter.Address", parameter.Address)
	}
	checkNoCaption(c, "Parameter", h.Parameter)
	c.Limit("Parameter", checkTexts([]Parameter{h.Parameter}, 60))
}

func (b TemplateBody) check(c *checks) {
	named, unnamed := countNames(b...)
	for i, parameter := range b {
		switch parameter.(type) { //nolint:gochecksumtype // only these kinds are concerned
		case Image, Video, Document, GIF, Location, Product:
			c.Found(fmt.Sprintf("[%d]", i), "want a TextParam, a Currency or a DateTime in a body")
		}
	}
	if named > 0 && unnamed > 0 {
		c.Found("", "want a name on every parameter, or on none")
	}
}

func checkTexts(parameters []Parameter, most int) string {
	total := 0
	for _, parameter := range parameters {
		if text, ok := parameter.(TextParam); ok {
			total += utf8.RuneCountInString(text.Text)
		}
	}
	if total > most {
		return fmt.Sprintf("want at most %d characters in all parameters together, got %d", most, total)
	}
	return ""
}

func (s TemplateOrderStatus) check(c *checks) { c.Field("Status", string(s.Status), orderStates) }

func (r RawComponent) check(c *checks) {
	shape.CheckRawObject[Component](c, r.JSON)
}

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

// TemplateCards holds the values for the cards of a template's carousel, one for each approved card, at most 10, in the order
// of the template. All have the same kind of header. A body or a button without parameters is left out, so that cards may differ in these.
type TemplateCards []TemplateCard

// TemplateCard holds the values for a card: its header, body and buttons.
type TemplateCard []Component

func (k TemplateCards) check(c *checks) {
	least := 2
	if len(k) > 0 && k[0].mayBeProduct() {
		least = 1
	}
	c.Count("", "cards", len(k), least, 10)
	for i, card := range k {
		if raw := slices.ContainsFunc(k[0], isRaw) || slices.ContainsFunc(card, isRaw); !raw && k[0].header() != card.header() {
			c.Found(fmt.Sprintf("[%d]", i), "must have the same kind of header as the first card")
		}
	}
}

func (k TemplateCard) check(c *checks) {
	if len(k) == 0 {
		c.Found("", "want at least one component, got none")
	}
	checkComponents(c, "", k, componentLimits{body: 160, code: 20})
	for i, component := range k {
		if !shape.IsValue(component) {
			continue
		}
		switch partOf(component) {
		case "carousel", "limited_time_offer", "tap_target_configuration", "order_status":
			c.Found(fmt.Sprintf("[%d]", i), "must not be on a card")
		}
		if header, ok := component.(TemplateHeader); ok {
			switch header.Parameter.(type) { //nolint:gochecksumtype // only these kinds are concerned
			case TextParam, Document, GIF, Location:
				c.Found(fmt.Sprintf("[%d].Parameter", i), "want an Image, a Video or a Product in the header of a card")
			}
		}
	}
}

// mayBeProduct reports whether the card shows a product, or something unknown.
func (k TemplateCard) mayBeProduct() bool {
	return slices.ContainsFunc(k, func(component Component) bool {
		header, _ := component.(TemplateHeader)
		_, product := header.Parameter.(Product)
		return product || isRaw(component)
	})
}

func (k TemplateCard) header() string {
	for _, component := range k {
		if header, ok := component.(TemplateHeader); ok {
			return fmt.Sprintf("%T", header.Parameter)
		}
	}
	return ""
}

// isRaw reports whether it is unknown what a component is.
func isRaw(component Component) bool {
	header, _ := component.(TemplateHeader)
	_, isRawComponent := component.(RawComponent)
	_, isRawParameter := header.Parameter.(RawParameter)
	return isRawComponent || isRawParameter || !shape.IsValue(component)
}
