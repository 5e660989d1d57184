package messagingtest

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// A Callback is what the service sends to a customer's webhook: an [InboundSMS], an [InboundChatApp] or a [DeliveryReport].
// [Server.CallWebhook] calls a webhook with it, and [NewRequest] makes a request of it for the unit test of a handler.
//
// The parameters go in the order of the fields, each under the first name that the contract has for it. A field that is zero, or
// that the contract does not know, is not sent. Extra comes last, sorted by name. It holds parameters that have no field, such as
// a name of another contract, a time in another form, an empty value, or a second value for a name.
//
//sumtype:decl
type Callback interface {
	// section is the section of the contract that names the parameters, below "webhook.".
	section() string
	// fields returns the fields with the concepts that they stand for.
	fields() []field
	// extra returns the parameters that the contract does not name.
	extra() url.Values
}

// A field is the value of a concept in a callback: a string or a time.Time.
type field struct {
	concept string
	value   any
}

// InboundSMS is an SMS that was sent to an access code or a virtual number of the customer. Nothing is checked: a message
// without a sender can be sent, to see it refused.
type InboundSMS struct {
	ID          string    // the message ID
	From        string    // the sender's number
	To          string    // the access code or virtual number
	Text        string    // any bytes, valid UTF-8 or not
	ReceivedAt  time.Time // written by RFC 3339 in UTC, or by the first layout of the contract, in its zone
	ReferenceID string    // of the message that it replies to
	Operator    string    // of the sender
	Keyword     string    // that the service recognized in the text
	Extra       url.Values
}

func (m InboundSMS) section() string   { return channelSMS }
func (m InboundSMS) extra() url.Values { return m.Extra }

func (m InboundSMS) fields() []field {
	return []field{
		{"id", m.ID},
		{"from", m.From},
		{"to", m.To},
		{"text", m.Text},
		{"time", m.ReceivedAt},
		{"reference", m.ReferenceID},
		{"operator", m.Operator},
		{"keyword", m.Keyword},
	}
}

// InboundChatApp is a message that was sent to the customer by one of the chat apps. By the default contract both have the same
// parameters, and the webhook that is called decides which app it is. Nothing is checked.
type InboundChatApp struct {
	Channel  string // "chatapp1" or "chatapp2": whose parameters the contract has; empty is chat app 1
	ID       string // the message ID
	From     string // the sender's number
	To       string // the number or channel that it was sent to
	Name     string // the sender's profile name
	Kind     string // text, image, location and so on
	Text     string // any bytes
	MediaURL string // where the medium is; the server serves no media
	MediaID  string // its ID at the service
	MIMEType string // of the medium
	Caption  string // of the medium
	FileName string // of a document
	// Latitude and Longitude are decimal degrees, such as "14.5995". They are text because zero is a valid coordinate.
	Latitude    string
	Longitude   string
	ReceivedAt  time.Time // written like that of InboundSMS
	ReferenceID string    // of the message that it replies to
	// JSON is the message as an object of the third-party platform, or its whole envelope, as Sent.Tap and similar methods
	// write it. With the tap of a button or row, leave Kind empty: a Kind that differs from the object's type panics.
	JSON  string
	Extra url.Values
}

func (m InboundChatApp) section() string   { return cmp.Or(m.Channel, channelChatApp1) }
func (m InboundChatApp) extra() url.Values { return m.Extra }

func (m InboundChatApp) fields() []field {
	m.checkKind()
	return []field{
		{"id", m.ID},
		{"from", m.From},
		{"to", m.To},
		{"name", m.Name},
		{"kind", m.Kind},
		{"text", m.Text},
		{"mediaURL", m.MediaURL},
		{"mediaID", m.MediaID},
		{"mimeType", m.MIMEType},
		{"caption", m.Caption},
		{"fileName", m.FileName},
		{"latitude", m.Latitude},
		{"longitude", m.Longitude},
		{"time", m.ReceivedAt},
		{"reference", m.ReferenceID},
		{"json", m.JSON},
	}
}

// checkKind panics if the kind contradicts the object of a tap: a receiver would read another event.
func (m InboundChatApp) checkKind() {
	value, _ := readJSON([]byte(m.JSON))
	object, _ := value.(document)
	kind := textIn(object, "type")
	isTap := kind == "button" || kind == "interactive"
	isSame := m.Kind == "" || m.Kind == kind
	panicUnless(isSame || !isTap, "InboundChatApp: leave Kind empty for the tap of a button or row; it is %q", m.Kind)
}

// DeliveryReport is what the service reports about a message that was sent with a callback URL. Nothing is checked.
// [Server.ReportDelivery] makes one of a message that the server has accepted.
type DeliveryReport struct {
	Status      string    // a word or a number, such as "delivered" or "1"
	ID          string    // the message ID
	ReferenceID string    // that the client chose
	At          time.Time // when the status was reached; written like the time of InboundSMS
	Kind        string    // the type of the transaction
	From        string    // the sender ID of the message
	To          string    // the recipient of the message
	ErrorCode   string    // why the message was not delivered
	ErrorText   string    // the same in words
	Cost        string    // of the message, a decimal number
	Currency    string    // of Cost
	Category    string    // what the message counts as in the bill
	Extra       url.Values
}

