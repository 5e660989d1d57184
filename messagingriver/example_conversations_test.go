package messagingriver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/messaging-service/messaging-go/webhook/conversations"
)

// Package conversations knows who wrote when and who opted out, in the database of the program.
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
	offer := conversations.Outbound{Channel: "sms", From: "ACME", To: "0917 123 4567"}
	fmt.Println(book.Allow(ctx, offer))

	// A handler of inbound SMS notes what comes in.
	err = book.Note(ctx, nil, conversations.Inbound{Channel: "sms", From: "639171234567", To: "12345", Text: "Stop"})
	fmt.Println(err, errors.Is(book.Allow(ctx, offer), conversations.ErrOptedOut))

	// Chat app 2 takes only templates from who has not written for a day.
	reply := conversations.Outbound{Channel: "chatapp2", To: "639171234567"}
	fmt.Println(errors.Is(book.Allow(ctx, reply), conversations.ErrWindowClosed))
	reply.Template = true
	fmt.Println(book.Allow(ctx, reply))
	// Output:
	// <nil>
	// <nil> true
	// true
	// <nil>
}
