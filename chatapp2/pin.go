package chatapp2

// Pin pins a message in a group, or unpins it. Message.RecipientType must be RecipientGroup. MessageID is the platform's.
type Pin struct {
	Type      PinType `json:"type,omitzero" rule:"required,oneof=pin|unpin"`
	MessageID string  `json:"message_id,omitzero" rule:"required"`
	// ExpirationDays is how long the message stays pinned, 1 to 30. Required to pin.
	ExpirationDays int `json:"expiration_days,omitzero" rule:"max=30"`
}

// PinType is what a Pin does.
type PinType string

// The types of a Pin.
const (
	PinAdd    PinType = "pin"
	PinRemove PinType = "unpin"
)

func (p Pin) check(c *checks, path string) {
	if p.ExpirationDays < 0 || p.Type == PinAdd && p.ExpirationDays == 0 {
		c.Found(path+".ExpirationDays", "want 1 to 30, which is required to pin")
	}
}
