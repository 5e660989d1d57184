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
	// component is a componentJSON or a json.RawMessage.
	component() any
	check(c *checks, path string, where place)
}

// The types of a component.
const (
	componentHeader      = "header"
	componentBody        = "body"
	componentButton      = "button"
	componentCards       = "carousel"
	componentOffer       = "limited_time_offer"
	componentTapTarget   = "tap_target_configuration"
	componentOrderStatus = "order_status"
)

// place is where a component stands, which determines how long the texts of a body may be.
type place int

const (
	inTemplate  place = iota
	alone             // the only component of its template
	besideOffer       // in a template with a LimitedTimeOffer
	onCard
)

// componentJSON is a component in the platform's shape.
type componentJSON struct {
	Type       string `json:"type"`
	SubType    string `json:"sub_type,omitzero"`
	Index      *int   `json:"index,omitzero"`
	Parameters []any  `json:"parameters,omitzero"`
	Cards      []any  `json:"cards,omitzero"`
}

// TemplateHeader is the header of a template: a TextParam, an Image, a Video, a Document, a GIF (in marketing messages), a
// Location or a Product.
type TemplateHeader struct {
	// Parameter is required. A text is at most 60 characters.
	Parameter Parameter
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
	URL string `json:"url,omitzero"`
	// Title is shown in place of the URL. Required.
	Title string `json:"title,omitzero"`
}

// TemplateOrderStatus informs about the progress of an order, in a template.
type TemplateOrderStatus struct {
	// ReferenceID is the one of the OrderDetails. Required.
	ReferenceID string
	// Status is how far the order is. Required.
	Status OrderState
	// Description is at most 120 characters. Optional.
	Description string
}

// RawComponent is a component that no other type holds: of a new type, or with members that are new. If the type is known, so
// are its limits; exceeding them is a Limit. Otherwise it is only checked to be a JSON object with a type.
type RawComponent struct {
	// JSON is the whole component. Required.
	JSON json.RawMessage
}

// The parameters of components that take exactly one.
type (
	offerParameter struct {
		Type  string    `json:"type"`
		Offer offerJSON `json:"limited_time_offer"`
	}
	offerJSON struct {
		ExpirationTimeMS int64 `json:"expiration_time_ms,omitzero"`
	}
	tapTargetParameter struct {
		Type    string      `json:"type"`
		Targets []TapTarget `json:"tap_target_configuration"`
	}
	orderStatusParameter struct {
		Type        string          `json:"type"`
		OrderStatus orderStatusJSON `json:"order_status"`
	}
)

func (h TemplateHeader) component() any {
	b := componentJSON{Type: componentHeader}
	if isValue(h.Parameter) {
		b.Parameters = []any{h.Parameter.parameter()}
	}
	return b
}

func (b TemplateBody) component() any {
	return componentJSON{Type: componentBody, Parameters: parametersJSON(b)}
}

func (o LimitedTimeOffer) component() any {
	var offer offerJSON
	if !o.ExpiresAt.IsZero() {
		offer.ExpirationTimeMS = o.ExpiresAt.UnixMilli()
	}
	return componentJSON{Type: componentOffer, Parameters: []any{offerParameter{componentOffer, offer}}}
}

func (t TapTarget) component() any {
	return componentJSON{Type: componentTapTarget, Parameters: []any{tapTargetParameter{componentTapTarget, []TapTarget{t}}}}
}

func (o TemplateOrderStatus) component() any {
	status := OrderStatus{ReferenceID: o.ReferenceID, Status: o.Status, Description: o.Description}.json()
	return componentJSON{Type: componentOrderStatus, Parameters: []any{orderStatusParameter{componentOrderStatus, status}}}
}

func (r RawComponent) component() any { return r.JSON }

func componentsJSON(components []Component) []any {
	if components == nil {
		return nil
	}
	all := make([]any, len(components))
	for i, component := range components {
		if isValue(component) {
			all[i] = component.component()
		}
	}
	return all
}

func decodeComponents(values []any, card bool) []Component {
	if values == nil {
		return nil
	}
	all := make([]Component, len(values))
	for i, value := range values {
		all[i] = decodeComponent(value, card)
	}
	return all
}

// decodeComponent returns a component, typed if a type holds all of it.
func decodeComponent(value any, card bool) Component {
	if component, f := readComponent(value, card); f == exact {
		return component
	}
	return RawComponent{JSON: rawOf(value)}
}

// readComponent returns nil if the type is not known.
func readComponent(value any, card bool) (Component, fit) {
	b, f := readAs[componentJSON](value)
	b.Type = strings.ToLower(b.Type)
	if b.Type == componentButton {
		return readButton(b, f)
	}
	var component Component
	switch b.Type {
	case componentHeader:
		header := TemplateHeader{}
		if len(b.Parameters) == 1 {
			header.Parameter = decodeParameter(b.Parameters[0])
		}
		component = header
	case componentBody:
		component = TemplateBody(decodeParameters(b.Parameters))
	case componentCards:
		if card { // which cannot have cards of its own
			return nil, misfit
		}
		cards, cf := readTemplateCards(b.Cards)
		component, f = cards, min(f, cf)
	case componentOffer:
		parameter, pf := readOnly[offerParameter](b)
		offer := LimitedTimeOffer{}
		if ms := parameter.Offer.ExpirationTimeMS; ms != 0 {
			offer.ExpiresAt = time.UnixMilli(ms).UTC()
		}
		component, f = offer, min(f, pf).exactIf(strings.EqualFold(parameter.Type, b.Type))
	case componentTapTarget:
		parameter, pf := readOnly[tapTargetParameter](b)
		f = min(f, pf).exactIf(strings.EqualFold(parameter.Type, b.Type) && len(parameter.Targets) == 1)
		component = TapTarget{}
		if len(parameter.Targets) > 0 {
			component = parameter.Targets[0]
		}
	case componentOrderStatus:
		parameter, pf := readOnly[orderStatusParameter](b)
		status := parameter.OrderStatus.typed()
		f = min(f, pf).exactIf(strings.EqualFold(parameter.Type, b.Type) && status.Payment == OrderPayment{})
		component = TemplateOrderStatus{status.ReferenceID, status.Status, status.Description}
	default:
		return nil, misfit
	}
	return component, f.exactIf(b.hasMembersOf(component))
}

