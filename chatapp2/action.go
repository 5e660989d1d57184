package chatapp2

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Action is what an Interactive offers. It is one of ReplyButtons, List, CTAURL, Flow, Product, ProductList, CatalogMessage,
// LocationRequest, AddressMessage, VoiceCall, CallPermissionRequest, Carousel, OrderDetails, OrderStatus, ContactRequest and
// RawAction: values of these types, not pointers.
//
//sumtype:decl
type Action interface {
	// actionType is the type of the Interactive.
	actionType() string
}

// The types of an interactive message.
const (
	actionButton          = "button"
	actionList            = "list"
	actionCTAURL          = "cta_url"
	actionLocationRequest = "location_request_message"
	actionFlow            = "flow"
	actionProduct         = "product"
	actionProductList     = "product_list"
	actionCatalog         = "catalog_message"
	actionAddress         = "address_message"
	actionVoiceCall       = "voice_call"
	actionCallPermission  = "call_permission_request"
	actionCarousel        = "carousel"
	actionOrderDetails    = "order_details"
	actionOrderStatus     = "order_status"
	actionContactRequest  = "request_contact_info"
)

func (ReplyButtons) actionType() string          { return actionButton }
func (List) actionType() string                  { return actionList }
func (CTAURL) actionType() string                { return actionCTAURL }
func (LocationRequest) actionType() string       { return actionLocationRequest }
func (Flow) actionType() string                  { return actionFlow }
func (Product) actionType() string               { return actionProduct }
func (ProductList) actionType() string           { return actionProductList }
func (CatalogMessage) actionType() string        { return actionCatalog }
func (AddressMessage) actionType() string        { return actionAddress }
func (VoiceCall) actionType() string             { return actionVoiceCall }
func (CallPermissionRequest) actionType() string { return actionCallPermission }
func (Carousel) actionType() string              { return actionCarousel }
func (OrderDetails) actionType() string          { return actionOrderDetails }
func (OrderStatus) actionType() string           { return actionOrderStatus }
func (ContactRequest) actionType() string        { return actionContactRequest }
func (a RawAction) actionType() string           { return a.Type }

// actionName returns the name that an action of a type has on the wire, "" if it has none. The fields of an action with a name
// are its parameters.
func actionName(kind string) string {
	switch kind {
	case actionLocationRequest:
		return "send_location"
	case actionOrderDetails:
		return "review_and_pay"
	case actionOrderStatus:
		return "review_order"
	case actionCTAURL, actionFlow, actionCatalog, actionAddress, actionVoiceCall, actionCallPermission, actionContactRequest:
		return kind
	default:
		return ""
	}
}

// namedJSON is an action that has a name.
type namedJSON struct {
	Name       string `json:"name"`
	Parameters any    `json:"parameters,omitzero"`
}

// RawAction is an action that no other type holds: of a new type, or with members that are new. If the type is known, so are
// its limits, and exceeding them is a Limit. Otherwise it is only checked to be JSON.
type RawAction struct {
	// Type is the type of the Interactive. Required.
	Type string `rule:"required"`
	// JSON is the object under the key "action": any JSON value. Required.
	JSON json.RawMessage
}

func (a RawAction) check(c *checks, path string) {
	if !c.json(path+".JSON", a.JSON) {
		return
	}
	if action, f := readAction(a.Type, decodeValid(a.JSON)); action != nil {
		c.raw(path+".JSON", action, f)
	}
}

// actionShape returns the object under the key "action".
func actionShape(a Action) any {
	name := ""
	if raw, ok := a.(RawAction); ok {
		return rawShape(raw.JSON)
	}
	if name = actionName(a.actionType()); name == "" {
		return shapeOf(a)
	}
	if reflect.ValueOf(a).IsZero() {
		return namedJSON{Name: name}
	}
	return namedJSON{name, shapeOf(a)}
}

// decodeAction returns the action of an interactive message of a type, typed if a type holds all of it.
func decodeAction(kind string, value any) Action {
	if action, f := readAction(kind, value); f == exact {
		return action
	}
	return RawAction{Type: kind, JSON: rawOf(value)}
}

// readAction returns nil if the type is not known.
func readAction(kind string, value any) (Action, fit) {
	kind = strings.ToLower(kind)
	f := exact
	if name := actionName(kind); name != "" {
		var b namedJSON
		b, f = readAs[namedJSON](value)
		f = f.exactIf(strings.EqualFold(b.Name, name))
		if value = b.Parameters; value == nil {
			value = map[string]any{}
		}
	}
	action, af := readFields(kind, value)
	return action, min(f, af)
}

func readFields(kind string, value any) (Action, fit) {
	switch kind {
	case actionButton:
		return readButtons(value, buttonReply)
	case actionList:
		return readAs[List](value)
	case actionCTAURL:
		return readAs[CTAURL](value)
	case actionLocationRequest:
		return readAs[LocationRequest](value)
	case actionFlow:
		return readAs[Flow](value)
	case actionProduct:
		return readAs[Product](value)
	case actionProductList:
		return readAs[ProductList](value)
	case actionCatalog:
		return readAs[CatalogMessage](value)
	case actionAddress:
		return readAs[AddressMessage](value)
	case actionVoiceCall:
		return readAs[VoiceCall](value)
	case actionCallPermission:
		return readAs[CallPermissionRequest](value)
	case actionCarousel:
		return readAs[Carousel](value)
	case actionOrderDetails:
		return readAs[OrderDetails](value)
	case actionOrderStatus:
		return readAs[OrderStatus](value)
	case actionContactRequest:
		return readAs[ContactRequest](value)
	default:
		return nil, misfit
	}
}
