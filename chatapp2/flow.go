package chatapp2

// Flow is a button that opens a form of several screens. The Interactive takes any header. In a template, use FlowButton.
type Flow struct {
	// Version is the version of the message. Empty is "3", the only one.
	Version string `at:"flow_message_version,default=3,oneof=3"`
	// ID and Name identify the flow: exactly one is set.
	ID   string `at:"flow_id,notblank"`
	Name string `at:"flow_name,notblank"`
	// CTA is the label of the button, without emoji.
	CTA string `at:"flow_cta,required,max=30"`
	// Mode is FlowPublished if it is empty.
	Mode FlowMode `at:"mode,oneof=draft|published"`
	// Token comes back with the response. Empty is "unused".
	Token string `at:"flow_token"`
	// Action is FlowNavigate if it is empty.
	Action FlowAction `at:"flow_action,oneof=navigate|data_exchange"`
	// Screen is the ID of the first screen. Required if Data is set.
	Screen string `at:"flow_action_payload.screen"`
	// Data is passed to the first screen: a value that encodes as a JSON object that is not empty, or the text of one.
	Data any `at:"flow_action_payload.data,object"`
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

func (f Flow) check(c *checks) {
	if (f.ID == "") == (f.Name == "") {
		c.Found("", "want exactly one of ID and Name")
	}
	if f.Data != nil {
		c.Required("Screen", f.Screen)
	}
}
