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

// IsRefused reports whether a row says that the service did not take the message. A duplicate does not count, because the service may have taken
// the message that it repeats.
func (l *List) IsRefused(tx sms.Transaction) bool {
	class, _ := l.row.errors.meaning(tx.ErrorCode)
	return class != "duplicate" && l.row.isRefused(&tx)
}

// isRefused reports whether the statuses of a row say that the service did not take the message. A send status of sms.send.refused says so unless
// the delivery status shows that the message went out: a refused message is listed as failed, too. A send status that means failed or rejected says so
// only without a delivery status, because it may be that of the delivery. A number in the send status does not count: the contract's numbers are
// those of responses and of delivery statuses, and may mean something else there.
func (f *rowFormat) isRefused(tx *sms.Transaction) bool {
	wentOut := !isOpen(tx.Status) && !tx.Status.Failed()
	isWord := strings.ContainsFunc(tx.SendStatus, unicode.IsLetter)
	if wentOut || !isWord {
		return false
	}
	accepted := table.Match(f.vocabulary.accepted, tx.SendStatus, true)
	if table.Match(f.vocabulary.refused, tx.SendStatus, true) > accepted {
		return true
	}
	meaning, match := table.Meaning(f.statuses, tx.SendStatus, true)
	isFailure := meaning == string(contract.StatusFailed) || meaning == string(contract.StatusRejected)
	return isFailure && match > accepted && isOpen(tx.Status)
}
