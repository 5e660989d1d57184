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

// actions returns a zero value of each known type of action.
func actions() []Action {
	return []Action{
		ReplyButtons{},
		List{},
		CTAURL{},
		LocationRequest{},
		Flow{},
		Product{},
		ProductList{},
		CatalogMessage{},
		AddressMessage{},
		VoiceCall{},
		CallPermissionRequest{},
		Carousel{},
		OrderDetails{},
		OrderStatus{},
		ContactRequest{},
	}
}

func (ReplyButtons) actionType() string          { return "button" }
func (List) actionType() string                  { return "list" }
func (CTAURL) actionType() string                { return "cta_url" }
func (LocationRequest) actionType() string       { return "location_request_message" }
func (Flow) actionType() string                  { return "flow" }
func (Product) actionType() string               { return "product" }
func (ProductList) actionType() string           { return "product_list" }
func (CatalogMessage) actionType() string        { return "catalog_message" }
func (AddressMessage) actionType() string        { return "address_message" }
func (VoiceCall) actionType() string             { return "voice_call" }
func (CallPermissionRequest) actionType() string { return "call_permission_request" }
func (Carousel) actionType() string              { return "carousel" }
func (OrderDetails) actionType() string          { return "order_details" }
func (OrderStatus) actionType() string           { return "order_status" }
func (ContactRequest) actionType() string        { return "request_contact_info" }
func (a RawAction) actionType() string           { return a.Type }

// namedJSON is an action whose fields are the parameters of a name.
type namedJSON struct {
	Name       string `json:"name"`
	Parameters any    `json:"parameters,omitzero"`
}

// actionName returns the name of an action whose shape is a namedJSON, "" for any other.
func actionName(a Action) string {
	switch a.(type) { //nolint:gochecksumtype // only these kinds are concerned
	case ReplyButtons, List, Product, ProductList, Carousel, RawAction:
		return ""
	case LocationRequest:
		return "send_location"
	case OrderDetails:
		return "review_and_pay"
	case OrderStatus:
		return "review_order"
	default:
		return a.actionType()
	}
}

// RawAction is an action that no other type holds. JSON is the member "action" of an Interactive of the type, and is sent as it is.
type RawAction struct {
	Type string `rule:"required"`
	JSON json.RawMessage
}

func (a RawAction) check(c *checks, path string) {
	c.raw(path+".JSON", a.JSON, func(value any) (any, fit) { return readAction(a.Type, value) })
}

func (a RawAction) shape() any { return a.JSON }

// actionShape returns the object under the key "action".
func actionShape(a Action) any {
	name := actionName(a)
	switch {
	case name == "":
		return shapeOf(a)
	case reflect.ValueOf(a).IsZero():
		return namedJSON{Name: name}
	default:
		return namedJSON{name, shapeOf(a)}
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
	f, action := exact, named(actions(), Action.actionType, kind)
	if action == nil {
		return nil, misfit
	}
	if name := actionName(action); name != "" {
		var b namedJSON
		b, f = readAs[namedJSON](value)
		f = f.exactIf(strings.EqualFold(b.Name, name))
		if value = b.Parameters; value == nil {
			value = map[string]any{}
		}
	}
	action, af := readLike(action, value)
	return action, min(f, af)
}
