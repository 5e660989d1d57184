package chatapp2

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/shape"
)

// Action is what an Interactive offers. It is one of ReplyButtons, List, CTAURL, Flow, Product, ProductList, CatalogMessage,
// LocationRequest, AddressMessage, VoiceCall, CallPermissionRequest, Carousel, OrderDetails, OrderStatus, ContactRequest and
// RawAction: values of these types, not pointers.
//
//sumtype:decl
type Action interface{ action() place }

func (List) action() place            { return placed("type=list", "action!") }
func (CTAURL) action() place          { return named("cta_url", "cta_url") }
func (LocationRequest) action() place { return named("location_request_message", "send_location") }
func (Flow) action() place            { return named("flow", "flow") }
func (Product) action() place         { return placed("type=product", "action!") }
func (ProductList) action() place     { return placed("type=product_list", "action!") }
func (CatalogMessage) action() place  { return named("catalog_message", "catalog_message") }
func (AddressMessage) action() place  { return named("address_message", "address_message") }
func (VoiceCall) action() place       { return named("voice_call", "voice_call") }
func (Carousel) action() place        { return placed("type=carousel", "action!") }
func (OrderDetails) action() place    { return named("order_details", "review_and_pay") }
func (OrderStatus) action() place     { return named("order_status", "review_order") }
func (ContactRequest) action() place  { return named("request_contact_info", "request_contact_info") }
func (RawAction) action() place       { return place{} }

func (ReplyButtons) action() place {
	return placed("type=button", "action!.buttons[each type=reply]!.reply!")
}

func (CallPermissionRequest) action() place {
	return named("call_permission_request", "call_permission_request")
}

func named(kind, name string) place {
	return placed("type="+kind+" action.name="+name, "action!.parameters")
}

// RawAction is an action that no other type holds. JSON is the member "action" of an Interactive of the type, and is sent as it is.
type RawAction struct {
	Type string          `at:"type,required"`
	JSON json.RawMessage `at:"action"`
}

func (a RawAction) check(c *checks) {
	shape.CheckRaw[Action](c, a.JSON, func(value any) any { return map[string]any{"type": a.Type, "action": value} })
}

// ReplyButtons is 1 to 3 buttons, one of which the recipient taps to reply. The Interactive takes any header. It can also be
// the CardAction of a Card.
type ReplyButtons []ReplyButton

// ReplyButton is a button that sends a reply.
type ReplyButton struct {
	// ID comes back in the reply. It is unique and has no white space around it.
	ID string `at:"id,required,max=256,trimmed,unique"`
	// Title is the label. It is unique.
	Title string `at:"title,required,max=20,unique"`
}

// CTAURL is a button that opens a web page. The Interactive takes any header. It can also be the CardAction of a Card.
type CTAURL struct {
	// DisplayText is the label of the button.
	DisplayText string `at:"display_text,required,max=20"`
	URL         string `at:"url,required,url"`
	// PaymentLinkPreview shows a preview of a payment link, in India.
	PaymentLinkPreview bool `at:"payment_link_preview"`
}

// VoiceCall is a button with which the recipient calls the sender. The Interactive takes any header.
type VoiceCall struct {
	// DisplayText is the label of the button. Empty is the platform's own.
	DisplayText string `at:"display_text,max=20"`
	// TTL is how long the button works: whole minutes, at most 30 days. 0 is the platform's default, 7 days.
	TTL time.Duration `at:"ttl_minutes,minutes"`
	// Payload comes back with the call.
	Payload string `at:"payload,max=512"`
}

// LocationRequest asks the recipient for a location. The Interactive takes no header. The response is a location message that
// quotes this one.
type LocationRequest struct{}

// ContactRequest asks the recipient for their contact details. The response is a contacts message.
type ContactRequest struct{}

// CallPermissionRequest asks the recipient for permission to call them. The platform allows one a day and two a week for each
// recipient. The body is optional.
type CallPermissionRequest struct{}

// List is a button that opens a list, from which the recipient chooses one row. The Interactive takes a HeaderText or no header,
// and its body may have 4096 characters.
type List struct {
	// Button is the label of the button.
	Button string `at:"button,required,max=20"`
	// Sections is 1 to 10 sections, with at most 10 rows in total.
	Sections []Section `at:"sections"`
}

// Section is a part of a List. Its title is required if there is more than one section, and it has 1 to 10 rows.
type Section struct {
	Title string `at:"title,max=24"`
	Rows  []Row  `at:"rows"`
}

