// Package reference finds the reference ID of a message of any channel, and checks what the outbox stores as a name.
package reference

import (
	"strings"
	"unicode/utf8"

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

// IsStorable reports whether a name, such as a reference ID or a campaign, has at most 255 bytes, which PostgreSQL can store.
func IsStorable(name string) bool {
	return len(name) <= 255 && utf8.ValidString(name) && !strings.ContainsRune(name, 0)
}
