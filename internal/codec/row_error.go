package codec

import (
	"cmp"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// noCode is the ErrorCode of a row whose error has neither a code nor a text.
const noCode = "an error without a code"

// errorCode returns the value of sms.Transaction.ErrorCode. Places of the contract come first: a code there counts if it has a class, and an
// error without a code by its text. If there is neither a code nor an error, an error under a common name counts. errorCode returns "" if the
// delivery status shows that the service took the message: then the error is that of the delivery.
func (r *currentRow) errorCode() string {
	tx := &r.transaction
	if !isOpen(tx.Status) && !r.format.isRefused(tx) {
		return ""
	}
	errors := &r.format.errors
	code, isError := errors.firstCode(&r.document)
	if isError {
		class, _ := errors.meaning(code)
		if class == "" {
			return ""
		}
		return code
	}
	if errors.errorWithoutCode(&r.document) == missingCode {
		return cmp.Or(errors.errorText(&r.document), noCode)
	}
	return r.commonError()
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
func (r *responses) reportsError(kind nameKind, value []byte) bool {
	kind &= kindFailure | kindSuccess | kindCode
	if kind == 0 {
		return false
	}
	s := scan{responses: r, text: string(value), scanner: jsonscan.Scanner{Doc: value}}
	return s.value(kind, nil).failure != ""
}

// errorIn returns the code or the text of an error in a row: the word that the error consists of, or what an object says.
func errorIn(value []byte) string {
	word, _ := jsonscan.Word(value)
	isFlag := isTrue(word) || isFalse(word) // which says that there is an error, and not which
	if word != "" && !isFlag {
		return word
	}
	code, message := Explanation(value)
	return cmp.Or(code, message, noCode)
}
