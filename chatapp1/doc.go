// Package chatapp1 holds the messages of chat app 1. The field ChatApp1 of a [messaging.Client] sends them:
//
//	to := chatapp1.New("channel-1", "+639171234567")
//	receipt, err := client.ChatApp1.Send(ctx, to.Text("Your order is ready"))
//
// A message without exactly one payload does not compile: New returns a Draft, which cannot be sent, and each method of a Draft
// returns a Message.
//
//	message                       payload
//	text                          Text, or Draft.Text(body)
//	image                         Image, or Draft.Image(url)
//	video                         Video
//	button that opens a URL       CallToAction
//	transactional template        Template
//	fields under their own names  Raw
//
// With a TTL and a Fallback, the service sends an SMS if it cannot reach the recipient in time:
//
//	m := to.Text("Your order is ready").
//		WithTTL(10 * time.Minute).
//		WithFallback(sms.Fallback{From: "ACME", Text: "Your order is ready"})
//
// All wire names but ttl are defaults of the contract (see package contract). Those of image, video and button are the least
// certain.
//
// [messaging.Client]: https://pkg.go.dev/github.com/messaging-service/messaging-go#Client
package chatapp1
