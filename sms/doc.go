// Package sms sends SMS and reads them back. Its Service is the field SMS of a messaging.Client:
//
//	receipt, err := client.SMS.Send(ctx, sms.Message{From: "ACME", To: "+639171234567", Text: "Your order is ready"})
//
//	Send      one message; an answer that is lost leaves its outcome unknown
//	SendOnce  one message; an unknown outcome is looked up by the reference ID
//	SendAll   a sequence of messages, some at once, each with its outcome
//	Find      one message, by its reference ID
//	List      the transactions, one after the other over all pages
//	Pages     the transactions, a page at a time
//	Count     what a text costs: encoding and segments; it asks nobody
//
// How a send can end, and when it is repeated, is described in package messaging.
package sms
