package chatapp2

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/shape"
)

// Component fills one part of a Template. It is one of TemplateHeader, TemplateBody, the buttons (QuickReplyButton, URLButton,
// CopyCodeButton, CatalogButton, ProductsButton, FlowButton), TemplateCards, LimitedTimeOffer and RawComponent. Pass values, not
// pointers. Omit parts that take no parameters.
//
//sumtype:decl
type Component interface{ component() place }

func (TemplateHeader) component() place   { return placeOf("type=header", "") }
func (TemplateBody) component() place     { return placeOf("type=body", "parameters") }
func (QuickReplyButton) component() place { return placeOf("type=button sub_type=quick_reply", "") }
func (URLButton) component() place        { return placeOf("type=button sub_type=url", "") }
func (CopyCodeButton) component() place   { return placeOf("type=button sub_type=copy_code", "") }
func (CatalogButton) component() place    { return placeOf("type=button sub_type=catalog", "") }
func (ProductsButton) component() place   { return placeOf("type=button sub_type=mpm", "") }
func (FlowButton) component() place       { return placeOf("type=button sub_type=flow", "") }
func (RawComponent) component() place     { return place{} }

func (TemplateCards) component() place {
	return placeOf("type=carousel", "cards[each card_index=#].components")
}

func (LimitedTimeOffer) component() place {
	return placeOf("type=limited_time_offer", "parameters[type=limited_time_offer]!.limited_time_offer")
}

// TemplateHeader is the header of a template: a TextParam of at most 60 characters, an Image, a Video, a Document, a GIF (in marketing
// messages), a Location or a Product.
type TemplateHeader struct {
	Parameter Parameter `at:"parameters[],required"`
}

// TemplateBody holds the parameters of the body of a template: TextParam, Currency and DateTime, in order, or by name if the template
// names its parameters. All texts together have at most 1024 characters, or 600 in a template with a LimitedTimeOffer, 160 on a card, and
// 32768 if the template has no other component.
//
// Body makes a TemplateBody from texts in order. For parameters with names, write TemplateBody{Named("first_name", "Ana")}.
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
	ExpiresAt time.Time `at:"expiration_time_ms,present"`
}

// QuickReplyButton is a button of a template that sends a reply. In all buttons, Index is the button's position in the template, 0 to 9.
type QuickReplyButton struct {
	Index int `at:"index!,index"`
	// Payload comes back in the reply. If it is empty, the label comes back.
	Payload string `at:"parameters[type=payload].payload"`
	// Text replaces Payload in older examples of the platform. At most one of the two may be set.
	Text string `at:"parameters[type=text].text"`
}

// URLButton is a button of a template that opens a web page. In an authentication template it is the button that copies or fills in the
// code, which is also in the body.
type URLButton struct {
	Index int `at:"index!,index"`
	// Suffix completes the URL. In an authentication template it is the code.
	Suffix string `at:"parameters[type=text].text,required,max=2000"`
	// OneTimeCode says that Suffix is a one-time code, which has at most 15 characters. It is neither sent nor stored.
	OneTimeCode bool `at:"-"`
}

// CopyCodeButton is a button of a template that copies a coupon code. A template has at most one. The code has at most 20 characters, or
// 15 in a template with a LimitedTimeOffer.
type CopyCodeButton struct {
	Index int    `at:"index!,index"`
	Code  string `at:"parameters[type=coupon_code].coupon_code,required,alnum"`
}

// CatalogButton is a button of a template that opens the catalog. Without a thumbnail, the platform shows the first product.
type CatalogButton struct {
	Index                      int    `at:"index!,index"`
	ThumbnailProductRetailerID string `at:"parameters[type=action].action.thumbnail_product_retailer_id"`
}

// ProductsButton is a button of a template that shows products, in 1 to 10 sections with at most 30 products in total.
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

// TemplateCards holds the values for the cards of a template's carousel: one element for each approved card, at most 10, in the order of
// the template. All cards must have the same kind of header. Bodies and buttons without parameters are omitted, so cards may differ in
// these.
type TemplateCards []TemplateCard

// TemplateCard holds the values for one card: its header, body and buttons.
type TemplateCard []Component

