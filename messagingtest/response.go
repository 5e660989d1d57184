package messagingtest

import (
	"cmp"
	"net/http"
)

// response is what the service responds to one request.
type response struct {
	status int
	allow  string // the header Allow
	body   []byte
}

func (r response) write(w http.ResponseWriter) {
	if r.allow != "" {
		w.Header().Set("Allow", r.allow)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body)
}

// A problem is why a request is refused. Its text names fields and never repeats a value.
type problem struct{ code, text string }

func (p problem) status() int {
	statuses := map[string]int{
		codeUnauthorized: http.StatusUnauthorized,
		codeNoSuchPath:   http.StatusNotFound,
		codeMethod:       http.StatusMethodNotAllowed,
		codeDuplicate:    http.StatusConflict,
		codeTooLarge:     http.StatusRequestEntityTooLarge,
	}
	return cmp.Or(statuses[p.code], http.StatusBadRequest)
}

// failure returns an error response, without a code if it is empty.
func (n names) failure(requestID string, status int, p problem) response {
	body := document{}
	for concept, value := range (table{"code": p.code, "message": p.text, "request": requestID}) {
		if value != "" {
			body.set(n.errors[concept], value)
		}
	}
	return response{status: status, body: encode(body)}
}
