package webhook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"log/slog"
	"strings"
	"time"
)

// Other is a change in an envelope of the platform that is neither a live message nor a status: messages that another app answers
// (field standby), messages that the business sent from a phone (smb_message_echoes), old messages (history), calls, changes of templates
// and of the account, and errors of the platform itself (messages). See [WithOther].
//
// Do not answer a message in it: another app or a person has done so, and a reply could take the conversation over.
type Other struct {
	// Callback is the callback that brought the change, such as CallbackChatApp2.
	Callback Callback `json:"callback,omitzero"`
	// Field is the platform's name for what has changed, such as standby or account_update. It comes from outside.
	Field string `json:"field,omitzero"`
	// EntryID is the ID of the entry, which is that of the account. It may be empty.
	EntryID string `json:"entryID,omitzero"`
	// ChangedAt is the time of the entry. It is zero if the entry has no time, or one in an unknown form.
	ChangedAt time.Time `json:"changed,omitzero"`
	// RawTime is the time as it arrived.
	RawTime string `json:"rawTime,omitzero"`
	// JSON is the value of the change, complete. Package encoding/json decodes it.
	JSON json.RawMessage `json:"-"`
	// Params are all parameters.
	Params Params `json:"params,omitzero"`
	// RawQuery is the query byte for byte, without secrets.
	RawQuery string `json:"-"`
}

// Preference says that a person does not want marketing messages any more, or wants them again. The person made the choice in the platform's
// app. See [WithPreferences].
type Preference struct {
	// Callback is the callback that brought the change, such as CallbackChatApp2.
	Callback Callback `json:"callback,omitzero"`
	// From is the number of the person, or the user ID of a person who shows no number. It is never empty.
	From string `json:"from,omitzero"`
	// UserID is the person's user ID, even if From is a number. It may be empty.
	UserID string `json:"userID,omitzero"`
	// To is your number.
	To string `json:"to,omitzero"`
	// Category is the category of messages, such as marketing_messages.
	Category string `json:"category,omitzero"`
	// Stopped is true if the person stopped these messages, and false if the person resumed them.
	Stopped bool `json:"stopped,omitzero"`
	// ChangedAt is when the person chose so. It is zero if the change has no time, or one in an unknown form.
	ChangedAt time.Time `json:"changed,omitzero"`
	// RawTime is the time as it arrived.
	RawTime string `json:"rawTime,omitzero"`
	// Ambiguous is like that of ChatMessage. Treat an ambiguous change as a stop.
	Ambiguous bool `json:"ambiguous,omitzero"`
	// JSON is the complete preference.
	JSON json.RawMessage `json:"-"`
	// Params are all parameters.
	Params Params `json:"params,omitzero"`
	// RawQuery is the query byte for byte, without secrets.
	RawQuery string `json:"-"`
}

// appendOthers appends the changes of an envelope that are neither messages nor statuses. A change of preferences that this package does
// not understand as a whole is an Other too.
func (f *fields) appendOthers(d *decision, events []event) []event {
	for _, one := range d.envelope.others {
		if f.callback.receiver.handlePreference != nil && !d.envelope.isDistrusted {
			preferences, isComplete := f.preferences(d, one)
			events = append(events, preferences...)
			if isComplete {
				continue
			}
		}
		events = append(events, &Other{
			Callback:  f.callback.name,
			Field:     one.field,
			EntryID:   one.entryID,
			ChangedAt: moment(one.entryTime, time.UTC).UTC(),
			RawTime:   one.entryTime,
			JSON:      one.value,
			Params:    f.params,
			RawQuery:  f.query,
		})
	}
	return events
}

// preferencesMember is the member of a change that lists preferences, and the usual field of such a change.
const preferencesMember = "user_preferences"

// preferences returns the preferences of a change, and reports whether there are any and all of them were understood.
func (f *fields) preferences(d *decision, one change) (events []event, isComplete bool) {
	value := one.members
	business := businessIn(value)
	hasRepeats := value.hasRepeats()
	contacts := contactsIn(value)
	list := value.list(preferencesMember, maxEvents)
	isComplete = len(list) > 0 && len(list) <= maxEvents
	for _, raw := range list {
		members := objectOf(raw)
		p := f.preference(d, members, contacts.find(members))
		p.To = business
		p.Ambiguous = p.Ambiguous || hasRepeats
		p.JSON = raw
		choice := strings.ToLower(members.word("value"))
		p.Stopped = choice == "stop"
		isUnderstood := p.Stopped || choice == "resume"
		if p.From == "" || !isUnderstood {
			isComplete = false
			continue
		}
		events = append(events, p)
	}
	return events, isComplete
}

// preference reads who made a choice, about what, and when.
func (f *fields) preference(d *decision, members object, sender contact) *Preference {
	from := cmp.Or(members.name("wa_id", "user_id"), sender.id)
	return &Preference{
		Callback:  f.callback.name,
		From:      number(from),
		UserID:    cmp.Or(members.word("user_id"), sender.userID),
		Category:  members.word("category"),
		ChangedAt: members.time("timestamp"),
		RawTime:   members.word("timestamp"),
		Ambiguous: d.isAmbiguous || d.envelope.hasRepeats || members.hasRepeats(),
		Params:    f.params,
		RawQuery:  f.query,
	}
}

// DuplicateKey is like that of SMSMessage. It covers the entry and the value of the change. It is lasting if the entry has a time, or the value
// a timestamp. Without one, an equal change may be another: an error of the platform can occur again.
func (o Other) DuplicateKey() (key string, lasting bool) {
	hasTime := o.RawTime != "" || bytes.Contains(o.JSON, []byte(`"timestamp"`)) // in a text the quotes would be escaped
	return duplicateKey(o.Callback, true, o.JSON, nil, "other", o.Field, o.EntryID, o.RawTime), hasTime
}

// DuplicateKey is like that of SMSMessage. It covers the whole preference. It is lasting if the preference has a time. Without one, an equal
// preference may be another: a person can stop, resume and stop again.
func (p Preference) DuplicateKey() (key string, lasting bool) {
	hasTime := p.RawTime != ""
	return duplicateKey(p.Callback, !p.Ambiguous, p.JSON, p.Params, "preference", p.From, p.UserID, p.To), hasTime
}

func (o *Other) about() (kind, id string) { return kindOther, "" }

func (p *Preference) about() (kind, id string) { return kindPreference, "" }

// LogValue returns the change without personal data: its callback, its field, and when it happened.
func (o Other) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("callback", string(o.Callback)),
		slog.String("field", loggable(o.Field)),
		slog.Time("changed_at", o.ChangedAt),
	)
}

// LogValue returns the preference without personal data: its callback, whether messages were stopped, and when.
func (p Preference) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("callback", string(p.Callback)),
		slog.Bool("stopped", p.Stopped),
		slog.Time("changed_at", p.ChangedAt),
		slog.Bool("ambiguous", p.Ambiguous),
	)
}
