package messagingtest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// envelope lists the members of the platform's message that are not its content.
var envelope = []string{ //nolint:gochecknoglobals // never written
	"messaging_product", "recipient_type", "to", "recipient", "type", "context", "category", "product_policy",
	"message_activity_sharing", "preview_url", "biz_opaque_callback_data", "recipient_identity_key_hash", "optimization_spec",
	"direct_send_config",
}

// contents lists the known types of messages. The platform adds types: others pass.
var contents = []string{ //nolint:gochecknoglobals // never written
	"text", "image", "video", "audio", "document", "sticker", "location", "contacts", "reaction", "template", "interactive",
}

// readPlatform reads a message of the third-party platform.
func (f fields) readPlatform() (submission, *problem) {
	platform := f.platformMessage()
	to := textIn(platform, "to")
	isToUser := to == ""
	if isToUser {
		to = textIn(platform, "recipient")
	}
	kind := cmp.Or(textIn(platform, "type"), "text")
	service := append(f.names(), envelope...)

	o := newObject(platform)
	checkEnvelope(o, isToUser)
	checkContent(o, kind, service)
	own := object{members: f.values, problem: o.problem}
	f.checkChatApp(own)
	if isToUser && f.text("fallbackFrom") != "" {
		own.refuse("fallback", f.name("fallbackFrom"), "is there, but no number for the SMS")
	}

	extra := maps.Clone(platform)
	maps.DeleteFunc(extra, func(name string, _ any) bool {
		return name == kind || slices.Contains(service, name)
	})
	m := submission{Sent: f.message(extra), isToUser: isToUser}
	m.To = to
	m.Kind = kind
	content, _ := platform[kind].(document)
	m.Text = contentText(kind, content)
	if kind == "template" {
		m.Template = textIn(content, "name")
	}
	return m, o.first()
}

// contentText returns the text that the recipient reads in the content of a message: the body or the caption. It is "" for a template, whose text
// only the platform has.
func contentText(kind string, content document) string {
	switch kind {
	case "text":
		return textIn(content, "body")
	case "interactive":
		body, _ := content["body"].(document)
		return textIn(body, "text")
	case "image", "video", "document":
		return textIn(content, "caption")
	default:
		return ""
	}
}

// platformMessage returns the members of the platform's message: those that the contract does not name, or those of the member
// that wraps them. A form holds JSON as text.
func (f fields) platformMessage() document {
	if *f.op.contract.Wrap == "" {
		message := maps.Clone(f.extra)
		if f.isForm() {
			unquoteAll(message)
		}
		return message
	}
	wrapped := f.values[*f.op.contract.Wrap]
	if f.isForm() {
		wrapped, _ = readJSON([]byte(textIn(f.values, *f.op.contract.Wrap)))
	}
	message, _ := wrapped.(document)
	return message
}

// unquoteAll reads the texts that are objects, lists, true or false in JSON.
func unquoteAll(members document) {
	for name := range members {
		text := textIn(members, name)
		isJSON := text == "true" || text == "false" || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
		if value, ok := readJSON([]byte(text)); isJSON && ok {
			members[name] = value
		}
	}
}

// plainNumber removes the separators that the platform allows in a number.
func plainNumber(s string) string {
	return strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(s)
}

// checkEnvelope checks the members of a message that are not its content.
func checkEnvelope(message object, isToUser bool) {
	if message.filled("messaging_product") != "whatsapp" {
		message.refuse("value", "messaging_product", "is not whatsapp")
	}
	if message.has("recipient_type") && message.filled("recipient_type") != "individual" {
		message.refuse("value", "recipient_type", "is not individual")
	}
	message.optional("type", message.filledText)
	message.optional("context", func(string) { message.object("context").filled("message_id") })
	message.optional("to", message.filledText)
	message.optional("recipient", message.filledText)
	to, user := textIn(message.members, "to"), textIn(message.members, "recipient")
	switch {
	case to == "" && user == "":
		message.refuse("missing", "to", "and recipient are both absent")
	case user != "" && !strings.Contains(user, "."): // after the country code
		message.refuse("recipient", "recipient", "is not a user ID")
	case !isToUser && !isMobileNumber(plainNumber(to)):
		message.refuse("recipient", "to", "is not a number")
	}
}

// checkContent checks that a message has the member that its type names, and no other content. service lists the members that are
// not content.
func checkContent(message object, kind string, service []string) {
	for _, name := range contents {
		if message.has(name) && name != kind {
			message.refuse("payload", name, "is there, but is not the content that type names")
		}
	}
	if slices.Contains(service, kind) || !message.has(kind) {
		message.refuse("payload", "type", "does not name the content of the message")
		return
	}
	switch kind {
	case "text":
		message.object("text").filled("body")
	case "image", "video", "audio", "document", "sticker":
		message.object(kind).checkMedia()
	case "template":
		template := message.object("template")
		template.filled("name")
		template.object("language").filled("code")
	default:
		message.checkObjectOrList(kind)
	}
}

// checkMedia checks a medium, which is at a URL or has an ID at the platform.
func (o object) checkMedia() {
	o.optional("id", o.filledText)
	o.optional("link", o.link)
	if o.has("id") == o.has("link") {
		o.refuse("payload", "id", "or link has to be there, and not both")
	}
}

func (o object) checkObjectOrList(member string) {
	switch o.members[member].(type) {
	case document, []any:
	default:
		o.refuse("kind", member, "is neither an object nor an array")
	}
}

// platformID is where a response of the platform has the ID.
const platformID = "messages.0.id"

// hasPlatformResponse reports whether the server responds as the platform does: if the contract has platformID as an alternative, like the
// default contract. Otherwise it responds as on the other channels.
func hasPlatformResponse(t table.Send) bool { return slices.Index(t.Response["id"], platformID) > 0 }

func (m submission) confirmChatApp2() any {
	contact := map[string]string{"input": m.To}
	if m.isToUser {
		contact["user_id"] = m.To
	} else {
		contact["wa_id"] = strings.TrimPrefix(plainNumber(m.To), "+")
	}
	return map[string]any{
		"messaging_product": "whatsapp",
		"contacts":          []any{contact},
		"messages":          []any{map[string]string{"id": m.ID}},
	}
}
