package chatapp2

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Flow is a button that opens a form of several screens. The Interactive takes any header. It is also a component of a template:
// see FlowButton.
type Flow struct {
	// Version (flow_message_version) is that of the message, "3", which an empty one means.
	Version string
	// ID (flow_id) and Name (flow_name) say which flow: exactly one is set.
	ID, Name string
	// CTA (flow_cta) is the label of the button, at most 30 characters, without emoji. Required.
	CTA string
	// Mode is "draft" or "published". Empty is the platform's default, "published".
	Mode string
	// Token (flow_token) comes back with the answer. Empty is the platform's default, "unused".
	Token string
	// Action (flow_action) is "navigate" or "data_exchange". Empty is the platform's default, "navigate".
	Action string
	// Screen (flow_action_payload.screen) is the ID of the first screen. Required where Data is set.
	Screen string
	// Data (flow_action_payload.data) is handed to the first screen: a map or struct that encodes as a JSON object which is not empty, or the text of one.
	// Optional.
	Data any

	noVersion bool // a body that was read lacked it
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
	}{flowBody: flowBody{f.version(), f.ID, f.Name, f.CTA, f.Mode, f.Token, f.Action, flowPayloadBody{}}}
	if f.Screen != "" || f.Data != nil {
		b.Payload = &flowPayloadBody{f.Screen, f.Data}
	}
	return namedAction{Name: actionFlow, Parameters: b}
}

func readFlow(m *members) Flow {
	var b flowBody
	m.is("name", actionFlow)
	m.into("parameters", &b)
	f := Flow{b.Version, b.ID, b.Name, b.CTA, b.Mode, b.Token, b.Action, b.Payload.Screen, b.Payload.Data, b.Version == ""}
	if f.Version == flowVersion {
		f.Version = ""
	}
	return f
}

// flowVersion is the one that there is.
const flowVersion = "3"

func (f Flow) version() string {
	if f.Version == "" && !f.noVersion {
		return flowVersion
	}
	return f.Version
}

func (f Flow) check(c *checks, path string) {
	if (f.ID == "") == (f.Name == "") {
		c.found(path, "want exactly one of ID and Name")
	}
	if f.noVersion {
		c.found(path+".Version", "required, but absent")
	}
	c.oneOf(path+".Version", f.Version, flowVersion)
	c.id(path+".ID", f.ID)
	c.id(path+".Name", f.Name)
	c.required(path+".CTA", f.CTA, 30)
	c.oneOf(path+".Mode", f.Mode, "draft", "published")
	c.text(path+".Token", f.Token, 0)
	c.oneOf(path+".Action", f.Action, "navigate", "data_exchange")
	if f.Data != nil {
		c.required(path+".Screen", f.Screen, 0)
		checkObject(c, path+".Data", f.Data, 1)
	} else {
		c.text(path+".Screen", f.Screen, 0)
	}
}

// checkObject checks a value that must be encoded as a JSON object with so many members at least, or be the text of one.
func checkObject(c *checks, path string, value any, least int) {
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
	if json.Unmarshal(raw, &object) != nil || object == nil || len(object) < least {
		want := "want a JSON object, or the text of one"
		if least > 0 {
			want = "want a JSON object with at least one member, or the text of one"
		}
		c.found(path, want)
	}
}
