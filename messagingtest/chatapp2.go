package messagingtest

import (
	"net/http"
	"strings"
)

// Names of the envelope of a Meta-shaped message. It stands at the top level of the body, which is a default of the
// contract, and the fields of the service beside it.
const (
	fieldProduct       = "messaging_product"
	fieldRecipientType = "recipient_type"
	fieldRecipient     = "recipient"
	fieldType          = "type"
	fieldContext       = "context"
	fieldCategory      = "category"
	fieldPolicy        = "product_policy"
	fieldSharing       = "message_activity_sharing"
	fieldOpaque        = "biz_opaque_callback_data"
	fieldIdentity      = "recipient_identity_key_hash"
	fieldBid           = "bid_spec"
	fieldDirect        = "direct_send_config"
	fieldPreview       = "preview_url"
)

const (
	product         = "whatsapp"
	toIndividual    = "individual"
	toGroup         = "group"
	policyStrict    = "STRICT"
	policyFallBack  = "CLOUD_API_FALLBACK"
	userIDSeparator = "."
)

// readChatApp2 returns the message, or the first thing that is wrong with it.
func readChatApp2(fields object) (message submission, wrong flaw) {
	message.Channel, message.Parts = ChannelChatApp2, 1
	if wrong = fields.readAddress(&message); wrong.found() {
		return message, wrong
	}
	if wrong = fields.readEnvelope(&message); wrong.found() {
		return message, wrong
	}
	if wrong = fields.readContent(&message.Sent); wrong.found() {
		return message, wrong
	}
	if wrong = fields.readDelivery(&message.Sent); wrong.found() {
		return message, wrong
	}
	if recipientType, _ := fields.text(fieldRecipientType); message.FallbackFrom != "" && (message.toUser || recipientType == toGroup) {
		return message, flaw{codeFallback, "there is no number for the SMS of sms_from and sms_text"}
	}
	message.Extra = fields.extra(func(name string) bool {
		return isFieldOfEnvelope(name) || isFieldOfDelivery(name) || isContent(name) || name == message.Kind
	})
	return message, flaw{}
}

func (o object) readAddress(m *submission) flaw {
	var productGiven, recipientType, recipient string
	if wrong := o.readStrings(
		stringField{fieldProduct, &productGiven},
		stringField{fieldRecipientType, &recipientType},
		stringField{fieldTo, &m.To},
		stringField{fieldRecipient, &recipient},
	); wrong.found() {
		return wrong
	}
	_, typeGiven := o[fieldRecipientType]
	_, toGiven := o[fieldTo]
	_, recipientGiven := o[fieldRecipient]
	switch {
	case productGiven == "":
		return flaw{codeMissing, "messaging_product is absent or empty"}
	case productGiven != product:
		return flaw{codeValue, "messaging_product is not whatsapp"}
	case typeGiven && recipientType != toIndividual && recipientType != toGroup:
		return flaw{codeValue, "recipient_type is neither individual nor group"}
	case toGiven && m.To == "":
		return flaw{codeMissing, "to is empty"}
	case recipientGiven && recipient == "":
		return flaw{codeMissing, "recipient is empty"}
	case !toGiven && !recipientGiven:
		return flaw{codeMissing, "there is neither to nor recipient"}
	case toGiven && recipientType != toGroup && !isRecipient(m.To):
		return flaw{codeRecipient, notRecipient}
	case recipientGiven && !strings.Contains(recipient, userIDSeparator):
		return flaw{codeRecipient, "recipient is no user ID: it begins with a country code and a point"}
	case !toGiven && recipientType == toGroup:
		return flaw{codeMissing, "to is absent: a group is addressed by it"}
	case !toGiven:
		m.To, m.toUser = recipient, true
	}
	return flaw{}
}

