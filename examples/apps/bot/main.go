// Command bot replies to messages of chat app 2. The event and the reply are one transaction in SQLite, so each message gets exactly one
// reply, even if the service calls again or the process is killed. It runs on a test server, which calls it twice for each message.
package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

func main() {
	if err := run(context.Background(), messagingtest.Start()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, service *messagingtest.Server) error {
	b, err := open(ctx, ":memory:", service.URL, service.Token) // a real bot has a file
	if err != nil {
		return err
	}
	defer b.db.Close() //nolint:errcheck // it is in memory
	if err = b.outbox.Start(ctx); err != nil {
		return err
	}
	server := httptest.NewServer(b.hook) // a real bot has an http.Server with limits, as in docs/webhooks.md
	defer server.Close()
	const person = "639171234567"
	hello := messagingtest.InboundChatApp{Channel: "chatapp2", ID: "in-1", From: person, To: "sender-1", Text: "hi"}
	service.CallWebhook(ctx, server.URL+"?key=secret-of-a-demo", hello, messagingtest.TwiceAtOnce())
	question, _ := service.WaitFor(ctx, person)
	service.CallWebhook(ctx, server.URL+"?key=secret-of-a-demo", question.Tap("Order"), messagingtest.TwiceAtOnce())
	reply, _ := service.WaitFor(ctx, person)
	fmt.Println(question.Kind, "then:", reply.Text)
	return b.outbox.Stop(ctx)
}

type bot struct {
	hook   http.Handler
	db     *sql.DB
	book   *conversations.Book // opt-outs, and when people wrote
	outbox *messagingriver.Outbox[*sql.Tx]
}

func open(ctx context.Context, path, service, token string) (*bot, error) {
	// The receiver and the outbox share one connection, and each transaction can write.
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	book, err := conversations.New(ctx, db, conversations.Options{})
	if err != nil {
		return nil, err
	}
	client, err := messaging.NewClient(service, messaging.WithToken(token), messaging.WithGuard(book.Guard))
	if err != nil {
		return nil, err
	}
	outbox, err := messagingriver.NewSQLite(db, client, messagingriver.Options{})
	if err != nil {
		return nil, err
	}
	store, err := sqlstore.New(ctx, db, 0)
	if err != nil {
		return nil, err
	}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", "secret-of-a-demo"), webhook.WithStore(store))
	if err != nil {
		return nil, err
	}
	b := &bot{db: db, book: book, outbox: outbox}
	b.hook = hooks.ChatApp2(b.receive)
	return b, outbox.Migrate(ctx)
}

// receive enqueues the reply, in the transaction that notes the message as handled. The ID of a tapped button is like a text.
func (b *bot) receive(ctx context.Context, m webhook.ChatMessage) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	if _, err = b.book.Note(ctx, tx, conversations.FromChat(m)); err != nil {
		return err
	}
	text, _ := m.Content.(webhook.Text)
	tapped, _ := m.Content.(webhook.Reply)
	reply := chatapp2.Message{To: m.From, ReplyTo: m.ID, ReferenceID: "reply-" + m.ID}
	reply.Content = chatapp2.Interactive{Body: "Hi", Action: chatapp2.ReplyButtons{{ID: "order", Title: "Order"}}}
	if strings.EqualFold(cmp.Or(tapped.ID, text.Body), "order") {
		reply.Content = chatapp2.Text{Body: "Your order is on its way."}
	}
	_, err = b.outbox.Insert(ctx, tx, reply)
	return err
}
