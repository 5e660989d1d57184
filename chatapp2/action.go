package chatapp2

import (
	"encoding/json"
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
