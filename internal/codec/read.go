package codec

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// reader is the common part of operations that read. Each embeds it, compiles the responses, and reads its results from them.
type reader struct {
	requestFormat

	constants []member
	responses responseFormat // which the operation compiles
	failures  responseFormat // of responses whose HTTP status is a failure
}

func newReader(t *table.Table, op *table.Read, target *url.URL, pair KeyPair) reader {
	r := reader{
		requestFormat: newRequestFormat(t, &op.Operation, op.Method, target, pair),
		failures:      compileResponseFormat(nil, nil, nil, &vocabulary{}, &t.Errors),
	}
	r.constants = r.compileMembers(op.Constants)
	r.reserve(r.constants)
	return r
}

// Problem returns why no request of the operation can carry the key pair, or "". By default the key pair is in the body. It is never put into a
// URL by default, because proxies and servers log URLs.
func (r *reader) Problem() string {
	if r.keyPair == nil || r.keyPairAt.In != "body" || r.encoding != "query" {
		return ""
	}
	return "names no place for the key pair in a request without a body (auth.keyPair.in); " +
		`write {"auth": {"keyPair": {"in": "header"}}}, or "basic", or "query" if the service accepts it in the URL only`
}

// write returns the request for members, to which it adds the key pair, or why it cannot. The parameters of a query are in the order of their
// names.
func (r *reader) write(target *url.URL, members, inQuery []member) (Request, []wire.Problem) {
	if reason := r.Problem(); reason != "" {
		return Request{}, []wire.Problem{{Field: "contract", Reason: reason}}
	}
	pairInFields, pairInQuery := r.credentials()
	members = slices.Concat(members, pairInFields) // a copy, which may be sorted
	inQuery = append(pairInQuery, inQuery...)
	if r.encoding == "query" {
		members = append(members, inQuery...)
		inQuery = nil
		slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	}
	return r.newRequest(target, members, inQuery), nil
}

// DecodeFailure reads a response whose HTTP status is a failure. The error says why it is not JSON.
func (r *reader) DecodeFailure(body []byte) (Failure, error) {
	d, err := r.failures.parse(body, nil)
	if err != nil {
		return Failure{}, err
	}
	failure, _ := r.failures.failure(&d)
	_, isSuccess := r.failures.meaning(failure.Code)
	isKnown := failure.Class != "" || isSuccess
	if d.notJSON != nil && !isKnown {
		return Failure{}, d.notJSON
	}
	return failure.detached(len(body)), nil
}

// unreadable returns what an unreadable response says about a failure, as text or cut JSON may, or err, which says why it is unreadable.
func (r *reader) unreadable(body []byte, err error) (Failure, error) {
	failure, textErr := r.DecodeFailure(body)
	if textErr != nil || failure.Class == "" {
		return Failure{}, err
	}
	return failure, nil
}

// failure returns what a response whose HTTP status is a success says about a failure. The Failure has a Code if the response has an error
// code.
func (r *reader) failure(d *document) (Failure, error) {
	failure, uncertain := r.responses.failure(d)
	if r.responses.isErrorCode(failure.Code) {
		return failure, nil
	}
	failure.Code = "" // a success code, next to which the message may still say what is wrong
	if uncertain != "" {
		return failure, pageError(uncertain)
	}
	return failure, nil
}

// check returns why a response without an error code cannot be used, or nil. The place is the index of the path that has the results.
func (r *reader) check(d *document, place int) error {
	isRefusal := func(slot int) bool { return r.responses.holdsRefusal(d, slot) }
	switch {
	case d.hasDuplicate:
		return pageError(duplicateMember)
	case slices.ContainsFunc(r.responses.slots["status"], isRefusal):
		return pageError("the response has a status that says that it failed")
	}
	if reason := r.responses.failureAround(d, r.responses.hints[place]); reason != "" {
		return pageError(reason)
	}
	return nil
}

// ErrPage matches the errors of responses that are JSON, but cannot be used: another request would get the same. The errors say why.
var ErrPage = errors.New("no page")

type pageError string

func (e pageError) Error() string { return string(e) }

// Is matches ErrPage.
func (e pageError) Is(target error) bool { return target == ErrPage }
