package messagingtest

import "net/http"

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

func respond(body any) response { return response{status: http.StatusOK, body: encode(body)} }

// refuse returns an error response, without a code if it is empty.
func (s *Server) refuse(requestID string, status int, code, message string) response {
	body := document{}
	if code != "" {
		body.set(s.names.failure["code"], code)
	}
	body.set(s.names.failure["message"], message)
	body.set(s.names.failure["request"], requestID)
	return response{status: status, body: encode(body)}
}

// reject returns the response to a request that is invalid.
func (s *Server) reject(requestID string, p *problem) response {
	return s.refuse(requestID, http.StatusBadRequest, p.code, p.text)
}
