package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"strconv"

	messaging "github.com/messaging-service/messaging-go"
)

// internationalNumber is the one spelling of a number that send takes. With others, such as 00639171234567, a number would get more codes than
// maxCodes. A real program may use a library of phone numbers, which also turns the national spelling of its users into this one.
var internationalNumber = regexp.MustCompile(`^\+[1-9][0-9]{7,14}$`)

// requestID is the ID of a request. Whoever knows it gets the challenge, so it must be hard to guess.
var requestID = regexp.MustCompile(`^[A-Za-z0-9-]{20,64}$`)

// send sends a code to the number in the form. The response is the ID of the challenge, with which the page verifies the code. The page makes up
// a random ID for the request, such as crypto.randomUUID(): if it repeats the request, it gets the same challenge, and no second code goes out. A
// page keeps that ID while the outcome is unknown, because the code may be on its way. Limit the requests of each address, too: codes cost, and a
// stranger can use up those of a number.
func (o *otp) send(w http.ResponseWriter, r *http.Request) {
	to := r.PostFormValue("to")
	if !internationalNumber.MatchString(to) {
		http.Error(w, "the number must begin with + and the country code, and have digits only", http.StatusBadRequest)
		return
	}
	request := r.PostFormValue("request")
	if !requestID.MatchString(request) {
		http.Error(w, "the request must have a random ID of 20 to 64 letters, digits and hyphens", http.StatusBadRequest)
		return
	}
	// Before the send, because the delivery report may arrive before the send returns.
	added, isNew, err := o.codes.add(to, request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return
	}
	if isNew {
		// A caller who hangs up must not end the send: its outcome would be unknown.
		sendErr := o.deliver(context.WithoutCancel(r.Context()), added)
		if !messaging.MayHaveBeenSent(sendErr) {
			refuse(w, sendErr)
			return
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, added.challenge)
}

// refuse responds to the last error of a code that did not go out, by the table of docs/sending.md#errors.
func refuse(w http.ResponseWriter, err error) {
	wait, isTemporary := messaging.Retryable(err)
	switch {
	case isTemporary || messaging.IsAccountProblem(err): // the account may be fixed at any time
		seconds := math.Ceil(max(wait, minRetryAfter).Seconds())
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		http.Error(w, "the code could not be sent; try again later", http.StatusServiceUnavailable)
	case isAboutNumber(err):
		http.Error(w, "the code could not be sent; check the number", http.StatusUnprocessableEntity)
	default:
		http.Error(w, "the code could not be sent", http.StatusBadGateway)
	}
}

// isAboutNumber reports whether an error may be about the number, and not about the program, such as its template or its sender.
func isAboutNumber(err error) bool {
	if invalid, isInvalid := errors.AsType[*messaging.ValidationError](err); isInvalid {
		return invalid.Field == "To"
	}
	isRefusedNumber := errors.Is(err, messaging.ErrUnreachable) || errors.Is(err, messaging.ErrOptedOut)
	return isRefusedNumber || errors.Is(err, messaging.ErrInvalid)
}

// showStatus responds with the status of the code of a challenge. If it failed or did not go out, the page offers another one.
func (o *otp) showStatus(w http.ResponseWriter, r *http.Request) {
	status, err := o.codes.status(r.PostFormValue("challenge"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusGone)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain")
	_, _ = fmt.Fprintln(w, status) //nolint:gosec // one of the constants
}

// verify checks the code in the form.
func (o *otp) verify(w http.ResponseWriter, r *http.Request) {
	number, err := o.codes.use(r.PostFormValue("challenge"), r.PostFormValue("code"))
	switch {
	case err == nil:
		o.logIn(w, number) // never a number of the form, which may be anyone's
	case errors.Is(err, errWrong):
		http.Error(w, err.Error(), http.StatusForbidden)
	default:
		http.Error(w, err.Error(), http.StatusGone)
	}
}
