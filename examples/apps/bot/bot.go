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
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
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
	sender    string // of SMS
	channelID string // of chat app 1
	callback  string // where the service reports delivery
}

// open opens the bot. On SQLite it creates the tables.
func open(ctx context.Context, in settings) (*bot, error) {
	b := &bot{logger: slog.Default(), sender: in.sender, channelID: in.channelID}
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
	return b.serveHooks(in)
}

// serveHooks serves the callbacks, with a store in the bot's database.
func (b *bot) serveHooks(in settings) error {
	hooks, err := in.newReceiver(
		webhook.WithStore(b.store),
		webhook.WithStatuses(b.report), // of chat app 2's platform, which come to /hooks/chatapp2
		webhook.WithPreferences(b.notePreference),
		webhook.WithHook(webhook.LogHook(b.logger)),
		webhook.WithHook(b.errorHook()),
	)
	if err != nil {
		return err
	}
	b.Handle("/hooks/sms", hooks.SMS(b.receiveSMS))
	b.Handle("/hooks/chatapp1", hooks.ChatApp1(b.receiveChat))
	b.Handle("/hooks/chatapp2", hooks.ChatApp2(b.receiveChat))
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

// inbound is a message that a person wrote.
type inbound struct {
	conversations.Inbound

	id          string // of the message, or empty
	isAmbiguous bool   // From may be someone else
	isInGroup   bool   // a reply to From would surprise the person
	isQuestion  bool   // the person wrote something, and did not only react to an earlier message or change it
}

func (b *bot) receiveSMS(ctx context.Context, m webhook.SMSMessage) error {
	return b.receive(ctx, inbound{Inbound: conversations.FromSMS(m), id: m.ID, isAmbiguous: m.Ambiguous, isQuestion: true})
}

func (b *bot) receiveChat(ctx context.Context, m webhook.ChatMessage) error {
	return b.receive(ctx, inbound{
		Inbound:     conversations.FromChat(m),
		id:          m.ID,
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
		return nil
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
	case decision.OptOut || decision.OptIn:
		return b.confirm(ctx, tx, m, decision)
	case !m.isQuestion:
		return nil
	}
	word := cmp.Or(m.ButtonID, m.ButtonTitle, strings.TrimSpace(m.Text)) // the ID of a tapped button is like a text
	if strings.EqualFold(word, "order") {
		return b.reply(ctx, tx, m, "Your order is on its way.")
	}
	return b.reply(ctx, tx, m, "Hi. Write ORDER to ask for your order.", chatapp2.ReplyButton{ID: "order", Title: "Order"})
}

// notePreference notes that a person stopped or resumed marketing in the app.
func (b *bot) notePreference(ctx context.Context, p webhook.Preference) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	err = b.book.NotePreference(ctx, tx, p)
	if errors.Is(err, conversations.ErrNoPerson) {
		return nil
	}
	return err
}

// The reference ID of each reply begins with prefixReply. Those of confirmations and templates begin otherwise: they are not replaced by a template.
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

// enqueue enqueues a reply or a template. An hour later the person no longer expects it.
func (b *bot) enqueue(ctx context.Context, tx *sql.Tx, message messaging.Message) error {
	_, err := b.outbox.InsertMany(ctx, tx, []messaging.Message{message}, messagingriver.InsertOptions{Expire: time.Hour})
	return err
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
	message := chatapp2.Message{To: m.From, ReplyTo: m.id, ReferenceID: reference, CallbackURL: b.callback}
	message.Content = chatapp2.Text{Body: text}
	if len(buttons) > 0 {
		message.Content = chatapp2.Interactive{Body: text, Action: chatapp2.ReplyButtons(buttons)}
	}
	return message
}

// confirm confirms a STOP or START that changed something. A guard would deny the answer to STOP, so none is asked.
func (b *bot) confirm(ctx context.Context, tx *sql.Tx, m inbound, decision conversations.Decision) error {
	if !decision.Changed {
		return nil
	}
	text := "You will get our messages."
	if decision.OptOut {
		text = "You will get no more messages. Write START to get them again."
	}
	confirmation := b.message(m, prefixConfirmation+rand.Text(), text)
	_, err := b.outbox.InsertMany(ctx, tx, []messaging.Message{confirmation}, messagingriver.InsertOptions{Unguarded: true})
	return b.skipInvalid(ctx, err)
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

// report completes a message whose response was lost: a report proves that the service accepted it. Keys without a message are ignored.
func (b *bot) report(ctx context.Context, report webhook.DeliveryReport) error {
	if report.Ambiguous { // someone may have made a part of it up
		b.logger.WarnContext(ctx, "bot: an ambiguous report changes nothing", "report", report)
		return nil
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	_, err = b.outbox.ResolveTx(ctx, tx, messagingriver.Sent,
		messagingriver.Key{Channel: "sms", Reference: report.ReferenceID},
		messagingriver.Key{Channel: "chatapp1", Reference: report.ReferenceID},
		messagingriver.Key{Channel: "chatapp2", Reference: report.ReferenceID})
	if err != nil {
		return err
	}
	return b.noteStatus(ctx, tx, report)
}

// noteStatus notes the status of a reply, and replaces a reply that was too late for the window. A report that a message failed may arrive after
// that of its delivery, and then changes nothing.
func (b *bot) noteStatus(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) error {
	reply, err := findReply(ctx, tx, report) // the zero reply for another message
	if err != nil || !report.Status.Supersedes(reply.status) {
		return err
	}
	if report.Status.Failed() {
		b.logger.WarnContext(ctx, "bot: a message was not delivered", "report", report)
	}
	if err = setStatus(ctx, tx, reply.reference, report.Status); err != nil {
		return err
	}
	wasTooLate := report.Status.Failed() && report.ErrorCode == windowClosed
	if reply.channel != "chatapp2" || !wasTooLate {
		return nil
	}
	err = b.enqueue(ctx, tx, b.template(reply.person, reply.reference))
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

// outcome notes the message ID of each reply, logs each message that was not accepted, and replaces a reply that was too late for the window.
func (b *bot) outcome(ctx context.Context, outcome messagingriver.Outcome) error {
	if err := noteMessageID(ctx, b.db, outcome.Reference, outcome.Receipt.ID); err != nil {
		return err
	}
	if outcome.Err == nil {
		return nil
	}
	b.logger.WarnContext(ctx, "bot: a message was not accepted", "reference_id", outcome.Reference,
		"verdict", outcome.Verdict, "error", outcome.Err, "to_do", toDo(outcome))
	reply, isChatApp2 := outcome.Message.(chatapp2.Message)
	isReply := isChatApp2 && strings.HasPrefix(outcome.Reference, prefixReply)
	if isReply && !outcome.MayHaveBeenSent() && errors.Is(outcome.Err, messaging.ErrWindowClosed) {
		return b.replaceUnsent(ctx, outcome.Key, reply.To)
	}
	return nil
}

// toDo says what a person has to do about a message that was not accepted.
func toDo(outcome messagingriver.Outcome) string {
	switch {
	case outcome.Verdict == messaging.Unknown:
		return `it may have gone out: see "outbox list", and decide by "outbox resolve"`
	case errors.Is(outcome.Err, messaging.ErrOptedOut):
		return "someone who opted out wrote again: the number is in bot_reply; call, or write by hand"
	default:
		return "see the error"
	}
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
	if err = b.enqueue(ctx, tx, b.template(to, key.Reference)); err != nil {
		return b.skipInvalid(ctx, err)
	}
	return tx.Commit()
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
