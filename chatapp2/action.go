package chatapp2

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

// namedAction is the shape of the actions that have a name.
type namedAction struct {
	Name       string `json:"name,omitzero"`
	Parameters any    `json:"parameters,omitzero"`
}

// readAction gives the action of an interactive message of a type, typed where that holds all of it. It tells whether the
// action has a name, and came without it.
func readAction(kind string, value any) (action Action, noName bool) {
	m := membersOf(value)
	_, hasName := m.left["name"]
	if action = readKnownAction(kind, m); action != nil && value != nil && m.whole() {
		_, isNamed := action.action().(namedAction)
		return action, isNamed && !hasName
	}
	return RawAction{Type: kind, JSON: rawOf(value)}, false
}

func readKnownAction(kind string, m *members) Action {
	switch kind {
	case actionButton:
		return readButtons(m, "reply")
	case actionList:
		return filled[List](m)
	case actionCTAURL:
		return readNamed[CTAURL](m, kind)
	case actionLocationRequest:
		m.is("name", "send_location")
		return LocationRequest{}
	case actionFlow:
		return readFlow(m)
	case actionProduct:
		return filled[Product](m)
	case actionProductList:
		return filled[ProductList](m)
	case actionCatalog:
		return readNamed[CatalogMessage](m, kind)
	case actionAddress:
		return readNamed[AddressMessage](m, kind)
	case actionVoiceCall:
		return readVoiceCall(m)
	case actionCallPermission:
		m.is("name", kind)
		return CallPermissionRequest{}
	case actionCarousel:
		return readCarousel(m)
	case actionOrderDetails:
		return readNamed[OrderDetails](m, "review_and_pay")
	case actionOrderStatus:
		return readOrderStatus(m)
	case actionContactRequest:
		m.is("name", kind)
		return ContactRequest{}
	default:
		return nil
	}
}

// filled reads an action whose fields and tags are its shape on the wire.
func filled[T Action](m *members) Action {
	var action T
	var value any = m.left
	if m.open {
		value = open(m.left)
	}
	if !fill(value, &action) {
		m.failed = true
	}
	m.left = nil
	return action
}

// readNamed reads an action that has a name, and whose fields and tags are the shape of its parameters.
func readNamed[T Action](m *members, name string) Action {
	var action T
	m.is("name", name)
	m.into("parameters", &action)
	return action
}

// LocationRequest asks the recipient for a location. The Interactive takes no header; the answer is a location message that
// quotes this one.
type LocationRequest struct{}

func (LocationRequest) interactive() (string, needs) {
	return actionLocationRequest, needs{header: headerNone}
}

func (LocationRequest) action() any { return namedAction{Name: "send_location"} }

func (LocationRequest) check(*checks, string) {}

// ContactRequest asks the recipient for their contact details. The platform's samples have no header. The answer is a contacts message.
type ContactRequest struct{}

func (ContactRequest) interactive() (string, needs) { return actionContactRequest, needs{} }

func (ContactRequest) action() any { return namedAction{Name: actionContactRequest} }

func (ContactRequest) check(*checks, string) {}

// CallPermissionRequest asks the recipient for the permission to be called. The platform allows one a day and two a week for
// each recipient. The body is optional, and the platform's samples have no header.
type CallPermissionRequest struct{}

func (CallPermissionRequest) interactive() (string, needs) {
	return actionCallPermission, needs{noBody: true}
}

func (CallPermissionRequest) action() any { return namedAction{Name: actionCallPermission} }

func (CallPermissionRequest) check(*checks, string) {}

// CTAURL is a button that opens a web page. The Interactive takes any header. It is also the CardAction of a Card.
type CTAURL struct {
	// DisplayText is the label of the button, at most 20 characters. Required.
	DisplayText string `json:"display_text,omitzero"`
	// URL is what it opens: absolute, http or https. Required.
	URL string `json:"url,omitzero"`
	// PaymentLinkPreview shows a preview of a payment link, in India.
	PaymentLinkPreview bool `json:"payment_link_preview,omitzero"`

	noPreview bool // a body that was read said so
}

type ctaBody struct {
	DisplayText string `json:"display_text,omitzero"`
	URL         string `json:"url,omitzero"`
	Preview     *bool  `json:"payment_link_preview,omitzero"`
}

// fillFrom is called by fill.
func (a *CTAURL) fillFrom(value any) bool {
	var b ctaBody
	if !fill(value, &b) {
		return false
	}
	*a = CTAURL{DisplayText: b.DisplayText, URL: b.URL}
	if b.Preview != nil {
		a.PaymentLinkPreview, a.noPreview = *b.Preview, !*b.Preview
	}
	return true
}

func (CTAURL) interactive() (string, needs) { return actionCTAURL, needs{} }

func (a CTAURL) action() any {
	b := ctaBody{DisplayText: a.DisplayText, URL: a.URL}
	if a.PaymentLinkPreview || a.noPreview {
		b.Preview = &a.PaymentLinkPreview
	}
	return namedAction{Name: actionCTAURL, Parameters: b}
}

func (a CTAURL) check(c *checks, path string) {
	c.required(path+".DisplayText", a.DisplayText, 20)
	c.url(path+".URL", a.URL)
}

// VoiceCall is a button by which the recipient calls the sender. The Interactive takes any header.
type VoiceCall struct {
	// DisplayText is the label of the button, at most 20 characters. Empty is the platform's own.
	DisplayText string `json:"display_text,omitzero"`
	// TTLMinutes is how long the button works, 1 to 43200 minutes. 0 is the platform's default, 7 days.
	TTLMinutes int `json:"ttl_minutes,omitzero"`
	// Payload comes back with the call, at most 512 characters. Optional.
	Payload string `json:"payload,omitzero"`

	zeroTTL bool // a body that was read had one
}

type voiceCallBody struct {
	DisplayText string `json:"display_text,omitzero"`
	TTLMinutes  *int   `json:"ttl_minutes,omitzero"`
	Payload     string `json:"payload,omitzero"`
}

func readVoiceCall(m *members) VoiceCall {
	var b voiceCallBody
	m.is("name", actionVoiceCall)
	m.into("parameters", &b)
	call := VoiceCall{DisplayText: b.DisplayText, Payload: b.Payload}
	if b.TTLMinutes != nil {
		call.TTLMinutes, call.zeroTTL = *b.TTLMinutes, *b.TTLMinutes == 0
	}
	return call
}

func (VoiceCall) interactive() (string, needs) { return actionVoiceCall, needs{} }

func (a VoiceCall) action() any {
	if a == (VoiceCall{}) {
		return namedAction{Name: actionVoiceCall}
	}
	b := voiceCallBody{DisplayText: a.DisplayText, Payload: a.Payload}
	if a.TTLMinutes != 0 || a.zeroTTL {
		b.TTLMinutes = &a.TTLMinutes
	}
	return namedAction{Name: actionVoiceCall, Parameters: b}
}

func (a VoiceCall) check(c *checks, path string) {
	c.text(path+".DisplayText", a.DisplayText, 20)
	checkCallTTL(c, path+".TTLMinutes", a.TTLMinutes, a.zeroTTL)
	c.text(path+".Payload", a.Payload, 512)
}

func checkCallTTL(c *checks, path string, minutes int, zero bool) {
	if minutes != 0 || zero {
		c.between(path, minutes, 1, 43200)
	}
}
