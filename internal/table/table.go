package table

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Table is a whole contract, whose keys package contract documents. It is shared between clients and receivers and never changes once it was
// parsed: treat it as read-only. The tag channel makes a send a [Channel].
type Table struct {
	Auth            Auth     `json:"auth"`
	Headers         Headers  `json:"headers"` // of every operation
	Errors          Errors   `json:"errors"`
	SMSSend         Send     `json:"sms.send" channel:"SMS"`
	SMSList         List     `json:"sms.list"`
	ChatApp1Send    Send     `json:"chatapp1.send" channel:"chat app 1"`
	ChatApp2Send    Send     `json:"chatapp2.send" channel:"chat app 2"`
	WebhookSMS      Webhook  `json:"webhook.sms"`
	WebhookChatApp1 Webhook  `json:"webhook.chatapp1"`
	WebhookChatApp2 Webhook  `json:"webhook.chatapp2"`
	WebhookDelivery Delivery `json:"webhook.delivery"`
}

// Sections yields the sections by their names, in the order of the fields.
func (t *Table) Sections() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for field, section := range reflect.ValueOf(t).Elem().Fields() {
			if !yield(field.Tag.Get("json"), section.Interface()) {
				return
			}
		}
	}
}

// operations returns the operations by the names of their sections.
func (t *Table) operations() map[string]*Operation {
	all := map[string]*Operation{}
	for field, value := range reflect.ValueOf(t).Elem().Fields() {
		if value.Kind() != reflect.Struct {
			continue
		}
		if op := value.FieldByName("Operation"); op.IsValid() {
			all[field.Tag.Get("json")] = op.Addr().Interface().(*Operation)
		}
	}
	return all
}

// Webhooks returns the callbacks by their names, which are those of the sections without "webhook.".
func (t *Table) Webhooks() map[string]Webhook {
	webhooks := map[string]Webhook{}
	for name, section := range t.Sections() {
		name = strings.TrimPrefix(name, "webhook.")
		switch section := section.(type) {
		case Webhook:
			webhooks[name] = section
		case Delivery:
			webhooks[name] = section.Webhook
		}
	}
	return webhooks
}

// Auth says where a request has its credentials.
type Auth struct {
	Token   Token   `json:"token"`
	KeyPair KeyPair `json:"keyPair"`
}

// Token is the place of a token: Header: Scheme token. An empty Scheme leaves the token alone in the header.
type Token struct {
	Header string `json:"header" check:"header"`
	Scheme string `json:"scheme" check:"scheme"`
}

// KeyPair is the place of a key and its secret. In is "body", "query", "header" or "basic". An empty Secret means that the
// service has a key alone.
type KeyPair struct {
	In     string `json:"in" check:"basic body header query"`
	Key    string `json:"key"`
	Secret string `json:"secret"`
}

// IsInFields reports whether a request in an encoding holds the pair among its fields or parameters.
func (k *KeyPair) IsInFields(encoding string) bool {
	return k.In == "body" || k.In == "query" && encoding == "query"
}

// Errors says how a response reports a failure. Code, Message and Request are paths into the response, in order of
// preference.
type Errors struct {
	Code    []string `json:"code" check:"place"`
	Message []string `json:"message" check:"place"`
	Request []string `json:"request" check:"place"`
	Success []string `json:"success" check:"word"`
	// Classes lists, by class, codes, or prefixes of codes that end in "*".
	Classes      map[string][]string `json:"classes" check:"word"`
	NotProcessed []int               `json:"notProcessed" check:"status"`
}

// Operation is the part of a request that sends and reads share.
type Operation struct {
	Path     string  `json:"path" check:"path"`
	Headers  Headers `json:"headers"`
	Encoding string  `json:"encoding" check:"form json query"`
	// Constants go with every request.
	Constants map[string]any `json:"constants"`
	// Time is the form of times, and Zone is the time zone of a form without an offset; "" is UTC.
	Time  string `json:"time" check:"date datetime rfc1123 rfc2822 rfc3339 rfc3339ms unix unixms"`
	Zone  string `json:"zone" check:"zone"`
	Scale int    `json:"scale" check:"scale"`

	claimed   []string          // the concepts whose names the overlay sets
	displaced map[string]string // see Displaced
}

