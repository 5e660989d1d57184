// Package sms sends SMS. Its Service is the field SMS of a messaging.Client:
//
//	receipt, err := client.SMS.Send(ctx, sms.Message{From: "ACME", To: "+639171234567", Text: "Your order is ready"})
//
// How a send can end, and when it is repeated, is described in package messaging.
package sms
