package chatapp2

import "time"

// VoiceCall is a button with which the recipient calls the sender. The Interactive takes any header.
type VoiceCall struct {
	// DisplayText is the label of the button. Empty is the platform's own.
	DisplayText string `at:"display_text" rule:"max=20"`
	// TTL is how long the button works: whole minutes, at most 30 days. 0 is the platform's default, 7 days.
	TTL time.Duration `at:"ttl_minutes" rule:"minutes"`
	// Payload comes back with the call.
	Payload string `at:"payload" rule:"max=512"`
}

// LocationRequest asks the recipient for a location. The Interactive takes no header. The response is a location message that
// quotes this one.
type LocationRequest struct{}

// ContactRequest asks the recipient for their contact details. The response is a contacts message.
type ContactRequest struct{}

// CallPermissionRequest asks the recipient for permission to call them. The platform allows one a day and two a week for each
// recipient. The body is optional.
type CallPermissionRequest struct{}