// Row is a choice in a List.
type Row struct {
	// ID comes back in the reply. It is unique in its section.
	ID          string `at:"id,required,max=200,unique"`
	Title       string `at:"title,required,max=24"`
	Description string `at:"description,max=72"`
}

func (l List) check(c *checks) {
	checkSections(c, "Sections", "Rows", 10, l.Sections, func(s Section) (string, int) { return s.Title, len(s.Rows) })
}

func checkSections[S any](c *checks, name, field string, most int, sections []S, contents func(S) (title string, elements int)) {
	c.Count(name, "sections", len(sections), 1, 10)
	total := 0
	for i, section := range sections {
		title, elements := contents(section)
		if len(sections) > 1 {
			c.Required(fmt.Sprintf("%s[%d].Title", name, i), title)
		}
		if elements == 0 {
			c.Found(fmt.Sprintf("%s[%d].%s", name, i, field), "required, but empty")
		}
		total += elements
	}
	if total > most {
		c.Limit(name, fmt.Sprintf("want at most %d %s in all sections together, got %d", most, strings.ToLower(field), total))
	}
}

// Flow is a button that opens a form of several screens. The Interactive takes any header. In a template, use FlowButton.
type Flow struct {
	// Version is the version of the message. Empty is "3", the only one.
	Version string `at:"flow_message_version,default=3,oneof=3"`
	// ID and Name identify the flow: exactly one is set.
	ID   string `at:"flow_id,notblank"`
	Name string `at:"flow_name,notblank"`
	// CTA is the label of the button, without emoji.
	CTA string `at:"flow_cta,required,max=30"`
	// Mode is FlowPublished if it is empty.
	Mode FlowMode `at:"mode,oneof=draft|published"`
	// Token comes back with the response. Empty is "unused".
	Token string `at:"flow_token"`
	// Action is FlowNavigate if it is empty.
	Action FlowAction `at:"flow_action,oneof=navigate|data_exchange"`
	// Screen is the ID of the first screen. Required if Data is set.
	Screen string `at:"flow_action_payload.screen"`
	// Data is passed to the first screen: a value that encodes as a JSON object that is not empty, or the text of one.
	Data any `at:"flow_action_payload.data,object"`
}

// FlowMode says which version of a flow opens.
type FlowMode string

// The modes of a Flow.
const (
	FlowDraft     FlowMode = "draft"
	FlowPublished FlowMode = "published"
)

// FlowAction says what a flow does first.
type FlowAction string

// The actions of a Flow.
const (
	FlowNavigate     FlowAction = "navigate"
	FlowDataExchange FlowAction = "data_exchange"
)

func (f Flow) check(c *checks) {
	if (f.ID == "") == (f.Name == "") {
		c.Found("", "want exactly one of ID and Name")
	}
	if f.Data != nil {
		c.Required("Screen", f.Screen)
	}
}

// Product shows one product of a catalog. The Interactive takes no header, and the body is optional. It can also be the
// CardAction of a Card and, in the header of a template, a Parameter. The IDs are of the catalog on the platform and of the product in it.
type Product struct {
	CatalogID         string `at:"catalog_id,required"`
	ProductRetailerID string `at:"product_retailer_id,required"`
}

// ProductList shows the products of 1 to 10 sections, at most 30 in total. The Interactive needs a HeaderText.
type ProductList struct {
	CatalogID string           `at:"catalog_id,required"`
	Sections  []ProductSection `at:"sections"`
}

// ProductSection is a part of a ProductList or a ProductsButton. Its title is required if there is more than one section, and it has
// at least one product.
type ProductSection struct {
	Title    string        `at:"title,max=24"`
	Products []ProductItem `at:"product_items"`
}

// ProductItem is a product in a ProductSection.
type ProductItem struct {
	ProductRetailerID string `at:"product_retailer_id,required"`
}

func (p ProductList) check(c *checks) {
	checkProductSections(c, "Sections", p.Sections)
}

func checkProductSections(c *checks, name string, sections []ProductSection) {
	checkSections(c, name, "Products", 30, sections, func(s ProductSection) (string, int) { return s.Title, len(s.Products) })
}

// CatalogMessage is a button that opens the whole catalog. The Interactive takes no header. Without a thumbnail, the first product of the
// catalog is shown.
type CatalogMessage struct {
	ThumbnailProductRetailerID string `at:"thumbnail_product_retailer_id"`
}

