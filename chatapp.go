package messaging

import (
	"context"
	"iter"

	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/internal/describe"
)

// ChatApp1Service sends over chat app 1. It is the field ChatApp1 of a Client. It is safe for concurrent use.
type ChatApp1Service struct {
	core *core
}

// Send sends one message to one recipient (POST /chatapp1/send), like SMSService.Send. A nil error does not say whether a fallback
// went out.
//
// An unknown outcome cannot be looked up, because the service lists only SMS. Give the message a ReferenceID and a
// CallbackURL: a delivery report with the reference shows that the message was accepted.
func (s *ChatApp1Service) Send(ctx context.Context, m chatapp1.Message) (Receipt, error) {
	return s.core.send(ctx, &sending{endpoint: s.core.sendOn(ChannelChatApp1), call: describe.ChatApp1(m)}, sendMode{})
}

// Validate is like SMSService.Validate.
func (s *ChatApp1Service) Validate(m chatapp1.Message) error {
	return s.core.validate(s.core.sendOn(ChannelChatApp1), describe.ChatApp1(m))
}

// SendAll is like SMSService.SendAll, but WithSettle does not apply to it.
func (s *ChatApp1Service) SendAll(
	ctx context.Context, messages iter.Seq[chatapp1.Message], concurrency int,
) iter.Seq[Outcome[chatapp1.Message]] {
	return newSender(s.core, ChannelChatApp1, describe.ChatApp1).sendAll(ctx, messages, concurrency)
}

// ChatApp2Service sends over chat app 2. It is the field ChatApp2 of a Client. It is safe for concurrent use.
type ChatApp2Service struct {
	core *core
}

// Send sends one message to one recipient (POST /chatapp2/send), like SMSService.Send. A nil error does not say whether a fallback
// went out.
//
// The service routes by category: utility, authentication and service messages go to the cloud platform, marketing messages to
// its marketing-messages interface or, if that cannot be used, to the cloud platform too.
//
// An unknown outcome cannot be looked up, as for chat app 1.
func (s *ChatApp2Service) Send(ctx context.Context, m chatapp2.Message) (Receipt, error) {
	return s.core.send(ctx, &sending{endpoint: s.core.sendOn(ChannelChatApp2), call: describe.ChatApp2(m)}, sendMode{})
}

// Validate is like SMSService.Validate.
func (s *ChatApp2Service) Validate(m chatapp2.Message) error {
	return s.core.validate(s.core.sendOn(ChannelChatApp2), describe.ChatApp2(m))
}

// SendAll is like SMSService.SendAll, but WithSettle does not apply to it.
func (s *ChatApp2Service) SendAll(
	ctx context.Context, messages iter.Seq[chatapp2.Message], concurrency int,
) iter.Seq[Outcome[chatapp2.Message]] {
	return newSender(s.core, ChannelChatApp2, describe.ChatApp2).sendAll(ctx, messages, concurrency)
}
