package webhook

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// The limits of the lists that are read. A short text of many empty elements would take much memory.
const (
	maxEvents   = 1000 // in an envelope, and entries, and changes in each
	maxContacts = 512
	maxParts    = 64 // phones, for one, of a contact
	maxItems    = 1024
)

// liveField is the field of changes about messages to answer. The others have messages that another app answers, as in "standby", that
// the business sent itself, or that are months old.
const liveField = "messages"

// envelope is a JSON object in the shape of the platform: one message or status, the value of a change that holds several, or
// a whole envelope of changes:
//
//	{"entry": [{"changes": [{"field": "messages", "value": {"metadata": {…}, "contacts": […], "messages": […], "statuses": […]}}]}]}
type envelope struct {
	raw          json.RawMessage // the object; nil for none
	origin       origin
	isDistrusted bool // a person may have typed it
	shape        jsonShape
	hasRepeats   bool // a member came twice with different values
	messages     []item
	statuses     []item
	others       []change // that hold anything but live messages and statuses
	malformed    int      // messages and statuses that are no objects
	isTooLarge   bool
}

// origin is where an envelope was in a request.
type origin int

const (
	originBody origin = iota
	originParam
	originText // a parameter that may hold the text of a person
)

// jsonShape says what a JSON object is, as far as its members show.
type jsonShape uint8

const (
	shapeNone     jsonShape = iota // there is no object
	shapeOther                     // an object without a kind, which is read as a message but need not be one
	shapeKind                      // an object with a kind, and with nothing else that shows a message of the platform
	shapeMessage                   // a message of the platform: it has a kind, and what comes with one
	shapeStatus                    // a status of the platform
	shapeEnvelope                  // lists of messages and statuses, or changes
)

// shapeOf returns the shape of the object in an envelope, which may be nil.
func shapeOf(e *envelope) jsonShape {
	if e == nil {
		return shapeNone
	}
	return e.shape
}

