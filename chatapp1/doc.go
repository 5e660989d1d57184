// Package chatapp1 sends over chat app 1. Its Service is the field ChatApp1 of a messaging.Client:
//
//	to := chatapp1.New("channel-1", "+639171234567")
//	receipt, err := client.ChatApp1.Send(ctx, to.Text("Your order is ready"))
//
// A message has exactly one payload, and the compiler sees to it: New gives a Draft, which cannot be sent, and each of its
// methods gives a Message.
//
//	message                       payload
//	text                          Text, or Draft.Text(body)
//	image                         Image, or Draft.Image(url)
//	video                         Video
//	button that opens a URL       CallToAction
//	transactional template        Template
//	fields under their own names  Raw
//
// With a TTL and a Fallback the service sends an SMS to whom it does not reach in time:
//
//	m := to.Text("Your order is ready").
//		WithTTL(10 * time.Minute).
//		WithFallback(sms.Fallback{From: "ACME", Text: "Your order is ready"})
//
// The specification gives the five types of message, and of all wire names the path and ttl. The others are defaults of the
// contract (see package contract) and can be changed there without touching code; those of image, video and button are the
// least certain.
//
// The service lists no chat-app messages. Where a send ends with an unknown outcome, it stays unknown; see Service.Send.
package chatapp1
