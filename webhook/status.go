package webhook

import (
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
)

// Status is what became of a message, as far as a delivery report tells. The zero value is StatusUnknown.
//
// The specification names no status. Which words and numbers mean what is a default of the contract
// (webhook.delivery.statuses): of the integers only 1 stands there, since no other was ever met with one meaning.
type Status uint8

const (
	// StatusUnknown: the report holds no status, or one that the contract does not know. DeliveryReport.RawStatus has it.
	StatusUnknown Status = iota
	// StatusQueued: the message waits in the service.
	StatusQueued
	// StatusSent: it left for the network.
	StatusSent
	// StatusDelivered: it reached the recipient's device.
	StatusDelivered
	// StatusRead: the recipient saw it.
	StatusRead
	// StatusFailed: it could not be delivered.
	StatusFailed
	// StatusExpired: it was not delivered within its lifetime.
	StatusExpired
	// StatusRejected: it was refused on the way.
	StatusRejected
)

// String gives the status in one word, in lower case, as the keys of the contract have it.
func (s Status) String() string {
	switch s {
	case StatusUnknown:
		return "unknown"
	case StatusQueued:
		return "queued"
	case StatusSent:
		return "sent"
	case StatusDelivered:
		return "delivered"
	case StatusRead:
		return "read"
	case StatusFailed:
		return "failed"
	case StatusExpired:
		return "expired"
	case StatusRejected:
		return "rejected"
	default:
		return "webhook.Status(" + strconv.Itoa(int(s)) + ")"
	}
}

// defaultStatus gives the meaning of a word or number in the default contract.
func defaultStatus(word string) Status {
	switch strings.ToLower(word) {
	case "1", "delivered", "delivrd":
		return StatusDelivered
	case "read", "seen", "displayed":
		return StatusRead
	case "queued", "pending", "buffered":
		return StatusQueued
	case "sent", "accepted", "submitted", "enroute":
		return StatusSent
	case "failed", "undelivered", "undeliv", "error":
		return StatusFailed
	case "expired":
		return StatusExpired
	case "rejected", "rejectd", "blocked":
		return StatusRejected
	default:
		return StatusUnknown
	}
}

func compileStatuses(s contract.Statuses) func(string) Status {
	table := map[string]Status{}
	for status, words := range map[Status][]string{
		StatusQueued: s.Queued, StatusSent: s.Sent, StatusDelivered: s.Delivered, StatusRead: s.Read,
		StatusFailed: s.Failed, StatusExpired: s.Expired, StatusRejected: s.Rejected,
	} {
		for _, word := range words {
			table[strings.ToLower(word)] = status
		}
	}
	return func(word string) Status { return table[strings.ToLower(word)] }
}
