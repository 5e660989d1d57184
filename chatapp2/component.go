package chatapp2

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Component holds values for a part of a Template. It is one of TemplateHeader, TemplateBody, the buttons (QuickReplyButton,
// URLButton, CopyCodeButton, CatalogButton, ProductsButton, FlowButton, VoiceCallButton, OrderDetailsButton), TemplateCards,
// LimitedTimeOffer, TapTarget, TemplateOrderStatus and RawComponent: values of these types, not pointers. A part or a button
// without parameters needs none.
//
//sumtype:decl
type Component interface {
	// part names what a template has at most once: a part, or the button at an index; "" if it is unknown.
	part() string
}

// The types of a component, which are the names of the parts.
const (
	componentHeader      = "header"
	componentBody        = "body"
	componentButton      = "button"
	componentCards       = "carousel"
	componentOffer       = "limited_time_offer"
	componentTapTarget   = "tap_target_configuration"
	componentOrderStatus = "order_status"
)

func (TemplateHeader) part() string       { return componentHeader }
func (TemplateBody) part() string         { return componentBody }
func (TemplateCards) part() string        { return componentCards }
func (LimitedTimeOffer) part() string     { return componentOffer }
func (TapTarget) part() string            { return componentTapTarget }
func (TemplateOrderStatus) part() string  { return componentOrderStatus }
func (b QuickReplyButton) part() string   { return buttonPart(b.Index) }
func (b URLButton) part() string          { return buttonPart(b.Index) }
func (b CopyCodeButton) part() string     { return buttonPart(b.Index) }
func (b CatalogButton) part() string      { return buttonPart(b.Index) }
func (b ProductsButton) part() string     { return buttonPart(b.Index) }
func (b FlowButton) part() string         { return buttonPart(b.Index) }
func (b VoiceCallButton) part() string    { return buttonPart(b.Index) }
func (b OrderDetailsButton) part() string { return buttonPart(b.Index) }

func (r RawComponent) part() string {
	b, _ := readAs[componentJSON](decodeValid(r.JSON))
	switch kind := strings.ToLower(b.Type); kind {
	case componentButton:
		if b.Index != nil {
			return buttonPart(*b.Index)
		}
	case componentHeader, componentBody, componentCards, componentOffer, componentTapTarget, componentOrderStatus:
		return kind
	}
	return ""
}

func buttonPart(index int) string { return componentButton + " " + strconv.Itoa(index) }

// TemplateHeader is the header of a template: a TextParam, an Image, a Video, a Document, a GIF (in marketing messages), a
// Location or a Product.
type TemplateHeader struct {
	// Parameter is required. A text is at most 60 characters.
	Parameter Parameter `rule:"required"`
}

// TemplateBody holds the parameters of the body of a template, in order, or by name if the template has names: TextParam,
// Currency and DateTime. The texts together are at most 1024 characters, or 600 beside a LimitedTimeOffer, 160 on a card, and
// 32768 if the template has no other component.
//
// Body makes one of texts. TemplateBody{Named("first_name", "Ana")} is one with a name.
type TemplateBody []Parameter

// Body returns the parameters of a body that takes texts, in order.
func Body(texts ...string) TemplateBody {
	body := make(TemplateBody, len(texts))
	for i, text := range texts {
		body[i] = TextParam{Text: text}
	}
	return body
}

// LimitedTimeOffer says when the offer of a template ends.
type LimitedTimeOffer struct {
	// ExpiresAt is when it ends, to the millisecond. Required.
	ExpiresAt time.Time
}

// TapTarget changes the web page that a tap on a template opens.
type TapTarget struct {
	// URL is an http or https URL. Required.
	URL string `json:"url,omitzero" rule:"required,url"`
	// Title is shown in place of the URL. Required.
	Title string `json:"title,omitzero" rule:"required"`
}

// TemplateOrderStatus informs about the progress of an order, in a template.
type TemplateOrderStatus struct {
	// ReferenceID is the one of the OrderDetails. Required.
	ReferenceID string `rule:"required,max=60,reference"`
	// Status is how far the order is. Required.
	Status OrderState `rule:"required,oneof=pending|processing|partially-shipped|partially_shipped|shipped|completed|canceled"`
	// Description is at most 120 characters. Optional.
	Description string `rule:"max=120"`
}

// RawComponent is a component that no other type holds: of a new type, or with members that are new. If the type is known, so
// are its limits; exceeding them is a Limit. Otherwise it is only checked to be a JSON object with a type.
type RawComponent struct {
	// JSON is the whole component. Required.
	JSON json.RawMessage
}

// checkComponents checks the components of a template or of one of its cards together. The texts of a body have a limit.
func checkComponents(c *checks, path string, components []Component, bodyMost int) {
	first := map[string]int{}
	copyCodes, urls := 0, 0
	for i, component := range components {
		if !isValue(component) {
			continue
		}
		own, part := at(path, i), component.part()
		if before, ok := first[part]; ok && part != "" {
			c.Found(own, fmt.Sprintf("must be another part than the one at index %d", before))
			continue
		}
		first[part] = i
		switch component := component.(type) {
		case TemplateBody:
			checkTextTotal(c, own, component, bodyMost)
		case CopyCodeButton:
			if copyCodes++; copyCodes == 2 {
				c.Limit(own, "want at most one CopyCodeButton")
			}
		case URLButton:
			if urls++; urls == 3 {
				c.Limit(own, "want at most two URLButtons")
			}
		}
	}
}

func (h TemplateHeader) check(c *checks, path string) {
	path += ".Parameter"
	switch parameter := h.Parameter.(type) {
	case Currency, DateTime:
		c.Found(path, "want a TextParam, an Image, a Video, a Document, a GIF, a Location or a Product in a header")
	case Location:
		c.required(path+".Name", parameter.Name)
		c.required(path+".Address", parameter.Address)
	}
	checkNoCaption(c, path, h.Parameter)
	checkTextTotal(c, path, []Parameter{h.Parameter}, 60)
}

func (b TemplateBody) check(c *checks, path string) {
	named, unnamed := 0, 0
	for i, parameter := range b {
		switch parameter.(type) {
		case Image, Video, Document, GIF, Location, Product:
			c.Found(at(path, i), "want a TextParam, a Currency or a DateTime in a body")
		}
		if name, known := parameterName(parameter); known && name != "" {
			named++
		} else if known {
			unnamed++
		}
	}
	if named > 0 && unnamed > 0 {
		c.Found(path, "want a name on every parameter, or on none")
	}
	unique(c, path, ".Name", b, func(p Parameter) string {
		name, _ := parameterName(p)
		return name
	})
}

// checkTextTotal checks the texts of one part together.
func checkTextTotal(c *checks, path string, parameters []Parameter, most int) {
	total := 0
	for _, parameter := range parameters {
		if text, ok := parameter.(TextParam); ok {
			total += utf8.RuneCountInString(text.Text)
		}
	}
	if total > most {
		c.Limit(path, fmt.Sprintf("want at most %d characters in all parameters together, got %d", most, total))
	}
}

func (o LimitedTimeOffer) check(c *checks, path string) {
	if o.ExpiresAt.IsZero() {
		c.Found(path+".ExpiresAt", "required, but absent")
	}
}

func (r RawComponent) check(c *checks, path string) {
	c.rawObject(path+".JSON", r.JSON, func(value any) (any, fit) { return readComponent(value, false) })
}
