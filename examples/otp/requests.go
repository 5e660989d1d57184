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
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// internationalNumber is the one spelling of a number that send takes. With others, such as 00639171234567, a number would get more codes than
// maxCodes. A real program may use a library of phone numbers, which also turns the national spelling of its users into this one.
var internationalNumber = regexp.MustCompile(`^\+[1-9][0-9]{7,14}$`)

// requestID is the ID of a request. Whoever knows it gets the challenge, so it must be hard to guess.
var requestID = regexp.MustCompile(`^[A-Za-z0-9-]{20,64}$`)

// send sends a code to the number in the form. The response is the ID of the challenge, with which the page verifies the code. The page makes up
// a random ID for the request, such as crypto.randomUUID(): if it repeats the request, it gets the same challenge. A page that asks for another
// code sends the challenge, because the first code may be on its way. Limit the requests of each address, too: codes cost, and a stranger can use
// up those of a number.
func (o *otp) send(w http.ResponseWriter, r *http.Request) {
	to := r.PostFormValue("to")
	if !internationalNumber.MatchString(to) {
		http.Error(w, "the number must begin with + and the country code, and have digits only", http.StatusBadRequest)
		return
	}
	if challenge := r.PostFormValue("challenge"); o.codes.isPending(challenge, to) {
		accept(w, challenge)
		return
	}
	request := r.PostFormValue("request")
	if request != "" && !requestID.MatchString(request) {
		http.Error(w, "the request must have a random ID of 20 to 64 letters, digits and hyphens", http.StatusBadRequest)
		return
	}
	// Before the send, because the delivery report may arrive before the send returns.
	added, isNew, err := o.codes.add(to, request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return
	}
	if !isNew { // the response to the first request was lost
		accept(w, added.challenge)
		return
	}
	// A caller who hangs up must not end the send: its outcome would be unknown.
	chatErr, err := o.deliver(context.WithoutCancel(r.Context()), added)
	if !messaging.MayHaveBeenSent(err) {
		o.codes.setUnsent(added.challenge)
		refuse(w, chatErr, err)
		return
	}
	accept(w, added.challenge)
}

// accept responds with the challenge of a code that was sent or is pending.
func accept(w http.ResponseWriter, challenge string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, challenge) //nolint:gosec // add made it
}

// refuse responds to the errors of a code that did not go out: the error of the chat message, and the last error. The caller may try again when
// the first of the channels may take the code. Only the last error says whether the number is wrong: a chat app refuses numbers that get SMS.
func refuse(w http.ResponseWriter, chatErr, lastErr error) {
	chatWait, isChatTemporary := waitAfter(chatErr)
	if chatWait > validFor { // such as a day, for code 131049: the SMS decides
		isChatTemporary = false
	}
	wait, isTemporary := waitAfter(lastErr)
	if isChatTemporary && (!isTemporary || chatWait < wait) {
		wait = chatWait
	}
	switch {
	case isTemporary || isChatTemporary:
		seconds := math.Ceil(max(wait, minRetryAfter).Seconds())
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		http.Error(w, "the code could not be sent; try again later", http.StatusServiceUnavailable)
	case isAboutNumber(lastErr):
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

// waitAfter returns how long to wait before a channel may take a code that it did not take. An account may be fixed at any time.
func waitAfter(err error) (wait time.Duration, isTemporary bool) {
	if messaging.IsAccountProblem(err) {
		return 0, true
	}
	return messaging.Retryable(err)
}

// showStatus responds with the status of the code of a challenge. If it failed or is not listed, the page offers another code.
func (o *otp) showStatus(w http.ResponseWriter, r *http.Request) {
	status, err := o.codes.status(r.PostFormValue("challenge"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusGone)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	_, _ = fmt.Fprintln(w, status)
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
