// Package reference finds the reference ID of a message of any channel.
package reference

import (
	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// Of returns the reference ID of a message, or "" if the type of the message is unknown.
func Of(message messaging.Message) string {
	switch m := message.(type) {
	case sms.Message:
		return m.ReferenceID
	case chatapp1.Message:
		return m.ReferenceID
	case chatapp2.Message:
		return m.ReferenceID
	default:
		return ""
	}
}