func (d DeliveryReport) section() string   { return "delivery" }
func (d DeliveryReport) extra() url.Values { return d.Extra }

func (d DeliveryReport) fields() []field {
	return []field{
		{"status", d.Status},
		{"id", d.ID},
		{"reference", d.ReferenceID},
		{"time", d.At},
		{"kind", d.Kind},
		{"from", d.From},
		{"to", d.To},
		{"errorCode", d.ErrorCode},
		{"errorText", d.ErrorText},
		{"cost", d.Cost},
		{"currency", d.Currency},
		{"category", d.Category},
	}
}

// NewRequest returns the request by which the service calls a webhook with the callback, to pass to the webhook's handler. Like
// [net/http/httptest.NewRequest], it makes a request as a server sees it, for a path or an absolute URL whose query stays byte for
// byte. Of the options, AsForm, AsJSON and UnderContract have an effect; without UnderContract the default contract names the
// parameters. Placeholders of a delivery report are not replaced: see [Server.ReportDelivery].
//
// NewRequest panics if the callback is nil or the target cannot be part of a request line.
func NewRequest(target string, callback Callback, opts ...CallOption) *http.Request {
	panicUnless(callback != nil, "NewRequest: the callback is nil")
	panicUnless(!strings.ContainsFunc(target, isControlOrSpace), "NewRequest: the target has white space or control characters")
	settings := newCallSettings(table.Of(contract.Default()), opts)
	c := settings.write(target, callback)
	r := httptest.NewRequestWithContext(context.Background(), c.method, c.url, strings.NewReader(c.body))
	if c.contentType != "" {
		r.Header.Set("Content-Type", c.contentType)
	}
	return r
}

// textFields returns the fields of a callback as texts, by concept. A time is written by the first layout of the contract, and
// otherwise by RFC 3339. In a zone of the contract, the zone is not named.
func textFields(callback Callback, t *table.Table) []param {
	section := t.Webhooks()[callback.section()]
	layout := time.RFC3339Nano
	if section.Zone != "" && section.Zone != "UTC" {
		layout = "2006-01-02 15:04:05.999999999"
	}
	times := newTimeFormat(layout, section.Zone, section.Layouts...)
	var texts []param
	for _, f := range callback.fields() {
		switch value := f.value.(type) {
		case string:
			texts = append(texts, param{f.concept, value})
		case time.Time:
			texts = append(texts, param{f.concept, times.text(value)})
		}
	}
	return texts
}

// param is one parameter of a form or a query.
type param struct {
	name, value string
}

// paramsOf returns the parameters of a callback, under the names of the contract.
func paramsOf(callback Callback, t *table.Table) []param {
	names := t.Webhooks()[callback.section()].Params
	var params []param
	for _, f := range textFields(callback, t) {
		if f.value != "" && len(names[f.name]) > 0 {
			params = append(params, param{names[f.name][0], f.value})
		}
	}
	extra := callback.extra()
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		for _, value := range extra[name] {
			params = append(params, param{name, value})
		}
	}
	return params
}

// documentOf returns a callback as a JSON object, in which the names of the contract are paths.
func documentOf(callback Callback, t *table.Table) document {
	names := t.Webhooks()[callback.section()].Params
	members := document{}
	for _, f := range textFields(callback, t) {
		var value any = f.value
		if f.name == "json" && json.Valid([]byte(f.value)) {
			value = json.RawMessage(f.value)
		}
		placeFirst(members, names[f.name], value)
	}
	for name, values := range callback.extra() {
		members[name] = strings.Join(values, ",")
	}
	return members
}

// jsonBody returns a body that holds a callback where the contract has events: in a list, or as the body itself.
func jsonBody(callback Callback, t *table.Table) string {
	event := documentOf(callback, t)
	events := t.Webhooks()[callback.section()].Events
	if len(events) == 0 || events[0] == "" {
		return string(encode(event))
	}
	tree, _ := place(nil, events[0], []any{event})
	return string(encode(tree))
}

func queryOf(params []param) string {
	var pairs []string
	for _, p := range params {
		pairs = append(pairs, url.QueryEscape(p.name)+"="+url.QueryEscape(p.value))
	}
	return strings.Join(pairs, "&")
}

// withQuery adds a query to a target, which may have one already. A fragment is not part of a request.
func withQuery(target, query string) string {
	target, _, _ = strings.Cut(target, "#")
	switch {
	case query == "", strings.HasSuffix(target, "?"), strings.HasSuffix(target, "&"):
		return target + query
	case strings.Contains(target, "?"):
		return target + "&" + query
	default:
		return target + "?" + query
	}
}
