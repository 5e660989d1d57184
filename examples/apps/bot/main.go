// Command bot replies to messages of both chat apps. It runs on a test server, which calls it twice for each message:
//
//	go run ./examples/apps/bot
//
// The event and the reply are one transaction in SQLite, so each message gets at most one reply, even if the service calls again or the process
// is killed. It confirms STOP and START, and sends a template if a reply comes too late for the 24-hour window of chat app 2.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"

	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

const channelID = "channel-1" // of your account, on chat app 1

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, messagingtest.Start())
	stop()
	if err != nil {
		log.Fatalln("bot:", err)
	}
}

func run(ctx context.Context, service *messagingtest.Server) error {
	server := httptest.NewUnstartedServer(nil) // a real bot has an http.Server with limits, as in docs/webhooks.md
	base := "http://" + server.Listener.Addr().String()
	b, err := open(ctx, ":memory:", base, service) // a real bot has a file
	if err != nil {
		return err
	}
	defer b.db.Close() //nolint:errcheck // it is in memory
	if err = b.outbox.Start(ctx); err != nil {
		return err
	}
	server.Config.Handler = b
	server.Start()
	defer server.Close()
	err = play(ctx, service, base)
	if errors.Is(err, context.Canceled) { // SIGTERM
		err = nil
	}
	server.Close() // waits for the calls under way
	// Requests in flight end; the next process sends the other messages.
	return errors.Join(err, b.outbox.Stop(context.WithoutCancel(ctx)))
}

// play has a person on each chat app ask for the order.
func play(ctx context.Context, service *messagingtest.Server, base string) error {
	const key = "?key=secret-of-a-demo"
	const first, second = "639171234567", "639181234567"
	hello := messagingtest.InboundChatApp{Channel: "chatapp2", ID: "in-1", From: first, To: "sender-1", Text: "hi"}
	service.CallWebhook(ctx, base+"/hooks/chatapp2"+key, hello, messagingtest.TwiceAtOnce())
	menu, err := service.WaitFor(ctx, first)
	if err != nil {
		return err
	}
	service.CallWebhook(ctx, base+"/hooks/chatapp2"+key, menu.Tap("Order"), messagingtest.TwiceAtOnce())
	status, err := service.WaitFor(ctx, first)
	if err != nil {
		return err
	}
	fmt.Println(menu.Channel, menu.Kind, "then:", status.Text)

	hello = messagingtest.InboundChatApp{Channel: "chatapp1", ID: "in-1", From: second, To: channelID, Text: "hi"}
	service.CallWebhook(ctx, base+"/hooks/chatapp1"+key, hello, messagingtest.TwiceAtOnce())
	if menu, err = service.WaitFor(ctx, second); err != nil {
		return err
	}
	service.CallWebhook(ctx, base+"/hooks/chatapp1"+key, menu.Reply("order"), messagingtest.TwiceAtOnce())
	if status, err = service.WaitFor(ctx, second); err != nil {
		return err
	}
	fmt.Println(menu.Channel, menu.Kind, "then:", status.Text)
	return nil
}

type bot struct {
	http.ServeMux

	db       *sql.DB
	book     *conversations.Book // opt-outs, and when people wrote
	outbox   *messagingriver.Outbox[*sql.Tx]
	callback string // where the service reports delivery
}

// open opens the bot in a file. The service calls it at the URL base.
func open(ctx context.Context, path, base string, service *messagingtest.Server) (*bot, error) {
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
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithGuard(book.Guard))
	if err != nil {
		return nil, err
	}
	b := &bot{db: db, book: book}
	b.outbox, err = messagingriver.NewSQLite(db, client, messagingriver.Options{OnOutcome: b.sendTemplate})
	if err != nil {
		return nil, err
	}
	store, err := sqlstore.New(ctx, db, 0)
	if err != nil {
		return nil, err
	}
	// A real bot has webhook.NewReceiverFromEnv, with a secret of its own.
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", "secret-of-a-demo"), webhook.WithStore(store))
	if err != nil {
		return nil, err
	}
	b.Handle("/hooks/chatapp1", hooks.ChatApp1(b.receive))
	b.Handle("/hooks/chatapp2", hooks.ChatApp2(b.receive))
	b.Handle("/hooks/delivery", hooks.Delivery(b.report))
	b.callback, err = hooks.DeliveryURL(base + "/hooks/delivery")
	if err != nil {
		return nil, err
	}
	return b, b.outbox.Migrate(ctx)
}

