package describe

import (
	"maps"
	"slices"
	"strconv"

	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// ChatApp1 describes a message of chat app 1.
func ChatApp1(m chatapp1.Message) wire.Call {
	options := wire.DeliveryOptions{TTL: m.TTL, Fallback: (*wire.Fallback)(m.Fallback), CallbackURL: m.CallbackURL, ReferenceID: m.ReferenceID}
	call := wire.Call{Extra: m.Extra, ExtraField: "Extra", ReferenceID: m.ReferenceID, Marketing: m.Marketing}
	call.Fields = []wire.Field{
		{Concept: "channel", Name: "ChannelID", Text: m.ChannelID, Required: true, Reason: wire.CheckNotBlank(m.ChannelID)},
		{Concept: "to", Name: "To", Text: m.To, Required: true, Reason: wire.CheckRecipient(m.To)},
	}
	addPayload(&call, m.Payload)
	if len(call.Extra) > 0 { // which may hold a second payload: the codec rejects it
		call.Payloads = chatApp1Payloads()
	}
	call.Fields = append(call.Fields, options.Fields()...)
	return call
}

func chatApp1Payloads() []wire.Payload {
	return []wire.Payload{
		{Essential: "text"},
		{Essential: "image", Optional: []string{"text"}},
		{Essential: "video", Optional: []string{"text"}},
		{Essential: "url", Optional: []string{"text", "image"}},
		{Essential: "template"},
	}
}

// addPayload adds the fields of the payload, and a problem if it would be empty.
func addPayload(call *wire.Call, payload chatapp1.Payload) {
	switch p := payload.(type) {
	case nil:
		reject(call, "Payload", "required, but nil; want one of Text, Image, Video, CallToAction, Template and Raw")
	case chatapp1.Text:
		addEssential(call, wire.Field{Concept: "text", Name: "Payload.Body", Text: p.Body})
	case chatapp1.Image:
		addEssential(call, wire.Field{Concept: "image", Name: "Payload.URL", Text: p.URL, Reason: wire.CheckURL(p.URL)})
		call.Fields = append(call.Fields, wire.Field{Concept: "text", Name: "Payload.Text", Text: p.Text})
	case chatapp1.Video:
		addVideo(call, p)
	case chatapp1.CallToAction:
		addCallToAction(call, p)
	case chatapp1.Template:
		addTemplate(call, p)
	case chatapp1.Raw:
		addRaw(call, p)
	default:
		reject(call, "Payload", wire.WrongType(payload))
	}
}

func addVideo(call *wire.Call, v chatapp1.Video) {
	addEssential(call, wire.Field{Concept: "video", Name: "Payload.URL", Text: v.URL, Reason: wire.CheckURL(v.URL)})
	call.Fields = append(
		call.Fields,
		wire.Field{Concept: "text", Name: "Payload.Text", Text: v.Text},
		wire.Field{Concept: "thumbnail", Name: "Payload.ThumbnailURL", Text: v.ThumbnailURL, Reason: wire.CheckURL(v.ThumbnailURL)},
		wire.Field{Concept: "duration", Name: "Payload.Duration", Value: v.Duration},
		wire.Field{Concept: "size", Name: "Payload.Size", Value: v.Size, Reason: wire.CheckRange(v.Size, 1, 0)},
	)
}

func addCallToAction(call *wire.Call, a chatapp1.CallToAction) {
	call.Fields = append(
		call.Fields,
		wire.Field{Concept: "text", Name: "Payload.Text", Text: a.Text, Required: true},
		wire.Field{Concept: "image", Name: "Payload.ImageURL", Text: a.ImageURL, Reason: wire.CheckURL(a.ImageURL)},
		wire.Field{Concept: "caption", Name: "Payload.Caption", Text: a.Caption, Required: true},
	)
	addEssential(call, wire.Field{Concept: "url", Name: "Payload.URL", Text: a.URL, Reason: wire.CheckURL(a.URL)})
}

func addTemplate(call *wire.Call, t chatapp1.Template) {
	addEssential(call, wire.Field{Concept: "template", Name: "Payload.ID", Text: t.ID, Reason: wire.CheckNotBlank(t.ID)})
	problems := checkParams(t.Params)
	if len(problems) > 0 {
		t.Params = nil // each problem is reported once, by the name of its parameter
	}
	call.Problems = append(call.Problems, problems...)
	call.Fields = append(
		call.Fields,
		wire.Field{Concept: "language", Name: "Payload.Language", Text: t.Language},
		wire.Field{Concept: "params", Name: "Payload.Params", Value: t.Params},
	)
}

// checkParams finds problems with the parameters of a template.
func checkParams(params map[string]string) wire.Checks {
	var c wire.Checks
	for _, name := range slices.Sorted(maps.Keys(params)) {
		field := "Payload.Params[" + strconv.Quote(name) + "]"
		if name == "" {
			c.Add(field, "a parameter needs a name")
		}
		if reason := wire.CheckText(name); reason != "" {
			c.Add(field, "the name "+reason)
		}
		c.Add(field, wire.CheckText(params[name]))
	}
	return c
}

func addRaw(call *wire.Call, r chatapp1.Raw) {
	if len(r.Fields) == 0 {
		reject(call, "Payload.Fields", "required, but absent")
	}
	fields := map[string]any{}
	maps.Copy(fields, r.Fields)
	for _, name := range slices.Sorted(maps.Keys(call.Extra)) {
		if _, taken := fields[name]; taken {
			reject(call, "Extra["+strconv.Quote(name)+"]", "is a field of the payload too")
			continue
		}
		fields[name] = call.Extra[name]
	}
	call.UserExtra = call.Extra
	call.Extra = fields
	call.ExtraField = "Payload.Fields"
}

// addEssential adds a field without which the payload would be empty, even if the contract has no such field.
func addEssential(call *wire.Call, field wire.Field) {
	if field.Text == "" {
		reject(call, field.Name, "required, but absent")
	}
	call.Fields = append(call.Fields, field)
}

func reject(call *wire.Call, field, reason string) {
	call.Problems = append(call.Problems, wire.Problem{Field: field, Reason: reason})
}
