package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// inbound is a message that a person wrote.
type inbound struct {
	conversations.Inbound

	id          string // of the message, or empty
	question    string // in words, for a colleague
	isAmbiguous bool   // From may be someone else
	isInGroup   bool   // a reply to From would surprise the person
	isQuestion  bool

	isForColleague bool // the reply is no answer
}

func (b *bot) receiveSMS(ctx context.Context, m webhook.SMSMessage) error {
	in := conversations.FromSMS(m)
	return b.receive(ctx, inbound{Inbound: in, id: m.ID, question: in.Text, isAmbiguous: m.Ambiguous, isQuestion: true})
}

func (b *bot) receiveChat(ctx context.Context, m webhook.ChatMessage) error {
	return b.receive(ctx, inbound{
		Inbound:     conversations.FromChat(m),
		id:          m.ID,
		question:    cmp.Or(m.PlainText(), fmt.Sprintf("%T", m.Content)), // such as webhook.Media
		isAmbiguous: m.Ambiguous,
		isInGroup:   m.GroupID != "",
		isQuestion:  isQuestion(m.Content),
	})
}

// isQuestion reports whether a person wrote something, and did not only react to an earlier message or change it.
func isQuestion(content webhook.Content) bool {
	switch content.(type) {
	case webhook.Reaction, webhook.Edit, webhook.Revoke, webhook.System:
		return false
	case webhook.Text, webhook.Media, webhook.Location, webhook.Contacts, webhook.Reply, webhook.Product, webhook.Order,
		webhook.RequestWelcome, webhook.Unknown:
	}
	return true
}

// receive notes a message and enqueues the reply, in the transaction that notes the event as handled. It notes a message to which it does not
// reply, too, so that no STOP is lost.
func (b *bot) receive(ctx context.Context, m inbound) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	decision, err := b.book.Note(ctx, tx, m.Inbound)
	if errors.Is(err, conversations.ErrNoPerson) { // a second call would change nothing
		return b.receiveFromNoPerson(ctx, tx, m, err)
	}
	if err != nil {
		return err
	}
	switch {
	case m.isAmbiguous:
		b.logger.WarnContext(ctx, "bot: an ambiguous message gets no reply", "channel", m.Channel.String())
		return nil
	case m.isInGroup:
		return nil
	case decision.OptOut, decision.Changed: // a START that changes nothing is a question
		return b.confirm(ctx, tx, m, decision)
	case !m.isQuestion:
		return nil
	}
	m.isForColleague = isForColleague(m.Text)
	text, buttons := answer(m)
	return b.reply(ctx, tx, m, text, buttons...)
}

// receiveFromNoPerson logs a message whose sender is no person to the book, and leaves a question open: a colleague can find out who wrote.
func (b *bot) receiveFromNoPerson(ctx context.Context, tx *sql.Tx, m inbound, reason error) error {
	const longest = 255 // of a name that an index can hold
	row := newRow(m)
	row.person = strings.ToValidUTF8(row.person[:min(len(row.person), longest)], "")
	b.logger.WarnContext(ctx, `bot: a message from no known person gets no reply: see "bot questions"`,
		"reference_id", row.reference, "channel", row.channel, "error", reason) // the error has no name of the sender
	if m.isAmbiguous || m.isInGroup || !m.isQuestion {
		return nil
	}
	return b.leaveOpen(ctx, tx, row)
}

// isForColleague reports whether a person asks for a colleague, such as by "Ask when it comes".
func isForColleague(text string) bool {
	first, question, _ := strings.Cut(strings.TrimSpace(text), " ")
	return strings.EqualFold(first, "ask") && question != ""
}

// answer returns the answer to a question, with buttons for chat app 2. Write your own. If it uses the database, pass it the transaction: on SQLite
// there is no other connection.
func answer(m inbound) (text string, buttons []chatapp2.ReplyButton) {
	word := cmp.Or(m.ButtonID, m.ButtonTitle, strings.TrimSpace(m.Text)) // the ID of a tapped button is like a text
	if strings.EqualFold(word, "order") {
		return "Your order is on its way.", nil
	}
	if m.isForColleague {
		return "A colleague will answer you.", nil
	}
	return "Hi. Write ORDER to ask for your order, or ASK and your question to ask a colleague.", []chatapp2.ReplyButton{{ID: "order", Title: "Order"}}
}

// notePreference notes that a person stopped or resumed marketing in the app.
func (b *bot) notePreference(ctx context.Context, p webhook.Preference) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	err = b.book.NotePreference(ctx, tx, p)
	if errors.Is(err, conversations.ErrNoPerson) {
		b.logger.WarnContext(ctx, "bot: a preference of no known person is not noted", "preference", p, "error", err)
		return nil
	}
	return err
}
