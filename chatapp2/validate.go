package chatapp2

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/shape"
	"github.com/messaging-service/messaging-go/internal/wire"
)

type checks = shape.Checker

// checker is a type with rules that are in no tag, most of them about several of its fields.
type checker interface{ check(c *checks) }

// validate finds all problems of the message, except those of the fields that the contract names.
func (m Message) validate() *checks {
	c := allShapes().NewChecker(func(c *checks, v reflect.Value) {
		if own, ok := reflect.TypeAssert[checker](v); ok {
			own.check(c)
		}
	})
	m.checkRecipient(c)
	content := m.Content // so that reflect does not move the message to the heap
	c.Value("Content", reflect.ValueOf(&content).Elem(), "required")
	c.Field("ReplyTo", m.ReplyTo, "notblank")
	c.Field("CallbackData", m.CallbackData, "max=512")
	c.Field("MarketingOptions.ProductPolicy", string(m.MarketingOptions.ProductPolicy), "oneof=CLOUD_API_FALLBACK|STRICT")
	kind := ""
	if shape.IsValue(m.Content) {
		kind = strings.ToLower(m.Content.kind())
	}
	if kind == "reaction" && m.ReplyTo != "" {
		c.Found("ReplyTo", "must be empty for a Reaction, which names its message itself")
	}
	if (m.MarketingOptions != MarketingOptions{}) && kind != "template" && kind != "" {
		c.Found("MarketingOptions", "must be empty without a Template")
	}
	if len(m.Extra) > 0 {
		m.checkExtra(c, kind)
	}
	return c
}

func (m Message) checkRecipient(c *checks) {
	to, user := m.recipient()
	switch {
	case to == "" && user == "":
		c.Found("To", "required, but absent; want a number or the ID of a user")
	case isUserID(to):
		c.Found("Recipient", "must be empty if To is the ID of a user")
	case to != "":
		reason := wire.CheckRecipient(to)
		if reason != "" && wire.CheckRecipient(strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(to)) == "" {
			c.Limit("To", reason)
		} else {
			c.Found("To", reason)
		}
	}
	c.Field("Recipient", m.Recipient, "")
	if m.Recipient != "" && utf8.ValidString(m.Recipient) && !isUserID(m.Recipient) {
		c.Limit("Recipient", "want two letters, a dot, and at most 128 letters and digits")
	}
}

func (m Message) checkExtra(c *checks, kind string) {
	for _, name := range slices.Sorted(maps.Keys(m.Extra)) {
		path := "Extra[" + strconv.Quote(name) + "]"
		switch {
		case name == "context" && m.ReplyTo == "": // which may hold more than ReplyTo
			var quoted replyContext
			raw, _ := wire.Encode(m.Extra[name])
			if _ = json.Unmarshal(raw, &quoted); quoted.MessageID == "" {
				c.Found(path, "its message_id is required, but absent")
			}
			if kind == "reaction" {
				c.Found(path, "must be absent for a Reaction, which names its message itself")
			}
		case slices.Contains(envelopeNames(), name) || shape.IsValue(m.Content) && name == m.Content.kind():
			c.Found(path, "is a member of the message itself; set its field instead")
		case slices.ContainsFunc(contents(), func(known Content) bool { return known.kind() == name }):
			c.Found(path, "is the content of another type of message; one message has one content")
		}
	}
}
