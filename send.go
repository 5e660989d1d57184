package messaging

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"

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
	lenient       bool // about limits
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
		wire.ChatApp1Send: {
			ChannelChatApp1,
			codec.Table{Send: s.contract.ChatApp1Send.Send, Fields: s.contract.ChatApp1Send.Fields, TTL: s.contract.ChatApp1Send.TTL},
			codec.Table{Send: standard.ChatApp1Send.Send, Fields: standard.ChatApp1Send.Fields, TTL: standard.ChatApp1Send.TTL},
		},
		wire.ChatApp2Send: {
			ChannelChatApp2,
			codec.Table{Send: s.contract.ChatApp2Send.Send, Fields: s.contract.ChatApp2Send.Fields, TTL: s.contract.ChatApp2Send.TTL, Wrap: s.contract.ChatApp2Send.Wrap},
			codec.Table{Send: standard.ChatApp2Send.Send, Fields: standard.ChatApp2Send.Fields, TTL: standard.ChatApp2Send.TTL, Wrap: standard.ChatApp2Send.Wrap},
		},
	} {
		o := &send{
			channel: entry.channel, url: join(baseURL, entry.table.Path),
			answers:      codec.CompileAnswers(entry.table.Send, s.contract.Errors),
			notProcessed: slices.Clone(s.contract.Errors.NotProcessed), lenient: s.lenient,
		}
		var pair codec.KeyPair
		if credential := s.credential(entry.channel); credential != nil {
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
	encoded, problems := o.encoder.Encode(call)
	if call.Problems != nil {
		found := slices.DeleteFunc(call.Problems, func(p wire.Problem) bool {
			return p.Absent && o.encoder.Lacks(call.Body, p.Field) || p.Limit && o.lenient
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
	e := newError(call.Op, out)
	e.Verdict, e.ReferenceID = verdict, call.Reference
	if e.reason == "" {
		e.reason = reason
	}
	if out.StatusCode != 0 {
		e.RequestID = firstNonEmpty(answer.RequestID, requestID(out.Header))
		e.Body = out.Body
		if len(e.Body) > transport.MaxErrorBody {
			e.Body = bytes.Clone(e.Body[:transport.MaxErrorBody])
		}
		e.explain(answer.Code, answer.Message, answer.ErrorRequestID, o.answers.Class(answer.Code), notJSON)
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

func receipt(call wire.Call, out transport.Outcome, a codec.Answer) wire.Receipt {
	return wire.Receipt{
		ID: a.ID, RequestID: firstNonEmpty(a.RequestID, requestID(out.Header)),
		ReferenceID: firstNonEmpty(a.ReferenceID, call.Reference), Parts: a.Parts,
		UnitCost: a.UnitCost, Cost: a.Cost, Balance: a.Balance, Operator: a.Operator,
		StatusCode: out.StatusCode, Raw: out.Body,
	}
}
