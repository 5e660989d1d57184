package messaging

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/phone"
	"github.com/messaging-service/messaging-go/internal/redact"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// A Verdict says whether a message was sent. The zero value is Unknown.
type Verdict uint8

const (
	// Unknown: the service may or may not have accepted the message. Sending it again may send it twice; settle it by its
	// reference ID.
	Unknown Verdict = iota
	// Accepted: the service took the message.
	Accepted
	// Refused: the service responded that it did not take the message. If it is a duplicate, or the response contradicts itself, the message
	// may have gone out all the same; see MayHaveBeenSent.
	Refused
	// NotSent: the service got no request that it could have processed. Sending again is safe, but pointless after a *ValidationError: a
	// queue should treat that as refused.
	NotSent
)

// String returns "unknown", "accepted", "refused" or "not sent", and "verdict" with the number for any other value.
func (v Verdict) String() string {
	if v > NotSent {
		return "verdict " + strconv.Itoa(int(v))
	}
	return [...]string{"unknown", "accepted", "refused", "not sent"}[v]
}

// MarshalText returns the word of String. A value that is not a verdict is an error.
func (v Verdict) MarshalText() ([]byte, error) {
	if v > NotSent {
		return nil, errors.New("messaging: there is no " + v.String())
	}
	return []byte(v.String()), nil
}

// UnmarshalText parses the word of String. Any other text is an error, and leaves the verdict as it was.
func (v *Verdict) UnmarshalText(text []byte) error {
	for known := Unknown; known <= NotSent; known++ {
		if string(text) == known.String() {
			*v = known
			return nil
		}
	}
	return errors.New("messaging: no verdict; want unknown, accepted, refused or not sent")
}

// VerdictOf returns the verdict in the error of a send, however deeply it is wrapped: Accepted for nil, NotSent for a
// *ValidationError, Error.Verdict for an *Error. Any other error, and the *Error of a read, is Unknown.
func VerdictOf(err error) Verdict {
	if err == nil {
		return Accepted
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Verdict
	}
	if _, ok := errors.AsType[*ValidationError](err); ok {
		return NotSent
	}
	return Unknown
}

// A judgement is what a response proves about a send. Verdicts, retries and fresh tokens follow from it.
type judgement struct {
	response codec.Response // what the response says
	notJSON  error          // why the response is not in the form of the contract, or nil

	verdict          Verdict             // Unknown unless the response proves another
	reason           string              // why, if the status does not say it, or ""
	hasMessage       bool                // the response fails and names a message
	hasUnknownStatus bool                // the reason is a status that the contract does not know
	platform         platformClass       // of a code of chat app 2's platform, or zero
	result           transport.Judgement // for the transport
}

// judge judges the response to a message. A verdict needs evidence: without it, the outcome is unknown. The first case that applies wins.
func (e *sendEndpoint) judge(call *wire.Call, out *transport.Outcome) judgement {
	var j judgement
	if isOlderThanRequest(out) {
		j.reason = "the response is older than the request, so it came from a cache (Age)"
		return j
	}
	if isSuccess(out.StatusCode) {
		j.response, j.notJSON = e.codec.Recognize(out.Body, textOf(call, "to"))
	} else {
		j.response, j.notJSON = e.codec.Decode(out.Body)
	}
	j.addPlatform(e.channel, out)
	r := &j.response
	switch {
	case out.StatusCode == http.StatusPartialContent:
		j.reason = "the response is partial"
	case r.Claim == codec.Contradictory:
		j.reason = r.Reason
	case hasOtherReference(r, call.ReferenceID):
		j.reason = "the response has the reference ID of another message; for a service with references of its own, " +
			"set response.reference to []"
	case hasOtherRecipient(r, textOf(call, "to")):
		j.reason = "the response names another recipient"
	case !isSuccess(out.StatusCode):
		e.judgeFailure(&j, call, out)
	case out.Err != nil:
		j.reason = "the response could not be read to its end"
	case j.notJSON != nil:
		j.reason = "the response is " + j.notJSON.Error()
	case r.Claim == codec.Refuses:
		j.verdict = Refused
		j.hasMessage, _ = e.codec.Names(out.Body, textOf(call, "to"))
	case r.Claim == codec.Accepts:
		j.verdict = Accepted
	default:
		j.reason = r.Reason
		j.hasUnknownStatus = r.Claim == codec.UnknownStatus
	}
	return j
}

func hasOtherReference(r *codec.Response, sent string) bool {
	isOther := func(got string) bool { return !sameReference(got, sent) }
	return isOther(r.ReferenceID) || slices.ContainsFunc(r.OtherReferences, isOther)
}

func hasOtherRecipient(r *codec.Response, sent string) bool {
	return slices.ContainsFunc(r.Recipients, func(got string) bool { return phone.Contradict(got, sent) })
}

// judgeFailure judges a response whose status is not a success. It is a refusal if its status refuses, it is in the form of the service, and it
// names no message. The first case that applies wins.
func (e *sendEndpoint) judgeFailure(j *judgement, call *wire.Call, out *transport.Outcome) {
	status := out.StatusCode
	isUnprocessed := slices.Contains(e.errors.NotProcessed, status)
	if status == http.StatusNotFound {
		j.reason = e.describe()
	}
	namesMessage, namesAny := e.codec.Names(out.Body, textOf(call, "to"))
	j.hasMessage = namesMessage || j.response.NamesMessage()
	switch {
	case j.hasMessage:
		j.reason = "the response contradicts itself: it fails, and names a message"
	case !isUnprocessed && !isRefusal(status):
		// the status itself leaves the outcome unknown
	case status == http.StatusConflict && (namesAny || j.response.Class == "duplicate"):
		j.reason = "the message may be a duplicate of one that the service took"
	case e.isProof(j, out):
		j.verdict = Refused
		isTemporary := isUnprocessed || j.platform == platformRate
		isAboutRecipient := j.platform == platformRateOfRecipient // who takes no more messages for longer than a back-off
		j.result.Repeatable = isTemporary && !isAboutRecipient
		j.result.TokenRefused = status == http.StatusUnauthorized
	case out.Err != nil:
		j.reason = "the response could not be read to its end"
	case isPage(out.Body, j):
		j.reason = "a page responded to " + e.describe() + ": the base URL or the path may be wrong"
	default:
		j.reason = "a proxy may have responded to " + e.describe()
	}
}

