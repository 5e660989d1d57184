package learn

import "github.com/messaging-service/messaging-go/internal/table"

// The sections of an overlay that have notes.
const (
	sectionAuth     = "auth"
	sectionErrors   = "errors"
	sectionSend     = "sms.send"
	sectionList     = "sms.list"
	sectionInbound  = "webhook.sms"
	sectionDelivery = "webhook.delivery"
)

// overlay is the overlay that is learned. In its JSON, an absent member leaves the default contract as it is, and
// an empty text or list replaces it.
type overlay struct {
	Auth     auth              `json:"auth,omitzero"`
	Headers  map[string]string `json:"headers,omitempty"`
	Errors   errorNames        `json:"errors,omitzero"`
	Send     sendNames         `json:"sms.send,omitzero"`
	List     listNames         `json:"sms.list,omitzero"`
	Inbound  callbackNames     `json:"webhook.sms,omitzero"`
	Delivery deliveryNames     `json:"webhook.delivery,omitzero"`

	notes

	defaults *table.Table // what an absent member leaves as it is
}

// auth says where requests have their credentials.
type auth struct {
	Token   token   `json:"token,omitzero"`
	KeyPair keyPair `json:"keyPair,omitzero"`
}

type token struct {
	Header string  `json:"header,omitempty"`
	Scheme *string `json:"scheme,omitempty"` // "" writes the token alone
}

type keyPair struct {
	In     string  `json:"in,omitempty"`
	Key    string  `json:"key,omitempty"`
	Secret *string `json:"secret,omitempty"` // "" if a key is enough
}

// errorNames says where a response has a code, a sentence and the ID of the request, and what each code means.
type errorNames struct {
	Code    []string `json:"code,omitzero"`
	Message []string `json:"message,omitzero"`
	Request []string `json:"request,omitzero"`
	Success []string `json:"success,omitzero"`  // codes that report no error
	Classes lists    `json:"classes,omitempty"` // the codes of each class
}

// sendNames describes a send: its request, and the response to it.
type sendNames struct {
	Path      string            `json:"path"`
	Encoding  string            `json:"encoding,omitempty"`
	Fields    map[string]string `json:"fields,omitempty"` // the path of each concept; "" if the service does not take it
	Constants map[string]any    `json:"constants,omitempty"`
	With      with              `json:"with"`
	Response  lists             `json:"response,omitempty"` // the paths of each concept
	Accepted  []string          `json:"accepted,omitzero"`  // words of the status
	Refused   []string          `json:"refused,omitzero"`   // words of the status
}

// with has the constants that are sent only if a message has a field.
type with struct {
	Callback map[string]any `json:"callback"`
}

// listNames describes the listing: its request, and the rows and the page of its response.
type listNames struct {
	Path     string            `json:"path,omitempty"`
	Method   string            `json:"method,omitempty"`
	Encoding string            `json:"encoding,omitempty"`
	Params   map[string]string `json:"params,omitempty"` // the name of each parameter
	Items    []string          `json:"items,omitzero"`   // the path of the rows
	Record   lists             `json:"record,omitempty"` // the paths of each concept, from a row on
	Paging   *paging           `json:"paging,omitempty"`
	Page     lists             `json:"page,omitempty"` // the paths of each concept
	Sorts    map[string]string `json:"sorts,omitempty"`
	Orders   map[string]string `json:"orders,omitempty"`
	Time     string            `json:"time,omitempty"`
	Layouts  []string          `json:"layouts,omitempty"`
}

// isPaged reports whether a parameter of the request says which page it asks for.
func (l *listNames) isPaged() bool {
	return l.Params["page"] != "" || l.Params["offset"] != "" || l.Params["cursor"] != ""
}

// paging says how the next page is requested.
type paging struct {
	By    string `json:"by"`
	First *int   `json:"first,omitempty"`
	Whole bool   `json:"whole,omitempty"`
}

// callbackNames describes a callback.
type callbackNames struct {
	Encoding string   `json:"encoding,omitempty"`
	Events   []string `json:"events,omitzero"`
	Params   lists    `json:"params,omitempty"` // the names of each concept
}

// deliveryNames describes the callback with a delivery report.
type deliveryNames struct {
	callbackNames

	Statuses     lists             `json:"statuses,omitempty"`     // the words of each meaning
	Placeholders map[string]string `json:"placeholders,omitempty"` // the text of each concept in a callback URL; "" if the service has none
}

func newOverlay() *overlay {
	return &overlay{
		Headers: map[string]string{},
		Send: sendNames{
			Fields:    map[string]string{},
			Constants: map[string]any{},
			With:      with{Callback: map[string]any{}},
			Response:  lists{},
		},
		List:     listNames{Params: map[string]string{}, Record: lists{}},
		Inbound:  callbackNames{Params: lists{}},
		Delivery: deliveryNames{callbackNames: callbackNames{Params: lists{}}, Statuses: lists{}},
		defaults: table.Default(),
	}
}
