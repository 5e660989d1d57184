package messaging

import (
	"cmp"
	"encoding/json"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// textOf returns the text of a concept of a message, or "".
func textOf(call *wire.Call, concept string) string {
	for i := range call.Fields {
		if call.Fields[i].Concept == concept {
			return call.Fields[i].Text
		}
	}
	for _, m := range call.Members {
		if m.Name == concept {
			text, _ := jsonscan.Word(m.Value)
			return text
		}
	}
	return ""
}

// senderOf returns the sender of a message: a number, a name or the ID of a channel.
func senderOf(call *wire.Call) string { return cmp.Or(textOf(call, "from"), textOf(call, "channel")) }

// recipientOf returns the recipient of a message: a number or the ID of a user.
func recipientOf(call *wire.Call) string {
	return cmp.Or(textOf(call, "to"), textOf(call, "recipient"))
}

// kindOf returns what a message is; see Outgoing.Kind.
func kindOf(call *wire.Call) string {
	if kind := textOf(call, "type"); kind != "" { // chat app 2
		return kind
	}
	for _, payload := range [...]struct{ concept, kind string }{
		{"template", "template"}, {"url", "call_to_action"}, {"video", "video"}, {"image", "image"}, {"text", "text"},
	} {
		if textOf(call, payload.concept) != "" {
			return payload.kind
		}
	}
	return "raw"
}

// templateOf returns the name or the ID of the template of a message, or "".
func templateOf(call *wire.Call) string {
	for _, m := range call.Members {
		var template struct{ Name string }
		if m.Name == "template" && json.Unmarshal(m.Value, &template) == nil {
			return template.Name
		}
	}
	return textOf(call, "template")
}
