package webhook

import (
	"context"
	"net/http"
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
