package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
)

// The prefixes of reference IDs. Only a reply is replaced by a template.
const (
	prefixReply        = "reply-"
	prefixConfirmation = "confirmation-"
	prefixTemplate     = "template-"
)

// maxReplies is how many replies a person gets in an hour. Two bots that answer each other would otherwise never end.
const maxReplies = 20

// reply enqueues a reply. Its reference ID does not depend on m.id, which may be empty: the transaction of the event already ensures one reply to
// each message.
func (b *bot) reply(ctx context.Context, tx *sql.Tx, m inbound, text string, buttons ...chatapp2.ReplyButton) error {
	count, err := countReplies(ctx, tx, m.From, time.Now().Add(-time.Hour))
	if err != nil {
		return err
	}
	if count >= maxReplies {
		b.logger.WarnContext(ctx, "bot: a person, or another bot, gets no more replies for now", "channel", m.Channel.String())
		return nil
	}
	reference := prefixReply + rand.Text()
	if err = b.enqueue(ctx, tx, b.message(m, reference, text, buttons...)); err != nil {
		return b.skipInvalid(ctx, err)
	}
	return addReply(ctx, tx, messagingriver.Key{Channel: m.Channel.String(), Reference: reference}, m.From)
}

// confirm confirms a STOP or START that changed something. The guard is not asked, because it would deny the confirmation of a STOP. A day later a
// confirmation would confuse the person.
func (b *bot) confirm(ctx context.Context, tx *sql.Tx, m inbound, decision conversations.Decision) error {
	if !decision.Changed {
		return nil
	}
	text := "You will get our messages."
	if decision.OptOut {
		text = "You will get no more messages. Write START to get them again."
	}
	confirmation := b.message(m, prefixConfirmation+rand.Text(), text)
	options := messagingriver.InsertOptions{Unguarded: true, Expire: 24 * time.Hour}
	_, err := b.outbox.InsertMany(ctx, tx, []messaging.Message{confirmation}, options)
	return b.skipInvalid(ctx, err)
}

// message returns a message to the person who wrote m, on the same channel. Only chat app 2 has buttons, so the text says what to write.
func (b *bot) message(m inbound, reference, text string, buttons ...chatapp2.ReplyButton) messaging.Message {
	switch m.Channel {
	case messaging.ChannelSMS:
		return sms.Message{From: b.sender, To: m.From, Text: text, ReferenceID: reference, CallbackURL: b.callback}
	case messaging.ChannelChatApp1:
		return chatapp1.New(b.channelID, m.From).Text(text).WithReference(reference).WithCallback(b.callback)
	case messaging.ChannelChatApp2:
	}
	var content chatapp2.Content = chatapp2.Text{Body: text}
	if len(buttons) > 0 {
		content = chatapp2.Interactive{Body: text, Action: chatapp2.ReplyButtons(buttons)}
	}
	return chatapp2.Message{To: m.From, ReplyTo: m.id, ReferenceID: reference, CallbackURL: b.callback, Content: content}
}

// template returns the template in place of the reply with a reference ID. The template's own reference ID depends on it, so a reply has one
// template, even if its failure is reported twice.
func (b *bot) template(to, reference string) messaging.Message {
	return chatapp2.Message{
		To:          to,
		ReferenceID: prefixTemplate + reference,
		CallbackURL: b.callback,
		Content:     chatapp2.Template{Name: "sorry_for_the_wait", Language: "en_US"},
	}
}

// enqueue enqueues a reply or a template. An hour later the person no longer expects it.
func (b *bot) enqueue(ctx context.Context, tx *sql.Tx, message messaging.Message) error {
	_, err := b.outbox.InsertMany(ctx, tx, []messaging.Message{message}, messagingriver.InsertOptions{Expire: time.Hour})
	return err
}

// skipInvalid logs and drops the error of a message that can never be sent, such as one to a number with spaces. If the handler returned the
// error, the service would call again and again.
func (b *bot) skipInvalid(ctx context.Context, err error) error {
	if errors.Is(err, messaging.ErrInvalid) {
		b.logger.WarnContext(ctx, "bot: a message gets no reply", "error", err) // the error has no number
		return nil
	}
	return err
}
