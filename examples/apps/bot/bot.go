package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

type bot struct {
	http.ServeMux

	logger    *slog.Logger
	db        *sql.DB
	pool      *pgxpool.Pool       // of db, or nil on SQLite
	book      *conversations.Book // opt-outs, and when people wrote
	store     *sqlstore.Store     // events that were handled
	outbox    *messagingriver.Outbox[*sql.Tx]
	channelID string
	callback  string // where the service reports delivery
}

// open opens the bot. On SQLite it creates the tables.
func open(ctx context.Context, in settings) (*bot, error) {
	b := &bot{logger: slog.Default(), channelID: in.channelID}
	if err := b.connect(ctx, in.database); err != nil {
		return nil, err
	}
	if err := b.build(ctx, in); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// connect opens a database: PostgreSQL if it is a URL, and otherwise an SQLite file.
func (b *bot) connect(ctx context.Context, database string) (err error) {
	if isPostgres(database) {
		b.pool, err = pgxpool.New(ctx, database)
		if err != nil {
			return err
		}
		b.db = stdlib.OpenDBFromPool(b.pool) // the receiver's store and the book use database/sql
		return nil
	}
	b.db, err = sql.Open("sqlite", "file:"+database+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	b.db.SetMaxOpenConns(1) // the receiver and the outbox share the connection
	return nil
}

func isPostgres(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}

// close closes the database. Everything is committed.
func (b *bot) close() {
	_ = b.db.Close()
	if b.pool != nil {
		b.pool.Close()
	}
}

// build makes the parts of the bot on its database.
func (b *bot) build(ctx context.Context, in settings) (err error) {
	b.book, err = conversations.New(ctx, b.db, conversations.Options{AllChannels: true})
	if err != nil {
		return err
	}
	client, err := in.client.With(messaging.WithGuard(b.book.Guard))
	if err != nil {
		return err
	}
	if err = b.openOutbox(ctx, client); err != nil {
		return err
	}
	b.store, err = sqlstore.New(ctx, b.db, 0)
	if err != nil {
		return err
	}
	hooks, err := in.newReceiver(webhook.WithStore(b.store), webhook.WithHook(webhook.LogHook(b.logger)), webhook.WithHook(b.errorHook()))
	if err != nil {
		return err
	}
	b.Handle("/hooks/chatapp1", hooks.ChatApp1(b.receive))
	b.Handle("/hooks/chatapp2", hooks.ChatApp2(b.receive))
	b.Handle("/hooks/delivery", hooks.Delivery(b.report))
	b.callback, err = hooks.DeliveryURL(in.url + "/hooks/delivery")
	return err
}

// openOutbox opens the outbox in the bot's database. On PostgreSQL, where several processes may start at once, "bot migrate" creates the tables.
func (b *bot) openOutbox(ctx context.Context, client *messaging.Client) (err error) {
	options := messagingriver.Options{OnOutcome: b.outcome}
	if b.pool != nil {
		b.outbox, err = messagingriver.NewPostgresSQL(b.pool, client, options)
		return err
	}
	b.outbox, err = messagingriver.NewSQLite(b.db, client, options)
	if err != nil {
		return err
	}
	return b.createTables(ctx)
}

// createTables creates or updates the tables of the outbox, and creates the table of the replies.
func (b *bot) createTables(ctx context.Context) error {
	if err := b.outbox.Migrate(ctx); err != nil {
		return err
	}
	_, err := b.db.ExecContext(ctx, replyTable)
	return err
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
	return b.enqueue(ctx, tx, reply, messagingriver.InsertOptions{})
}

// enqueue enqueues a reply.
func (b *bot) enqueue(ctx context.Context, tx *sql.Tx, reply messaging.Message, options messagingriver.InsertOptions) error {
	if _, err := b.outbox.InsertMany(ctx, tx, []messaging.Message{reply}, options); err != nil {
		return b.skipInvalid(ctx, err)
	}
	return addReply(ctx, tx, reply)
}

// skipInvalid logs and drops the error of a reply that can never be sent, such as one to a number with spaces. If the handler returned the
// error, the service would call again and again.
func (b *bot) skipInvalid(ctx context.Context, err error) error {
	if errors.Is(err, messaging.ErrInvalid) {
		b.logger.WarnContext(ctx, "bot: a message gets no reply", "error", err) // the error has no number
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

// prefixReply begins the reference ID of each reply, but not that of a template.
const prefixReply = "reply-"

// reply returns a reply on the chat app of the message. Chat app 1 has no buttons, so the text says what to write. The reference ID does not
// depend on m.ID, which may be empty: the transaction of the event already ensures one reply to each message.
func (b *bot) reply(m webhook.ChatMessage, text string, buttons ...chatapp2.ReplyButton) messaging.Message {
	if m.Callback == webhook.CallbackChatApp1 {
		return chatapp1.New(b.channelID, m.From).Text(text).WithReference(prefixReply + rand.Text()).WithCallback(b.callback)
	}
	reply := chatapp2.Message{To: m.From, ReplyTo: m.ID, ReferenceID: prefixReply + rand.Text(), CallbackURL: b.callback}
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
	return b.enqueue(ctx, tx, reply, messagingriver.InsertOptions{Unguarded: true})
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
	if err != nil {
		return err
	}
	if report.ReferenceID != "" && report.ID != "" {
		if err = noteMessageID(ctx, tx, report.ReferenceID, report.ID); err != nil {
			return err
		}
	}
	return b.noteFailure(ctx, tx, report)
}

// noteFailure logs a message that was not delivered, and replaces a reply that was too late for the window.
func (b *bot) noteFailure(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) error {
	if !report.Status.Failed() {
		return nil
	}
	b.logger.WarnContext(ctx, "bot: a message was not delivered", "report", report)
	if report.ErrorCode != windowClosed || report.Ambiguous {
		return nil
	}
	reference, person, err := findReply(ctx, tx, report)
	if err != nil || reference == "" {
		return err
	}
	_, err = b.outbox.Insert(ctx, tx, b.template(person, reference))
	return b.skipInvalid(ctx, err)
}

// windowClosed is the platform's code for a reply that it accepted after the window had closed.
const windowClosed = "131047"

// errorHook logs the errors of the store and of the handlers, which LogHook does not log because they may hold anything. An event that another
// call is handling, or that the handler wants again, is no error.
func (b *bot) errorHook() webhook.Hook {
	return webhook.Hook{End: func(ctx context.Context, r webhook.Result) {
		isExpected := errors.Is(r.Err, webhook.ErrInProgress) || errors.Is(r.Err, webhook.ErrRetryLater)
		if r.StatusCode >= http.StatusInternalServerError && !isExpected {
			b.logger.ErrorContext(ctx, "bot: an event was not handled", "id", r.ID, "error", r.Err)
		}
	}}
}

// outcome notes the message ID of each reply, logs each message that was not sent, and replaces a reply that was too late for the window.
func (b *bot) outcome(ctx context.Context, outcome messagingriver.Outcome) error {
	if err := noteMessageID(ctx, b.db, outcome.Reference, outcome.Receipt.ID); err != nil {
		return err
	}
	if outcome.Err == nil {
		return nil
	}
	b.logger.WarnContext(ctx, "bot: a message was not sent", "reference_id", outcome.Reference,
		"verdict", outcome.Verdict, "error", outcome.Err)
	reply, isChatApp2 := outcome.Message.(chatapp2.Message)
	isReply := isChatApp2 && strings.HasPrefix(outcome.Reference, prefixReply)
	wasNotProcessed := outcome.Verdict == messaging.NotSent || outcome.Verdict == messaging.Refused
	if isReply && wasNotProcessed && errors.Is(outcome.Err, messaging.ErrWindowClosed) {
		return b.replaceUnsent(ctx, outcome.Key, reply.To)
	}
	return nil
}

// replaceUnsent enqueues a template in place of a reply that did not go out. In the same transaction it drops the reply, so that a person can no
// longer resend it. If replaceUnsent is called again, the reply is gone, and no second template is sent.
func (b *bot) replaceUnsent(ctx context.Context, key messagingriver.Key, to string) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	dropped, err := b.outbox.ResolveTx(ctx, tx, messagingriver.Drop, key)
	if err != nil || dropped == 0 { // a person has resent it
		return err
	}
	if _, err = b.outbox.Insert(ctx, tx, b.template(to, key.Reference)); err != nil {
		return b.skipInvalid(ctx, err)
	}
	return tx.Commit()
}

// template returns the template in place of the reply with a reference ID. The template's own reference ID depends on it, so a reply has one
// template, even if its failure is reported twice.
func (b *bot) template(to, reference string) messaging.Message {
	return chatapp2.Message{
		To:          to,
		ReferenceID: "template-" + reference,
		CallbackURL: b.callback,
		Content:     chatapp2.Template{Name: "sorry_for_the_wait", Language: "en_US"},
	}
}
