package codec

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// reader is the common part of operations that read. They add what they read, and its places.
type reader struct {
	encoding

	constants []member
	responses responses
	failures  responses // of responses whose HTTP status is a failure
	wanted    []int     // slots of what is asked for, if that is not a list of rows
}

// newReader compiles an operation that reads lists of paths by concept. Wanted are the paths of what is asked for, unless that is the rows
// at other paths.
func newReader(t *table.Table, op *table.Read, target *url.URL, pair KeyPair, lists map[string][]string, wanted, rows []string) reader {
	lists = maps.Clone(lists)
	lists["status"] = t.SMSSend.Paths()["status"]
	known := compileVocabulary(t, t.SMSSend.Accepted, t.SMSSend.Refused)
	r := reader{
		encoding:  newEncoding(t, &op.Operation, op.Method, target, pair),
		responses: compileResponses(lists, rows, slices.Concat(wanted, rows), known, &t.Errors),
		failures:  compileResponses(nil, nil, nil, &vocabulary{}, &t.Errors),
	}
	r.wanted = r.responses.Add(wanted...)
	r.constants = r.compileMembers(op.Constants)
	r.reserve(r.constants)
	return r
}

// Problem returns why no request of the operation can carry the key pair, or "". By default the key pair is in the body. It is never put into a
// URL by default, because proxies and servers log URLs.
func (r *reader) Problem() string {
	if r.keyPair == nil || r.keyPairAt.In != "body" || r.kind != "query" {
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
	inFields, apart := r.credentials()
	members = append(members, inFields...)
	inQuery = append(apart, inQuery...)
	if r.kind == "query" {
		members = append(members, inQuery...)
		inQuery = nil
		slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	}
	return r.request(target, members, inQuery), nil
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

// decode reads a response whose HTTP status is a success. A response with an error code is a Failure that has a Code. missing is the error
// of a response without what is asked for.
func (r *reader) decode(body []byte, rows *rowReader, missing error) (document, Failure, error) {
	d, err := r.responses.parseRows(body, rows)
	if err == nil && rows != nil {
		err = rows.tooLong
	}
	if err != nil {
		failure, textErr := r.DecodeFailure(body)
		if textErr == nil && failure.Class != "" { // a text says why
			return d, failure, nil
		}
		return d, Failure{}, err
	}
	failure, uncertain := r.responses.failure(&d)
	if failure.Class != "" || uncertain == UnknownCode {
		return d, failure, nil
	}
	failure.Code = "" // a success code, next to which the message may still say what is wrong
	if uncertain != "" {
		return d, failure, pageError(uncertain)
	}
	return d, failure, r.check(&d, rows, missing)
}

// check returns why a response without an error code is no answer to the request, or nil.
func (r *reader) check(d *document, rows *rowReader, missing error) error {
	place := slices.IndexFunc(r.wanted, d.has)
	if rows != nil {
		place = rows.list
	}
	isRefusal := func(slot int) bool { return r.responses.holdsRefusal(d, slot) }
	switch {
	case place < 0:
		return missing
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
