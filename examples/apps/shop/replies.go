package main

import (
	"context"
	"crypto/rand"
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

// reply notes a STOP or START, and replies to a customer who texts the ID of their order. The reply is enqueued in the transaction that records the
// event as handled: a customer gets one reply to each text. Its reference ID does not depend on m.ID, which may be empty.
func (s *shop) reply(ctx context.Context, m webhook.SMSMessage) error {
	if err := s.note(ctx, conversations.FromSMS(m)); err != nil {
		return err
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	id := strings.TrimSpace(m.Text)
	phone, err := phoneOf(ctx, tx, id) // "" if the text is not about an order
	isTheirs := phone != "" && strings.TrimPrefix(m.From, "+") == strings.TrimPrefix(phone, "+")
	if err != nil || !isTheirs {
		return err
	}
	reply := sms.Message{From: s.sender, To: phone, Text: "We have your " + id, ReferenceID: "reply-" + rand.Text(), CallbackURL: s.callback}
	options := messagingriver.InsertOptions{Expire: time.Hour}
	_, err = s.outbox.InsertMany(ctx, tx, []messaging.Message{reply}, options)
	if errors.Is(err, messaging.ErrInvalid) { // another call would fail, too, and the STOP be lost
		log.Print("shop: a text gets no reply: ", err) // the error has no number
		return nil
	}
	return err
}
