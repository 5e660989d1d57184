package codec

import (
	"cmp"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
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
	return s.value(kind, nil).failure != ""
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
