package webhook

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// metaMessage is an inbound message in the shape of the Meta platform, and what stood around it. The zero value is none.
type metaMessage struct {
	at     int // 1 + the index of the parameter that it came in; 0 for none, or for the body
	raw    json.RawMessage
	fields object
	kind   string
	around bool // it stood in an envelope, or several did

	id, from, to, name, time string
}

// object is a JSON object of which nothing is decoded but its members. A nil one has no members, and all of its methods
// give nothing.
type object map[string]json.RawMessage

func objectOf(raw json.RawMessage) object {
	if !isNested(raw, '{') { // nearly always: most messages come in parameters
		return nil
	}
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// word gives the first of the members that is a string, a number, true or false, and not blank: its text.
func (o object) word(members ...string) string {
	for _, member := range members {
		if raw, ok := o[member]; ok {
			if text, nested := scalar(raw); !nested && !isBlank(text) {
				return text
			}
		}
	}
	return ""
}

// text gives the text of a member, which may be white space; false where there is none.
func (o object) text(member string) (string, bool) {
	raw, ok := o[member]
	if !ok {
		return "", false
	}
	text, nested := scalar(raw)
	if nested {
		return "", false
	}
	return text, true
}

func (o object) flag(member string) bool { return o.word(member) == "true" }

func (o object) object(member string) object { return objectOf(o[member]) }

// list gives the elements of a member that is a list, nil for any other. It stops one after most: a short text of many
// empty elements would take much memory.
func (o object) list(member string, most int) []json.RawMessage {
	raw := o[member]
	if !isNested(raw, '[') {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return nil
	}
	list := []json.RawMessage{}
	for decoder.More() && len(list) <= most {
		var element json.RawMessage
		if decoder.Decode(&element) != nil {
			return nil // the whole was found valid
		}
		list = append(list, element)
	}
	return list
}

func (o object) time(member string) time.Time { return moment(o.word(member), time.UTC) }

func isNested(raw json.RawMessage, opening byte) bool {
	text := strings.TrimLeft(string(raw[:min(len(raw), 64)]), " \t\r\n")
	return text != "" && text[0] == opening
}

// json finds the message in the parameters that may hold one, or in the body.
func (q *reading) json() metaMessage {
	alone, typed := q.chosen[ofJSON], q.chosen[ofTypedJSON]
	if q.value(ofTypedJSON) == "" || q.value(ofKind) != "" {
		typed = choice{} // a person may type JSON
	}
	if q.value(ofJSON) == "" {
		alone = choice{}
	}
	if typed.at > 0 && alone.at > 0 && typed.rank < alone.rank {
		alone, typed = typed, alone
	}
	for _, have := range []choice{alone, typed} {
		if have.at == 0 {
			continue
		}
		if m, ok := findMessage(q.params[have.at-1].Value); ok && (m.isShaped() || have.at == q.chosen[ofJSON].at) {
			m.at = have.at
			return m
		}
	}
	if q.body == "" {
		return metaMessage{}
	}
	if m, ok := findMessage(q.body); ok && (m.isShaped() || m.kind != "") {
		return m
	}
	return metaMessage{}
}

// isShaped tells whether an object is a message for sure, and not something else that somebody wrote as JSON.
func (m metaMessage) isShaped() bool {
	switch {
	case m.around:
		return true
	case m.kind == "":
		return false
	}
	if raw := m.fields[m.kind]; isNested(raw, '{') || isNested(raw, '[') {
		return true
	}
	return m.id != "" && m.from != ""
}

// findMessage reads a JSON object that is a message, the value of a change, or a whole envelope. Where more or fewer than
// one message are in it, the result has the object as it came, no kind, and the sender of the first.
func findMessage(text string) (metaMessage, bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' {
		return metaMessage{}, false
	}
	raw := json.RawMessage(text)
	whole := objectOf(raw)
	if whole == nil {
		return metaMessage{}, false
	}
	value, messages := whole, whole.list("messages", 1)
	entries := whole.list("entry", maxEntries)
	all := len(entries) <= maxEntries // all that is there was looked at
	for _, entry := range entries {
		changes := objectOf(entry).list("changes", maxEntries)
		all = all && len(changes) <= maxEntries
		for _, change := range changes {
			inner := objectOf(change).object("value")
			if found := inner.list("messages", 1); found != nil {
				value, messages = inner, append(messages, found...)
			}
		}
	}
	if len(messages) == 0 && len(entries) == 0 {
		return newMessage(raw, whole, nil), true
	}
	if len(messages) == 1 && all {
		if fields := objectOf(messages[0]); fields != nil {
			m := newMessage(messages[0], fields, value)
			m.around = true
			return m, true
		}
	}
	m := metaMessage{raw: raw, around: true}
	if len(messages) > 0 {
		m.from = senderOf(objectOf(messages[0]))
	}
	return m, true
}

// newMessage reads what every message has. The value around it may be nil.
func newMessage(raw json.RawMessage, fields, value object) metaMessage {
	m := metaMessage{
		raw: raw, fields: fields, kind: fields.word("type"), id: fields.word("id"), time: fields.word("timestamp"), from: senderOf(fields),
	}
	m.to = value.object("metadata").word("display_phone_number", "phone_number_id")
	if contacts := value.list("contacts", 1); len(contacts) == 1 {
		contact := objectOf(contacts[0])
		m.name = contact.object("profile").word("name", "username")
		m.from = first(m.from, contact.word("wa_id", "user_id"))
	}
	return m
}