func (o object) readEnvelope(m *submission) flaw {
	var category, policy, ignored string
	if wrong := o.readStrings(
		stringField{fieldCategory, &category},
		stringField{fieldPolicy, &policy},
		stringField{fieldOpaque, &ignored},
		stringField{fieldIdentity, &ignored},
	); wrong.found() {
		return wrong
	}
	_, policyGiven := o[fieldPolicy]
	_, categoryGiven := o[fieldCategory]
	switch {
	case policyGiven && policy != policyStrict && policy != policyFallBack:
		return flaw{codeValue, "product_policy is neither CLOUD_API_FALLBACK nor STRICT"}
	case categoryGiven && category != string(CategoryUtility) && category != string(CategoryAuthentication):
		return flaw{codeValue, "category is neither utility nor authentication"}
	}
	m.strict = policy == policyStrict
	m.Category = Category(category) // of a free-form message: the templates have theirs
	for _, name := range []string{fieldSharing, fieldPreview} {
		if raw, present := o[name]; present && !isBool(raw) {
			return flaw{codeKind, name + " is neither true nor false"}
		}
	}
	for _, name := range []string{fieldBid, fieldDirect} {
		if raw, present := o[name]; present {
			if _, wrong := nodeOf(name, raw); wrong.found() {
				return wrong
			}
		}
	}
	raw, present := o[fieldContext]
	if !present {
		return flaw{}
	}
	context, wrong := nodeOf(fieldContext, raw)
	if wrong.found() {
		return wrong
	}
	return context.need("message_id")
}

// readContent reads type and the property of that name. A type that is not known passes if its property is there: Meta
// adds types.
func (o object) readContent(m *Sent) flaw {
	m.Kind = kindText
	if _, given := o[fieldType]; given {
		if wrong := o.readStrings(stringField{fieldType, &m.Kind}); wrong.found() {
			return wrong
		}
	}
	switch {
	case m.Kind == "":
		return flaw{codeMissing, "type is empty"}
	case isFieldOfEnvelope(m.Kind) || isFieldOfDelivery(m.Kind) || m.Kind == fieldAPIKey || m.Kind == fieldAPISecret:
		return flaw{codePayload, "type names a field that is no content"}
	}
	for _, name := range contentNames() {
		if _, present := o[name]; present && name != m.Kind {
			return flaw{codePayload, name + " is there, but is not what type names"}
		}
	}
	raw, present := o[m.Kind]
	if !present {
		return flaw{codePayload, "the property that type names is absent"}
	}
	if wrong := checkContent(m.Kind, raw); wrong.found() {
		return wrong
	}
	switch m.Kind {
	case kindText:
		text, _ := readObject(raw)
		m.Text, _ = text.text("body")
	case kindTemplate:
		template, _ := readObject(raw)
		m.Template, _ = template.text("name")
	}
	return flaw{}
}

func isFieldOfEnvelope(name string) bool {
	switch name {
	case fieldProduct, fieldRecipientType, fieldTo, fieldRecipient, fieldType, fieldContext, fieldCategory, fieldPolicy,
		fieldSharing, fieldOpaque, fieldIdentity, fieldBid, fieldDirect, fieldPreview:
		return true
	default:
		return false
	}
}

// metaAnswer is the answer of the shape that the third-party platform has.
type metaAnswer struct {
	Product  string        `json:"messaging_product"`
	Contacts []metaContact `json:"contacts"`
	Messages []metaMessage `json:"messages"`
}

type metaContact struct {
	Input  string `json:"input"`
	Number string `json:"wa_id,omitzero"`
	User   string `json:"user_id,omitzero"`
}

type metaMessage struct {
	ID string `json:"id"`
}

func confirmChatApp2(m submission, told receipt) answer {
	contact := metaContact{Input: m.To}
	if m.toUser {
		contact.User = m.To
	} else {
		contact.Number = strings.TrimPrefix(m.To, "+")
	}
	return answer{status: http.StatusOK, body: encode(metaAnswer{product, []metaContact{contact}, []metaMessage{{told.ID}}})}
}
