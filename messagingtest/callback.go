package messagingtest

import (
	"cmp"
	"context"
	_ "embed" // for the samples
	"encoding/json"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// A Callback is what the service sends to a customer's webhook: an [InboundSMS], an [InboundChatApp], a [DeliveryReport], or
// several of them as [Callbacks]. [Server.Receive] calls a webhook with it; [SMSRequest] and its siblings make a request of it
// for the test of a handler.
//
// The parameters go in the order of the fields, each under the first name that the contract has for it. A field that is zero,
// or that the contract does not know, is not sent. Extra comes last. It holds what has no field, such as a name of another
// contract, a time in another form, an empty value, or a second value for a name.
//
//sumtype:decl
type Callback interface {
	// events returns the events that the callback is made of.
	events() []event
}

// Callbacks are several callbacks for [Server.Receive]. A nil element panics when they are sent.
type Callbacks []Callback

// A Param is one parameter of a callback. Both may be any text, including the empty one.
type Param struct {
	Name, Value string
}

func (c Callbacks) events() []event {
	var events []event
	for _, callback := range c {
		must(callback != nil, "a callback is nil")
		events = append(events, callback.events()...)
	}
	return events
}

// event is what one callback says.
type event struct {
	callback Callback // whose fields have their concepts as tags
	section  string   // of the contract, behind "webhook."
	extra    []Param
}

// fields returns the fields as texts, by concept. A time is written by the first layout of the contract; in its zone, without
// naming it, if it has one; and else by RFC 3339.
func (e event) fields(t *table.Table) []Param {
	section := t.Webhooks()[e.section]
	layout := time.RFC3339Nano
	if section.Zone != "" && section.Zone != "UTC" {
		layout = "2006-01-02 15:04:05.999999999"
	}
	times := newTimeFormat(layout, section.Zone, section.Layouts...)
	var fields []Param
	for field, value := range reflect.ValueOf(e.callback).Fields() {
		text := value.String()
		if at, ok := reflect.TypeAssert[time.Time](value); ok {
			text = times.text(at)
		}
		if concept, ok := field.Tag.Lookup("concept"); ok {
			fields = append(fields, Param{concept, text})
		}
	}
	return fields
}

func (e event) params(t *table.Table) []Param {
	names := t.Webhooks()[e.section].Params
	var params []Param
	for _, f := range e.fields(t) {
		if f.Value != "" && len(names[f.Name]) > 0 {
			params = append(params, Param{names[f.Name][0], f.Value})
		}
	}
	return append(params, e.extra...)
}

// document returns what an event says as a JSON object, in which the names of the contract are paths.
func (e event) document(t *table.Table) document {
	members := document{}
	for _, f := range e.fields(t) {
		var value any = f.Value
		if f.Name == "json" && json.Valid([]byte(f.Value)) {
			value = json.RawMessage(f.Value)
		}
		placeFirst(members, t.Webhooks()[e.section].Params[f.Name], value)
	}
	for _, param := range e.extra {
		members[param.Name] = param.Value
	}
	return members
}

// call is one request to a webhook.
type call struct {
	callback          Callback
	method, url       string
	contentType, body string
}

// calls returns the requests that tell a webhook of events.
func (how receiving) calls(target string, events []event) []call {
	size := 1
	if how.together {
		size = max(size, len(events))
	}
	var calls []call
	for group := range slices.Chunk(events, size) {
		c := call{callback: group[0].callback, method: http.MethodPost, url: target}
		query := queryOf(group[0].params(how.names), how.unescaped)
		switch how.encoding {
		case "json":
			c.contentType, c.body = "application/json", how.json(group)
		case "form":
			c.contentType, c.body = "application/x-www-form-urlencoded", query
		default:
			c.method, c.url = http.MethodGet, withQuery(target, query)
		}
		if all := (Callbacks{}); how.together {
			for _, e := range group {
				all = append(all, e.callback)
			}
			c.callback = all
		}
		calls = append(calls, c)
	}
	return calls
}

// json returns a body that holds events where the contract has them. A single one that is the body is no list.
func (how receiving) json(events []event) string {
	path := ""
	if paths := how.names.Webhooks()[events[0].section].Events; len(paths) > 0 {
		path = paths[0]
	}
	if path == "" && !how.together {
		return string(encode(events[0].document(how.names)))
	}
	var list []any
	for _, e := range events {
		list = append(list, e.document(how.names))
	}
	tree, _ := place(nil, path, list)
	return string(encode(tree))
}

var careless = regexp.MustCompile(`[\x00-\x20\x7f&#]`)

// escapeLittle escapes a value as [Unescaped] says. What would end the parameter or the request line is escaped all the same,
// because no receiver could restore it.
func escapeLittle(s string) string { return careless.ReplaceAllStringFunc(s, url.QueryEscape) }

func queryOf(params []Param, unescaped bool) string {
	escape := url.QueryEscape
	if unescaped {
		escape = escapeLittle
	}
	var pairs []string
	for _, param := range params {
		pairs = append(pairs, url.QueryEscape(param.Name)+"="+escape(param.Value))
	}
	return strings.Join(pairs, "&")
}

// withQuery adds a query to a target, which may have one already. A fragment is no part of a request.
func withQuery(target, query string) string {
	target, _, _ = strings.Cut(target, "#")
	switch {
	case query == "", strings.HasSuffix(target, "?"), strings.HasSuffix(target, "&"):
		return target + query
	case strings.Contains(target, "?"):
		return target + "&" + query
	}
	return target + "?" + query
}

// SMSRequest returns the request by which the service calls a webhook for inbound SMS, to pass to its handler.
// Like [net/http/httptest.NewRequest], it makes a request as a server sees it, for a path or an absolute URL whose query stays
// byte for byte. Of the options only those that say how a callback is written have an effect: [Unescaped], [AsForm], [AsJSON],
// [InOneCall] and [UnderContract]. SMSRequest panics if the target cannot stand in a request line.
func SMSRequest(target string, m InboundSMS, opts ...ReceiveOption) *http.Request {
	return newCallbackRequest(target, m, opts)
}

// ChatAppRequest is like [SMSRequest], for inbound messages of a chat app.
func ChatAppRequest(target string, m InboundChatApp, opts ...ReceiveOption) *http.Request {
	return newCallbackRequest(target, m, opts)
}

// DeliveryRequest is like [SMSRequest], for delivery reports. It does not replace placeholders: see [Server.ReportDelivery].
func DeliveryRequest(target string, d DeliveryReport, opts ...ReceiveOption) *http.Request {
	return newCallbackRequest(target, d, opts)
}

func newCallbackRequest(target string, callback Callback, opts []ReceiveOption) *http.Request {
	must(!strings.ContainsFunc(target, isControlOrSpace), "the target of a request has white space or control characters")
	c := newReceiving(table.Of(contract.Default()), opts).calls(target, callback.events())[0]
	r := httptest.NewRequestWithContext(context.Background(), c.method, c.url, strings.NewReader(c.body))
	if c.contentType != "" {
		r.Header.Set("Content-Type", c.contentType)
	}
	return r
}

// InboundSMS is an SMS that was sent to an access code or a virtual number of the customer. Nothing is checked: a message
// without a sender can be sent, to see it refused.
type InboundSMS struct {
	ID          string    `concept:"id"`   // the message ID
	From        string    `concept:"from"` // the sender's number
	To          string    `concept:"to"`   // the access code or virtual number
	Text        string    `concept:"text"` // any bytes, valid UTF-8 or not
	ReceivedAt  time.Time `concept:"time"` // by RFC 3339 in UTC, or by the first layout of the contract, in its zone
	ReferenceID string    `concept:"reference"`
	Operator    string    `concept:"operator"` // of the sender
	Keyword     string    `concept:"keyword"`  // that the service recognized in the text
	Extra       []Param
}

func (m InboundSMS) events() []event { return []event{{m, "sms", m.Extra}} }

// InboundChatApp is a message that was sent to the customer by one of the chat apps. By the default contract both have the same
// parameters, and the webhook that it is sent to decides which app it comes by. Nothing is checked.
type InboundChatApp struct {
	Channel  Channel // whose parameters the contract has; the zero value is chat app 1
	ID       string  `concept:"id"`       // the message ID
	From     string  `concept:"from"`     // the sender's number
	To       string  `concept:"to"`       // the number or channel that it was sent to
	Name     string  `concept:"name"`     // the sender's profile name
	Kind     string  `concept:"kind"`     // text, image, location and so on
	Text     string  `concept:"text"`     // any bytes
	MediaURL string  `concept:"mediaURL"` // where the medium is; the server serves no media
	MediaID  string  `concept:"mediaID"`  // its ID at the service
	MIMEType string  `concept:"mimeType"` // of the medium
	Caption  string  `concept:"caption"`  // of the medium
	FileName string  `concept:"fileName"` // of a document
	// Latitude and Longitude are decimal degrees, such as "14.5995". They are text because zero is a place too, and a sender
	// may write anything.
	Latitude    string    `concept:"latitude"`
	Longitude   string    `concept:"longitude"`
	ReceivedAt  time.Time `concept:"time"` // written like that of InboundSMS
	ReferenceID string    `concept:"reference"`
	// JSON is the message as an object of the third-party platform, or its whole envelope. [Sent.Tap] and its siblings write it. Beside
	// the tap of a button or row, any other Kind panics.
	JSON  string `concept:"json"`
	Extra []Param
}

func (m InboundChatApp) events() []event {
	value, _ := readJSON([]byte(m.JSON))
	object, _ := value.(document)
	kind := textIn(object, "type")
	must(m.Kind == "" || m.Kind == kind || kind != "button" && kind != "interactive",
		"the Kind %q beside the tap of a button or row makes another event of it: leave it empty", m.Kind)
	return []event{{m, string(cmp.Or(m.Channel, ChannelChatApp1)), m.Extra}}
}

// DeliveryReport is what the service reports about a message that was sent with a callback URL. Nothing is checked.
// [Server.ReportDelivery] makes one of a message that the server has accepted.
type DeliveryReport struct {
	Status      string    `concept:"status"`    // a word or a number, such as "delivered" or "1"
	ID          string    `concept:"id"`        // the message ID
	ReferenceID string    `concept:"reference"` // that the client chose
	At          time.Time `concept:"time"`      // when the status was reached; written as [InboundSMS] says
	Kind        string    `concept:"kind"`      // the type of the transaction
	From        string    `concept:"from"`      // the sender ID of the message
	To          string    `concept:"to"`        // the recipient of the message
	ErrorCode   string    `concept:"errorCode"` // why the message was not delivered
	ErrorText   string    `concept:"errorText"` // the same in words
	Cost        string    `concept:"cost"`      // of the message, a decimal number
	Currency    string    `concept:"currency"`  // of Cost
	Category    string    `concept:"category"`  // what the message counts as in the bill
	Extra       []Param
}

func (d DeliveryReport) events() []event { return []event{{d, "delivery", d.Extra}} }

// fill replaces the placeholders of a callback URL. Of two that fit, the longer is meant: %tr, not %t.
func (d DeliveryReport) fill(template string, t *table.Table, unescaped bool) string {
	escape := escapeLittle
	if !unescaped {
		escape = func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") } // in a path, a + is no space
	}
	var replacements [][]string
	for _, f := range d.events()[0].fields(t) {
		if placeholder := t.WebhookDelivery.Placeholders[f.Name]; placeholder != "" {
			replacements = append(replacements, []string{placeholder, escape(f.Value)})
		}
	}
	slices.SortStableFunc(replacements, func(a, b []string) int { return cmp.Compare(len(b[0]), len(a[0])) })
	return strings.NewReplacer(slices.Concat(replacements...)...).Replace(template)
}

//go:embed samples.json
var samplesJSON []byte

// InboundSamples returns inbound chat-app messages by a name that says what they are: one of every kind that is known, replies,
// the platform's system messages, and kinds that do not exist yet. A correct receiver delivers every one.
//
// Samples whose name begins with "flat" have parameters only. The others have an object of the third-party platform as JSON,
// and beside it parameters that say the same; two of them have nothing but the JSON: one in its envelope, and one of a user who
// shows no number. IDs are distinct, and times a second apart.
func InboundSamples() iter.Seq2[string, InboundChatApp] {
	return func(yield func(string, InboundChatApp) bool) {
		var samples []struct {
			Sample string
			InboundChatApp
			JSON json.RawMessage
		}
		err := json.Unmarshal(samplesJSON, &samples)
		must(err == nil, "samples.json: %v", err)
		for _, s := range samples {
			s.InboundChatApp.JSON = string(s.JSON)
			if !yield(s.Sample, s.InboundChatApp) {
				return
			}
		}
	}
}
