package messagingtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/contract"
)

// Sent is a message that the server has processed. Texts and addresses are exactly as in the request. The zero value of a
// field means that the message has none. The tags are concepts of the contract, which requests hold and listings show.
type Sent struct {
	ID      string `concept:"id"` // the message ID; on chat app 2 it begins with "wamid."
	Channel string // "sms", "chatapp1" or "chatapp2"; the SMS of a fallback is an "sms"

	// Kind is "text" for an SMS; "text", "image", "video", "call_to_action" or "template" for chat app 1; and for chat app 2
	// the type of the body, such as "text", "template" or "interactive".
	Kind string

	From string `concept:"from"` // the sender ID of an SMS, the channel ID of chat app 1
	To   string `concept:"to"`   // the recipient: a number, or on chat app 2 also a user ID

	// Text is what the recipient reads: the text of an SMS or a text message, the text above the buttons of an interactive message or a call
	// to action, or the caption of a medium. It is "" for a template, whose text only the service knows.
	Text string `concept:"text"`

	CallbackURL string `concept:"callback"`  // byte for byte
	ReferenceID string `concept:"reference"` // that the client chose
	RequestID   string `concept:"request"`   // of the request that brought the message

	// Parts is the number of parts of an SMS: 160 characters of GSM-7 or 70 units of UTF-16 in a single part, 153 or 67 in
	// each of several. A chat-app message has one part.
	Parts int `concept:"parts"`

	TTL time.Duration // the lifetime of a chat-app message; without it a message lives for 24 hours

	// FallbackFrom and FallbackText are the sender ID and the text of the SMS to send if a chat-app message is not delivered.
	FallbackFrom string `concept:"fallbackFrom"`
	FallbackText string `concept:"fallbackText"`

	// FallbackOf is the ID of the chat-app message that this SMS replaces. The SMS has the To, ReferenceID, CallbackURL and
	// RequestID of that message.
	FallbackOf string

	Template string `concept:"template"` // the template's ID on chat app 1, its name on chat app 2

	// Status is the status of a chat-app message at the time of the call of Server.Sent, and StatusAt is when the message reached
	// it; see Server.SetDelivery. An SMS has one after Server.SetMessageDelivery, or if Server.Seed sets it.
	Status   contract.Status
	StatusAt time.Time

	At time.Time // when the message was processed, or when its fallback applied, by the server's clock

	// Body is the body of the request. If it held credentials, they are removed, and the members sorted. For a form or a query it
	// is an object of the parameters. It is nil for the SMS of a fallback.
	Body json.RawMessage

	// Extra holds the members of the body that the contract does not name, nested ones by their path. A listing shows them as
	// members of the row, except those that have the name of one of its own.
	Extra map[string]json.RawMessage

	// CategoryID, SentAt and DeliveryStatus are shown in listings. Server.Seed sets them, and Server.SetMessageDelivery the status
	// of an SMS.
	CategoryID     string    `concept:"category"`
	SentAt         time.Time `concept:"sent"`
	DeliveryStatus string    `concept:"deliveryStatus"`

	// Operator, Country, Price and Currency are shown in listings if Server.Seed sets them. Without them a listing shows
	// "OP_1", "ZZ", 0.50 for each part, and "XTS". Price has up to two decimals, such as "0.35"; a listing writes it with the
	// scale of the contract.
	Operator, Country, Price, Currency string

	// SendStatus is shown in listings if Server.Seed sets it, such as "rejected" for a message that is listed although the service
	// refused it. Without it a listing shows that the message was accepted.
	SendStatus string

	// Row holds members that replace those of the row in listings, as JSON by their names in the contract, if Server.Seed sets it:
	// {"messageParts": []byte(`"two"`)} makes a row that cannot be read in full. Filters and the order of a listing ignore it.
	//
	// The names are the first of each list in sms.list.record: by default transactionId, requestId, referenceId, categoryId, from, to,
	// text, messageParts, price, currency, dateCreated, dateSent, sendStatus, dlrStatus, operator, country and description. A row with an
	// error has code, message or error. Server.Seed panics for another name; Extra holds other members.
	Row map[string]json.RawMessage
}

func (m Sent) clone() Sent {
	m.Body = slices.Clone(m.Body)
	m.Extra = cloneMembers(m.Extra)
	m.Row = cloneMembers(m.Row)
	return m
}

func cloneMembers(members map[string]json.RawMessage) map[string]json.RawMessage {
	members = maps.Clone(members)
	for name, value := range members {
		members[name] = slices.Clone(value)
	}
	return members
}

// message returns the message of a request: each string field of Sent whose tag is a concept of the request has its value. extra holds the
// members that the contract does not name.
func (f fields) message(extra document) Sent {
	m := Sent{
		Channel: f.op.channel,
		Kind:    "text",
		Parts:   1,
		TTL:     lifetimeOf(f.values[f.name("ttl")], f.op.contract.TTL),
	}
	for field, value := range reflect.ValueOf(&m).Elem().Fields() {
		concept, ok := field.Tag.Lookup("concept")
		if ok && f.has(concept) && value.Kind() == reflect.String {
			value.SetString(f.text(concept))
		}
	}
	m.From = cmp.Or(m.From, f.text("channel"))
	if len(extra) > 0 {
		m.Extra = map[string]json.RawMessage{}
	}
	for name, value := range extra {
		m.Extra[name] = encode(value)
	}
	return m
}

const testOperator = "OP_1"

// A column returns what a listing shows of a row for one concept: a string, a number, an amount or a time. An empty string is nil.
type column func(*row) any

// columns returns the columns by their concepts: those of listings alone, and a field of Sent for each of its tags.
func columns() map[string]column {
	all := map[string]column{
		"price":       func(r *row) any { return r.listedPrice() },
		"currency":    func(r *row) any { return r.listedCurrency() },
		"created":     func(r *row) any { return r.created },
		"sendStatus":  func(r *row) any { return r.listedSendStatus() },
		"operator":    func(r *row) any { return cmp.Or(r.Operator, testOperator) },
		"country":     func(r *row) any { return cmp.Or(r.Country, "ZZ") },
		"description": func(*row) any { return "accepted" },
	}
	for field := range reflect.TypeFor[Sent]().Fields() {
		concept, ok := field.Tag.Lookup("concept")
		if ok {
			all[concept] = func(r *row) any {
				return nilIfEmpty(reflect.ValueOf(&r.Sent).Elem().FieldByIndex(field.Index).Interface())
			}
		}
	}
	return all
}

func (r *row) listedPrice() amount {
	if seeded, ok := parseAmount(r.Price); ok {
		return seeded
	}
	return priceOf(r.Parts)
}

func (r *row) listedCurrency() string { return cmp.Or(r.Currency, testCurrency) }

func (r *row) listedSendStatus() any {
	if r.SendStatus != "" {
		return r.SendStatus
	}
	return r.sendStatus
}

func nilIfEmpty(v any) any {
	if v == "" {
		return nil
	}
	return v
}
