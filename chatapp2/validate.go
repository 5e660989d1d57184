package chatapp2

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// validate finds all problems of the message, except those of the fields that the contract names.
func (m Message) validate() []wire.Problem {
	c := &checks{group: m.RecipientType == RecipientGroup}
	oneOf(c, "RecipientType", m.RecipientType, RecipientIndividual, RecipientGroup)
	m.checkRecipient(c)
	kind := ""
	switch {
	case m.Content == nil:
		c.Found("Content", "required, but nil; the documentation of package chatapp2 lists its types")
	case isValue(m.Content):
		kind = strings.ToLower(m.Content.kind())
		m.Content.check(c, "Content")
	}
	c.notBlank("ReplyTo", m.ReplyTo)
	if kind == typePin && !c.group {
		c.Found("RecipientType", `must be "group" for a Pin`)
	}
	if kind == typeReaction && m.ReplyTo != "" {
		c.Found("ReplyTo", "must be empty for a Reaction, which names its message itself")
	}
	c.length("CallbackData", m.CallbackData, 512)
	oneOf(c, "Marketing.ProductPolicy", m.Marketing.ProductPolicy, PolicyFallback, PolicyStrict)
	if (m.Marketing != Marketing{}) {
		if kind != typeTemplate && kind != "" {
			c.Found("Marketing", "must be empty without a Template")
		}
		if c.group {
			c.Found("Marketing", "must be empty for a group")
		}
	}
	if m.Fallback != nil && c.group {
		c.Found("Fallback", "must be nil for a group, which has no number to send an SMS to")
	}
	m.checkExtra(c, kind)
	m.addFaults(c)
	return c.Checks
}

func (m Message) checkRecipient(c *checks) {
	switch {
	case c.group && strings.TrimSpace(m.To) == "":
		c.Found("To", "the ID of a group is required")
	case m.To == "" && m.Recipient == "":
		c.Found("To", "required, but absent; want a number, or a Recipient in its place")
	case !c.group && m.To != "":
		reason := wire.CheckRecipient(m.To)
		plain := strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(m.To)
		if wire.CheckRecipient(plain) == "" { // which the platform takes
			c.Limit("To", reason)
		} else {
			c.Found("To", reason)
		}
	}
	if m.Recipient != "" && !isUserID(m.Recipient) {
		c.Limit("Recipient", "want two letters, a dot, and at most 128 letters and digits")
	}
}

// isUserID reports whether id is a business-scoped user ID, such as "US.1349", or one of a parent business: "US.ENT.1349".
func isUserID(id string) bool {
	country, rest, _ := strings.Cut(id, ".")
	number, isParent := strings.CutPrefix(rest, "ENT.")
	switch {
	case len(country) != 2 || strings.Trim(country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "":
		return false
	case isParent:
		return number != "" && strings.Trim(number, "0123456789") == ""
	default:
		return rest != "" && len(rest) <= 128 && !strings.ContainsFunc(rest, func(r rune) bool { return !isAlphanumeric(r) })
	}
}

func (m Message) checkExtra(c *checks, kind string) {
	for _, name := range slices.Sorted(maps.Keys(m.Extra)) {
		path := "Extra[" + strconv.Quote(name) + "]"
		switch {
		case name == "context" && m.ReplyTo == "": // which may hold more than ReplyTo
			if kind == typeReaction {
				c.Found(path, "must be absent for a Reaction, which names its message itself")
			}
		case slices.Contains(envelopeNames(), name) || isValue(m.Content) && name == m.Content.kind():
			c.Found(path, "is a member of the message itself; set its field instead")
		case slices.Contains(contentTypes(), name):
			c.Found(path, "is the content of another type of message; one message has one content")
		}
	}
}

// addFaults adds the faults of the message, except those of Extra and of the fields that the contract names.
func (m Message) addFaults(c *checks) {
	m.Extra, m.Fallback, m.CallbackURL, m.ReferenceID = nil, nil, "", ""
	for _, fault := range faults(reflect.ValueOf(m)) {
		path := strings.TrimPrefix(fault.Field, ".")
		if !slices.ContainsFunc(c.Checks, func(p wire.Problem) bool { return p.Field == path }) {
			c.Found(path, fault.Reason)
		}
	}
}