// readOnly reads the parameter of a component that takes exactly one.
func readOnly[P any](b componentJSON) (P, fit) {
	if len(b.Parameters) != 1 {
		var none P
		return none, misfit
	}
	return readAs[P](b.Parameters[0])
}

// hasMembersOf reports whether a component is written with the members of b. What they hold is not compared.
func (b componentJSON) hasMembersOf(component Component) bool {
	written, _ := component.component().(componentJSON)
	return b.SubType == written.SubType && b.Index == written.Index &&
		len(b.Parameters) == len(written.Parameters) && (b.Parameters == nil) == (written.Parameters == nil) &&
		(b.Cards == nil) == (written.Cards == nil)
}

// partOf names what may be in a template only once, "" for a component that may be there any number of times.
func partOf(component Component) string {
	switch component := component.(type) {
	case TemplateHeader:
		return componentHeader
	case TemplateBody:
		return componentBody
	case TemplateCards:
		return componentCards
	case LimitedTimeOffer:
		return componentOffer
	case TapTarget:
		return componentTapTarget
	case TemplateOrderStatus:
		return componentOrderStatus
	case templateButton:
		_, index := component.place()
		return componentButton + " " + strconv.Itoa(index)
	default:
		return ""
	}
}

// checkComponents checks the components of a template or of one of its cards.
func checkComponents(c *checks, path string, components []Component, where place) {
	first := map[string]int{}
	copyCodes, urls := 0, 0
	for i, component := range components {
		own := at(path, i)
		if !isValue(component) {
			if component == nil {
				c.Found(own, "must not be nil")
			}
			continue
		}
		component.check(c, own, where)
		part := partOf(component)
		if before, ok := first[part]; ok && part != "" {
			c.Found(own, fmt.Sprintf("must be another part than the one at index %d", before))
			continue
		}
		first[part] = i
		switch component.(type) {
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

func (h TemplateHeader) check(c *checks, path string, where place) {
	path += ".Parameter"
	switch h.Parameter.(type) {
	case nil:
		c.Found(path, "required, but nil")
	case Image, Video, Product, RawParameter:
	case TextParam, Document, GIF, Location:
		if where == onCard {
			c.Found(path, "want an Image, a Video or a Product in the header of a card")
		}
	case Currency, DateTime:
		c.Found(path, "want a TextParam, an Image, a Video, a Document, a GIF, a Location or a Product in a header")
	}
	if !isValue(h.Parameter) {
		return
	}
	h.Parameter.check(c, path)
	checkNoCaption(c, path, h.Parameter)
	checkTextTotal(c, path, []Parameter{h.Parameter}, 60)
	if l, ok := h.Parameter.(Location); ok {
		c.required(path+".Name", l.Name, 0)
		c.required(path+".Address", l.Address, 0)
	}
}

func (b TemplateBody) check(c *checks, path string, where place) {
	withName, without := 0, 0
	for i, parameter := range b {
		own := at(path, i)
		switch parameter.(type) {
		case nil:
			c.Found(own, "must not be nil")
		case TextParam, Currency, DateTime, RawParameter:
		case Image, Video, Document, GIF, Location, Product:
			c.Found(own, "want a TextParam, a Currency or a DateTime in a body")
		}
		if name, known := parameterName(parameter); known && name != "" {
			withName++
		} else if known {
			without++
		}
		if isValue(parameter) {
			parameter.check(c, own)
		}
	}
	if withName > 0 && without > 0 {
		c.Found(path, "want a name on every parameter, or on none")
	}
	unique(c, path, ".Name", b, func(p Parameter) string {
		name, _ := parameterName(p)
		return name
	})
	most := 1024
	switch where {
	case alone:
		most = 32768
	case besideOffer:
		most = 600
	case onCard:
		most = 160
	case inTemplate:
	}
	checkTextTotal(c, path, b, most)
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

// checkNotOnCard rejects what belongs to a template as a whole.
func checkNotOnCard(c *checks, path string, where place) {
	if where == onCard {
		c.Found(path, "must not be on a card")
	}
}

func (o LimitedTimeOffer) check(c *checks, path string, where place) {
	checkNotOnCard(c, path, where)
	if o.ExpiresAt.IsZero() {
		c.Found(path+".ExpiresAt", "required, but absent")
	}
}

func (t TapTarget) check(c *checks, path string, where place) {
	checkNotOnCard(c, path, where)
	c.url(path+".URL", t.URL)
	c.required(path+".Title", t.Title, 0)
}

func (o TemplateOrderStatus) check(c *checks, path string, where place) {
	checkNotOnCard(c, path, where)
	OrderStatus{ReferenceID: o.ReferenceID, Status: o.Status, Description: o.Description}.check(c, path)
}

func (r RawComponent) check(c *checks, path string, where place) {
	path += ".JSON"
	if !c.json(path, r.JSON) {
		return
	}
	b, _ := readAs[componentJSON](decodeValid(r.JSON))
	if b.Type == "" {
		c.Found(path, "want an object with a type")
		return
	}
	component, f := readComponent(decodeValid(r.JSON), where == onCard)
	if component != nil {
		c.raw(path, f, func(known *checks) { component.check(known, "", where) })
	}
}