// senderOf gives the sender of a message: a number, or for users without one a user ID.
func senderOf(fields object) string { return fields.word("from", "from_user_id") }

func (m metaMessage) context() Context {
	context := m.fields.object("context")
	product := context.object("referred_product")
	return Context{
		ID: context.word("id"), From: context.word("from"), Forwarded: context.flag("forwarded"), FrequentlyForwarded: context.flag("frequently_forwarded"),
		CatalogID: product.word("catalog_id"), ProductID: product.word("product_retailer_id"),
	}
}

// content reads the kinds that come as JSON alone; nil for all others, and for a message that lacks what its kind needs.
func (m metaMessage) content(kind string) Content {
	member := m.fields.object(kind)
	switch kind {
	case "contacts":
		return contacts(m.fields.list(kind, maxContacts))
	case "button":
		if member != nil {
			return Reply{Kind: kind, ID: member.word("payload"), Title: member.word("text")}
		}
	case "interactive":
		return interactive(member)
	case "reaction":
		if id := member.word("message_id"); id != "" {
			return Reaction{MessageID: id, Emoji: member.word("emoji")}
		}
	case "order":
		return order(member)
	case "system":
		if member != nil {
			identity := member.object("identity")
			if identity == nil {
				identity = m.fields.object("identity")
			}
			return system(member, identity)
		}
	}
	return nil
}

func interactive(member object) Content {
	kind := member.word("type")
	inner := member.object(kind)
	if inner == nil {
		return nil
	}
	switch kind {
	case "button_reply", "list_reply":
		return Reply{Kind: kind, ID: inner.word("id"), Title: inner.word("title"), Description: inner.word("description")}
	case "nfm_reply":
		return Reply{Kind: kind, Name: inner.word("name"), Title: inner.word("body"), Response: inner.word("response_json")}
	case "call_permission_reply":
		return Reply{Kind: kind, CallPermission: CallPermission{
			Response: inner.word("response"), Permanent: inner.flag("is_permanent"), ExpiresAt: inner.time("expiration_timestamp"),
			Source: inner.word("response_source"),
		}}
	case "payment_method":
		return Reply{Kind: kind, Response: string(member[kind])}
	default:
		return nil
	}
}

// The bounds of the lists in a message, and in what stands around it.
const (
	maxContacts = 512
	maxParts    = 64 // phones, for one, of a contact
	maxItems    = 1024
	maxEntries  = 16 // and changes in each
)

// part gives the first elements of a list of a contact.
func (o object) part(member string) []json.RawMessage {
	list := o.list(member, maxParts)
	return list[:min(len(list), maxParts)]
}

func contacts(list []json.RawMessage) Content {
	if list == nil || len(list) > maxContacts {
		return nil
	}
	cards := make(Contacts, len(list))
	for i, raw := range list {
		cards[i] = contact(objectOf(raw))
	}
	return cards
}

func contact(card object) Contact {
	name, work := card.object("name"), card.object("org")
	c := Contact{
		FormattedName: name.word("formatted_name"), FirstName: name.word("first_name"), MiddleName: name.word("middle_name"), LastName: name.word("last_name"),
		Prefix: name.word("prefix"), Suffix: name.word("suffix"), Company: work.word("company"), Department: work.word("department"), Title: work.word("title"),
		Birthday: card.word("birthday"), VCard: card.word("vcard"), Origin: card.word("origin"),
	}
	for _, raw := range card.part("phones") {
		phone := objectOf(raw)
		c.Phones = append(c.Phones, ContactPhone{Number: phone.word("phone"), ID: phone.word("wa_id"), Type: phone.word("type")})
	}
	for _, raw := range card.part("emails") {
		email := objectOf(raw)
		c.Emails = append(c.Emails, ContactEmail{Address: email.word("email"), Type: email.word("type")})
	}
	for _, raw := range card.part("urls") {
		url := objectOf(raw)
		c.URLs = append(c.URLs, ContactURL{URL: url.word("url"), Type: url.word("type")})
	}
	for _, raw := range card.part("addresses") {
		address := objectOf(raw)
		c.Addresses = append(c.Addresses, ContactAddress{
			Street: address.word("street"), City: address.word("city"), State: address.word("state"), ZIP: address.word("zip"),
			Country: address.word("country"), CountryCode: address.word("country_code"), Type: address.word("type"),
		})
	}
	return c
}

func order(member object) Content {
	items := member.list("product_items", maxItems)
	if items == nil || len(items) > maxItems {
		return nil
	}
	text, _ := member.text("text")
	o := Order{CatalogID: member.word("catalog_id"), Text: text, Items: make([]OrderItem, len(items))}
	for i, raw := range items {
		item := objectOf(raw)
		quantity, err := strconv.Atoi(item.word("quantity"))
		if err != nil {
			quantity = 0
		}
		o.Items[i] = OrderItem{
			ProductID: item.word("product_retailer_id"), Quantity: quantity, Price: item.word("item_price"), Currency: item.word("currency"),
		}
	}
	return o
}

func system(member, identity object) Content {
	return System{
		Kind: member.word("type"), Body: member.word("body"), NewID: member.word("wa_id", "new_wa_id"), NewUserID: member.word("user_id"),
		NewParentUserID: member.word("parent_user_id"), CustomerID: member.word("customer"), IdentityHash: identity.word("hash"),
		IdentityAcknowledged: identity.flag("acknowledged"), IdentityChangedAt: identity.time("created_timestamp"),
	}
}
