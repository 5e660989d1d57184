// Package table holds a contract as data: every wire name of the service by the concept that it stands for. It holds no
// behaviour beyond reading, merging and checking itself. Package contract is its public face.
//
// Fields, parameters, paths, classes and statuses are maps by concept. The default table (contract/default.json) decides
// which concepts there are: an overlay can change their values and add none.
package table

import (
	"maps"
	"strings"
)

// Table is a whole contract. It is shared between clients and receivers and never changes once it was parsed: treat it as
// read-only.
type Table struct {
	Auth            Auth     `json:"auth"`
	Headers         Headers  `json:"headers"` // of every operation
	Errors          Errors   `json:"errors"`
	SMSSend         Send     `json:"sms.send"`
	SMSList         List     `json:"sms.list"`
	ChatApp1Send    Send     `json:"chatapp1.send"`
	ChatApp2Send    Send     `json:"chatapp2.send"`
	WebhookSMS      Webhook  `json:"webhook.sms"`
	WebhookChatApp1 Webhook  `json:"webhook.chatapp1"`
	WebhookChatApp2 Webhook  `json:"webhook.chatapp2"`
	WebhookDelivery Delivery `json:"webhook.delivery"`
}

// Auth says where credentials stand in a request.
type Auth struct {
	Token   Token   `json:"token"`
	KeyPair KeyPair `json:"keyPair"`
}

// Token is the place of a token: Header: Scheme token. An empty Scheme leaves the token alone in the header.
type Token struct {
	Header string `json:"header"`
	Scheme string `json:"scheme"`
}

// KeyPair is the place of a key and its secret. In is "body", "query", "header" or "basic". An empty Secret means that the
// service has a key alone.
type KeyPair struct {
	In     string `json:"in"`
	Key    string `json:"key"`
	Secret string `json:"secret"`
}

// Errors says how a response reports a failure. Code, Message and Request are paths into the response, in order of
// preference.
type Errors struct {
	Code    []string `json:"code"`
	Message []string `json:"message"`
	Request []string `json:"request"`
	// Success lists codes, in any case, that prove nothing against an acceptance. It may hold prefixes, like Classes.
	Success []string `json:"success"`
	// Classes lists, by class, codes, or prefixes of codes that end in "*".
	Classes map[string][]string `json:"classes"`
	// NotProcessed lists the statuses, 300 to 599, which prove that a send was not processed.
	NotProcessed []int `json:"notProcessed"`
}

// Send is an operation that sends a message: a POST.
type Send struct {
	Path     string  `json:"path"`
	Headers  Headers `json:"headers"`
	Encoding string  `json:"encoding"` // "json", "form" or "query"
	// Wrap is the name under which the message of chat app 2 goes; "" is the top level. It is nil for the other channels.
	Wrap *string `json:"wrap,omitempty"`
	// TTL is the unit of a lifetime: "s", "ms" or "m". It is empty for SMS.
	TTL string `json:"ttl,omitempty"`
	// Time is the form of fields that are times, as in List, and Zone is where a form without an offset is.
	Time string `json:"time"`
	Zone string `json:"zone"`
	// Fields names the fields of the request by concept; "" means that the service has no such field.
	Fields map[string]string `json:"fields"`
	// Constants go with every request. With holds what goes with a request that sends the field of a concept.
	Constants map[string]any            `json:"constants"`
	With      map[string]map[string]any `json:"with"`
	// Response lists, by concept, the paths at which a response may hold it, in order of preference.
	Response map[string][]string `json:"response"`
	Money
	// Accepted lists the words of the concept "status" that a success may hold, and Refused those which say that the message
	// was refused. Either may hold prefixes.
	Accepted []string `json:"accepted"`
	Refused  []string `json:"refused"`
}

// List is an operation that lists transactions.
type List struct {
	Method    string            `json:"method"` // "GET" or "POST"
	Path      string            `json:"path"`
	Headers   Headers           `json:"headers"`
	Encoding  string            `json:"encoding"` // "query"; of a POST also "json" or "form"
	Params    map[string]string `json:"params"`   // by concept; "" means that the service has no such parameter
	Constants map[string]any    `json:"constants"`
	Orders    map[string]string `json:"orders"` // "ascending" and "descending"
	Time      string            `json:"time"`   // one of timeForms
	Paging    Paging            `json:"paging"`
	// Items lists the paths of the rows; "" is the response itself.
	Items   []string            `json:"items"`
	Page    map[string][]string `json:"page"`   // paths by concept; "next" may hold a path in the last row, behind LastRow
	Record  map[string][]string `json:"record"` // paths by concept, from a row on
	Zone    string              `json:"zone"`   // of times that name none; "" is UTC
	Layouts []string            `json:"layouts"`
	Money
}

// LastRow is the beginning of a path that leads into the last row of a page.
const LastRow = "$last."

// CursorInLastRow returns the paths of a page without those that lead into its last row, and what follows LastRow in those.
func (l *List) CursorInLastRow() (page map[string][]string, inRow []string) {
	page = maps.Clone(l.Page)
	page["next"] = nil
	for _, path := range l.Page["next"] {
		if rest, ok := strings.CutPrefix(path, LastRow); ok {
			inRow = append(inRow, rest)
		} else {
			page["next"] = append(page["next"], path)
		}
	}
	return page, inRow
}

// Money says how prices are written: Scale is the power of ten to multiply them by, and Negate reverses the sign.
type Money struct {
	Scale  int  `json:"scale"`
	Negate bool `json:"negate"`
}

// Paging says how the next page is requested: By is "page", "offset", "cursor" or "none".
type Paging struct {
	By    string `json:"by"`
	First int    `json:"first"`
}

// Webhook is a callback that brings an inbound message.
type Webhook struct {
	// Params lists, by concept, the names that a parameter may have. In a JSON body a name may be a path. The concept "json"
	// lists the parameters that may hold a message in the shape of the platform.
	Params map[string][]string `json:"params"`
	Callback
}

// Delivery is a callback that reports delivery.
type Delivery struct {
	Params map[string][]string `json:"params"`
	// Statuses lists, by status, the words and integers that mean it, in any case, and prefixes.
	Statuses map[string][]string `json:"statuses"`
	// Placeholders holds, by concept, what the service replaces in a callback URL; "" means that it has no such placeholder.
	Placeholders map[string]string `json:"placeholders"`
	Callback
}

// Callback is what all callbacks have.
type Callback struct {
	// Events lists paths at which a JSON body may hold its events, one or a list of them. The first that is present counts; ""
	// is the body itself, and so is an empty list.
	Events []string `json:"events"`
	// Layouts lists further layouts of times, as in package time.
	Layouts []string `json:"layouts"`
	Zone    string   `json:"zone"`
}
