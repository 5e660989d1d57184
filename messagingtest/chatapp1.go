package messagingtest

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Names of the fields of a chat-app-1 message beside those of other channels, as the default contract has them. The
// specification shows none of them. The channel ID is from, and the recipient to.
const (
	fieldImage            = "image"
	fieldVideo            = "video"
	fieldThumbnail        = "thumbnail"
	fieldDuration         = "duration"
	fieldSize             = "fileSize"
	fieldCaption          = "caption"
	fieldAction           = "action"
	fieldTemplate         = "templateId"
	fieldTemplateParams   = "templateParams"
	fieldTemplateLanguage = "templateLanguage"
)

// payload is what one kind of message is made of.
type payload struct {
	kind     string
	marks    []string // one of these says that it is this kind
	required []string
	optional []string
}

// payloadOf is the payload that the fields are of, or false if there is none. The order says which one it is: text and
// image are also parts of a call to action.
func payloadOf(fields object) (payload, bool) {
	for _, p := range []payload{
		{
			kindCallToAction,
			[]string{fieldCaption, fieldAction},
			[]string{fieldText, fieldCaption, fieldAction},
			[]string{fieldImage},
		},
		{
			kindTemplate,
			[]string{fieldTemplate, fieldTemplateParams, fieldTemplateLanguage},
			[]string{fieldTemplate},
			[]string{fieldTemplateParams, fieldTemplateLanguage},
		},
		{
			kindVideo,
			[]string{fieldVideo, fieldThumbnail, fieldDuration, fieldSize},
			[]string{fieldVideo},
			[]string{fieldThumbnail, fieldDuration, fieldSize},
		},
		{kindImage, []string{fieldImage}, []string{fieldImage}, nil},
		{kindText, []string{fieldText}, []string{fieldText}, nil},
	} {
		for _, name := range p.marks {
			if _, present := fields[name]; present {
				return p, true
			}
		}
	}
	return payload{}, false
}

// has says whether a field belongs to the payload.
func (p payload) has(name string) bool {
	return slices.Contains(p.required, name) || slices.Contains(p.optional, name)
}

// readChatApp1 returns the message, or the first thing that is wrong with it.
func readChatApp1(fields object) (message submission, wrong flaw) {
	message.Channel, message.Parts = ChannelChatApp1, 1
	if wrong = fields.readStrings(
		stringField{fieldFrom, &message.From},
		stringField{fieldTo, &message.To},
	); wrong.found() {
		return message, wrong
	}
	switch {
	case message.From == "":
		return message, flaw{codeMissing, "from is absent or empty"}
	case message.To == "":
		return message, flaw{codeMissing, "to is absent or empty"}
	case !isRecipient(message.To):
		return message, flaw{codeRecipient, notRecipient}
	}
	if wrong = fields.readPayload(&message.Sent); wrong.found() {
		return message, wrong
	}
	message.Extra = fields.extra(isFieldOfChatApp1)
	return message, fields.readDelivery(&message.Sent)
}

func (o object) readPayload(m *Sent) flaw {
	p, ok := payloadOf(o)
	if !ok {
		return flaw{codePayload, "there is no payload: text, image, video, caption with action, or templateId"}
	}
	m.Kind = p.kind
	for _, name := range payloadFields() {
		if _, present := o[name]; present && !p.has(name) {
			return flaw{codePayload, name + " does not belong to a payload of the kind " + p.kind}
		}
	}
	for _, name := range payloadFields() {
		if raw, present := o[name]; present {
			if wrong := checkPayloadField(name, raw); wrong.found() {
				return wrong
			}
		}
	}
	for _, name := range p.required {
		if _, present := o[name]; !present {
			return flaw{codeMissing, name + " is absent"}
		}
	}
	m.Text, _ = o.text(fieldText)
	m.Template, _ = o.text(fieldTemplate)
	return flaw{}
}

func payloadFields() []string {
	return []string{
		fieldText, fieldImage, fieldVideo, fieldThumbnail, fieldDuration, fieldSize, fieldCaption, fieldAction,
		fieldTemplate, fieldTemplateParams, fieldTemplateLanguage,
	}
}

func checkPayloadField(name string, raw json.RawMessage) flaw {
	switch name {
	case fieldDuration:
		if seconds, ok := numberOf(raw); !ok {
			return flaw{codeKind, name + " is not a number"}
		} else if seconds <= 0 {
			return flaw{codeValue, name + " is not above zero"}
		}
		return flaw{}
	case fieldSize:
		if _, ok := numberOf(raw); !ok {
			return flaw{codeKind, name + " is not a number"}
		}
		if bytes, err := strconv.ParseUint(string(raw), 10, 64); err != nil || bytes == 0 {
			return flaw{codeValue, name + " is not a whole number above zero"}
		}
		return flaw{}
	case fieldTemplateParams:
		return checkTemplateParams(raw)
	}
	text, isString := textOf(raw)
	switch {
	case !isString:
		return flaw{codeKind, name + " is not a string"}
	case text == "":
		return flaw{codeMissing, name + " is empty"}
	}
	switch name {
	case fieldImage, fieldVideo, fieldThumbnail, fieldAction:
		if !isURL(text) {
			return flaw{codeURL, name + " is not an absolute http or https URL"}
		}
	}
	return flaw{}
}

func checkTemplateParams(raw json.RawMessage) flaw {
	params, err := readObject(raw)
	if err != nil {
		return flaw{codeKind, "templateParams is not an object"}
	}
	for name := range params {
		if _, isString := params.text(name); !isString {
			return flaw{codeKind, "templateParams holds a value that is not a string"}
		}
	}
	return flaw{}
}

// numberOf takes a number, and no string that holds one.
func numberOf(raw json.RawMessage) (float64, bool) {
	if raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return n, err == nil
}

func isFieldOfChatApp1(name string) bool {
	return name == fieldFrom || name == fieldTo || slices.Contains(payloadFields(), name) || isFieldOfDelivery(name)
}

// isFieldOfDelivery says whether both chat apps have the field beside the message.
func isFieldOfDelivery(name string) bool {
	switch name {
	case fieldTTL, fieldFallbackFrom, fieldFallbackText, fieldCallback, fieldReport, fieldReference:
		return true
	default:
		return false
	}
}
