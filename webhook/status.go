package webhook

import (
	"strings"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// Status is the state of a message in a delivery report: that of package contract.
type Status = contract.Status

// The states of a message, see package contract.
const (
	StatusUnknown   = contract.StatusUnknown // see DeliveryReport.RawStatus
	StatusQueued    = contract.StatusQueued
	StatusSent      = contract.StatusSent
	StatusDelivered = contract.StatusDelivered
	StatusRead      = contract.StatusRead
	StatusPlayed    = contract.StatusPlayed
	StatusFailed    = contract.StatusFailed
	StatusExpired   = contract.StatusExpired
	StatusRejected  = contract.StatusRejected
	StatusDeleted   = contract.StatusDeleted
)

// status returns the meaning of a status as it arrived.
func (rcv *Receiver) status(raw string) Status {
	if meaning, _ := table.Meaning(rcv.contract.Table().WebhookDelivery.Statuses, raw, true); meaning != "" {
		return Status(meaning)
	}
	switch word := Status(foldStatus(raw)); word {
	case StatusPlayed, StatusDeleted: // words of the platform
		return word
	default:
		return StatusUnknown
	}
}

// sameStatus reports whether two statuses, as they arrived, mean the same.
func (rcv *Receiver) sameStatus(a, b string) bool {
	return foldStatus(a) == foldStatus(b) || rcv.status(a) != StatusUnknown && rcv.status(a) == rcv.status(b)
}

// isStatus reports whether a report has a status, and not a placeholder in its place.
func isStatus(status Status, raw string) bool { return status != StatusUnknown || !isPlaceholder(raw) }

func foldStatus(raw string) string { return strings.ToLower(strings.TrimSpace(raw)) }
