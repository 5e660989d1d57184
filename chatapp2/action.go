package chatapp2

import "encoding/json"

// Action is what an Interactive offers. It is one of ReplyButtons, List, CTAURL, Flow, Product, ProductList, CatalogMessage,
// LocationRequest, AddressMessage, VoiceCall, CallPermissionRequest, Carousel, OrderDetails, OrderStatus, ContactRequest and
// RawAction: values of these types, not pointers.
//
//sumtype:decl
type Action interface{ action() place }

func (ReplyButtons) action() place {
	return place{"type=button", "action!.buttons[each type=reply]!.reply!"}
}
func (List) action() place   { return place{"type=list", "action!"} }
func (CTAURL) action() place { return namedAction("cta_url", "cta_url") }
func (LocationRequest) action() place {
	return namedAction("location_request_message", "send_location")
}
func (Flow) action() place           { return namedAction("flow", "flow") }
func (Product) action() place        { return place{"type=product", "action!"} }
func (ProductList) action() place    { return place{"type=product_list", "action!"} }
func (CatalogMessage) action() place { return namedAction("catalog_message", "catalog_message") }
func (AddressMessage) action() place { return namedAction("address_message", "address_message") }
func (VoiceCall) action() place      { return namedAction("voice_call", "voice_call") }
func (CallPermissionRequest) action() place {
	return namedAction("call_permission_request", "call_permission_request")
}
func (Carousel) action() place     { return place{"type=carousel", "action!"} }
func (OrderDetails) action() place { return namedAction("order_details", "review_and_pay") }
func (OrderStatus) action() place  { return namedAction("order_status", "review_order") }
func (ContactRequest) action() place {
	return namedAction("request_contact_info", "request_contact_info")
}
func (RawAction) action() place { return place{} }

// namedAction is the place of an action that also has a name, beside its parameters.
func namedAction(kind, name string) place {
	return place{"type=" + kind + " action.name=" + name, "action!.parameters"}
}

// RawAction is an action that no other type holds. JSON is the member "action" of an Interactive of the type, and is sent as it is.
type RawAction struct {
	Type string          `at:"type" rule:"required"`
	JSON json.RawMessage `at:"action"`
}

func (a RawAction) check(c *checks) {
	rawJSON[Action](c, a.JSON, map[string]any{"type": a.Type, "action": decode(a.JSON)})
}
