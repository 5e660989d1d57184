package webhook

import (
	"encoding/json"
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

// liveField is the field of changes about messages that are to be answered. The others have messages that another app answers, as in
// "standby", that the business sent itself, or that are months old.
const liveField = "messages"

// envelope is a JSON object in the shape of the platform: one message or status, the value of a change that holds several, or
// a whole envelope of changes.
type envelope struct {
	raw          json.RawMessage // the object; nil for none
	inParam      bool            // it came in a parameter, not as a body
	param        int             // the number of the text parameter that it came in, counted from 1; 0 for any other place
	isDistrusted bool            // a person may have typed it
	single       bool            // it is one message or status itself
	repeats      bool            // a member came twice with different values
	messages     []item
	statuses     []item
	others       []change // that hold anything but live messages and statuses
	broken       int      // messages and statuses that are no objects
	tooLarge     bool
}

// item is a message or a status.
type item struct {
	object

	raw      json.RawMessage
	contact  object // who sent the message, if the platform says so
	business string // the number that the message was sent to, or that the status is for
	kind     string
	id       string
	from     string // a number, or a user ID for users without one
}

// change is a change of an envelope that is neither a message nor a status.
type change struct {
	field string
	value json.RawMessage
	entry object // without its changes
}

// envelopeIn reads an envelope from a text. It returns nil if the text is not a JSON object.
func envelopeIn(text string) *envelope {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return nil
	}
	raw := []byte(text)
	if jsonscan.Check(raw) != nil {
		return nil
	}
	return readEnvelope(raw, objectOf(raw))
}

// readEnvelope reads an envelope from a JSON object with these members.
func readEnvelope(raw []byte, whole object) *envelope {
	e := &envelope{raw: raw, repeats: whole.repeats()}
	isChange := whole.get("field") != nil && isNested(whole.get("value"), '{')
	hasEvents := whole.hasList("messages") || whole.hasList("statuses")
	switch {
	case isChange:
		e.addChange(whole, nil)
	case hasEvents:
		e.addValue(whole)
	}
	for _, raw := range e.list(whole, "entry") {
		entry := e.object(raw)
		if entry == nil {
			e.broken++
		}
		for _, change := range e.list(entry, "changes") {
			e.addChange(e.object(change), entry)
		}
	}
	if !isChange && !hasEvents && !whole.hasList("entry") {
		e.single = true
		one := newItem(whole, raw)
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

// addChange adds a change of an entry: the events of its value, if its field is the live one. Everything else is kept as it is.
func (e *envelope) addChange(members, entry object) {
	if members == nil {
		e.broken++
	}
	field := liveField
	for _, m := range members {
		if name, _ := scalar(m.value); string(m.name) == "field" && !isBlank(name) && name != liveField {
			field = name
		}
	}
	for _, m := range members {
		if string(m.name) != "value" || e.tooLarge {
			continue
		}
		before := len(e.messages) + len(e.statuses) + e.broken
		value := objectOf(m.value)
		if field == liveField {
			e.repeats = e.repeats || value.repeats()
			e.addValue(value)
		}
		hasEvents := len(e.messages)+len(e.statuses)+e.broken > before
		if !hasEvents || value.hasList("errors") {
			e.others = append(e.others, change{field, m.value, entry})
		}
	}
	e.tooLarge = e.tooLarge || e.size() > maxEvents
}

func (e *envelope) size() int { return len(e.messages) + len(e.statuses) + len(e.others) + e.broken }

// isEmpty reports whether an envelope holds neither messages nor statuses, as one that the platform sends about an account, a template
// or a call.
func (e *envelope) isEmpty() bool {
	return e.raw != nil && !e.single && len(e.messages)+len(e.statuses)+e.broken == 0
}

// distrust reduces an envelope to what a person may say.
func (e *envelope) distrust() {
	e.isDistrusted = true
	e.statuses, e.others = nil, nil
}

// addValue adds the messages and statuses of the value of a change.
func (e *envelope) addValue(value object) {
	business := value.object("metadata").word("display_phone_number", "phone_number_id")
	e.messages = e.addItems(e.messages, e.list(value, "messages"), peopleIn(value), business)
	e.statuses = e.addItems(e.statuses, e.list(value, "statuses"), people{}, business)
	e.tooLarge = e.tooLarge || e.size() > maxEvents
}

func (e *envelope) addItems(to []item, list []json.RawMessage, from people, business string) []item {
	if to == nil && len(list) > 0 {
		to = make([]item, 0, len(list))
	}
	for _, raw := range list {
		members := objectOf(raw)
		if members == nil {
			e.broken++
			continue
		}
		one := newItem(members, raw)
		one.business = business
		one.contact = from.find(members)
		if one.from == "" {
			one.from = firstName(one.contact, "wa_id", "user_id")
		}
		to = append(to, one)
	}
	return to
}

// people are the contacts of a value: whom its messages come from.
type people struct {
	only object            // the only one, who has sent everything
	byID map[string]object // by number and by user ID, if there are several
}

func peopleIn(value object) (all people) {
	list := value.list("contacts", maxEvents)
	if len(list) == 1 {
		all.only = objectOf(list[0])
		return all
	}
	for _, raw := range list {
		if all.byID == nil {
			all.byID = make(map[string]object, 2*len(list))
		}
		person := objectOf(raw)
		all.byID[person.word("wa_id")] = person
		all.byID[person.word("user_id")] = person
	}
	return all
}

// find returns the person that an item names, or nil.
func (all people) find(item object) object {
	if all.only != nil || all.byID == nil {
		return all.only
	}
	if id := item.word("from", "from_user_id", "wa_id", "user_id"); id != "" {
		return all.byID[id]
	}
	return nil
}

func newItem(members object, raw json.RawMessage) item {
	return item{
		object: members, raw: raw,
		kind: members.word("type"),
		id:   firstName(members, "id"),
		from: firstName(members, "from", "from_user_id"),
	}
}

// firstName returns the first of the members that names something.
func firstName(of object, members ...string) string {
	for _, member := range members {
		if name := of.word(member); !table.IsPlaceholder(name) {
			return name
		}
	}
	return ""
}

// isDoubtful reports whether a member of an item, or of what it came in, came twice with different values.
func (e *envelope) isDoubtful(one item) bool { return e.repeats || !e.single && one.repeats() }

// isCertain reports whether an object is of the platform, and not something else that somebody wrote as JSON.
func (e *envelope) isCertain() bool {
	switch {
	case e == nil:
		return false
	case !e.single:
		return len(e.messages)+len(e.statuses) > 0
	case len(e.statuses) > 0:
		return true
	}
	one := e.messages[0]
	if one.kind == "" {
		return false
	}
	member := one.get(one.kind)
	return isNested(member, '{') || isNested(member, '[') || one.id != "" && one.from != ""
}

// isStatus reports whether an object that came alone is a status.
func (i item) isStatus() bool {
	isMessage := i.kind != "" && i.word("from", "from_user_id") != ""
	return !isMessage && i.word("id") != "" && i.word("status") != "" && i.word("recipient_id", "recipient_user_id") != ""
}
