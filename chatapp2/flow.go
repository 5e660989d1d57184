package chatapp2

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Flow is a button that opens a form of several screens. The Interactive takes any header. It is also a component of a template:
// see FlowButton.
type Flow struct {
	// Version is the version of the message, "3", which an empty one means.
	Version string
	// ID and Name say which flow: exactly one is set.
	ID, Name string
	// CTA is the label of the button, at most 30 characters. Required.
	CTA string
	// Mode is "draft" or "published". Empty is the platform's default, "published".
	Mode string
	// Token comes back with the answer. Empty is the platform's default, "unused".
	Token string
	// Action is "navigate" or "data_exchange". Empty is the platform's default, "navigate".
	Action string
	// Screen is the ID of the first screen. Required where Data is set.
	Screen string
	// Data is handed to the first screen: a map or struct that encodes as a JSON object which is not empty, or the text of one.
	// Optional.
	Data any
}

type flowBody struct {
	Version string          `json:"flow_message_version,omitzero"`
	ID      string          `json:"flow_id,omitzero"`
	Name    string          `json:"flow_name,omitzero"`
	CTA     string          `json:"flow_cta,omitzero"`
	Mode    string          `json:"mode,omitzero"`
	Token   string          `json:"flow_token,omitzero"`
	Action  string          `json:"flow_action,omitzero"`
	Payload flowPayloadBody `json:"flow_action_payload,omitzero"`
}

type flowPayloadBody struct {
	Screen string `json:"screen,omitzero"`
	Data   any    `json:"data,omitzero"`
}

func (Flow) interactive() (string, needs) { return actionFlow, needs{} }

func (f Flow) action() any {
	b := struct {
		flowBody

		Payload *flowPayloadBody `json:"flow_action_payload,omitzero"`
	}{flowBody: flowBody{cmp.Or(f.Version, "3"), f.ID, f.Name, f.CTA, f.Mode, f.Token, f.Action, flowPayloadBody{}}}
	if f.Screen != "" || f.Data != nil {
		b.Payload = &flowPayloadBody{f.Screen, f.Data}
	}
	return namedAction{Name: actionFlow, Parameters: b}
}

func readFlow(m *members) Flow {
	var b flowBody
	m.is("name", actionFlow)
	m.into("parameters", &b)
	return Flow{b.Version, b.ID, b.Name, b.CTA, b.Mode, b.Token, b.Action, b.Payload.Screen, b.Payload.Data}
}

func (f Flow) check(c *checks, path string) {
	if (f.ID == "") == (f.Name == "") {
		c.found(path, "want exactly one of ID and Name")
	}
	c.text(path+".Version", f.Version, 0)
	c.text(path+".ID", f.ID, 0)
	c.text(path+".Name", f.Name, 0)
	c.required(path+".CTA", f.CTA, 30)
	c.oneOf(path+".Mode", f.Mode, "draft", "published")
	c.text(path+".Token", f.Token, 0)
	c.oneOf(path+".Action", f.Action, "navigate", "data_exchange")
	if f.Data != nil {
		c.required(path+".Screen", f.Screen, 0)
		checkObject(c, path+".Data", f.Data)
	} else {
		c.text(path+".Screen", f.Screen, 0)
	}
}

// checkObject checks a value that must be encoded as a JSON object with at least one member, or be the text of one.
func checkObject(c *checks, path string, value any) {
	raw, err := wire.Encode(value)
	if err != nil {
		c.found(path, fmt.Sprintf("cannot be encoded as JSON: %T", err))
		return
	}
	var text string
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		raw = bytes.TrimSpace([]byte(text))
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || len(object) == 0 {
		c.found(path, "want a JSON object with at least one member, or the text of one")
	}
}
