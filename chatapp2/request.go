package chatapp2

import "time"

// VoiceCall is a button with which the recipient calls the sender. The Interactive takes any header.
type VoiceCall struct {
	// DisplayText is the label of the button, at most 20 characters. Empty is the platform's own.
	DisplayText string `rule:"max=20"`
	// TTL is how long the button works: whole minutes, at most 30 days. 0 is the platform's default, 7 days.
	TTL time.Duration `rule:"minutes"`
	// Payload comes back with the call, at most 512 characters. Optional.
	Payload string `rule:"max=512"`
}

// voiceCallJSON is a VoiceCall in the platform's shape.
type voiceCallJSON struct {
	DisplayText string  `json:"display_text,omitzero"`
	TTLMinutes  float64 `json:"ttl_minutes,omitzero"`
	Payload     string  `json:"payload,omitzero"`
}

func (a VoiceCall) shape() any { return voiceCallJSON{a.DisplayText, a.TTL.Minutes(), a.Payload} }

func (a *VoiceCall) read(value any) fit {
	b, f := readAs[voiceCallJSON](value)
	*a = VoiceCall{b.DisplayText, fromMinutes(b.TTLMinutes), b.Payload}
	return f.exactIf(a.shape() == b)
}

func fromMinutes(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }

// LocationRequest asks the recipient for a location. The Interactive takes no header. The response is a location message that
// quotes this one.
type LocationRequest struct{}

// ContactRequest asks the recipient for their contact details. The response is a contacts message.
type ContactRequest struct{}

// CallPermissionRequest asks the recipient for permission to call them. The platform allows one a day and two a week for each
// recipient. The body is optional.
type CallPermissionRequest struct{}
