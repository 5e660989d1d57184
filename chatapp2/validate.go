package chatapp2

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/shape"
	"github.com/messaging-service/messaging-go/internal/wire"
)

type checks = shape.Checker

// checker is a type with rules that no tag can express, most of them about several of its fields.
type checker interface{ check(c *checks) }

// validate finds all problems of the message, except those of the fields that the contract names.
func (m Message) validate() *checks {
	c := allShapes().NewChecker(func(c *checks, v reflect.Value) {
		if value, ok := reflect.TypeAssert[checker](v); ok {
			value.check(c)
		}
	})
	m.checkRecipient(c)
	m.checkContent(c)
	m.checkTexts(c)
	kind := m.contentKind()
	if kind == "reaction" && m.ReplyTo != "" {
		c.Add("ReplyTo", "must be empty for a Reaction, which names its message itself")
	}
	hasOptions := m.MarketingOptions != MarketingOptions{}
	if hasOptions {
		c.Value("MarketingOptions", reflect.ValueOf(m.MarketingOptions))
	}
	if hasOptions && kind != "template" && kind != "" {
		c.Add("MarketingOptions", "must be empty without a Template")
	}
	if len(m.Extra) > 0 { // sorting no names would allocate
		m.checkExtra(c)
	}
	return c
}

func (m Message) checkContent(c *checks) {
	switch {
	case m.Content == nil:
		c.Add("Content", "required, but nil; the documentation of Content lists the types")
	case !isValue(m.Content):
		c.Add("Content", wire.WrongType(m.Content))
	default:
		c.Value("Content", reflect.ValueOf(m.Content))
	}
}

// checkTexts checks the texts that go with content of each kind.
func (m Message) checkTexts(c *checks) {
	if c.Text("ReplyTo", m.ReplyTo) && m.ReplyTo != "" {
		c.Required("ReplyTo", m.ReplyTo)
	}
	if c.Text("CallbackData", m.CallbackData) {
		c.Length("CallbackData", m.CallbackData, 512)
	}
}

func (m Message) checkExtra(c *checks) {
	for _, name := range slices.Sorted(maps.Keys(m.Extra)) {
		c.Add("Extra["+strconv.Quote(name)+"]", m.checkExtraName(name))
	}
}

// contentKind returns the type of the message in lower case, or "" if it has no content.
func (m Message) contentKind() string {
	if !isValue(m.Content) {
		return ""
	}
	return strings.ToLower(m.Content.kind())
}

func (m Message) checkRecipient(c *checks) {
	to, user := m.recipient()
	switch {
	case to == "" && user == "":
		c.Add("To", "required, but absent; want a number or the ID of a user")
	case isUserID(to):
		c.Add("Recipient", "must be empty if To is the ID of a user")
	case to != "":
		checkNumber(c, to)
	}
	isText := c.Text("Recipient", m.Recipient)
	if m.Recipient != "" && isText && !isUserID(m.Recipient) {
		c.Limit("Recipient", "want two letters, a dot, and at most 128 letters and digits")
	}
}

// checkNumber checks a phone number. Separators only break a limit, because the platform documents that it accepts them.
func checkNumber(c *checks, number string) {
	reason := wire.CheckRecipient(number)
	if reason == "" {
		return
	}
	compact := strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(number)
	if wire.CheckRecipient(compact) == "" {
		c.Limit("To", reason)
	} else {
		c.Add("To", reason)
	}
}

// checkExtraName returns why Extra must not have a member with this name, or "" if it may.
func (m Message) checkExtraName(name string) string {
	isContext := name == "context" && m.ReplyTo == ""
	switch {
	case isContext && m.contentKind() == "reaction":
		return "must be absent for a Reaction, which names its message itself"
	case isContext: // it may hold more than ReplyTo
		if !namesMessage(m.Extra[name]) {
			return "its message_id is required, but absent"
		}
		return ""
	case slices.Contains(envelopeNames(), name), isValue(m.Content) && name == m.Content.kind():
		return "is a member of the message itself; set its field instead"
	case slices.ContainsFunc(contents(), func(content Content) bool { return content.kind() == name }):
		return "is the content of another type of message; one message has one content"
	}
	if known := otherCase(name); known != "" {
		return "differs from " + strconv.Quote(known) + " in case alone; set its field instead"
	}
	return ""
}

// namesMessage reports whether a context has the ID of a message.
func namesMessage(context any) bool {
	raw, err := wire.Encode(context)
	if err != nil {
		return false
	}
	var reply replyContext
	_ = json.Unmarshal(raw, &reply) // other members may be of any kind
	return reply.MessageID != ""
}
