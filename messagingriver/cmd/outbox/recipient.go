package main

import (
	"cmp"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// recipientOf returns the recipient of a message, such that two spellings of an international number are equal.
func recipientOf(message messaging.Message) string {
	recipient := ""
	switch m := message.(type) {
	case sms.Message:
		recipient = m.To
	case chatapp1.Message:
		recipient = m.To
	case chatapp2.Message:
		recipient = cmp.Or(m.To, m.Recipient)
	}
	compact := strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "").Replace(recipient)
	return strings.TrimPrefix(compact, "00")
}