// RawComponent is a component that no other type holds, such as an order or a tap target. JSON is the whole component: an object with a
// type, sent as it is.
type RawComponent struct {
	JSON json.RawMessage `at:""`
}

func (h TemplateHeader) check(c *checks) {
	switch parameter := h.Parameter.(type) { //nolint:gochecksumtype // only these kinds are concerned
	case Currency, DateTime:
		c.Add("Parameter", "want a TextParam, an Image, a Video, a Document, a GIF, a Location or a Product in a header")
	case Location:
		c.Required("Parameter.Name", parameter.Name)
		c.Required("Parameter.Address", parameter.Address)
	}
	checkNoCaption(c, "Parameter", h.Parameter)
	c.Limit("Parameter", checkTexts([]Parameter{h.Parameter}, 60))
}

func (b TemplateBody) check(c *checks) {
	for i, parameter := range b {
		switch parameter.(type) { //nolint:gochecksumtype // only these kinds are concerned
		case Image, Video, Document, GIF, Location, Product:
			c.Add(element("", i), "want a TextParam, a Currency or a DateTime in a body")
		}
	}
	if names := countNames(b...); names.named > 0 && names.unnamed > 0 {
		c.Add("", "want a name on every parameter, or on none")
	}
}

func (b QuickReplyButton) check(c *checks) {
	if b.Payload != "" && b.Text != "" {
		c.Add("Text", "must be empty if Payload is set")
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

func (r RawComponent) check(c *checks) {
	shape.CheckRawObject[Component](c, r.JSON)
}

// componentLimits are the limits, in characters, that depend on where components are used and on what else is there.
type componentLimits struct {
	bodyTexts  int // all texts of the body together
	couponCode int
}

// The most buttons of their kinds that a template or a card may have.
const (
	mostCopyCodeButtons = 1
	mostURLButtons      = 2
)

// checkComponents checks the components of a template or of a card. Of too many buttons it reports the first.
func checkComponents(c *checks, name string, components []Component, limits componentLimits) {
	checkPartsDiffer(c, name, components)
	copyCodes := 0
	urls := 0
	for i, component := range components {
		switch component := component.(type) { //nolint:gochecksumtype // only these kinds are limited
		case TemplateBody:
			if reason := checkTexts(component, limits.bodyTexts); reason != "" {
				c.Limit(element(name, i), reason)
			}
		case CopyCodeButton:
			copyCodes++
			if copyCodes == mostCopyCodeButtons+1 {
				c.Limit(element(name, i), "want at most one CopyCodeButton")
			}
			c.Length(element(name, i)+".Code", component.Code, limits.couponCode)
		case URLButton:
			urls++
			if urls == mostURLButtons+1 {
				c.Limit(element(name, i), "want at most two URLButtons")
			}
		}
	}
}

// element returns the Go expression of an element of a list, such as Components[1].
func element(name string, index int) string { return name + "[" + strconv.Itoa(index) + "]" }

// checkPartsDiffer checks that no two components fill the same part.
func checkPartsDiffer(c *checks, name string, components []Component) {
	indexes := map[string]int{}
	for i, component := range components {
		part := partOf(component)
		if part == "" {
			continue
		}
		if before, isFilled := indexes[part]; isFilled {
			c.Add(element(name, i), fmt.Sprintf("fills the same part as index %d; want each part once", before))
			continue
		}
		indexes[part] = i
	}
}

// partOf returns the part of a template that a component fills, such as "header" or "button 0". It returns "" if that is not known.
func partOf(component Component) string {
	switch component := component.(type) { //nolint:gochecksumtype // the tests have a type that embeds a Component
	case TemplateHeader:
		return "header"
	case TemplateBody:
		return "body"
	case TemplateCards:
		return "carousel"
	case LimitedTimeOffer:
		return "limited_time_offer"
	case QuickReplyButton:
		return buttonPart(component.Index)
	case URLButton:
		return buttonPart(component.Index)
	case CopyCodeButton:
		return buttonPart(component.Index)
	case CatalogButton:
		return buttonPart(component.Index)
	case ProductsButton:
		return buttonPart(component.Index)
	case FlowButton:
		return buttonPart(component.Index)
	case RawComponent:
		return component.part()
	default: // nil or a pointer, which is another problem
		return ""
	}
}

func buttonPart(index int) string { return "button " + strconv.Itoa(index) }

// part returns the part that a raw component fills, if the type in its JSON is known to appear at most once.
func (r RawComponent) part() string {
	object, _ := shape.Decode(r.JSON).(map[string]any)
	kind, _ := object["type"].(string)
	switch kind = strings.ToLower(kind); kind {
	case "header", "body", "carousel", "limited_time_offer":
		return kind
	case "button":
		index, _ := strconv.Atoi(shape.NumberText(object["index"]))
		return buttonPart(index)
	default:
		return ""
	}
}

// checkTexts returns a problem if the texts among the parameters have more than limit characters together, and "" otherwise.
func checkTexts(parameters []Parameter, limit int) string {
	total := 0
	for _, parameter := range parameters {
		if text, isText := parameter.(TextParam); isText {
			total += utf8.RuneCountInString(text.Text)
		}
	}
	if total > limit {
		return fmt.Sprintf("want at most %d characters in all parameters together, got %d", limit, total)
	}
	return ""
}

func (k TemplateCards) check(c *checks) {
	if len(k) == 0 {
		c.Count("", "cards", 0, 2, 10)
		return
	}
	first := k[0].header()
	fewest := 2
	if first == productHeader || first == unknownHeader {
		fewest = 1
	}
	c.Count("", "cards", len(k), fewest, 10)
	for i, card := range k {
		header := card.header()
		isKnown := first != unknownHeader && header != unknownHeader
		if isKnown && header != first {
			c.Add(element("", i), "must have the same kind of header as the first card")
		}
	}
}

func (k TemplateCard) check(c *checks) {
	if len(k) == 0 {
		c.Add("", "want at least one component, got none")
	}
	checkComponents(c, "", k, componentLimits{bodyTexts: 160, couponCode: 20})
	for i, component := range k {
		switch partOf(component) {
		case "carousel", "limited_time_offer":
			c.Add(element("", i), "must not be on a card")
		}
		header, isHeader := component.(TemplateHeader)
		if !isHeader {
			continue
		}
		switch header.Parameter.(type) { //nolint:gochecksumtype // only these kinds are concerned
		case TextParam, Document, GIF, Location:
			c.Add(element("", i)+".Parameter", "want an Image, a Video or a Product in the header of a card")
		}
	}
}

// headerKind is the kind of the header of a card.
type headerKind string

const (
	noHeader       headerKind = ""
	textHeader     headerKind = "text"
	imageHeader    headerKind = "image"
	videoHeader    headerKind = "video"
	documentHeader headerKind = "document"
	gifHeader      headerKind = "gif"
	locationHeader headerKind = "location"
	productHeader  headerKind = "product"
	otherHeader    headerKind = "other"   // not valid in a header, which another check reports
	unknownHeader  headerKind = "unknown" // cannot be told: it is raw, or not a value
)

// headerOf returns the kind of a header with a parameter.
func headerOf(p Parameter) headerKind {
	switch p.(type) { //nolint:gochecksumtype // the others are wrong in a header
	case TextParam:
		return textHeader
	case Image:
		return imageHeader
	case Video:
		return videoHeader
	case Document:
		return documentHeader
	case GIF:
		return gifHeader
	case Location:
		return locationHeader
	case Product:
		return productHeader
	case RawParameter:
		return unknownHeader
	default:
		return otherHeader
	}
}

// header returns the kind of the card's header.
func (k TemplateCard) header() headerKind {
	kind := noHeader
	for _, component := range k {
		switch component := component.(type) { //nolint:gochecksumtype // the others are no headers
		case TemplateHeader:
			parameter := headerOf(component.Parameter)
			if parameter == unknownHeader {
				return unknownHeader
			}
			if kind == noHeader {
				kind = parameter
			}
		case RawComponent:
			return unknownHeader
		default:
			if !isValue(component) {
				return unknownHeader
			}
		}
	}
	return kind
}
