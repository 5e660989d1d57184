package webhook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// The bounds of the lists that are read. A short text of many empty elements would take much memory.
const (
	maxEvents   = 1000 // in an envelope, and entries, and changes in each
	maxContacts = 512
	maxParts    = 64 // phones, for one, of a contact
	maxItems    = 1024
)

// envelope is a JSON object in the shape of the platform: one message or status, the value of a change that holds several, or
// a whole envelope of changes.
type envelope struct {
	raw      json.RawMessage // the object; nil for none
	index    int             // into Params; -1 for a body
	typed    bool            // a person may have typed it
	single   bool            // it is one message or status itself
	repeats  bool            // a member came twice with different values
	messages []item
	statuses []item
	broken   int // messages and statuses that are no objects
	tooLarge bool

	other    string // of the changes that are not live, the field of the first one with a message; "" for none
	hasOther bool   // there are changes that are not live
}

type item struct {
	object

	raw      json.RawMessage
	contact  object // who sent the message, if the platform says so
	business string // the number that the message was sent to, or that the status is for
	field    string // of the change, unless it is live
}

// objects are those of the platform in what arrived, each the first of its kind that counts.
type objects struct {
	body  envelope // the body, or one event of its list
	given envelope // of a parameter that the contract names for JSON
	typed envelope // of a text parameter, where a person may have typed it
}

// find reads the objects of the platform.
func (c *callback) find(a *arrival) (found objects) {
	if c.name == CallbackSMS {
		return found
	}
	if a.object != "" {
		found.body = c.readEnvelope(a.object)
	}
	found.body.index = -1
	for i := a.own; i < len(a.params); i++ {
		of := c.concepts[a.params[i].Name]
		isText := slices.Contains(of, conceptText) && !a.origins[i].nested
		if !slices.Contains(of, conceptJSON) || a.origins[i].typed || isText && found.typed.raw != nil {
			continue
		}
		e := c.readEnvelope(a.params[i].Value)
		e.index = i
		switch {
		case e.raw == nil:
		case !isText:
			found.given = e
			return found
		case e.isCertain() && len(e.messages) > 0:
			e.typed, e.statuses = true, nil
			found.typed = e
		}
	}
	return found
}

// readEnvelope reads an envelope. The result has no raw if text is not a JSON object.
func (c *callback) readEnvelope(text string) envelope {
	raw := json.RawMessage(strings.TrimSpace(text))
	if !isNested(raw, '{') || jsonscan.Check(raw) != nil {
		return envelope{}
	}
	e := envelope{raw: raw}
	whole := e.object(raw)
	e.addValue(whole, "")
	isChange := whole.get("field") != nil && whole.object("value") != nil
	if isChange {
		e.addChange(whole, c.fields)
	}
	for _, raw := range e.list(whole, "entry") {
		entry := e.object(raw)
		if entry == nil {
			e.broken++
		}
		for _, change := range e.list(entry, "changes") {
			e.addChange(objectOf(change), c.fields)
		}
	}
	if e.single = !isChange && !whole.hasList("messages", "statuses", "entry"); e.single {
		one := item{object: whole, raw: raw}
		if one.isStatus() {
			e.statuses = []item{one}
		} else {
			e.messages = []item{one}
		}
	}
	return e
}

func (e *envelope) object(raw json.RawMessage) object {
	o := objectOf(raw)
	e.repeats = e.repeats || o.repeats()
	return o
}

func (e *envelope) list(of object, member string) []json.RawMessage {
	list := of.list(member, maxEvents)
	e.tooLarge = e.tooLarge || len(list) > maxEvents
	return list
}

// isDoubtful reports whether a member of an item, or of what it came in, came twice with different values.
func (e *envelope) isDoubtful(one item) bool { return e.repeats || !e.single && one.repeats() }

// liveField is the field of changes about messages that are to be answered. The others have messages that another app answers, as in
// "standby", that the business sent itself, or that are months old.
const liveField = "messages"

