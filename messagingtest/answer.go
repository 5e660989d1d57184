package messagingtest

import (
	"encoding/json"
	"net/http"
)

// Codes of errors. The contract says what the first five and 200206 mean, and that 40003, 40004 and the other codes which
// begin with 2001 or 2002 mean that a request is invalid. Which of those is used for what is the stand-in's choice.
const (
	codeUnauthorized        = "40001"
	codeRateLimited         = "40002"
	codeNoSuchPath          = "40005"
	codeUnavailable         = "50000"
	codeInsufficientBalance = "200101"

	codeInvalid     = "40003"
	codeMethod      = "40004"
	codeBody        = "200201"
	codeContentType = "200202"
	codeKind        = "200203"
	codeMissing     = "200204"
	codeRecipient   = "200205"
	codeCallback    = "200207"
	codeDuplicate   = "200206"
	codeTooLarge    = "200208"
	codeQuery       = "200209"
	codeNumber      = "200210"
	codeTime        = "200211"
	codeSort        = "200212"
	codeCursor      = "200213"
	codePayload     = "200214"
	codeLifetime    = "200215"
	codeFallback    = "200216"
	codeURL         = "200217"
	codeValue       = "200218"
	codeRoute       = "200219"
)

// answer is what the service says to one request.
type answer struct {
	status int
	allow  string // the header Allow
	body   []byte
}

// succeed answers with the data of the contract's shape. The data of SMS and chat app 1 hold no text and no number.
func succeed(data any) answer {
	return answer{status: http.StatusOK, body: encode(struct {
		Status string `json:"status"`
		Data   any    `json:"data"`
	}{"ok", data})}
}

// refuse answers with an error of the contract's shape; without a code, if it is empty.
func refuse(requestID string, status int, code, message string) answer {
	return answer{status: status, body: encode(struct {
		Code      string `json:"code,omitzero"`
		Message   string `json:"message"`
		RequestID string `json:"requestId"`
	}{code, message, requestID})}
}

func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic("messagingtest: " + err.Error()) // plain structs, and raw JSON that was checked: a mistake in this package
	}
	return body
}

func (a answer) write(w http.ResponseWriter) {
	if a.allow != "" {
		w.Header().Set("Allow", a.allow)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}
