// Package chatapp1 holds the messages of chat app 1. The field ChatApp1 of a [messaging.Client] sends them:
//
//	to := chatapp1.New("channel-1", "+639171234567")
//	template := chatapp1.Template{ID: "order_ready", Params: map[string]string{"order": "17"}}
//	receipt, err := client.ChatApp1.Send(ctx, to.Template(template))
//
// Platforms of this kind require an approved template for transactional messages.
//
// New returns a Draft; add content to get a Message. Sending rejects a Message without a payload, and a Raw that has no fields or makes
// two of the other payloads.
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
// All wire names except ttl are defaults of the contract (see package contract). The specification says least about images, videos and
// buttons, so check those names first.
//
// [messaging.Client]: https://pkg.go.dev/github.com/messaging-service/messaging-go#Client
package chatapp1

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/messaging-service/messaging-go/sms"
)

// Message is one message to one recipient over chat app 1. ChannelID, To and Payload are required. An optional field with its
// zero value is not sent.
//
// The methods of a Draft, such as New(channelID, to).Text(body), build a Message. It is plain data: sending never changes it, and many
// goroutines may send the same one. Copies share the Fallback, Extra and the maps of the payload.
type Message struct {
	// ChannelID identifies the chat-app-1 channel that the message comes from. Required.
	ChannelID string `json:"channelID,omitzero"`
	// To is the recipient: one mobile number of 5 to 15 digits with an optional leading "+". Required. It is sent as given.
	To string `json:"to,omitzero"`
	// Payload is the content of the message: one of Text, Image, Video, CallToAction, Template and Raw. Required.
	Payload Payload `json:"payload,omitzero"`
	// TTL is how long the service tries to reach the recipient over chat app 1, before it sends the Fallback if there is one. It must be a
	// whole number of the contract's unit, by default seconds. With 0 the service decides. The specification states no bounds; services of
	// this kind commonly accept from 15 or 30 seconds up to 24 hours or 14 days.
	TTL time.Duration `json:"ttl,omitzero"`
	// Fallback is the SMS that the service sends if it cannot reach the recipient within the TTL. If it is nil, no SMS is sent. The
	// specification does not say whether the recipient can get, and be charged for, both.
	Fallback *sms.Fallback `json:"fallback,omitzero"`
	// CallbackURL is where the service reports delivery: an absolute http or https URL. It may hold placeholders such as %s
	// anywhere after the host, and is passed on byte for byte.
	CallbackURL string `json:"callbackURL,omitzero"`
	// ReferenceID is the caller's own name for the message. It comes back in the Receipt, on errors and in delivery reports.
	ReferenceID string `json:"referenceID,omitzero"`
	// Marketing marks a marketing message. It is not sent; guards use it to skip recipients who opted out.
	Marketing bool `json:"marketing,omitzero"`
	// Extra holds fields that this library does not know, by their wire names. A value is anything that encoding/json encodes; with the
	// encodings form and query, a string, a number or a boolean. A name that the contract or a Raw payload uses is rejected, and so is a
	// name that makes a second payload.
	Extra map[string]any `json:"extra,omitzero"`
}

// WithTTL returns a copy of the message with the given TTL.
func (m Message) WithTTL(ttl time.Duration) Message {
	m.TTL = ttl
	return m
}

// WithFallback returns a copy of the message with the given fallback.
func (m Message) WithFallback(fallback sms.Fallback) Message {
	m.Fallback = &fallback
	return m
}

// WithCallback returns a copy of the message with the given callback URL.
func (m Message) WithCallback(callbackURL string) Message {
	m.CallbackURL = callbackURL
	return m
}

// WithReference returns a copy of the message with the given reference ID.
func (m Message) WithReference(referenceID string) Message {
	m.ReferenceID = referenceID
	return m
}

// WithMarketing returns a copy of the message with Marketing set.
func (m Message) WithMarketing() Message {
	m.Marketing = true
	return m
}

// Draft is a message that has a channel and a recipient but no payload yet. Each of its methods returns a Message with a payload. A Draft
// can make any number of messages.
type Draft struct {
	channelID, to string
}

// New returns a draft of a message from a channel to one recipient. Sending checks both.
func New(channelID, to string) Draft { return Draft{channelID: channelID, to: to} }

// Text returns a text message.
func (d Draft) Text(body string) Message { return d.message(Text{Body: body}) }

// Image returns a message that shows the image at the URL.
func (d Draft) Image(url string) Message { return d.message(Image{URL: url}) }

// Video returns a message that shows a video.
func (d Draft) Video(video Video) Message { return d.message(video) }

// CallToAction returns a message with a button that opens a URL.
func (d Draft) CallToAction(button CallToAction) Message { return d.message(button) }

// Template returns a message from a transactional template.
func (d Draft) Template(template Template) Message { return d.message(template) }

// Raw returns a message whose payload is the given fields, under their wire names.
func (d Draft) Raw(fields map[string]any) Message { return d.message(Raw{Fields: fields}) }

func (d Draft) message(p Payload) Message {
	return Message{ChannelID: d.channelID, To: d.to, Payload: p}
}

// LogValue logs the reference ID, the type of the payload and the TTL. It leaves out channel, recipient and content.
func (m Message) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("reference_id", m.ReferenceID),
		slog.String("payload", fmt.Sprintf("%T", m.Payload)),
		slog.Duration("ttl", m.TTL),
	)
}
