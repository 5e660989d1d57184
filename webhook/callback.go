package webhook

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Callback names a callback of the service. For each, a [Receiver] has a handler and a method that only parses:
//
//	SMS       ParseSMS       SMSMessage; ParseSMSMessages where one call may bring several
//	ChatApp1  ParseChatApp1  ChatMessage
//	ChatApp2  ParseChatApp2  ChatMessage
//	Delivery  ParseDelivery  DeliveryReport; DeliveryURL returns the URL to name in a send
type Callback string

// The callbacks of the service.
const (
	CallbackSMS      Callback = "sms"
	CallbackChatApp1 Callback = "chatapp1"
	CallbackChatApp2 Callback = "chatapp2"
	CallbackDelivery Callback = "delivery"
)

// SMS returns a handler that calls handle for each inbound SMS. What handle returns decides the response; see the package
// documentation. It is called from many goroutines. A nil handle fails every event, like a handle that panics.
func (rcv *Receiver) SMS(handle func(context.Context, SMSMessage) error) http.Handler {
	return &handler{callback: rcv.callbacks[CallbackSMS], handleEvent: wrapFunction(handle)}
}

// ParseSMS reads an inbound SMS from a request and checks its proofs of origin, as the handler of SMS does. Like the other methods that only
// parse, it does not ask the store, calls no function and no hook, and writes no response. The error is a [*RejectError]: respond with its
// Status, which may be 200. A request with several messages is an error with the status 500: use ParseSMSMessages where the contract names a
// list.
func (rcv *Receiver) ParseSMS(r *http.Request) (SMSMessage, error) {
	messages, err := rcv.ParseSMSMessages(r)
	if err != nil {
		return SMSMessage{}, err
	}
	switch len(messages) {
	case 0:
		return SMSMessage{}, CallbackSMS.refuse(ErrNoSender).withStatus(http.StatusOK)
	case 1:
		return messages[0], nil
	default:
		return SMSMessage{}, CallbackSMS.refuse(errSeveral)
	}
}

// ParseSMSMessages is like ParseSMS, for requests that may hold several messages. Along with an error it returns what could be read.
func (rcv *Receiver) ParseSMSMessages(r *http.Request) ([]SMSMessage, error) {
	events, err := rcv.callbacks[CallbackSMS].read(r, nil)
	return ofType[SMSMessage](events), err
}

// ChatApp1 is like SMS, for inbound messages of chat app 1. One call can bring several messages: each is handled by itself, and
// if one fails the service is asked to call again. A Store then keeps the others from being handled twice.
//
// A call can bring other events, too: for delivery statuses see [WithStatuses], for marketing preferences [WithPreferences], and for
// everything else [WithOther].
func (rcv *Receiver) ChatApp1(handle func(context.Context, ChatMessage) error) http.Handler {
	return &handler{callback: rcv.callbacks[CallbackChatApp1], handleEvent: wrapFunction(handle)}
}

// ChatApp2 is like ChatApp1, for chat app 2.
func (rcv *Receiver) ChatApp2(handle func(context.Context, ChatMessage) error) http.Handler {
	return &handler{callback: rcv.callbacks[CallbackChatApp2], handleEvent: wrapFunction(handle)}
}

// ParseChatApp1 reads the inbound messages of a request of chat app 1, and the delivery statuses in its envelope, as
// [Receiver.ParseSMS] reads an SMS. Along with an error it returns what could be read. Any other change in the envelope, such as
// one of preferences, is an [ErrUnhandled] with the status 200, even with WithPreferences and WithOther. Use the handler to get it.
func (rcv *Receiver) ParseChatApp1(r *http.Request) ([]ChatMessage, []DeliveryReport, error) {
	events, err := rcv.callbacks[CallbackChatApp1].parse(r)
	return ofType[ChatMessage](events), ofType[DeliveryReport](events), err
}

// ParseChatApp2 is like ParseChatApp1, for chat app 2.
func (rcv *Receiver) ParseChatApp2(r *http.Request) ([]ChatMessage, []DeliveryReport, error) {
	events, err := rcv.callbacks[CallbackChatApp2].parse(r)
	return ofType[ChatMessage](events), ofType[DeliveryReport](events), err
}

// Delivery is like SMS, for delivery reports. DeliveryURL returns the URL to name in a send. One call can bring several reports:
// each is handled by itself, and if one fails the service is asked to call again.
func (rcv *Receiver) Delivery(handle func(context.Context, DeliveryReport) error) http.Handler {
	return &handler{callback: rcv.callbacks[CallbackDelivery], handleEvent: wrapFunction(handle)}
}

// ParseDelivery reads the delivery reports of a request, as [Receiver.ParseSMS] reads an SMS. Along with an error it returns what could be
// read.
func (rcv *Receiver) ParseDelivery(r *http.Request) ([]DeliveryReport, error) {
	events, err := rcv.callbacks[CallbackDelivery].parse(r)
	return ofType[DeliveryReport](events), err
}

// callback is a callback as the contract describes it.
type callback struct {
	receiver     *Receiver
	name         Callback
	bindings     map[string][]binding // by the names of parameters; most have one
	takesPOST    bool
	placeholders [numConcepts]string // what the service leaves in place of a value that it did not fill in
	paramPaths   *paths              // of parameters in a JSON body
	eventPaths   *paths              // where a JSON body may hold several events
	innerPaths   *paths              // the same, for a body that is not an event by itself
	takesList    bool                // a JSON body may be a list of events
	zone         *time.Location
	layouts      []string    // further forms of times
	reply        table.Reply // to a call that was handled
}

func (rcv *Receiver) newCallback(name Callback, section table.Webhook) *callback {
	zone, _ := time.LoadLocation(section.Zone) // contract.Parse checks it
	c := &callback{receiver: rcv, name: name, zone: zone, layouts: section.Layouts, reply: section.Reply}
	c.takesPOST = rcv.post || section.Encoding != "query"
	c.bind(section.Params)
	c.setEvents(section.Events)
	return c
}

// bind binds names of parameters to concepts. A name with a dot is a path, too.
func (c *callback) bind(params map[string][]string) {
	c.bindings = map[string][]binding{}
	var texts []string
	for i, key := range conceptKeys() {
		for j, name := range params[key] {
			c.bindings[name] = append(c.bindings[name], newBinding(concept(i), name, j+1))
			if strings.Contains(name, ".") && !slices.Contains(texts, name) {
				texts = append(texts, name)
			}
		}
	}
	c.paramPaths = newPaths(texts)
}

// setEvents sets where a JSON body may hold events. Paths after "", which is the body itself, count only if the body is no event.
func (c *callback) setEvents(list []string) {
	before := list
	var after []string
	body := slices.Index(list, "")
	if body >= 0 {
		before = list[:body]
		after = list[body+1:]
	}
	c.takesList = body >= 0 || len(list) == 0
	c.eventPaths = newPaths(before)
	c.innerPaths = newPaths(after)
}

// reads reports whether the callback reads a parameter, or members of it.
func (c *callback) reads(parameter string) bool {
	for name := range c.bindings {
		if isWithin(name, parameter) {
			return true
		}
	}
	return c.eventPaths.anyWithin(parameter)
}

// needs reports whether the callback reads a parameter, or looks for events in it.
func (c *callback) needs(parameter string) bool {
	return c.reads(parameter) || c.innerPaths.anyWithin(parameter)
}

func (c *callback) isChat() bool { return c.name == CallbackChatApp1 || c.name == CallbackChatApp2 }

// refuse returns the refusal of a request of the callback.
func (c *callback) refuse(reason error) *RejectError { return c.name.refuse(reason) }
