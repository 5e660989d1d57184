package messagingtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
)

// SMSRequest makes the request by which the service calls a webhook for inbound SMS, to hand to the handler without a
// network:
//
//	w := httptest.NewRecorder()
//	handler.ServeHTTP(w, messagingtest.SMSRequest("/hooks/sms?key="+secret, messagingtest.InboundSMS{From: "639171234567", Text: "Hi"}))
//
// It is a request as a server gets it, by [net/http/httptest.NewRequest]: a GET without a body, with RequestURI, Host and
// RemoteAddr. The target is a path, or an absolute URL that also says what Host is. The parameters follow what the target
// has in its query, which stays byte for byte; a fragment is left out. For a webhook that is called by POST, the query of the
// result is the body of a form.
//
// The result is the caller's alone. SMSRequest panics if the target is nothing that a request line can have: empty, say, or
// with white space. It is safe for concurrent use.
func SMSRequest(target string, m InboundSMS, opts ...RequestOption) *http.Request {
	return newRequestOf(target, m.params(), opts)
}

// ChatApp1Request makes the request by which the service calls a webhook for inbound messages of chat app 1. Else it is as
// [SMSRequest].
func ChatApp1Request(target string, m InboundChatApp, opts ...RequestOption) *http.Request {
	return newRequestOf(target, m.params(), opts)
}

// ChatApp2Request makes the request by which the service calls a webhook for inbound messages of chat app 2, which under the
// default contract is that of chat app 1. Else it is as [SMSRequest].
func ChatApp2Request(target string, m InboundChatApp, opts ...RequestOption) *http.Request {
	return newRequestOf(target, m.params(), opts)
}

// DeliveryRequest makes the request by which the service reports on a message to a webhook. A target that is a callback URL
// with placeholders is none to be used here: see [Server.ReportDelivery]. Else it is as [SMSRequest].
func DeliveryRequest(target string, d DeliveryReport, opts ...RequestOption) *http.Request {
	return newRequestOf(target, d.params(), opts)
}

func newRequestOf(target string, params parameters, opts []RequestOption) *http.Request {
	if strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		panic("messagingtest: the target of a request holds white space or control characters")
	}
	target = withQuery(target, newWriting(opts).query(params))
	return httptest.NewRequestWithContext(context.Background(), http.MethodGet, target, nil)
}