// addChange adds the value of a change that is live, or that the receiver asks for by its field.
func (e *envelope) addChange(change object, fields []string) {
	field := ""
	for _, m := range change {
		if name, _ := scalar(m.Value); m.Name == "field" && !isBlank(name) && name != liveField {
			field = name
		}
	}
	e.hasOther = e.hasOther || field != ""
	if change == nil {
		e.broken++
	}
	for _, m := range change {
		switch {
		case m.Name != "value" || e.tooLarge:
		case field == "" || slices.Contains(fields, field):
			e.addValue(e.object(m.Value), field)
		case e.other == "" && len(messagesWithin(objectOf(m.Value), 0)) > 0:
			e.other = field
		}
	}
}

// messagesWithin returns the messages anywhere in the value of a change that is not live, such as those in the threads of a history.
func messagesWithin(o object, depth int) (all []json.RawMessage) {
	const deepest = 6
	for _, m := range o {
		inner := elements(m.Value, maxEvents)
		switch {
		case m.Name == "messages" || m.Name == "message_echoes":
			all = append(all, inner...)
		case depth < deepest:
			for _, one := range append(inner, m.Value) {
				all = append(all, messagesWithin(objectOf(one), depth+1)...)
			}
		}
	}
	return all
}

// isForeign reports whether an envelope holds neither messages nor statuses, as one that the platform sends about an account, a template
// or a call.
func (e *envelope) isForeign() bool {
	return e.raw != nil && !e.single && len(e.messages)+len(e.statuses)+e.broken == 0
}

func (e *envelope) addValue(value object, field string) {
	business := value.object("metadata").word("display_phone_number", "phone_number_id")
	var only object
	list := value.list("contacts", maxEvents)
	contacts := make(map[string]object, 2*len(list))
	for _, raw := range list {
		contact := objectOf(raw)
		contacts[contact.word("wa_id")], contacts[contact.word("user_id")] = contact, contact
		if len(list) == 1 {
			only = contact
		}
	}
	add := func(to []item, list []json.RawMessage) []item {
		for _, raw := range list {
			one := item{object: objectOf(raw), raw: raw, contact: only, business: business, field: field}
			if one.object == nil {
				e.broken++
				continue
			}
			if from := one.word("from", "from_user_id"); from != "" && contacts[from] != nil {
				one.contact = contacts[from]
			}
			to = append(to, one)
		}
		return to
	}
	if field == "" {
		e.messages = add(e.messages, e.list(value, "messages"))
		e.statuses = add(e.statuses, e.list(value, "statuses"))
	} else {
		e.messages = add(e.messages, messagesWithin(value, 0))
	}
	e.tooLarge = e.tooLarge || len(e.messages)+len(e.statuses)+e.broken > maxEvents
}

// isCertain reports whether an object is of the platform, and not something else that somebody wrote as JSON.
func (e *envelope) isCertain() bool {
	switch {
	case e.raw == nil:
		return false
	case !e.single:
		return len(e.messages)+len(e.statuses) > 0
	case len(e.statuses) > 0:
		return true
	}
	m := e.messages[0]
	kind := m.word("type")
	return kind != "" && (isNested(m.object.get(kind), '{') || isNested(m.object.get(kind), '[') || m.id() != "" && m.from() != "")
}

// isStatus reports whether an object that came alone is a status.
func (i item) isStatus() bool {
	isMessage := i.word("type") != "" && i.word("from", "from_user_id") != ""
	return !isMessage && i.word("id") != "" && i.word("status") != "" && i.word("recipient_id", "recipient_user_id") != ""
}

func (i item) id() string {
	if id := i.word("id"); !table.IsPlaceholder(id) {
		return id
	}
	return ""
}

// from returns the sender of a message: a number, or a user ID for users without one.
func (i item) from() string {
	for _, from := range [...]string{i.word("from"), i.word("from_user_id"), i.contact.word("wa_id", "user_id")} {
		if !table.IsPlaceholder(from) {
			return from
		}
	}
	return ""
}
