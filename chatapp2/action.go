package chatapp2

import (
	"encoding/json"
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
	// action is the object under the key "action", for encoding/json; nil if there is none.
	action() any
	// needs is what the action asks of the rest of the Interactive.
	needs() needs
	check(c *checks, path string)
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

// The names of actions that differ from their types.
const (
	nameLocationRequest = "send_location"
	nameOrderDetails    = "review_and_pay"
	nameOrderStatus     = "review_order"
)

// needs is what an action asks of its Interactive. The zero value needs a body and takes any header and a footer.
type needs struct {
	header   headerNeed
	noBody   bool // the body is optional
	longBody bool
	noFooter bool
	anything bool // nothing is known
}

type headerNeed int

const (
	headerAny headerNeed = iota
	headerNone
	headerText
	headerTextRequired
	headerImage
)

// named is an action that has a name. Absent parameters are zero.
type named[P any] struct {
	Name       string `json:"name"`
	Parameters P      `json:"parameters,omitzero"`
}

// readNamed reads the parameters of an action that has a name.
func readNamed[P any](value any, name string) (P, fit) {
	action, f := readAs[named[P]](value)
	return action.Parameters, f.exactIf(strings.EqualFold(action.Name, name))
}

// RawAction is an action that no other type holds: of a new type, or with members that are new. If the type is known, so are
// its limits; exceeding them is a Limit. Otherwise it is only checked to be JSON.
type RawAction struct {
	// Type is the type of the Interactive. Required.
	Type string
	// JSON is the object under the key "action": any JSON value. Required.
	JSON json.RawMessage
}

func (a RawAction) actionType() string { return a.Type }

func (a RawAction) action() any {
	if a.JSON == nil {
		return nil
	}
	return a.JSON
}

func (RawAction) needs() needs { return needs{anything: true} }

func (a RawAction) check(c *checks, path string) {
	c.required(path+".Type", a.Type, 0)
	if !c.json(path+".JSON", a.JSON) {
		return
	}
	action, f := readAction(a.Type, decodeValid(a.JSON))
	if action != nil {
		c.raw(path+".JSON", f, func(known *checks) { action.check(known, "") })
	}
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
	switch strings.ToLower(kind) {
	case actionButton:
		return readButtons(value, buttonReply)
	case actionList:
		return readAs[List](value)
	case actionCTAURL:
		return readNamed[CTAURL](value, actionCTAURL)
	case actionLocationRequest:
		return readNamed[LocationRequest](value, nameLocationRequest)
	case actionFlow:
		flow, f := readNamed[flowJSON](value, actionFlow)
		return flow.typed(), f
	case actionProduct:
		return readAs[Product](value)
	case actionProductList:
		return readAs[ProductList](value)
	case actionCatalog:
		return readNamed[CatalogMessage](value, actionCatalog)
	case actionAddress:
		return readNamed[AddressMessage](value, actionAddress)
	case actionVoiceCall:
		call, f := readNamed[voiceCallJSON](value, actionVoiceCall)
		return call.typed(), f.exactIf(call.typed().json() == call)
	case actionCallPermission:
		return readNamed[CallPermissionRequest](value, actionCallPermission)
	case actionCarousel:
		return readCarousel(value)
	case actionOrderDetails:
		return readNamed[OrderDetails](value, nameOrderDetails)
	case actionOrderStatus:
		status, f := readNamed[orderStatusJSON](value, nameOrderStatus)
		return status.typed(), f
	case actionContactRequest:
		return readNamed[ContactRequest](value, actionContactRequest)
	default:
		return nil, misfit
	}
}
