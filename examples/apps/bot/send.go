package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"
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
	prefixColleague    = "colleague-" // of a reply that says that a colleague will answer
	prefixAnswer       = "answer-"    // of a colleague
)

// lateAnswer is the name of the template that brings an answer after the 24-hour window of chat app 2; see bot.template.
const lateAnswer = "late_answer"

// maxLateAnswer is how many characters the platform takes in a template that has more than a body, such as a footer.
const maxLateAnswer = 1024

// maxReplies is how many replies a person gets in an hour, and maxConfirmations how many confirmations of STOP and START. Two bots that answer each
// other would otherwise never end. A colleague answers further questions; see printQuestions.
const (
	maxReplies       = 20
	maxConfirmations = 4
)

// maxOpen is how many open questions of a person are kept. Further ones that get no reply, or are for a colleague, are only logged.
const maxOpen = 20

// reply enqueues a reply, and adds its row. The reference ID is random, because the ID of the message may be empty. Even so each message gets one
// reply: the transaction also notes that the event was handled.
func (b *bot) reply(ctx context.Context, tx *sql.Tx, m inbound, text string, buttons ...chatapp2.ReplyButton) error {
	row := newRow(m)
	count, err := countReplies(ctx, tx, m.From, time.Now().Add(-time.Hour))
	if err != nil {
		return err
	}
	if count >= maxReplies {
		b.logger.WarnContext(ctx, `bot: too many questions of a person, or of another bot: see "bot questions"`, "reference_id", row.reference)
		return b.leaveOpen(ctx, tx, row)
	}
	err = b.book.Allow(ctx, tx, messaging.Outgoing{Channel: m.Channel, To: m.From, Kind: "template"}) // a template may come outside the window, too
	if errors.Is(err, messaging.ErrOptedOut) {
		b.logger.WarnContext(ctx, `bot: someone who opted out wrote again: see "bot questions"`, "reference_id", row.reference)
		return b.leaveOpen(ctx, tx, row)
	}
	if err != nil {
		return err
	}
	isKept, err := b.mayBeOpen(ctx, tx, m)
	if err != nil || !isKept {
		return err
	}
	err = b.enqueue(ctx, tx, b.message(m, row.reference, text, buttons...))
	if errors.Is(err, messaging.ErrInvalid) { // such as to a number with spaces
		b.logger.WarnContext(ctx, `bot: a reply cannot be sent: see "bot questions"`, "reference_id", row.reference, "error", err)
		return b.leaveOpen(ctx, tx, row)
	}
	if err != nil {
		return err
	}
	row.answer = text
	return addReply(ctx, tx, row)
}

// newRow returns the row of a question, which has no reply yet.
func newRow(m inbound) replyRow {
	prefix := prefixReply
	if m.isForColleague {
		prefix = prefixColleague
	}
	return replyRow{reference: prefix + rand.Text(), channel: m.Channel.String(), person: m.From, question: m.question}
}

// mayBeOpen reports whether a question may be kept. It may not if a colleague has to answer it, and the person has maxOpen open questions.
func (b *bot) mayBeOpen(ctx context.Context, tx *sql.Tx, m inbound) (bool, error) {
	if !m.isForColleague {
		return true, nil
	}
	count, err := countOpen(ctx, tx, m.From)
	if err == nil && count >= maxOpen {
		b.logger.WarnContext(ctx, `bot: too many open questions of a person: see "bot questions"`, "channel", m.Channel.String())
	}
	return count < maxOpen, err
}

// leaveOpen adds the row of a question that gets no reply, unless the person has maxOpen open questions. The caller has logged it.
func (b *bot) leaveOpen(ctx context.Context, tx *sql.Tx, row replyRow) error {
	count, err := countOpen(ctx, tx, row.person)
	if err != nil || count >= maxOpen {
		return err
	}
	return addReply(ctx, tx, row)
}

// confirm enqueues the confirmation of a STOP or START, unless it changed nothing, like a repeated STOP. The message is unguarded, because the guard
// would deny the confirmation of a STOP. It expires after a day, because a later confirmation would confuse the person.
func (b *bot) confirm(ctx context.Context, tx *sql.Tx, m inbound, decision conversations.Decision) error {
	if !decision.Changed {
		return nil
	}
	count, err := countConfirmations(ctx, tx, m.From, time.Now().Add(-time.Hour))
	if err != nil {
		return err
	}
	if count >= maxConfirmations {
		b.logger.WarnContext(ctx, "bot: too many confirmations to a person, or to another bot: a STOP or START is not confirmed", "channel", m.Channel.String())
		return nil
	}
	text := "You will get our messages again."
	if decision.OptOut {
		text = "You will get no more messages. Write START to get them again."
	}
	reference := prefixConfirmation + rand.Text()
	confirmation := b.message(m, reference, text)
	options := messagingriver.InsertOptions{Unguarded: true, Expire: 24 * time.Hour}
	_, err = b.outbox.InsertMany(ctx, tx, []messaging.Message{confirmation}, options)
	if err != nil {
		return b.skipInvalid(ctx, err, reference)
	}
	return addReply(ctx, tx, replyRow{reference: reference, channel: m.Channel.String(), person: m.From, question: m.question, answer: text})
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

// template returns the template that brings an answer after the window, of a reply that was too late or of a colleague. Create it in your account, in
// the category utility, with a body such as "You asked us a question. Our answer: {{1}} Write to us if you have another one."
func (b *bot) template(person, reference, answer string) messaging.Message {
	return chatapp2.Message{
		To:          person,
		ReferenceID: reference,
		CallbackURL: b.callback,
		Content:     chatapp2.Template{Name: lateAnswer, Language: "en_US", Components: []chatapp2.Component{chatapp2.Body(oneLine(answer))}},
	}
}

// oneLine returns an answer without line breaks, which the platform refuses in a template.
func oneLine(answer string) string { return strings.Join(strings.Fields(answer), " ") }

// enqueue enqueues a reply or a template. An hour later the person no longer expects it.
func (b *bot) enqueue(ctx context.Context, tx *sql.Tx, message messaging.Message) error {
	_, err := b.outbox.InsertMany(ctx, tx, []messaging.Message{message}, messagingriver.InsertOptions{Expire: time.Hour})
	return err
}

// skipInvalid logs and drops the error of a message that can never be sent, such as to a number with spaces. If the handler returned the error, the
// service would call again and again.
func (b *bot) skipInvalid(ctx context.Context, err error, reference string) error {
	if errors.Is(err, messaging.ErrInvalid) {
		b.logger.WarnContext(ctx, "bot: a message cannot be sent", "reference_id", reference, "error", err) // the error has no number
		return nil
	}
	return err
}
