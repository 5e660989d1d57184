package messaging

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/phone"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// judgement is what a response proves of a send. Verdicts, retries and fresh tokens follow from it.
type judgement struct {
	verdict Verdict
	reason  string // of a verdict that the status does not explain
	proves  transport.Judgement
	// platform is the class of a code of chat app 2's platform, or zero.
	platform platformClass
	// response is what the response says, and notJSON why it is not in the form of the contract, or nil.
	response codec.Response
	notJSON  error
}

// judge judges the response to a message. Only evidence makes a verdict; without it the outcome
// is unknown.
func (e *sendEndpoint) judge(j *judgement, call *wire.Call, out *transport.Outcome) {
	if isCached(out) {
		j.reason = "the response is that of a cache"
		return
	}
	j.response, j.notJSON = e.codec.Decode(out.Body)
	j.addPlatform(e.channel)
	r := &j.response
	isOther := func(got string) bool { return !sameReference(got, call.ReferenceID) }
	isAnother := func(to string) bool { return phone.Contradict(to, textOf(call, "to")) }
	switch {
	case out.StatusCode == http.StatusPartialContent:
		j.reason = "the response is a part of one"
	case r.Contradiction != "":
		j.reason = r.Contradiction
	case isOther(r.ReferenceID), slices.ContainsFunc(r.OtherReferences, isOther):
		j.reason = "the response has the reference ID of another message; for a service with references of its own, " +
			"set response.reference to []"
	case slices.ContainsFunc(r.Recipients, isAnother):
		j.reason = "the response names another recipient"
	case !isSuccess(out.StatusCode):
		e.judgeFailure(j, out)
	case out.Err != nil:
		j.reason = "the response could not be read to its end"
	case j.notJSON != nil:
		j.reason = "the response is " + j.notJSON.Error()
	case r.Refused:
		j.verdict = Refused
	case r.Doubt != "":
		j.reason = r.Doubt
	default:
		j.verdict = Accepted
	}
}

// judgeFailure judges a response whose status is no success.
func (e *sendEndpoint) judgeFailure(j *judgement, out *transport.Outcome) {
	status := out.StatusCode
	isListed := slices.Contains(e.errors.NotProcessed, status)
	isRefusal := status >= 400 && status <= 499 && status != http.StatusRequestTimeout
	if status == http.StatusNotFound {
		j.reason = e.describe()
	}
	switch {
	case j.response.NamesMessage() && !j.response.Refused:
		j.reason = "the response contradicts itself: it fails, and names a message"
	case !isListed && !isRefusal:
		// the status says it
	case e.isProof(j, out):
		j.verdict = Refused
		if !j.response.NamesMessage() { // a message that it names was processed
			j.proves.Repeatable = (isListed || j.platform == platformRate) && j.platform != platformRateOfRecipient
			j.proves.TokenRefused = status == http.StatusUnauthorized
		}
	case out.Err != nil:
		j.reason = "the response could not be read to its end"
	case isPage(j.notJSON, out.Body):
		j.reason = "a proxy may have responded to " + e.describe() + " with a page"
	default:
		j.reason = "a proxy may have responded to " + e.describe()
	}
}

// isProof reports whether a response with a status that refuses is the word of the service or of its gateway, and so proves that
// the message was not taken. A page proves nothing by itself: a proxy may write one after the service has processed the request.
func (e *sendEndpoint) isProof(j *judgement, out *transport.Outcome) bool {
	has := func(header string) bool { return strings.TrimSpace(out.Header.Get(header)) != "" }
	isOwn, isInForm := j.response.Own, !isPage(j.notJSON, out.Body) && out.Err == nil
	switch status := out.StatusCode; {
	case slices.Contains(beforeProcessing, status):
		return true
	case status >= http.StatusInternalServerError:
		return isOwn
	case slices.Contains(e.errors.NotProcessed, status):
		return isInForm || has("Retry-After")
	case status == http.StatusUnauthorized:
		return isInForm || has("WWW-Authenticate")
	case slices.Contains(ofGateways, status):
		return isOwn
	default:
		return isInForm
	}
}

var (
	// beforeProcessing are the statuses that come before a request is processed, whoever responds.
	beforeProcessing = []int{ //nolint:gochecknoglobals // never written
		http.StatusProxyAuthRequired, http.StatusLengthRequired, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
		http.StatusExpectationFailed, http.StatusMisdirectedRequest, http.StatusRequestHeaderFieldsTooLarge,
	}
	// ofGateways are the statuses with which a gateway may respond in JSON or without a body in place of the service, which has
	// processed the request.
	ofGateways = []int{ //nolint:gochecknoglobals // never written
		http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone,
	}
)

// isPage reports whether a response is neither in the form of the contract nor empty.
func isPage(notJSON error, body []byte) bool { return notJSON != nil && len(bytes.TrimSpace(body)) > 0 }