// receive enqueues the reply, in the transaction that notes the message as handled. The ID of a tapped button is like a text.
func (b *bot) receive(ctx context.Context, m webhook.ChatMessage) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	decision, err := b.book.Note(ctx, tx, conversations.FromChat(m))
	if errors.Is(err, conversations.ErrNoPerson) { // a second call would change nothing
		return nil
	}
	if err != nil {
		return err
	}
	if decision.OptOut || decision.OptIn {
		return b.confirm(ctx, tx, m, decision)
	}
	if !wantsReply(m.Content) {
		return nil
	}
	reply := b.reply(m, "Hi. Write ORDER to ask for your order.", chatapp2.ReplyButton{ID: "order", Title: "Order"})
	tapped, _ := m.Content.(webhook.Reply)
	if word := cmp.Or(tapped.ID, strings.TrimSpace(m.PlainText())); strings.EqualFold(word, "order") {
		reply = b.reply(m, "Your order is on its way.")
	}
	_, err = b.outbox.Insert(ctx, tx, reply)
	return skipInvalid(err)
}

// skipInvalid logs and drops the error of a reply that can never be sent, such as one to a number with spaces. If the handler returned the
// error, the service would call again and again.
func skipInvalid(err error) error {
	if errors.Is(err, messaging.ErrInvalid) {
		log.Print("bot: a message gets no reply: ", err) // the error has no number
		return nil
	}
	return err
}

// wantsReply reports whether a person wrote something, and did not only react or change an earlier message.
func wantsReply(content webhook.Content) bool {
	switch content.(type) {
	case webhook.Reaction, webhook.Edit, webhook.Revoke, webhook.System:
		return false
	case webhook.Text, webhook.Media, webhook.Location, webhook.Contacts, webhook.Reply, webhook.Product, webhook.Order,
		webhook.RequestWelcome, webhook.Unknown:
	}
	return true
}

// reply returns a reply on the chat app of the message. Chat app 1 has no buttons, so the text says what to write. The reference ID does not
// depend on m.ID, which may be empty: the transaction of the event already ensures one reply to each message.
func (b *bot) reply(m webhook.ChatMessage, text string, buttons ...chatapp2.ReplyButton) messaging.Message {
	reference := "reply-" + rand.Text()
	if m.Callback == webhook.CallbackChatApp1 {
		return chatapp1.New(channelID, m.From).Text(text).WithReference(reference).WithCallback(b.callback)
	}
	reply := chatapp2.Message{To: m.From, ReplyTo: m.ID, ReferenceID: reference, CallbackURL: b.callback}
	reply.Content = chatapp2.Text{Body: text}
	if len(buttons) > 0 {
		reply.Content = chatapp2.Interactive{Body: text, Action: chatapp2.ReplyButtons(buttons)}
	}
	return reply
}

// confirm replies to a STOP or START that changed something. A guard would deny the reply to STOP, so none is asked.
func (b *bot) confirm(ctx context.Context, tx *sql.Tx, m webhook.ChatMessage, decision conversations.Decision) error {
	if !decision.Changed {
		return nil
	}
	reply := b.reply(m, "You will get our messages.")
	if decision.OptOut {
		reply = b.reply(m, "You will get no more messages. Write START to get them again.")
	}
	_, err := b.outbox.InsertMany(ctx, tx, []messaging.Message{reply}, messagingriver.InsertOptions{Unguarded: true})
	return skipInvalid(err)
}

// report completes a reply whose response was lost: a report proves that the service accepted it. Keys without a message are ignored.
func (b *bot) report(ctx context.Context, report webhook.DeliveryReport) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	_, err = b.outbox.ResolveTx(ctx, tx, messagingriver.Sent,
		messagingriver.Key{Channel: "chatapp1", Reference: report.ReferenceID},
		messagingriver.Key{Channel: "chatapp2", Reference: report.ReferenceID})
	return err
}

// sendTemplate enqueues a template in place of a reply that was too late for the window.
func (b *bot) sendTemplate(ctx context.Context, outcome messagingriver.Outcome) error {
	reply, isChat := outcome.Message.(chatapp2.Message)
	if !isChat || !errors.Is(outcome.Err, messaging.ErrWindowClosed) {
		return nil
	}
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	template := chatapp2.Message{To: reply.To, ReferenceID: "template-" + outcome.Reference, CallbackURL: reply.CallbackURL}
	template.Content = chatapp2.Template{Name: "sorry_for_the_wait", Language: "en_US"}
	if _, err = b.outbox.Insert(ctx, tx, template); err != nil {
		return err
	}
	return tx.Commit()
}
