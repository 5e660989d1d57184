package chatapp2

import (
	"cmp"
	"encoding/json"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Flow is a button that opens a form of several screens. The Interactive takes any header. In a template, use FlowButton.
type Flow struct {
	// Version is the version of the message. Empty is "3".
	Version string
	// ID and Name identify the flow: exactly one is set.
	ID, Name string
	// CTA is the label of the button, at most 30 characters, without emoji. Required.
	CTA string
	// Mode is FlowDraft or FlowPublished. Empty is the platform's default, FlowPublished.
	Mode FlowMode
	// Token comes back with the response. Empty is the platform's default, "unused".
	Token string
	// Action is FlowNavigate or FlowDataExchange. Empty is the platform's default, FlowNavigate.
	Action FlowAction
	// Screen is the ID of the first screen. Required if Data is set.
	Screen string
	// Data is passed to the first screen: a value that encodes as a JSON object with at least one member, or the text of such
	// an object. Optional.
	Data any
}

// FlowMode says which version of a flow opens.
type FlowMode string

// The modes of a Flow.
const (
	FlowDraft     FlowMode = "draft"
	FlowPublished FlowMode = "published"
)

// FlowAction says what a flow does first.
type FlowAction string

// The actions of a Flow.
const (
	FlowNavigate     FlowAction = "navigate"
	FlowDataExchange FlowAction = "data_exchange"
)

// flowVersion is the only version that there is.
const flowVersion = "3"

// flowJSON is a Flow in the platform's shape.
type flowJSON struct {
	Version string          `json:"flow_message_version"`
	ID      string          `json:"flow_id,omitzero"`
	Name    string          `json:"flow_name,omitzero"`
	CTA     string          `json:"flow_cta,omitzero"`
	Mode    FlowMode        `json:"mode,omitzero"`
	Token   string          `json:"flow_token,omitzero"`
	Action  FlowAction      `json:"flow_action,omitzero"`
	Payload flowPayloadJSON `json:"flow_action_payload,omitzero"`
}

type flowPayloadJSON struct {
	Screen string `json:"screen,omitzero"`
	Data   any    `json:"data,omitzero"`
}

func (b flowJSON) typed() Flow {
	if b.Version == flowVersion {
		b.Version = ""
	}
	return Flow{b.Version, b.ID, b.Name, b.CTA, b.Mode, b.Token, b.Action, b.Payload.Screen, b.Payload.Data}
}

func (Flow) actionType() string { return actionFlow }

func (f Flow) action() any {
	return named[flowJSON]{actionFlow, flowJSON{
		cmp.Or(f.Version, flowVersion), f.ID, f.Name, f.CTA, f.Mode, f.Token, f.Action, flowPayloadJSON{f.Screen, f.Data},
	}}
}

func (Flow) needs() needs { return needs{} }

func (f Flow) check(c *checks, path string) {
	if (f.ID == "") == (f.Name == "") {
		c.Found(path, "want exactly one of ID and Name")
	}
	oneOf(c, path+".Version", f.Version, flowVersion)
	c.notBlank(path+".ID", f.ID)
	c.notBlank(path+".Name", f.Name)
	c.required(path+".CTA", f.CTA, 30)
	oneOf(c, path+".Mode", f.Mode, FlowDraft, FlowPublished)
	oneOf(c, path+".Action", f.Action, FlowNavigate, FlowDataExchange)
	if f.Data != nil {
		c.required(path+".Screen", f.Screen, 0)
		checkFlowData(c, path+".Data", f.Data, 1)
	}
}

// checkFlowData checks that a value encodes as a JSON object with so many members at least, or is the text of one.
func checkFlowData(c *checks, path string, value any, least int) {
	raw, err := wire.Encode(value)
	if err != nil {
		return // reported as a fault
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(raw, &object) != nil || object == nil:
		c.Found(path, "want a JSON object, or the text of one")
	case len(object) < least:
		c.Found(path, "want at least one member")
	}
}