// Send is an operation that sends a message: a POST.
type Send struct {
	Operation
	// Wrap is the name under which a message in a platform's shape goes; "" is the top level. It is nil for the other channels.
	Wrap *string `json:"wrap,omitempty"`
	// TTL is the unit of a lifetime, which is a whole number of it: "s", "ms" or "m". It is empty for a channel without one.
	TTL string `json:"ttl,omitempty"`
	// Fields holds the names of the request's fields by concept; "" means that the service has no such field.
	Fields map[string]string `json:"fields"`
	// FieldConstants holds, by concept, the constants of a request that has the field of that concept. For SMS it also holds, by GSM and
	// Unicode, the constants of a request whose text takes that encoding.
	FieldConstants map[string]map[string]any `json:"with"`
	// Response lists, by concept, the paths in a response, in order of preference. In the paths of the ID and the status, a * means every
	// element of a list.
	Response map[string][]string `json:"response" check:"answer"`
	// Accepted lists the words of the status of an accepted message, and Refused those of a refused message. Both may hold prefixes.
	Accepted []string `json:"accepted" check:"word"`
	Refused  []string `json:"refused" check:"word"`

	claimedConstants []string // the concepts of FieldConstants that the overlay sets
}

// The encodings of the text of an SMS, by which it may have constants in Send.FieldConstants.
const (
	GSM     = "gsm"
	Unicode = "unicode"
)

// Paths returns Response with the first element of a list in place of each *.
func (s *Send) Paths() map[string][]string {
	paths := make(map[string][]string, len(s.Response))
	for concept, list := range s.Response {
		for _, path := range list {
			paths[concept] = append(paths[concept], WithoutEvery(path))
		}
	}
	return paths
}

// IDIsReference reports whether the service uses the reference of a message as its ID, which it then repeats in its response.
func (s *Send) IDIsReference() bool { return isReference(s.Response) }

// isReference reports whether the ID has the paths of the reference, and no others.
func isReference(lists map[string][]string) bool {
	return len(lists["id"]) > 0 && slices.Equal(lists["id"], lists["reference"])
}

// Read is an operation that reads.
type Read struct {
	Method string `json:"method" check:"GET POST"`
	Operation
	Params map[string]string   `json:"params,omitempty"`     // by concept; "" means that the service has no such parameter
	Record map[string][]string `json:"record" check:"place"` // paths by concept, from a row on if it lists
}

// A ReadSection is an operation that reads, with the name of its section.
type ReadSection struct {
	Section string
	Read    *Read
}

// Reads returns the operations that read.
func (t *Table) Reads() []ReadSection {
	return []ReadSection{{"sms.list", &t.SMSList.Read}}
}

// List is an operation that lists transactions.
type List struct {
	Read
	Sorts  map[string]string `json:"sorts" check:"optional"` // the columns that rows can be sorted by, by concept; "" if they cannot
	Orders map[string]string `json:"orders"`                 // "ascending" and "descending"
	Paging Paging            `json:"paging"`
	// Items lists the paths of the rows; "" is the response itself.
	Items []string `json:"items" check:"place"`
	// Only lists, by paths from a row on, words or prefixes. A row with another word at the path is not of this listing.
	Only    map[string][]string `json:"only" check:"word"`
	Page    map[string][]string `json:"page"` // paths by concept; "next" may hold a path in the last row, behind LastRow
	Layouts []string            `json:"layouts" check:"layout"`
}

// LastRow is the beginning of a path that leads into the last row of a page.
const LastRow = "$last."

// CursorInLastRow splits the paths of a page: into those from the page on, and those of a cursor, from the last row on.
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

// Paging says how the next page is requested.
type Paging struct {
	By    string `json:"by" check:"cursor none offset page"`
	First int    `json:"first" check:"number"`
	// If By is "none", Most is how many rows the only page can hold, and Whole reports that it holds all rows.
	Most  int  `json:"most" check:"number"`
	Whole bool `json:"whole"`
}

// Webhook is a callback.
type Webhook struct {
	// Encoding is how the service calls: by GET with a query, or by POST with a form or JSON.
	Encoding string `json:"encoding" check:"form json query"`
	// Params lists, by concept, the names that a parameter may have. In a JSON body a name may be a path. The concept "json"
	// lists the parameters that may hold a message in the shape of the platform.
	Params  map[string][]string `json:"params" check:"name"`
	Events  []string            `json:"events" check:"place"`
	Layouts []string            `json:"layouts" check:"layout"`
	Zone    string              `json:"zone" check:"zone"`
	// Reply is the response to a call that was handled.
	Reply Reply `json:"reply"`
}

// Reply is a response to a callback. It is empty by default.
type Reply struct {
	Type string `json:"type" check:"media"` // of Body
	Body string `json:"body"`
}

// Delivery is the callback that reports delivery.
type Delivery struct {
	Webhook
	// Statuses lists, by status, its words and integers, in any case, and prefixes of words.
	Statuses     map[string][]string `json:"statuses" check:"word"`
	Placeholders map[string]string   `json:"placeholders" check:"optional"`
}
