package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"log"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// note notes a STOP or START, which counts on both channels.
func (s *shop) note(ctx context.Context, m conversations.Inbound) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	_, err = s.book.Note(ctx, tx, m)
	if errors.Is(err, conversations.ErrNoPerson) { // another call would fail, too
		return nil
	}
	return err
}

// reply notes a STOP or START, and replies to a customer who texts the ID of their order. It does everything in the transaction that records the
// event as handled, so that a customer gets one reply to each text. An ambiguous text gets no reply: it may be from someone else.
func (s *shop) reply(ctx context.Context, m webhook.SMSMessage) error {
	if err := s.note(ctx, conversations.FromSMS(m)); err != nil {
		return err
	}
	if m.Ambiguous {
		return nil
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	order, err := s.orderOf(ctx, tx, strings.TrimSpace(m.Text))
	if errors.Is(err, sql.ErrNoRows) { // the text is not about an order
		return nil
	}
	isTheirs := strings.TrimPrefix(m.From, "+") == strings.TrimPrefix(order.phone, "+")
	if err != nil || !isTheirs {
		return err
	}
	reply := sms.Message{
		From:        s.sender,
		To:          order.phone,
		Text:        replyText(order),
		ReferenceID: "reply-" + rand.Text(), // m.ID may be empty
		CallbackURL: s.callback,
	}
	options := messagingriver.InsertOptions{Expire: time.Hour}
	_, err = s.outbox.InsertMany(ctx, tx, []messaging.Message{reply}, options)
	if errors.Is(err, messaging.ErrInvalid) { // another call would fail, too, and the STOP be lost
		log.Print("shop: a text gets no reply: ", err) // the error has no number
		return nil
	}
	return err
}

// replyText returns the reply to a customer who asks about an order.
func replyText(order shownOrder) string {
	if order.Message == stateWaiting {
		return "We have your " + order.ID + ". The confirmation is on its way."
	}
	return "We have your " + order.ID
}
