package messagingtest

import (
	"net/url"
	"strings"
	"time"
)

// A Callback is what the service tells a customer's webhook: an [InboundSMS], an [InboundChatApp], a [DeliveryReport], or
// several of them as [Callbacks]. [Server.Receive] calls a webhook with one, and the functions whose names end in Request
// make a request of one for the test of a handler.
//
// That the service calls by GET is of the specification. It shows no parameter: each field goes by the first name that the
// default contract has for it, and in the order of the tables on the page of the package. The zero value of a field is
// absent: its parameter is not sent. What no field is for goes by Extra, in its order and after the fields:
//
//	messagingtest.InboundSMS{From: "639171234567", Extra: []messagingtest.Param{
//		{Name: "msg", Value: "Hi"},                  // a name of another contract
//		{Name: "timestamp", Value: "1791038663"},    // a time in another form
//		{Name: "keyword", Value: ""},                // there, and empty
//		{Name: "from", Value: "639170000000"},       // a second time: a correct receiver takes the first
//	}}
//
//sumtype:decl
type Callback interface {
	// calls are the requests that the callback comes as.
	calls() []call
}

// Callbacks are several callbacks, of one kind or of several, for [Server.Receive]. They may hold others of their kind. An
// element that is nil panics when they are sent. Nil and empty, they are none at all.
type Callbacks []Callback

// A Param is one parameter of a callback. Any text will do for both, also the empty one.
type Param struct {
	Name, Value string
}

// call is one callback and what it says.
type call struct {
	callback Callback
	params   parameters
}

func (c Callbacks) calls() []call {
	var calls []call
	for _, callback := range c {
		if callback == nil {
			panic("messagingtest: a callback is nil")
		}
		calls = append(calls, callback.calls()...)
	}
	return calls
}

// parameters are what one callback says, in the order in which it says it.
type parameters []Param

// add leaves out what is absent.
func (p *parameters) add(name, value string) {
	if value != "" {
		*p = append(*p, Param{name, value})
	}
}

func (p *parameters) addTime(name string, t time.Time) {
	if !t.IsZero() {
		p.add(name, stamp(t))
	}
}

// stamp is a time as callbacks have it: of the forms that the contract reads, the one that loses nothing.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// writing is how a callback is written.
type writing struct{ unescaped bool }

// query is the parameters as they stand behind the question mark.
func (w writing) query(params parameters) string {
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(p.Name))
		b.WriteByte('=')
		b.WriteString(w.value(p.Value))
	}
	return b.String()
}

func (w writing) value(s string) string {
	if w.unescaped {
		return careless(s)
	}
	return url.QueryEscape(s)
}

// careless is a value as somebody writes it who has never met a text that needs escaping: see [Unescaped]. What would end
// the parameter or the request line is escaped all the same, for no receiver could get it back.
func careless(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			b.WriteByte('+')
		case c < ' ', c == 0x7f, c == '&', c == '#':
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// withQuery adds a query to what a target has already. A fragment is no part of a request.
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
