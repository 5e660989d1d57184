package chatapp2

import "cmp"

// Flow is a button that opens a form of several screens. The Interactive takes any header. In a template, use FlowButton.
type Flow struct {
	// Version is the version of the message. Empty is "3", the only one.
	Version string `rule:"oneof=3"`
	// ID and Name identify the flow: exactly one is set.
	ID   string `rule:"notblank"`
	Name string `rule:"notblank"`
	// CTA is the label of the button, without emoji.
	CTA string `rule:"required,max=30"`
	// Mode is FlowPublished if it is empty.
	Mode FlowMode `rule:"oneof=draft|published"`
	// Token comes back with the response. Empty is "unused".
	Token string
	// Action is FlowNavigate if it is empty.
	Action FlowAction `rule:"oneof=navigate|data_exchange"`
	// Screen is the ID of the first screen. Required if Data is set.
	Screen string
	// Data is passed to the first screen: a value that encodes as a JSON object that is not empty, or the text of one.
	Data any `rule:"object"`
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

func (f Flow) shape() any {
	return flowJSON{
		cmp.Or(f.Version, flowVersion), f.ID, f.Name, f.CTA, f.Mode, f.Token, f.Action, flowPayloadJSON{f.Screen, f.Data},
	}
}

func (f *Flow) read(value any) fit {
	b, fits := readAs[flowJSON](value)
	if b.Version == flowVersion {
		b.Version = ""
	}
	*f = Flow{b.Version, b.ID, b.Name, b.CTA, b.Mode, b.Token, b.Action, b.Payload.Screen, b.Payload.Data}
	return fits
}

func (f Flow) check(c *checks, path string) {
	if (f.ID == "") == (f.Name == "") {
		c.Found(path, "want exactly one of ID and Name")
	}
	if f.Data != nil {
		c.required(path+".Screen", f.Screen)
	}
}
