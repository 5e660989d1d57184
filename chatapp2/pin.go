package chatapp2

// Pin pins a message in a group, or unpins it. Message.RecipientType must be RecipientGroup. MessageID is the platform's.
type Pin struct {
	Type      PinType `at:"type" rule:"required,oneof=pin|unpin"`
	MessageID string  `at:"message_id" rule:"required"`
	// ExpirationDays is how long the message stays pinned, 1 to 30. Required to pin.
	ExpirationDays int `at:"expiration_days" rule:"max=30"`
}

// PinType is what a Pin does.
type PinType string

// The types of a Pin.
const (
	PinAdd    PinType = "pin"
	PinRemove PinType = "unpin"
)

func (p Pin) check(c *checks) {
	if p.ExpirationDays < 0 || p.Type == PinAdd && p.ExpirationDays == 0 {
		c.Found("ExpirationDays", "want 1 to 30, which is required to pin")
	}
}
