// Package sms defines the SMS: the Message to send, the Fallback that replaces a chat-app message, the Transaction that the
// service lists, and Count, which estimates how many SMS a text takes.
//
// The field SMS of a [messaging.Client] sends and lists them:
//
//	receipt, err := client.SMS.Send(ctx, sms.Message{From: "ACME", To: "+639171234567", Text: "Your order is ready"})
//	for tx, err := range client.SMS.List(ctx, sms.ListOptions{CreatedAfter: yesterday}) { ... }
//
// All wire names, and the paths of the fields of a Transaction in a response, are defaults of the contract (see package contract).
//
// [messaging.Client]: https://pkg.go.dev/github.com/messaging-service/messaging-go#Client
package sms
