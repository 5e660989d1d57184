package codec

import (
	"strings"
	"unicode"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// status returns the meaning of a delivery status.
func (f *rowFormat) status(word string) contract.Status {
	meaning, _ := table.Meaning(f.statuses, word, true)
	return contract.Status(meaning)
}

// isOpen reports whether a delivery status leaves open whether the service took the message.
func isOpen(status contract.Status) bool {
	return status == contract.StatusUnknown || status == contract.StatusQueued
}

// IsRefused reports whether a row says that the service did not take the message: its send status is a word of sms.send.refused, or means
// failed or rejected, and its delivery status says nothing more. If the delivery failed, the service took the message. A number in the send
// status does not count: the contract's numbers are those of responses and of delivery statuses, and may mean something else there. A duplicate
// does not count either, because the service may have taken the message that it repeats.
func (l *List) IsRefused(tx sms.Transaction) bool {
	class, _ := l.row.errors.meaning(tx.ErrorCode)
	isWord := strings.ContainsFunc(tx.SendStatus, unicode.IsLetter)
	if class == "duplicate" || !isWord || !isOpen(tx.Status) {
		return false
	}
	accepted := table.Match(l.row.vocabulary.accepted, tx.SendStatus, true)
	refused := table.Match(l.row.vocabulary.refused, tx.SendStatus, true)
	meaning, match := table.Meaning(l.row.statuses, tx.SendStatus, true)
	isFailure := meaning == string(contract.StatusFailed) || meaning == string(contract.StatusRejected)
	return refused > accepted || isFailure && match > accepted
}
