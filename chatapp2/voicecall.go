package chatapp2

import (
	"time"
)

// VoiceCall is a button with which the recipient calls the sender. The Interactive takes any header.
type VoiceCall struct {
	// DisplayText is the label of the button, at most 20 characters. Empty is the platform's own.
	DisplayText string
	// TTL is how long the button works: whole minutes, at most 30 days. 0 is the platform's default, 7 days.
	TTL time.Duration
	// Payload comes back with the call, at most 512 characters. Optional.
	Payload string
}

// voiceCallJSON is a VoiceCall in the platform's shape.
type voiceCallJSON struct {
	DisplayText string  `json:"display_text,omitzero"`
	TTLMinutes  float64 `json:"ttl_minutes,omitzero"`
	Payload     string  `json:"payload,omitzero"`
}

func (b voiceCallJSON) typed() VoiceCall {
	return VoiceCall{b.DisplayText, fromMinutes(b.TTLMinutes), b.Payload}
}

func (a VoiceCall) json() voiceCallJSON {
	return voiceCallJSON{a.DisplayText, a.TTL.Minutes(), a.Payload}
}

func fromMinutes(n float64) time.Duration { return time.Duration(n * float64(time.Minute)) }

func (VoiceCall) actionType() string { return actionVoiceCall }

func (a VoiceCall) action() any { return named[voiceCallJSON]{actionVoiceCall, a.json()} }

func (VoiceCall) needs() needs { return needs{} }

func (a VoiceCall) check(c *checks, path string) {
	c.length(path+".DisplayText", a.DisplayText, 20)
	checkCallTTL(c, path+".TTL", a.TTL)
	c.length(path+".Payload", a.Payload, 512)
}

func checkCallTTL(c *checks, path string, ttl time.Duration) {
	switch {
	case ttl < 0 || ttl%time.Minute != 0:
		c.Found(path, "want a whole number of minutes")
	case ttl > 30*24*time.Hour:
		c.Limit(path, "want at most 30 days")
	}
}
