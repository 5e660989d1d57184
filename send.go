package messaging

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// send is one operation that makes the service send a message, as the contract has it.
type send struct {
	channel       Channel
	url           *url.URL
	encoder       *codec.Request
	answers       *codec.Answers
	notProcessed  []int
	authenticated bool
	authenticator transport.Authenticator // nil where the credentials are part of the request
}

// compileSends prepares every send. A new operation is one entry here, one in package wire, and one in the contract.
func compileSends(s settings, baseURL *url.URL) (map[wire.Operation]*send, error) {
	standard := contract.Default()
	sends := map[wire.Operation]*send{}
	for op, entry := range map[wire.Operation]struct {
		channel         Channel
		table, standard codec.Table
	}{
		wire.SMSSend: {
			ChannelSMS,
			codec.Table{Send: s.contract.SMSSend.Send, Fields: s.contract.SMSSend.Fields},
			codec.Table{Send: standard.SMSSend.Send, Fields: standard.SMSSend.Fields},
		},
	} {
		o := &send{
			channel: entry.channel, url: join(baseURL, entry.table.Path),
			answers:      codec.CompileAnswers(entry.table.Send, s.contract.Errors),
			notProcessed: slices.Clone(s.contract.Errors.NotProcessed),
		}
		credential := s.credentials[entry.channel]
		if credential == nil {
			credential = s.credentials[0]
		}
		var pair codec.KeyPair
		if credential != nil {
			o.authenticated = true
			o.authenticator, pair = credential(s.contract.Auth)
		}
		var err error
		if o.encoder, err = codec.CompileRequest(entry.table, entry.standard, pair); err != nil {
			return nil, invalid("", []wire.Problem{{Field: "WithContract", Reason: err.Error()}})
		}
		sends[op] = o
	}
	return sends, nil
}

// request writes the request of a call, or says everything that is wrong with it.
func (o *send) request(call wire.Call) (transport.Request, []wire.Problem) {
	encoded, problems := o.encoder.Encode(call.Body, call.Extra)
	if call.Problems != nil {
		found := slices.DeleteFunc(call.Problems, func(p wire.Problem) bool {
			return p.Absent && o.encoder.Lacks(call.Body, p.Field)
		})
		problems = append(found, problems...)
	}
	if len(problems) > 0 {
		return transport.Request{}, problems
	}
	target := o.url
	if encoded.Query != "" {
		withQuery := *o.url
		withQuery.RawQuery = encoded.Query
		target = &withQuery
	}
	return transport.Request{
		Operation: call.Op.String(), Method: http.MethodPost, URL: target,
		Body: encoded.Body, ContentType: encoded.ContentType, Authenticate: o.authenticator,
	}, nil
}

// judge says what became of a send: a receipt where the service provably accepted the message, else an error with a
// verdict. Only evidence makes a verdict; without it the outcome is unknown.
func (o *send) judge(call wire.Call, out transport.Outcome) (wire.Receipt, *Error) {
	answer, notJSON := codec.Answer{}, error(nil)
	if out.StatusCode != 0 {
		answer, notJSON = o.answers.Read(out.Body)
	}
	verdict, reason := Unknown, ""
	switch {
	case out.StatusCode == 0:
		if !out.Written {
			verdict = NotSent
		}
	case out.StatusCode < 200 || out.StatusCode > 299:
		verdict = o.verdict(out.StatusCode)
	case out.Err != nil:
		reason = "the answer could not be read to its end"
	case notJSON != nil:
		reason = "the answer is " + notJSON.Error()
	case answer.Refused:
		verdict = Refused
	case answer.Doubt != "":
		reason = answer.Doubt
	default:
		return receipt(call, out, answer), nil
	}
	e := &Error{
		Operation: call.Op.String(), Verdict: verdict, StatusCode: out.StatusCode, ReferenceID: call.Reference,
		RetryAfter: out.RetryAfter, Attempts: out.Attempts, reason: reason, cause: out.Err,
	}
	if out.Interrupted != nil {
		e.cause, e.reason = errors.Join(out.Interrupted, out.Err), "its context ended before another attempt"
	}
	if out.StatusCode != 0 {
		o.explain(e, out, answer, notJSON)
	}
	return wire.Receipt{}, e
}

// verdict is what an HTTP status says of a send.
func (o *send) verdict(status int) Verdict {
	switch {
	case slices.Contains(o.notProcessed, status):
		return Refused
	case status == http.StatusRequestTimeout:
		return Unknown
	case status >= 400 && status < 500:
		return Refused
	default:
		return Unknown
	}
}

// explain fills in what the service said of a failure.
func (o *send) explain(e *Error, out transport.Outcome, answer codec.Answer, notJSON error) {
	e.Body = out.Body
	if len(e.Body) > transport.KeptOfError {
		e.Body = bytes.Clone(e.Body[:transport.KeptOfError])
	}
	e.Code, e.Message = answer.Code, answer.Message
	if notJSON != nil {
		const kept = 512
		e.Message = strings.TrimSpace(strings.ToValidUTF8(string(out.Body[:min(len(out.Body), kept)]), "\ufffd"))
	}
	e.RequestID = firstNonEmpty(answer.ErrorRequestID, answer.RequestID, out.Header.Get("X-Request-Id"))
	for _, class := range []error{statusClass(e.StatusCode), codeClass(o.answers.Class(e.Code))} {
		if class != nil && !slices.Contains(e.class, class) {
			e.class = append(e.class, class)
		}
	}
}

func codeClass(class codec.Class) error {
	switch class {
	case codec.Unauthorized:
		return ErrUnauthorized
	case codec.RateLimited:
		return ErrRateLimited
	case codec.InsufficientBalance:
		return ErrInsufficientBalance
	case codec.Duplicate:
		return ErrDuplicate
	case codec.NotFound:
		return ErrNotFound
	case codec.Unavailable:
		return ErrUnavailable
	case codec.Invalid:
		return ErrInvalid
	case codec.NoClass:
		return nil
	default:
		return nil
	}
}

func receipt(call wire.Call, out transport.Outcome, a codec.Answer) wire.Receipt {
	return wire.Receipt{
		ID: a.ID, RequestID: firstNonEmpty(a.RequestID, out.Header.Get("X-Request-Id")),
		ReferenceID: firstNonEmpty(a.ReferenceID, call.Reference), Parts: a.Parts,
		UnitCost: a.UnitCost, Cost: a.Cost, Balance: a.Balance, Operator: a.Operator,
		StatusCode: out.StatusCode, Raw: out.Body,
	}
}

func firstNonEmpty(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
