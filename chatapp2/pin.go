package chatapp2

// Pin pins a message in a group, or unpins it. Message.RecipientType must be RecipientGroup.
type Pin struct {
	// Type is PinAdd or PinRemove. Required.
	Type PinType `json:"type,omitzero"`
	// MessageID is the platform's ID of the message. Required.
	MessageID string `json:"message_id,omitzero"`
	// ExpirationDays is how long the message stays pinned, 1 to 30 days. Required to pin.
	ExpirationDays int `json:"expiration_days,omitzero"`
}

// PinType is what a Pin does.
type PinType string

// The types of a Pin.
const (
	PinAdd    PinType = "pin"
	PinRemove PinType = "unpin"
)

func (Pin) kind() string { return typePin }

func (p Pin) content() any { return p }

func (p Pin) check(c *checks, path string) {
	c.required(path+".Type", string(p.Type), 0)
	oneOf(c, path+".Type", p.Type, PinAdd, PinRemove)
	c.required(path+".MessageID", p.MessageID, 0)
	switch {
	case p.Type == PinAdd && p.ExpirationDays == 0:
		c.Found(path+".ExpirationDays", "required to pin, but absent; want 1 to 30")
	case p.ExpirationDays < 0 || p.ExpirationDays > 30:
		c.Limit(path+".ExpirationDays", "want 1 to 30")
	}
}
