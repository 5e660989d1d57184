package chatapp2

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Component fills a part of a Template. It is one of TemplateHeader, TemplateBody, the buttons (QuickReplyButton, URLButton,
// CopyCodeButton, CatalogButton, ProductsButton, FlowButton, VoiceCallButton, OrderDetailsButton), TemplateCards,
// LimitedTimeOffer, TapTarget, TemplateOrderStatus and RawComponent, and nothing else can be one. Parts and buttons that have no
// gap need none.
//
//sumtype:decl
type Component interface {
	// component is what encoding/json takes.
	component() any
	// identity tells apart what may stand in a template once; empty is anything.
	identity() string
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

// TemplateHeader fills the header of a template: with a TextParam, an Image, a Video, a Document, a GIF (marketing messages
// alone), a Location or a Product.
type TemplateHeader struct {
	// Parameter is required. A text is at most 60 characters.
	Parameter Parameter
}

// TemplateBody fills the gaps in the body of a template, in their order, or by their names where it was made with names: with
// TextParam, Currency and DateTime. The texts together are at most 1024 characters (600 beside a LimitedTimeOffer, 160 on a
// card, 32768 where the template has nothing else).
//
// Body makes one of texts alone, TemplateBody{Named("first_name", "Ana")} one of names.
type TemplateBody []Parameter

// Body fills the gaps in the body of a template with texts, in their order.
func Body(texts ...string) TemplateBody {
	body := make(TemplateBody, len(texts))
	for i, text := range texts {
		body[i] = TextParam{Text: text}
	}
	return body
}

// TemplateCards fills the cards of a template's carousel, one for each that was approved, at most 10. Their order is that of the
// template.
type TemplateCards []TemplateCard

// TemplateCard fills a card: its header, its body and its buttons.
type TemplateCard []Component

// LimitedTimeOffer says when the offer of a template ends.
type LimitedTimeOffer struct {
	// ExpiresAt (expiration_time_ms) is when it ends, to the millisecond. Required.
	ExpiresAt time.Time
}

// TapTarget changes where a tap on a template leads.
type TapTarget struct {
	// URL is absolute, http or https. Required.
	URL string `json:"url,omitzero"`
	// Title is shown in place of the URL. Required.
	Title string `json:"title,omitzero"`
}

// TemplateOrderStatus tells how an order goes on, in a template.
type TemplateOrderStatus struct {
	// ReferenceID is that of the OrderDetails. Required.
	ReferenceID string
	// Status is one of "pending", "processing", "partially-shipped", "shipped", "completed" and "canceled". Required.
	Status string
	// Description is at most 120 characters. Optional.
	Description string
}

// RawComponent is a component that this library does not know, or that no type holds. Of a type that it knows, it checks what it
// knows, and what it finds passes a limit unless nothing can be without it. Of any other nothing is checked but that it is an
// object with a type.
type RawComponent struct {
	// JSON is the whole component. Required.
	JSON json.RawMessage
}

// componentShape is a component on the wire.
type componentShape struct {
	Type       string `json:"type"`
	SubType    string `json:"sub_type,omitzero"`
	Index      *int   `json:"index,omitzero"`
	Parameters []any  `json:"parameters,omitzero"`
	Cards      []any  `json:"cards,omitzero"`
}

func componentsOf(components []Component) []any {
	if components == nil {
		return nil
	}
	all := make([]any, len(components))
	for i, component := range components {
		if !wire.IsNil(component) {
			all[i] = component.component()
		}
	}
	return all
}

func (h TemplateHeader) component() any {
	shape := componentShape{Type: componentHeader}
	if !wire.IsNil(h.Parameter) {
		shape.Parameters = []any{h.Parameter.parameter()}
	}
	return shape
}

func (b TemplateBody) component() any {
	return componentShape{Type: componentBody, Parameters: parametersOf(b)}
}

func (k TemplateCards) component() any {
	cards := make([]any, len(k))
	for i, card := range k {
		cards[i] = struct {
			Index      int   `json:"card_index"`
			Components []any `json:"components,omitzero"`
		}{i, componentsOf(card)}
	}
	return componentShape{Type: componentCards, Cards: cards}
}

func (o LimitedTimeOffer) component() any {
	var body struct {
		ExpirationTimeMS *int64 `json:"expiration_time_ms,omitzero"`
	}
	if !o.ExpiresAt.IsZero() {
		ms := o.ExpiresAt.UnixMilli()
		body.ExpirationTimeMS = &ms
	}
	return one(componentOffer, body)
}

func (t TapTarget) component() any { return one(componentTapTarget, []TapTarget{t}) }

func (o TemplateOrderStatus) component() any {
	return one(componentOrderStatus, orderStatusBody{ReferenceID: o.ReferenceID, Order: orderStateBody{o.Status, o.Description}})
}

func (r RawComponent) component() any {
	if r.JSON == nil {
		return nil
	}
	return r.JSON
}

// one is a component with a single parameter that bears its name.
func one(kind string, value any) componentShape {
	return componentShape{Type: kind, Parameters: []any{typed{kind, value}}}
}

// typed is an object with a type, and its value under the key of that name.
type typed struct {
	kind  string
	value any
}

// MarshalJSON encodes the object.
func (t typed) MarshalJSON() ([]byte, error) {
	return encodeMembers([]member{{"type", t.kind}, {t.kind, t.value}})
}

func readComponents(values []any, where place) []Component {
	if values == nil {
		return nil
	}
	all := make([]Component, len(values))
	for i, value := range values {
		all[i] = readComponent(value, where)
	}
	return all
}

// readComponent gives a component, typed where that holds all of it.
func readComponent(value any, where place) Component {
	m := membersOf(value)
	if component := readKnownComponent(m, where); component != nil && value != nil && m.whole() {
		return component
	}
	return RawComponent{JSON: rawOf(value)}
}

func readKnownComponent(m *members, where place) Component {
	switch kind := m.word("type"); kind {
	case componentHeader:
		var h TemplateHeader
		switch parameters := m.list("parameters"); len(parameters) {
		case 0:
			m.failed = m.failed || parameters != nil
		case 1:
			h.Parameter = readParameter(parameters[0])
		default:
			m.failed = true
		}
		return h
	case componentBody:
		return TemplateBody(readParameters(m.list("parameters")))
	case componentButton:
		return readButton(m)
	case componentCards:
		if where == placeCard { // which has no place there: nothing goes deeper
			return nil
		}
		return readTemplateCards(m)
	case componentOffer:
		var body struct {
			ExpirationTimeMS *int64 `json:"expiration_time_ms"`
		}
		m.one(kind, &body)
		if body.ExpirationTimeMS == nil {
			return LimitedTimeOffer{}
		}
		return LimitedTimeOffer{ExpiresAt: time.UnixMilli(*body.ExpirationTimeMS).UTC()}
	case componentTapTarget:
		var targets []TapTarget
		m.one(kind, &targets)
		if len(targets) != 1 {
			m.failed = true
			return TapTarget{}
		}
		return targets[0]
	case componentOrderStatus:
		var body orderStatusBody
		m.one(kind, &body)
		m.failed = m.failed || body.Payment != nil
		return TemplateOrderStatus{body.ReferenceID, body.Order.Status, body.Order.Description}
	default:
		return nil
	}
}

// one reads the single parameter of a component, whose value stands under the key of its type.
func (m *members) one(kind string, to any) {
	list := m.list("parameters")
	if len(list) != 1 {
		m.failed = true
		return
	}
	parameter := membersOf(list[0])
	parameter.is("type", kind)
	parameter.into(kind, to)
	if !parameter.whole() {
		m.failed = true
	}
}

func readTemplateCards(m *members) TemplateCards {
	list := m.list("cards")
	cards := make(TemplateCards, len(list))
	for i, value := range list {
		card := membersOf(value)
		_, hasIndex := card.left["card_index"]
		if !hasIndex || !card.isIndex("card_index", i) {
			m.failed = true
		}
		cards[i] = readComponents(card.list("components"), placeCard)
		if !card.whole() {
			m.failed = true
		}
	}
	if list == nil {
		return nil
	}
	return cards
}

func (TemplateHeader) identity() string      { return componentHeader }
func (TemplateBody) identity() string        { return componentBody }
func (TemplateCards) identity() string       { return componentCards }
func (LimitedTimeOffer) identity() string    { return componentOffer }
func (TapTarget) identity() string           { return componentTapTarget }
func (TemplateOrderStatus) identity() string { return componentOrderStatus }

// identity is that of the component as far as it is known.
func (r RawComponent) identity() string {
	if component := readKnownComponent(membersOf(opened(decode(r.JSON))), placeCard); component != nil {
		return component.identity()
	}
	return ""
}

func (h TemplateHeader) check(c *checks, path string, where place) {
	path += ".Parameter"
	if wire.IsNil(h.Parameter) {
		c.found(path, "required, but nil")
		return
	}
	if !h.Parameter.fits().header {
		c.found(path, "want a TextParam, an Image, a Video, a Document, a GIF, a Location, a Product or a RawParameter in a header")
	}
	if fits := h.Parameter.fits(); where == placeCard && fits.header && !fits.card {
		c.found(path, "want an Image, a Video, a Product or a RawParameter in the header of a card")
	}
	h.Parameter.check(c, path)
	checkNoCaption(c, path, h.Parameter)
	checkTextTotal(c, path, []Parameter{h.Parameter}, 60)
	if l, ok := as[Location](h.Parameter); ok { // which a header wants whole
		c.required(path+".Name", l.Name, 0)
		c.required(path+".Address", l.Address, 0)
	}
}

func (b TemplateBody) check(c *checks, path string, where place) {
	named, unnamed := 0, 0
	for i, parameter := range b {
		own := at(path, i)
		if wire.IsNil(parameter) {
			c.found(own, "must not be nil")
			continue
		}
		if !parameter.fits().body {
			c.found(own, "want a TextParam, a Currency, a DateTime or a RawParameter in a body")
		}
		switch _, raw := as[RawParameter](parameter); {
		case raw: // nobody knows
		case parameter.fits().name != "":
			named++
		default:
			unnamed++
		}
		parameter.check(c, own)
	}
	if named > 0 && unnamed > 0 {
		c.found(path, "want a name on every parameter, or on none")
	}
	unique(c, b, func(p Parameter) string {
		if wire.IsNil(p) {
			return ""
		}
		return p.fits().name
	}, func(i int) string { return at(path, i) + ".Name" })
	checkTextTotal(c, path, b, where.bodyMost())
}

func (k TemplateCards) check(c *checks, path string, where place) {
	checkNotOnCard(c, path, where)
	if where == placeCard {
		return
	}
	least := 2
	if len(k) > 0 && (k[0].isProduct() || slices.ContainsFunc(k[0], func(component Component) bool { _, raw := as[RawComponent](component); return raw })) {
		least = 1
	}
	c.count(path, "cards", len(k), least, 10)
	for i, card := range k {
		own := at(path, i)
		if len(card) == 0 {
			c.found(own, "want at least one component, got none")
		}
		checkComponents(c, own, card, placeCard)
		if i > 0 && !k[0].hasRaw() && !card.hasRaw() && !slices.Equal(k[0].parts(), card.parts()) {
			c.found(own, "must fill the same parts as the first card, with the same kinds of headers and buttons")
		}
	}
}

// checkNotOnCard refuses what belongs to a template as a whole.
func checkNotOnCard(c *checks, path string, where place) {
	if where == placeCard {
		c.found(path, "must not stand on a card")
	}
}

// hasRaw tells of a component that nobody knows.
func (k TemplateCard) hasRaw() bool {
	return slices.ContainsFunc(k, func(component Component) bool {
		_, ok := as[RawComponent](component)
		header, _ := as[TemplateHeader](component)
		_, raw := as[RawParameter](header.Parameter)
		return ok || raw
	})
}

// isProduct tells whether the card shows a product.
func (k TemplateCard) isProduct() bool {
	return slices.ContainsFunc(k, func(component Component) bool {
		header, _ := as[TemplateHeader](component)
		if raw, ok := as[RawParameter](header.Parameter); ok {
			return membersOf(decode(raw.JSON)).word("type") == parameterProduct
		}
		_, ok := as[Product](header.Parameter)
		return ok
	})
}

// parts gives what a card fills, in a fixed order: each component with its kind.
func (k TemplateCard) parts() []string {
	var all []string
	for _, component := range k {
		if wire.IsNil(component) {
			continue
		}
		part := component.identity()
		if shape, ok := component.component().(componentShape); ok {
			part += " " + shape.SubType
		}
		if header, ok := as[TemplateHeader](component); ok && !wire.IsNil(header.Parameter) {
			part += " " + header.Parameter.fits().kind
		}
		all = append(all, part)
	}
	slices.Sort(all)
	return all
}

func (o LimitedTimeOffer) check(c *checks, path string, where place) {
	checkNotOnCard(c, path, where)
	if o.ExpiresAt.IsZero() {
		c.found(path+".ExpiresAt", "required, but absent")
	}
}

func (t TapTarget) check(c *checks, path string, where place) {
	checkNotOnCard(c, path, where)
	c.url(path+".URL", t.URL)
	c.required(path+".Title", t.Title, 0)
}

func (o TemplateOrderStatus) check(c *checks, path string, where place) {
	checkNotOnCard(c, path, where)
	checkOrderReference(c, path+".ReferenceID", o.ReferenceID)
	checkOrderState(c, path, o.Status, o.Description)
}

func (r RawComponent) check(c *checks, path string, where place) {
	path += ".JSON"
	if !checkRaw(c, path, r.JSON) {
		return
	}
	before, known := len(c.problems), membersOf(opened(decode(r.JSON)))
	component := readKnownComponent(known, where)
	if component != nil && known.whole() {
		c.asLimits(func(known *checks) { component.check(known, strings.TrimSuffix(path, ".JSON"), where) })
	}
	defer func() {
		if component != nil && !known.whole() && len(c.problems) == before {
			c.unlikeDocumented(path)
		}
	}()
	m := membersOf(decode(r.JSON))
	kind, part := m.word("type"), m.word("sub_type")
	parameters := m.list("parameters")
	switch {
	case m.failed || kind == "":
		c.found(path, "want an object with a type")
	case where == placeCard && (kind == componentCards || kind == componentOffer || kind == componentTapTarget || kind == componentOrderStatus):
		checkNotOnCard(c, path, where)
	case kind == componentCards:
		checkRawCards(c, path, decode(r.JSON), "components")
	case kind == componentButton:
		if part == "" {
			c.found(path, "want a sub_type in a button")
		}
		if m.into("index", new(int)); m.failed {
			c.found(path, "want a number as the index of a button")
		}
		if (part == buttonURL || part == buttonCopyCode) && len(parameters) != 1 {
			c.found(path, fmt.Sprintf("want exactly one parameter in a button of the sub_type %s, got %d", part, len(parameters)))
		}
	case kind == componentTapTarget:
		if len(parameters) == 1 && len(membersOf(parameters[0]).list(kind)) != 1 {
			c.found(path, "want exactly one target")
		}
		fallthrough
	case kind == componentHeader || kind == componentOffer || kind == componentOrderStatus:
		if n := len(parameters); n != 1 {
			c.found(path, fmt.Sprintf("want exactly one parameter in a component of the type %s, got %d", kind, n))
		}
	}
}