// sameReference reports whether the reference ID of a response may be that of the message: without case and the spaces around it, or
// cut by the service. One that is absent, in either, proves nothing.
func sameReference(got, sent string) bool {
	got, sent = strings.TrimSpace(got), strings.TrimSpace(sent)
	if sent == "" || table.IsPlaceholder(got) {
		return true
	}
	const shortestCut = 16 // no service has less room, and order-1 is not a cut order-17
	if len(got) != len(sent) && len(got) < shortestCut {
		return false
	}
	return len(got) <= len(sent) && strings.EqualFold(got, sent[:len(got)])
}

// textOf returns the text under a concept of a message, or "" if there is none.
func textOf(call *wire.Call, concept string) string {
	for i := range call.Fields {
		if call.Fields[i].Concept == concept {
			return call.Fields[i].Text
		}
	}
	for _, m := range call.Members {
		if m.Name == concept {
			text, _ := jsonscan.Word(m.Value)
			return text
		}
	}
	return ""
}

// failed returns the error of a send that was not accepted.
func (s *sending) failed(out *transport.Outcome) *Error {
	err := newError(&s.endpoint.endpoint, *out)
	err.ReferenceID = s.call.ReferenceID
	switch {
	case out.StatusCode != 0:
		failure := s.response.Failure
		failure.RequestID = s.response.RequestID
		err.Verdict, err.reason = s.verdict, cmp.Or(err.reason, s.reason)
		err.MessageID, err.named, err.unprocessed = s.response.ID, s.response.NamesMessage(), s.proves.Repeatable
		err.explain(failure, s.notJSON, *out, s.endpoint.messageSecrets(&s.call, out))
		err.addPlatform(s.platform)
	case !out.Written:
		err.Verdict = NotSent
	}
	err.addGuard(&s.call)
	return err
}

// serviceClock is the newest Date of a service's responses, and when its request began.
type serviceClock struct {
	mu          sync.Mutex
	date, began time.Time
	isDoubtful  bool // by the clock of this process, which may be wrong
}

// isFresh reports whether nothing shows that a response is not the service's own of now: a status other than 200, a cache, or a Date from
// long before the request. The clock of this process casts doubt on the first Date only, until a later one follows.
func (c *serviceClock) isFresh(out *transport.Outcome) bool {
	const clocksDiffer = 5 * time.Minute
	if out.StatusCode != http.StatusOK || isCached(out) {
		return false
	}
	date, err := http.ParseTime(out.Header.Get("Date"))
	if err != nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now, isFirst := c.date.Add(out.Began.Sub(c.began)), c.date.IsZero() // the difference is monotonic
	if isFirst {
		now = out.Began
	}
	isOld := date.Before(now.Add(-clocksDiffer)) || c.isDoubtful && !date.After(c.date)
	if isFirst || !isOld && (c.isDoubtful || date.After(now)) {
		c.date, c.began, c.isDoubtful = date, out.Began, isOld
	}
	return !isOld
}

// isCached reports whether a response came from a cache: a header says so, or it is older than its request.
func isCached(out *transport.Outcome) bool {
	const rounding = 2 * time.Second
	if age := out.Header.Get("Age"); age != "" {
		seconds, err := strconv.ParseUint(age, 10, 32)
		if err != nil || time.Duration(seconds)*time.Second > time.Since(out.Began)+rounding {
			return true
		}
	}
	for name, values := range out.Header {
		name = http.CanonicalHeaderKey(name)
		if slices.ContainsFunc(values, func(value string) bool { return isFromCache(name, value) }) {
			return true
		}
	}
	return false
}

// isFromCache reports whether a header says that the response came from a cache. The name is in canonical form.
func isFromCache(name, value string) bool {
	isCache := (strings.Contains(name, "Cache") || strings.Contains(name, "cache")) && !strings.HasSuffix(name, "-Control")
	switch {
	case name == "Warning":
		return strings.HasPrefix(value, "1") // of a cache; others begin with 2
	case name == "X-Varnish":
		return len(strings.Fields(value)) > 1 // the second ID is of the request that filled the cache
	case isCache && (strings.HasSuffix(name, "Hits") || strings.HasSuffix(name, "hits") || name == "X-From-Cache"):
		return strings.Trim(value, "0, ") != "" // one number for each cache
	case !isCache && name != "Server-Timing":
		return false
	}
	return slices.ContainsFunc(strings.Split(strings.ToLower(value), ","), func(one string) bool {
		says := one
		if _, parameters, ok := strings.Cut(one, ";"); ok { // behind a name, as in Cache-Status (RFC 9211)
			says, _, _ = strings.Cut(parameters, "fwd=") // which says why the request was forwarded, such as fwd=stale
		}
		words := strings.FieldsFunc(says, func(r rune) bool { return r < 'a' || r > 'z' })
		return (isCache || strings.Contains(one, "cache")) && slices.ContainsFunc(words, func(word string) bool {
			return strings.HasSuffix(word, "hit") || strings.HasPrefix(word, "stale") || word == "updating" // TCP_HIT, RefreshHit
		})
	})
}
