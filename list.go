package messaging

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// list is the operation that reads SMS transactions back, as the contract has it.
type list struct {
	url           *url.URL
	codec         *codec.List
	authenticated bool
	authenticator transport.Authenticator // nil where the credentials are in the query
	buffers       sync.Pool               // of answers that were read
}

func compileList(s settings, baseURL *url.URL) (*list, error) {
	l := &list{url: join(baseURL, s.contract.SMSList.Path)}
	var pair codec.KeyPair
	if own := s.credential(ChannelSMS); own != nil {
		l.authenticated = true
		l.authenticator, pair = own(s.contract.Auth)
	}
	var err error
	if l.codec, err = codec.CompileList(s.contract.SMSList, s.contract.Errors, l.url, pair); err != nil {
		return nil, invalid("", []wire.Problem{{Field: "WithContract", Reason: err.Error()}})
	}
	return l, nil
}

// List implements wire.Doer.
func (c *core) List(ctx context.Context, q wire.Query) (wire.Page, error) {
	query, problems := c.list.codec.Encode(q)
	problems = append(q.Problems, problems...)
	if ctx == nil {
		problems = append(problems, wire.Problem{Field: "ctx", Reason: "required, but nil"})
	}
	if len(problems) > 0 {
		return wire.Page{}, invalid(q.Op.String(), problems)
	}
	if !c.list.authenticated {
		return wire.Page{}, c.unauthenticated(q.Op, ChannelSMS)
	}
	target := c.list.codec.Target(q.At)
	target.RawQuery = query
	buffer, _ := c.list.buffers.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	var answer pageAnswer
	outcome := c.transport.Do(ctx, transport.Request{
		Operation: q.Op.String(), Method: http.MethodGet, URL: target, Read: true, Authenticate: c.list.authenticator,
		Buffer: *buffer,
		Decode: func(body []byte) error {
			answer.page, answer.failure, answer.err = c.list.codec.Read(body, q.At, q.Reuse)
			if errors.Is(answer.err, codec.ErrPage) {
				return nil // to ask again would bring the same
			}
			return answer.err
		},
	})
	page, err := c.list.judge(q, outcome, answer)
	const kept = 2 << 20 // a larger one is rare, and not kept for the next
	if *buffer = outcome.Body; cap(*buffer) <= kept {
		c.list.buffers.Put(buffer)
	}
	if err != nil {
		return wire.Page{}, err
	}
	return page, nil
}

// pageAnswer is what the last whole answer to a read was.
type pageAnswer struct {
	page    wire.Page
	failure codec.Failure
	err     error
}

// judge says what became of a read: a page, or an error.
func (l *list) judge(q wire.Query, out transport.Outcome, answer pageAnswer) (wire.Page, *Error) {
	success := out.StatusCode >= 200 && out.StatusCode < 300
	if success && out.Err == nil && answer.err == nil && answer.failure.Code == "" {
		return answer.page, nil
	}
	e := newError(q.Op, out)
	e.read = true
	switch {
	case out.StatusCode == 0 && !out.Written:
		e.Verdict = NotSent
	case out.StatusCode >= 400 && out.StatusCode < 500 && out.StatusCode != http.StatusRequestTimeout:
		e.Verdict = Refused
	}
	if out.StatusCode == 0 {
		return wire.Page{}, e
	}
	e.Body = bytes.Clone(out.Body[:min(len(out.Body), transport.MaxErrorBody)]) // out.Body is used again
	e.RequestID = requestID(out.Header)
	switch {
	case !success:
		failure, notJSON := l.codec.ReadFailure(e.Body)
		e.explain(failure.Code, failure.Message, failure.RequestID, l.codec.Class(failure.Code), notJSON)
	case errors.Is(answer.err, codec.ErrPage):
		e.reason = answer.err.Error()
	case answer.err != nil && errors.Is(out.Err, answer.err):
		e.reason, e.cause = "the answer is "+answer.err.Error(), nil
	case out.Err != nil:
		e.reason = "the answer could not be read to its end"
	default:
		e.Verdict = Refused
		e.explain(answer.failure.Code, answer.failure.Message, answer.failure.RequestID, l.codec.Class(answer.failure.Code), nil)
	}
	return wire.Page{}, e
}

// Ahead implements wire.Doer.
func (c *core) Ahead(_ wire.Operation, at wire.Position) (wire.Position, bool) {
	return c.list.codec.Ahead(at)
}

// Refuse implements wire.Doer.
func (c *core) Refuse(op wire.Operation, problems []wire.Problem) error {
	return invalid(op.String(), problems)
}

// Fail implements wire.Doer.
func (c *core) Fail(op wire.Operation, reason string, kind error) error {
	e := &Error{Operation: op.String(), read: true, reason: reason, Attempts: 1}
	if kind != nil {
		e.kind = kind
	}
	if errors.Is(kind, wire.ErrNotListed) {
		e.class = append(e.class, ErrNotFound)
	}
	return e
}

// Settle implements wire.Doer.
func (c *core) Settle() (wire.SettlePolicy, bool) {
	policy := SettlePolicy{}
	if c.settings.settle != nil {
		policy = *c.settings.settle
	}
	return wire.SettlePolicy(policy.withDefaults()), c.settings.settle != nil
}