// statusClientClosedRequest is a nonstandard status that some proxies use, for a client that has closed the connection.
const statusClientClosedRequest = 499

// isRefusal reports whether a status says that the service refuses the request. After 408 and 499 it is unknown what the service did with the
// part that it got in time.
func isRefusal(status int) bool {
	if status == http.StatusRequestTimeout || status == statusClientClosedRequest {
		return false
	}
	return status >= 400 && status < 500
}

// isProof reports whether a response with a status that refuses proves that the message was not taken. JSON, a text that the contract describes,
// and a response without a body come from the service or its gateway. A page proves nothing by itself: a proxy may write one after the service
// has processed the request.
func (e *sendEndpoint) isProof(j *judgement, out *transport.Outcome) bool {
	status := out.StatusCode
	has := func(header string) bool { return strings.TrimSpace(out.Header.Get(header)) != "" }
	isInForm := out.Err == nil && !isPage(out.Body, j)
	switch {
	case slices.Contains(beforeProcessing, status):
		return true
	case status >= http.StatusInternalServerError:
		return j.response.FromService
	case slices.Contains(e.errors.NotProcessed, status):
		return isInForm || has("Retry-After")
	case status == http.StatusUnauthorized:
		return isInForm || has("WWW-Authenticate")
	default:
		return isInForm
	}
}

// beforeProcessing lists statuses that a server or a proxy sends before a request is processed.
var beforeProcessing = []int{ //nolint:gochecknoglobals // never written
	http.StatusProxyAuthRequired, http.StatusLengthRequired, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
	http.StatusExpectationFailed, http.StatusMisdirectedRequest, http.StatusRequestHeaderFieldsTooLarge,
}

// isPage reports whether a body is in no form of a service: it is not empty, no JSON object or list, and no text that the contract describes.
func isPage(body []byte, j *judgement) bool {
	switch {
	case len(body) == 0:
		return false
	case j.notJSON != nil:
		return true
	default:
		return !j.response.IsText && !j.response.IsStructured
	}
}

// sameReference reports whether got, the reference ID in a response, may be sent, that of the message. Case and surrounding spaces do not count, and
// the service may have cut it. If either is absent, they may be the same.
func sameReference(got, sent string) bool {
	got, sent = strings.TrimSpace(got), strings.TrimSpace(sent)
	if sent == "" || table.IsPlaceholder(got) {
		return true
	}
	const shortestCut = 16 // no service has less room, and order-1 is not a cut order-17
	isCut := len(got) < len(sent)
	if isCut && len(got) < shortestCut {
		return false
	}
	return len(got) <= len(sent) && strings.EqualFold(got, sent[:len(got)])
}

// failed returns the error of a send that was not accepted.
func (s *sending) failed(out *transport.Outcome) *Error {
	err := newError(&s.endpoint.endpoint, *out)
	err.ReferenceID = s.call.ReferenceID
	switch {
	case out.StatusCode != 0:
		secrets := s.endpoint.messageSecrets(&s.call, out)
		failure := s.response.Failure
		failure.RequestID = s.response.RequestID
		err.Verdict = s.verdict
		err.reason = cmp.Or(err.reason, s.reasonToShow(secrets))
		err.MessageID = s.response.ID
		err.hasMessage = s.hasMessage || s.response.NamesMessage()
		err.repeatable = err.repeatable || s.result.Repeatable
		err.isPage = isPage(out.Body, &s.judgement)
		err.explain(failure, s.notJSON, *out, secrets)
		err.addPlatform(s.platform)
	case !out.Written:
		err.Verdict = NotSent
	}
	err.addGuard(&s.call, out.Guard)
	return err
}

// reasonToShow returns the reason, with the status that the contract does not know, if that may be shown.
func (j *judgement) reasonToShow(secrets redact.Secrets) string {
	word := j.response.Status
	isShown := table.IsWord(word) && secrets.Mask(word) == word
	if j.hasUnknownStatus && isShown {
		return j.reason + " is " + word
	}
	return j.reason
}

// age returns how old a response is by its Age header (RFC 9111), which only a cache writes. It is 0 if the header is absent or unreadable. A
// cache writes 2147483648 seconds, one more than fit 31 bits, for an age that is too long.
func age(out *transport.Outcome) time.Duration {
	const longest = math.MaxInt32 * time.Second
	seconds, err := strconv.ParseUint(out.Header.Get("Age"), 10, 31)
	switch {
	case err == nil:
		return time.Duration(seconds) * time.Second
	case errors.Is(err, strconv.ErrRange):
		return longest
	default:
		return 0
	}
}

// isOlderThanRequest reports whether a response is older than its request: a cache kept it, and the message may never have reached the
// service.
func isOlderThanRequest(out *transport.Outcome) bool {
	const rounding = 2 * time.Second // of whole seconds, by several caches
	return age(out) > time.Since(out.Began)+rounding
}
