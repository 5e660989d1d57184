package chatapp2

// Pin pins a message in a group, or unpins it. It goes to a group only: Message.RecipientType must be "group".
type Pin struct {
	// Type is "pin" or "unpin". Required.
	Type string `json:"type,omitzero"`
	// MessageID is the platform's ID of the message. Required.
	MessageID string `json:"message_id,omitzero"`
	// ExpirationDays is how long a message stays pinned, 1 to 30 days. Required to pin.
	ExpirationDays int `json:"expiration_days,omitzero"`
}

func (Pin) kind() string { return typePin }

func (p Pin) content() any { return p }

func (p Pin) check(c *checks, path string) {
	if p.Type != "pin" && p.Type != "unpin" {
		c.found(path+".Type", `want "pin" or "unpin"`)
	}
	c.required(path+".MessageID", p.MessageID, 0)
	switch {
	case p.Type == "pin" && p.ExpirationDays == 0:
		c.found(path+".ExpirationDays", "required to pin, but absent; want 1 to 30")
	case p.ExpirationDays != 0:
		c.between(path+".ExpirationDays", p.ExpirationDays, 1, 30)
	}
}
