package main

import (
	"errors"
	"io"
	"log"
	"net/http"
	"regexp"
)

// serveSend sends a code to the number in the form, and responds with a challenge. The page needs it to ask for the status and to verify the code.
// The page also makes up a random ID for the request, such as crypto.randomUUID(). If the response was lost, it repeats the request with that ID.
// Limit the requests of each client address in your reverse proxy, which knows it: codes cost money, and a stranger can ask for codes to many
// numbers, and use up those of a number.
func (o *otp) serveSend(w http.ResponseWriter, r *http.Request) {
	number := r.PostFormValue("to")
	if !internationalNumber.MatchString(number) {
		http.Error(w, "the number must begin with + and the country code, and have digits only", http.StatusBadRequest)
		return
	}
	request := r.PostFormValue("request")
	if !randomID.MatchString(request) {
		http.Error(w, "the request must have a random ID of 20 to 64 letters, digits and hyphens", http.StatusBadRequest)
		return
	}
	challenge, err := o.send(r.Context(), number, request)
	respond(w, r, http.StatusAccepted, challenge, err)
}

// internationalNumber is the only spelling of a number that serveSend takes. With other spellings, such as 00639171234567, a number would get more
// codes than maxCodes.
var internationalNumber = regexp.MustCompile(`^\+[1-9][0-9]{7,14}$`)

// randomID matches the ID of a request, and a challenge. Anyone who knows one can use it, so it must be hard to guess. It has no zero byte, which
// PostgreSQL refuses.
var randomID = regexp.MustCompile(`^[A-Za-z0-9-]{20,64}$`)

// serveStatus responds with the status of the code of a challenge, which is in the form because logs have paths.
func (o *otp) serveStatus(w http.ResponseWriter, r *http.Request) {
	status, err := o.status(r.Context(), r.PostFormValue("challenge"))
	respond(w, r, http.StatusOK, status, err)
}

// serveVerify responds with the number that the code was sent to. Log in that number, and never one of a form: a stranger could verify a code of
// his own, and name the number of another person. A code is verified once, even if the response is lost: then the person asks for another code.
func (o *otp) serveVerify(w http.ResponseWriter, r *http.Request) {
	number, err := o.verify(r.Context(), r.PostFormValue("challenge"), r.PostFormValue("code"))
	respond(w, r, http.StatusOK, number, err)
}

var (
	errWrong        = errors.New("the code is wrong")
	errInvalid      = errors.New("the code is no longer valid; ask for another one")
	errTooMany      = errors.New("too many codes; try again in a few minutes")
	errTooManyToday = errors.New("too many codes today; try again in 24 hours")
	errPaused       = errors.New("no code can be sent now; try again in a minute")
)

// respond responds with a text, unless there is an error.
func respond(w http.ResponseWriter, r *http.Request, statusCode int, text string, err error) {
	switch {
	case errors.Is(err, errWrong):
		http.Error(w, err.Error(), http.StatusForbidden)
	case errors.Is(err, errInvalid):
		http.Error(w, err.Error(), http.StatusGone)
	case errors.Is(err, errTooMany), errors.Is(err, errTooManyToday):
		http.Error(w, err.Error(), http.StatusTooManyRequests)
	case errors.Is(err, errPaused):
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil:
		log.Printf("otp: %s: %v", r.Pattern, err) //nolint:gosec // the path in the pattern is fixed
		http.Error(w, "try again", http.StatusServiceUnavailable)
	default:
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(statusCode)
		_, _ = io.WriteString(w, text) //nolint:gosec // as plain text
	}
}
