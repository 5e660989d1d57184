package chatapp2

import "encoding/json"

// Action is what an Interactive offers. It is one of ReplyButtons, List, CTAURL, Flow, Product, ProductList, CatalogMessage,
// LocationRequest, AddressMessage, VoiceCall, CallPermissionRequest, Carousel, OrderDetails, OrderStatus, ContactRequest and
// RawAction: values of these types, not pointers.
//
//sumtype:decl
type Action interface{ isAction() }

func actions() []kind {
	return []kind{
		{ReplyButtons{}, "type=button", "action!.buttons[each type=reply]!.reply!"},
		{List{}, "type=list", "action!"},
		{CTAURL{}, "type=cta_url action.name=cta_url", "action!.parameters"},
		{LocationRequest{}, "type=location_request_message action.name=send_location", "action!.parameters"},
		{Flow{}, "type=flow action.name=flow", "action!.parameters"},
		{Product{}, "type=product", "action!"},
		{ProductList{}, "type=product_list", "action!"},
		{CatalogMessage{}, "type=catalog_message action.name=catalog_message", "action!.parameters"},
		{AddressMessage{}, "type=address_message action.name=address_message", "action!.parameters"},
		{VoiceCall{}, "type=voice_call action.name=voice_call", "action!.parameters"},
		{CallPermissionRequest{}, "type=call_permission_request action.name=call_permission_request", "action!.parameters"},
		{Carousel{}, "type=carousel", "action!"},
		{OrderDetails{}, "type=order_details action.name=review_and_pay", "action!.parameters"},
		{OrderStatus{}, "type=order_status action.name=review_order", "action!.parameters"},
		{ContactRequest{}, "type=request_contact_info action.name=request_contact_info", "action!.parameters"},
		{RawAction{}, "", ""},
	}
}

func (ReplyButtons) isAction()          {}
func (List) isAction()                  {}
func (CTAURL) isAction()                {}
func (LocationRequest) isAction()       {}
func (Flow) isAction()                  {}
func (Product) isAction()               {}
func (ProductList) isAction()           {}
func (CatalogMessage) isAction()        {}
func (AddressMessage) isAction()        {}
func (VoiceCall) isAction()             {}
func (CallPermissionRequest) isAction() {}
func (Carousel) isAction()              {}
func (OrderDetails) isAction()          {}
func (OrderStatus) isAction()           {}
func (ContactRequest) isAction()        {}
func (RawAction) isAction()             {}

// RawAction is an action that no other type holds. JSON is the member "action" of an Interactive of the type, and is sent as it is.
type RawAction struct {
	Type string          `at:"type" rule:"required"`
	JSON json.RawMessage `at:"action"`
}

func (a RawAction) check(c *checks) {
	rawJSON[Action](c, a.JSON, map[string]any{"type": a.Type, "action": decode(a.JSON)})
}
