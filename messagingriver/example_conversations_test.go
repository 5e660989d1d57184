package messagingriver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// Package conversations records opt-outs and the times of inbound messages in the database of the program.
func Example_conversations() {
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file:conversations?mode=memory")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	book, err := conversations.New(ctx, db, conversations.Options{CountryCode: "63"})
	if err != nil {
		panic(err)
	}
	offer := messaging.Outgoing{Channel: messaging.ChannelSMS, From: "ACME", To: "0917 123 4567"}
	fmt.Println(book.Allow(ctx, nil, offer))

	// A handler of inbound SMS notes what comes in.
	decision, err := book.Note(ctx, nil, conversations.FromSMS(webhook.SMSMessage{From: "639171234567", To: "12345", Text: "Stop"}))
	fmt.Println(decision.OptOut, decision.Changed, err, errors.Is(book.Allow(ctx, nil, offer), messaging.ErrOptedOut))

	// Chat app 2 takes only templates from who has not written for a day.
	reply := messaging.Outgoing{Channel: messaging.ChannelChatApp2, To: "639171234567"}
	fmt.Println(errors.Is(book.Allow(ctx, nil, reply), messaging.ErrWindowClosed))
	reply.Kind = "template"
	fmt.Println(book.Allow(ctx, nil, reply))
	// Output:
	// <nil>
	// true true <nil> true
	// true
	// <nil>
}

// Each message is asked about before it goes: a bot replies over chat app 2 while its window is open, and otherwise as an SMS.
func Example_conversationsGuard() {
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file:guard?mode=memory")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	book, err := conversations.New(ctx, db, conversations.Options{})
	if err != nil {
		panic(err)
	}
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithGuard(book.Guard))
	if err != nil {
		panic(err)
	}
	remind := func() error {
		_, err := messaging.FirstAccepted(ctx, func(ctx context.Context) (messaging.Receipt, error) {
			return client.ChatApp2.Send(ctx, chatapp2.Message{To: "639171234567", Content: chatapp2.Text{Body: "Tomorrow at nine"}})
		}, func(ctx context.Context) (messaging.Receipt, error) {
			return client.SMS.Send(ctx, sms.Message{From: "ACME", To: "639171234567", Text: "Tomorrow at nine"})
		})
		return err
	}
	fmt.Println(remind(), service.Sent()[0].Channel)

	// They write STOP on chat app 2: nothing goes there, nor another way.
	stop := webhook.ChatMessage{Callback: webhook.CallbackChatApp2, From: "639171234567", Content: webhook.Text{Body: "STOP"}}
	decision, err := book.Note(ctx, nil, conversations.FromChat(stop))
	fmt.Println(decision.OptOut, err, errors.Is(remind(), messaging.ErrOptedOut), len(service.Sent()))
	// Output:
	// <nil> sms
	// true <nil> true 1
}