// change is a change of an envelope that is neither a message nor a status.
type change struct {
	field     string
	value     json.RawMessage
	members   object // of the value
	entryID   string
	entryTime string
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
func readEnvelope(raw []byte, members object) *envelope {
	e := &envelope{raw: raw, hasRepeats: members.hasRepeats()}
	isChange := members.get("field") != nil && isObject(members.get("value"))
	isValue := members.hasList("messages") || members.hasList("statuses")
	if !isChange && !isValue && !members.hasList("entry") {
		e.addSingle(newItem(members, raw))
		return e
	}
	e.shape = shapeEnvelope
	switch {
	case isChange:
		e.addChange(members)
	case isValue:
		e.addValue(members)
	}
	for _, entry := range e.listIn(members, "entry") {
		e.addEntry(e.membersOf(entry))
	}
	return e
}

// addSingle adds a message or a status that came alone.
func (e *envelope) addSingle(one item) {
	e.shape = one.shape()
	if e.shape == shapeStatus {
		e.statuses = []item{one}
	} else {
		e.messages = []item{one}
	}
}

func (e *envelope) addEntry(entry object) {
	if entry == nil {
		e.malformed++
		return
	}
	before := len(e.others)
	for _, raw := range e.listIn(entry, "changes") {
		e.addChange(e.membersOf(raw))
	}
	others := e.others[before:]
	if len(others) == 0 {
		return
	}
	id := entry.word("id") // decoded once, because the changes of an entry can be many
	at := entry.word("time")
	for i := range others {
		others[i].entryID = id
		others[i].entryTime = at
	}
}

// addChange adds a change of an entry: the events of its value, if its field is the live one. Everything else is kept as it is.
func (e *envelope) addChange(members object) {
	if members == nil {
		e.malformed++
		return
	}
	raw := members.get("value")
	if raw == nil || e.isTooLarge {
		return
	}
	field, _ := scalar(members.get("field"))
	if isBlank(field) {
		field = liveField
	}
	value := objectOf(raw)
	before := e.size()
	if field == liveField {
		e.hasRepeats = e.hasRepeats || value.hasRepeats()
		e.addValue(value)
	}
	hasEvents := e.size() > before
	if !hasEvents || value.hasList("errors") {
		e.others = append(e.others, change{field: field, value: raw, members: value})
	}
	e.checkSize()
}

// addValue adds the messages and statuses of the value of a change.
func (e *envelope) addValue(value object) {
	business := businessIn(value)
	e.messages = e.appendItems(e.messages, e.listIn(value, "messages"), contactsIn(value), business)
	e.statuses = e.appendItems(e.statuses, e.listIn(value, "statuses"), contacts{}, business)
	e.checkSize()
}

// businessIn returns the number of the business in the value of a change.
func businessIn(value object) string {
	return number(value.object("metadata").word("display_phone_number", "phone_number_id"))
}

// appendItems appends the messages or statuses of a list, which contacts have sent to the number of the business.
func (e *envelope) appendItems(items []item, list []json.RawMessage, senders contacts, business string) []item {
	if items == nil && len(list) > 0 {
		items = make([]item, 0, len(list))
	}
	for _, raw := range list {
		members := objectOf(raw)
		if members == nil {
			e.malformed++
			continue
		}
		one := newItem(members, raw)
		one.business = business
		one.contact = senders.find(members)
		if one.from == "" {
			one.from = one.contact.id
		}
		items = append(items, one)
	}
	return items
}

// membersOf returns the members of an object in the envelope, and notes whether one came twice.
func (e *envelope) membersOf(raw json.RawMessage) object {
	o := objectOf(raw)
	e.hasRepeats = e.hasRepeats || o.hasRepeats()
	return o
}

// listIn returns the elements of a list in the envelope, and notes whether there are too many.
func (e *envelope) listIn(o object, name string) []json.RawMessage {
	list := o.list(name, maxEvents)
	e.isTooLarge = e.isTooLarge || len(list) > maxEvents
	return list
}

func (e *envelope) size() int {
	return len(e.messages) + len(e.statuses) + len(e.others) + e.malformed
}

func (e *envelope) checkSize() { e.isTooLarge = e.isTooLarge || e.size() > maxEvents }

// isEmpty reports whether an envelope holds neither messages nor statuses, as one that the platform sends about an account, a template
// or a call.
func (e *envelope) isEmpty() bool {
	items := len(e.messages) + len(e.statuses) + e.malformed
	return e.shape == shapeEnvelope && items == 0
}

// holdsItems reports whether an object holds a message or a status of the platform, and not other JSON that somebody wrote.
func (e *envelope) holdsItems() bool {
	switch shapeOf(e) {
	case shapeMessage, shapeStatus:
		return true
	case shapeEnvelope:
		return len(e.messages)+len(e.statuses) > 0
	default:
		return false
	}
}

// hasSender reports whether a message has a sender.
func (e *envelope) hasSender() bool {
	return slices.ContainsFunc(e.messages, func(message item) bool { return message.from != "" })
}

// asDistrusted returns an envelope reduced to what a person may say.
func (e *envelope) asDistrusted() envelope {
	distrusted := *e
	distrusted.isDistrusted = true
	distrusted.statuses = nil
	distrusted.others = nil
	return distrusted
}

// says returns what the only message or status of an envelope says about a concept, or "".
func (e *envelope) says(c concept) string {
	if e == nil || len(e.messages)+len(e.statuses) != 1 {
		return ""
	}
	one := slices.Concat(e.messages, e.statuses)[0]
	isMessage := len(e.messages) == 1
	switch {
	case c == conceptID:
		return one.id
	case c == conceptStatus:
		return one.members.word("status")
	case c == conceptFrom && isMessage:
		return one.from
	case c == conceptKind && isMessage:
		return one.kind
	default:
		return ""
	}
}

// hasRepeatsIn reports whether a member of an item, or of what it came in, came twice with different values.
func (e *envelope) hasRepeatsIn(one item) bool {
	isListed := e.shape == shapeEnvelope // the members of an object that came alone are in hasRepeats
	return e.hasRepeats || (isListed && one.members.hasRepeats())
}

// item is a message or a status of the platform.
type item struct {
	members  object
	raw      json.RawMessage
	contact  contact // who sent the message, if the platform says so
	business string  // the number that the message was sent to, or that the status is for
	kind     string
	id       string
	from     string // a number, or a user ID for users without one
}

func newItem(members object, raw json.RawMessage) item {
	return item{
		members: members,
		raw:     raw,
		kind:    members.word("type"),
		id:      members.name("id"),
		from:    members.name("from", "from_user_id"),
	}
}

// shape returns the shape of an object that came alone.
func (i item) shape() jsonShape {
	switch {
	case i.isStatus():
		return shapeStatus
	case i.kind == "":
		return shapeOther
	case i.isMessage():
		return shapeMessage
	default:
		return shapeKind
	}
}

// isStatus reports whether an object that came alone is a delivery status.
func (i item) isStatus() bool {
	isMessage := i.kind != "" && i.members.word("from", "from_user_id") != ""
	if isMessage || i.members.word("id") == "" || i.members.word("status") == "" {
		return false
	}
	return i.members.word("recipient_id", "recipient_user_id") != ""
}

// isMessage reports whether an object with a kind that came alone is a message of the platform: it has what comes with a kind.
func (i item) isMessage() bool {
	content := i.members.get(i.kind)
	hasContent := isObject(content) || isList(content)
	hasNames := i.id != "" && i.from != ""
	return hasContent || hasNames
}

// contact is a person who sent messages of a value. Its fields are decoded once, because the messages can be many.
type contact struct {
	id       string // as it arrived: a number, or a user ID for users without one
	userID   string
	name     string
	username string
}

func newContact(members object) contact {
	profile := members.object("profile")
	username := profile.word("username")
	return contact{
		id:       members.name("wa_id", "user_id"),
		userID:   members.word("user_id"),
		name:     cmp.Or(profile.word("name"), username),
		username: username,
	}
}

// contacts are the people who sent the messages of a value.
type contacts struct {
	single contact            // who has sent everything, if there is one contact
	byID   map[string]contact // by number and by user ID, if there are several
}

func contactsIn(value object) (c contacts) {
	list := value.list("contacts", maxEvents)
	if len(list) == 1 {
		c.single = newContact(objectOf(list[0]))
		return c
	}
	for _, raw := range list {
		if c.byID == nil {
			c.byID = make(map[string]contact, 2*len(list))
		}
		members := objectOf(raw)
		one := newContact(members)
		c.byID[members.word("wa_id")] = one
		c.byID[one.userID] = one
	}
	return c
}

// find returns the contact that a message or another object names, or the zero contact.
func (c contacts) find(o object) contact {
	if c.byID == nil {
		return c.single
	}
	id := o.word("from", "from_user_id", "wa_id", "user_id")
	if id == "" {
		return contact{}
	}
	return c.byID[id]
}
