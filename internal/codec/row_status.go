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

// isRefused reports whether the statuses of a row say that the service did not take the message. A send status of sms.send.refused says so,
// unless the delivery status shows that the message went out: a refused message is listed as failed, too. A send status that means failed or
// rejected says so only without a delivery status, because it may be that of the delivery. A number in the send status does not count: the
// contract's numbers are those of responses and of delivery statuses, and may mean something else there.
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

// noCode is the ErrorCode of a row whose error has neither a code nor a text.
const noCode = "an error without a code"

// errorCode returns the value of sms.Transaction.ErrorCode. Places of the contract come first: a code there counts if it has a class, or if the
// object around it reports an error. Such an object without a code counts by its text. If there is neither, an error under a common name counts.
// errorCode returns "" if the delivery status shows that the service took the message: then the error is that of the delivery.
func (r *currentRow) errorCode() string {
	tx := &r.transaction
	if !isOpen(tx.Status) && !r.format.isRefused(tx) {
		return ""
	}
	errors := &r.format.errors
	code, isError := errors.firstCode(&r.document)
	if !isError {
		code = ""
	}
	class, _ := errors.meaning(code)
	switch {
	case class != "":
		return code
	case errors.reportsInObject(&r.document):
		return cmp.Or(code, errors.errorText(&r.document), noCode)
	default:
		return r.commonError()
	}
}

// commonError returns the code or the text of the first error under a name that the contract does not read, or "".
func (r *currentRow) commonError() string {
	for _, m := range r.members {
		value := r.raw[m.start:m.end]
		if m.node == jsonscan.Unknown && r.format.errors.reportsError(m.kind, value) {
			return errorIn(value)
		}
	}
	return ""
}

// reportsError reports whether a value reports an error by the kind of its name, as in the response to a send.
func (r *responseFormat) reportsError(kind nameKind, value []byte) bool {
	kind &= kindFailure | kindSuccess | kindCode
	if kind == 0 {
		return false
	}
	s := r.newScan(value, string(value))
	return s.value(kind, nil).failure != ""
}

// errorIn returns the code or the text of an error: the word that it consists of, or what an object says.
func errorIn(value []byte) string {
	word, _ := jsonscan.Word(value)
	isFlag := isTrue(word) || isFalse(word) // which says that there is an error, and not which
	if word != "" && !isFlag {
		return word
	}
	code, message := Explanation(value)
	return cmp.Or(code, message, noCode)
}