// AddressMessage asks the recipient for a postal address, in India (Country "IN"). Values fills in what is known. The recipient can
// choose one of SavedAddresses. The Interactive takes any header.
type AddressMessage struct {
	Country string  `at:"country,required,oneof=IN"`
	Values  Address `at:"values"`
	// ValidationErrors says what was wrong with an earlier response, by the wire name of each field.
	ValidationErrors map[string]string `at:"validation_errors"`
	SavedAddresses   []SavedAddress    `at:"saved_addresses"`
}

// SavedAddress is an address that the recipient can choose.
type SavedAddress struct {
	// ID comes back in the response. It is unique.
	ID    string  `at:"id,required,unique"`
	Value Address `at:"value"`
}

// Address is a postal address in India. PINCode is the postal code.
type Address struct {
	Name         string `at:"name"`
	PhoneNumber  string `at:"phone_number"`
	PINCode      string `at:"in_pin_code,max=6"`
	HouseNumber  string `at:"house_number"`
	FloorNumber  string `at:"floor_number"`
	TowerNumber  string `at:"tower_number"`
	BuildingName string `at:"building_name"`
	Address      string `at:"address"`
	LandmarkArea string `at:"landmark_area"`
	City         string `at:"city"`
	State        string `at:"state"`
}

// Carousel shows 2 to 10 cards side by side. All have the same kind and number of buttons; products are of one catalog. The
// Interactive takes no header and no footer.
type Carousel struct {
	Cards []Card `at:"cards[each card_index=#]!"`
}

// Card is a card of a Carousel.
type Card struct {
	// Header is an Image or a Video. Required, except on a card of a Product, which takes none.
	Header Header `at:"header"`
	// Body is at most 160 characters with at most 2 line breaks. Optional. A card of a Product takes none.
	Body string `at:"body.text,max=160"`
	// Action is what the card offers. Required.
	Action CardAction `at:"type&action,required"`
}

// CardAction is what a Card offers. It is one of CTAURL, ReplyButtons and Product: values of these types, not pointers.
//
//sumtype:decl
type CardAction interface{ cardAction() place }

func (CTAURL) cardAction() place  { return named("cta_url", "cta_url") }
func (Product) cardAction() place { return placed("type=product", "action!") }

// The platform documents the type of a link for buttons too.
func (ReplyButtons) cardAction() place {
	return placed("type=cta_url", "action!.buttons[each type=quick_reply]!.quick_reply!")
}

func (k Carousel) check(c *checks) {
	c.Count("Cards", "cards", len(k.Cards), 2, 10)
	for i, card := range k.Cards {
		first := k.Cards[0]
		if shape.IsValue(first.Action) && shape.IsValue(card.Action) && kindOf(first.Action) != kindOf(card.Action) {
			c.Found(fmt.Sprintf("Cards[%d].Action", i),
				"must be of the same kind as on the first card, with as many buttons, or of the same catalog")
		}
		if isImageOrVideo(first.Header) && isImageOrVideo(card.Header) && reflect.TypeOf(first.Header) != reflect.TypeOf(card.Header) {
			c.Limit(fmt.Sprintf("Cards[%d].Header", i), "must be of the same kind as on the first card")
		}
	}
}

func kindOf(action CardAction) string {
	switch action := action.(type) { //nolint:gochecksumtype // only these kinds are concerned
	case ReplyButtons:
		return strconv.Itoa(len(action)) + " buttons"
	case Product:
		return "a product of " + action.CatalogID
	default:
		return "a link"
	}
}

func isImageOrVideo(h Header) bool {
	switch h.(type) { //nolint:gochecksumtype // only these kinds are concerned
	case Image, Video:
		return true
	default:
		return false
	}
}

func (k Card) check(c *checks) {
	_, isProduct := k.Action.(Product)
	switch {
	case !isProduct && k.Header == nil:
		c.Found("Header", "required, but nil; want an Image or a Video")
	case isProduct && shape.IsValue(k.Header):
		c.Found("Header", "must be nil on a card of a Product")
	case shape.IsValue(k.Header) && !isImageOrVideo(k.Header):
		c.Found("Header", "want an Image or a Video")
	}
	checkNoCaption(c, "Header", k.Header)
	if buttons, ok := k.Action.(ReplyButtons); ok && len(buttons) == 0 {
		c.Found("Action", "want at least one button, got none")
	}
	if isProduct && k.Body != "" {
		c.Found("Body", "must be empty on a card of a Product")
	}
	if n := strings.Count(k.Body, "\n"); n > 2 {
		c.Limit("Body", fmt.Sprintf("want at most 2 line breaks, got %d", n))
	}
}
