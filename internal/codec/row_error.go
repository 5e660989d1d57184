package codec

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// noCode takes the place of the code of an error that has neither a code nor a text of its own.
const noCode = "an error without a code"

// errorCode returns what sms.Transaction.ErrorCode holds: a code of a known class, or the text of an error without a code. It is "" if the
// delivery status is meaningful, since the service has then taken the message. The places of the contract come first.
func (r *currentRow) errorCode() string {
	if !isOpen(r.transaction.Status) {
		return ""
	}
	errors := &r.format.errors
	d := document{text: r.text, values: r.values}
	code, isError := errors.firstCode(&d)
	if isError {
		class, _ := errors.meaning(code)
		if class == "" {
			return ""
		}
		return code
	}
	if errors.errorWithoutCode(&d) == missingCode {
		return cmp.Or(errors.errorText(&d), noCode)
	}
	return r.commonError()
}

// commonError returns the code or the text of the first error under a name that the contract does not read, or "".
func (r *currentRow) commonError() string {
	for _, m := range r.members {
		value := r.doc[m.start:m.end]
		if m.node == jsonscan.Unknown && r.format.errors.reportsError(m.kind, value) {
			return errorIn(value)
		}
	}
	return ""
}

// reportsError reports whether a value reports an error by the kind of its name, as in the response to a send.
func (r *responses) reportsError(kind nameKind, value []byte) bool {
	kind &= kindFailure | kindSuccess | kindCode
	if kind == 0 {
		return false
	}
	s := scan{responses: r, text: string(value), scanner: jsonscan.Scanner{Doc: value}}
	s.value(kind, &object{})
	return s.failure != ""
}

// errorIn returns the code or the text of an error in a row.
func errorIn(value []byte) string {
	code, message := Said(value)
	word, _ := jsonscan.Word(value)
	if isTrue(word) || isFalse(word) {
		word = ""
	}
	return cmp.Or(word, code, message, noCode)
}

// isOpen reports whether a delivery status leaves open whether the service took the message.
func isOpen(status contract.Status) bool {
	return status == contract.StatusUnknown || status == contract.StatusQueued
}

// Status returns the meaning of a delivery status.
func (l *List) Status(word string) contract.Status {
	meaning, _ := table.Meaning(l.row.statuses, word, true)
	return contract.Status(meaning)
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
