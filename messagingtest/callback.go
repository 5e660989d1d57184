package messagingtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
)

// A Callback is what the service sends to a customer's webhook: an [InboundSMS], an [InboundChatApp], a [DeliveryReport], or
// several of them as [Callbacks]. [Server.Receive] calls a webhook with it; [SMSRequest] and its siblings make a request of it
// for the test of a handler.
//
// The parameters go in the order of the fields, each under the first name that the default contract has for it. A field that
// is zero is not sent. Extra comes last. It holds what has no field, such as a name of another contract, a time in another
// form, an empty value, or a second value for a name.
//
//sumtype:decl
type Callback interface {
	// calls returns the calls that the callback is made of, without the URL.
	calls() []call
}

// Callbacks are several callbacks for [Server.Receive]. A nil element panics when they are sent.
type Callbacks []Callback

// A Param is one parameter of a callback. Both may be any text, including the empty one.
type Param struct {
	Name, Value string
}

// call is one callback with its parameters, in order, and the URL to call with them.
type call struct {
	callback Callback
	params   parameters
	url      string
}

func (c Callbacks) calls() []call {
	var calls []call
	for _, callback := range c {
		must(callback != nil, "a callback is nil")
		calls = append(calls, callback.calls()...)
	}
	return calls
}

type parameters []Param

// paramsOf returns the parameters for fields that are named by concept. A field without a value is left out.
func paramsOf(names table, fields, extra []Param) parameters {
	var p parameters
	for _, f := range fields {
		if f.Value != "" {
			p = append(p, Param{names[f.Name], f.Value})
		}
	}
	return append(p, extra...)
}

// query returns the parameters as a query.
func (p parameters) query(unescaped bool) string {
	escape := url.QueryEscape
	if unescaped {
		escape = escapeLittle
	}
	pairs := make([]string, len(p))
	for i, param := range p {
		pairs[i] = url.QueryEscape(param.Name) + "=" + escape(param.Value)
	}
	return strings.Join(pairs, "&")
}

// escapeLittle escapes a value as [Unescaped] says. What would end the parameter or the request line is escaped all the same,
// because no receiver could restore it.
func escapeLittle(s string) string {
	return regexp.MustCompile(`[\x00-\x20\x7f&#]`).ReplaceAllStringFunc(s, url.QueryEscape)
}

// withQuery adds a query to a target, which may have one already. A fragment is no part of a request.
func withQuery(target, query string) string {
	target, _, _ = strings.Cut(target, "#")
	switch {
	case query == "":
		return target
	case !strings.Contains(target, "?"):
		return target + "?" + query
	case strings.HasSuffix(target, "?"), strings.HasSuffix(target, "&"):
		return target + query
	default:
		return target + "&" + query
	}
}

// SMSRequest returns the request by which the service calls a webhook for inbound SMS, to pass to its handler.
// Like [net/http/httptest.NewRequest], it makes a request as a server sees it, for a path or an absolute URL whose query stays
// byte for byte. Of the options only [Unescaped] has an effect. SMSRequest panics if the target cannot stand in a request line.
func SMSRequest(target string, m InboundSMS, opts ...ReceiveOption) *http.Request {
	return newCallbackRequest(target, m, opts)
}

// ChatApp1Request is like [SMSRequest], for inbound messages of chat app 1.
func ChatApp1Request(target string, m InboundChatApp, opts ...ReceiveOption) *http.Request {
	return newCallbackRequest(target, m, opts)
}

// ChatApp2Request is like [SMSRequest], for inbound messages of chat app 2.
func ChatApp2Request(target string, m InboundChatApp, opts ...ReceiveOption) *http.Request {
	return newCallbackRequest(target, m, opts)
}

// DeliveryRequest is like [SMSRequest], for delivery reports. It does not replace placeholders: see [Server.ReportDelivery].
func DeliveryRequest(target string, d DeliveryReport, opts ...ReceiveOption) *http.Request {
	return newCallbackRequest(target, d, opts)
}

func newCallbackRequest(target string, callback Callback, opts []ReceiveOption) *http.Request {
	must(!strings.ContainsFunc(target, isControlOrSpace), "the target of a request has white space or control characters")
	target = withQuery(target, callback.calls()[0].params.query(newReceiving(opts).unescaped))
	return httptest.NewRequestWithContext(context.Background(), http.MethodGet, target, nil)
}
