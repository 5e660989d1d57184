// Package conversations stores conversation windows and opt-outs in PostgreSQL or SQLite. Its [Book] is a guard of the client, which asks it
// before each message:
//
//	book, err := conversations.New(ctx, db, conversations.Options{})
//	...
//	client, err := messaging.NewClient(baseURL, messaging.WithToken(token), messaging.WithGuard(book.Guard))
//
// Webhook handlers note each inbound message, in their own transaction if they have one:
//
//	hooks.SMS(func(ctx context.Context, m webhook.SMSMessage) error {
//		_, err := book.Note(ctx, nil, conversations.FromSMS(m))
//		if errors.Is(err, conversations.ErrNoPerson) { // such as the sender BANK; a second call would not help
//			slog.WarnContext(ctx, "a message is not noted", "message", m, "err", err)
//			return nil
//		}
//		return err
//	})
//
// It works with any driver of database/sql for the two databases, and imports none.
//
// # Windows
//
// A window is the 24 hours after a person's last message to you. Outside of it chat app 2 takes only templates, so the guard denies everything
// else with messaging.ErrWindowClosed. SMS and chat app 1 have no such limit: the Book notes when a person wrote there, and the guard does not
// ask for it.
//
// # People
//
// A person has a phone number, a user ID of the platform, or both. Phone numbers are compared by their digits: a leading + or 00, a scheme
// such as tel:, spaces, punctuation and invisible characters are ignored, and so is the digit that Brazil, Mexico and Argentina insert into
// mobile numbers. A number and a user ID that arrive together identify one person on that channel from then on: an opt-out or a window of
// one also applies to the other.
//
// # Opt-outs
//
// A message that consists of a stop word opts its sender out; a start word opts the sender in again. Case, quotes, punctuation, full-width
// letters and invisible characters do not matter. Buttons have a shorter list of words, because a Cancel button of a booking is not an
// opt-out.
//
// The decision that arrives last wins, by the clock of the database: the clocks and time zones of services are not reliable. The service's
// date matters in two cases only. An opt-in dated before the opt-out is ignored as a repeated callback. An opt-out dated more than a day
// before the opt-in is ignored as an old one.
package conversations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/sqlclock"
)

// window is how long after a message of the recipient chat app 2 accepts messages without a template.
const window = 24 * time.Hour

// A Book reads and writes the tables conversation, conversation_decision and conversation_person of a database that any number of processes
// may share. [New] returns one. It is safe for concurrent use.
//
// A method that takes a transaction works in it, or in none if it is nil. Pass the transaction that you hold: with a pool of one connection,
// a method without it would wait for that connection.
type Book struct {
	db      *sql.DB
	options Options
	clock   *strings.Replacer // of CLOCK in a statement; see exec
}

// Options configure a Book. A zero field has its default.
type Options struct {
	// StopWords and StartWords are the texts that opt a person out and in again. The defaults are STOP, STOPALL, STOP ALL, UNSUBSCRIBE,
	// CANCEL, END, QUIT, REVOKE, OPTOUT, OPT OUT and STOP PROMOTIONS, and START and UNSTOP. Words that are set replace the defaults.
	StopWords, StartWords []string
	// StopButtons are the titles and IDs of buttons that opt a person out. The defaults are STOP, STOPALL, STOP ALL, UNSUBSCRIBE, OPTOUT,
	// OPT OUT and STOP PROMOTIONS. Words that are set replace the defaults. No button opts in.
	StopButtons []string
	// MarketingTemplates are the names of marketing templates. A message that has Marketing set counts without being listed.
	MarketingTemplates []string
	// AllChannels makes an opt-out or opt-in count on every channel, whether by Note, NotePreference, OptOut or OptIn. By default it counts on
	// the channel where it arrived, and so do decisions from before AllChannels was set. The decision that arrives last still wins, on
	// whichever channel. A phone number or user ID then names the same person on every channel. With PerSender, the decision counts for the
	// sender of the same name on the other channels. Each channel keeps its own windows.
	AllChannels bool
	// PerSender limits an opt-out to the sender that received the stop word. By default an opt-out applies to all senders of the program,
	// because a sender such as "ACME" cannot receive replies.
	PerSender bool
	// CountryCode is the country code for numbers in national form, such as "63" for "0917 123 4567". By default such numbers are compared
	// as they are.
	CountryCode string
}

// New returns a Book, and creates its tables unless they exist. Several processes may call it at once. On PostgreSQL the user needs the right to
// create tables in the schema, even if the tables exist, and must then own them. On SQLite the pool needs either one connection
// (db.SetMaxOpenConns(1)), or a file with journal_mode(wal) and a busy_timeout, otherwise New returns an error. With several connections, also
// begin transactions with a lock, or they can fail with SQLITE_BUSY. With modernc.org/sqlite the name of the data source is
//
//	shop.db?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate
func New(ctx context.Context, db *sql.DB, options Options) (*Book, error) {
	if db == nil {
		return nil, errors.New("conversations: the database is nil")
	}
	if strings.Trim(options.CountryCode, "0123456789") != "" || strings.HasPrefix(options.CountryCode, "0") {
		return nil, fmt.Errorf("conversations: Options.CountryCode is %q; want digits such as 63", options.CountryCode)
	}
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	clock, err := sqlclock.Create(ctx, db, tables()...)
	if err != nil {
		return nil, fmt.Errorf("conversations: %w", err)
	}
	return &Book{db: db, options: options, clock: clock}, nil
}

// tables returns the statements that create the tables. Times are milliseconds since 1970.
//
//   - conversation holds when a person last wrote to a sender.
//   - conversation_decision holds the last decision of a person: whether it opts out, when it arrived, and its date from the service, or 0.
//     An empty sender means all senders.
//   - conversation_person holds pairs of names (numbers and user IDs) of one person.
func tables() []string {
	return []string{
		`CREATE TABLE IF NOT EXISTS conversation (
			channel TEXT NOT NULL, peer TEXT NOT NULL, sender TEXT NOT NULL, last_at BIGINT NOT NULL,
			PRIMARY KEY (channel, peer, sender)
		)`,
		`CREATE INDEX IF NOT EXISTS conversation_last ON conversation (last_at)`,
		`CREATE TABLE IF NOT EXISTS conversation_decision (
			channel TEXT NOT NULL, peer TEXT NOT NULL, sender TEXT NOT NULL, marketing INTEGER NOT NULL,
			is_out INTEGER NOT NULL, arrived_at BIGINT NOT NULL, dated_at BIGINT NOT NULL,
			PRIMARY KEY (channel, peer, sender, marketing)
		)`,
		`CREATE TABLE IF NOT EXISTS conversation_person (
			channel TEXT NOT NULL, name TEXT NOT NULL, other TEXT NOT NULL, PRIMARY KEY (channel, name, other)
		)`,
	}
}

// Guard is Allow without a transaction, for messaging.WithGuard.
func (b *Book) Guard(ctx context.Context, m messaging.Outgoing) error { return b.Allow(ctx, nil, m) }

// Allow returns nil if a message may be sent now. It returns messaging.ErrOptedOut if the person opted out, and messaging.ErrWindowClosed if
// the window of chat app 2 is closed and the message is not a template. If the recipient is not a phone number or a user ID, or
// the recipient of an SMS is not a phone number, the error matches ErrNoPerson and denies the message. Other errors are errors of the database.
//
// If the person opted out of SMS and the message has an SMS fallback, the error says so and matches messaging.ErrOptedOut. The message may
// then be sent without its fallback.
//
// Allow sees every opt-out that was committed before the call. If m.From is empty, as on chat app 2, an opt-out from any sender counts, and
// so does a window with any sender.
func (b *Book) Allow(ctx context.Context, tx *sql.Tx, m messaging.Outgoing) error {
	known, err := b.namesOf(m.Channel, field{"To", m.To}, field{"UserID", m.UserID})
	if err != nil {
		return messaging.Deny(err) // the next time will be the same
	}
	names, err := b.person(ctx, tx, b.decisionChannels(m.Channel), known)
	if err != nil {
		return err
	}
	s := scope{
		channel:   m.Channel,
		names:     names,
		sender:    b.senderOf(m.From),
		anySender: m.From == "",
		marketing: m.Marketing || slices.Contains(b.options.MarketingTemplates, m.Template),
	}
	isOut, err := b.isOut(ctx, tx, s, m.Channel)
	if err != nil {
		return err
	}
	if isOut {
		return messaging.ErrOptedOut
	}
	if m.Fallback != "" {
		if err := b.allowFallback(ctx, tx, s, m.Fallback); err != nil {
			return err
		}
	}
	if m.Channel != messaging.ChannelChatApp2 || m.Kind == "template" {
		return nil
	}
	return b.allowWindow(ctx, tx, s, known)
}

// allowFallback returns an error if the person opted out of SMS from the sender of the fallback.
func (b *Book) allowFallback(ctx context.Context, tx *sql.Tx, s scope, sender string) error {
	s.sender = b.senderOf(sender)
	s.anySender = false
	isOut, err := b.isOut(ctx, tx, s, messaging.ChannelSMS)
	if err != nil {
		return err
	}
	if isOut {
		return fmt.Errorf("the SMS fallback: %w", messaging.ErrOptedOut)
	}
	return nil
}

// allowWindow returns messaging.ErrWindowClosed unless the window of a person with the known names is open.
func (b *Book) allowWindow(ctx context.Context, tx *sql.Tx, s scope, known []string) error {
	if b.options.AllChannels { // the scope has the names of the person on other channels, too
		names, err := b.person(ctx, tx, []string{s.channel.String()}, known)
		if err != nil {
			return err
		}
		s.names = names
	}
	end, now, err := b.window(ctx, tx, s)
	if err != nil {
		return err
	}
	if !end.After(now) {
		return messaging.ErrWindowClosed
	}
	return nil
}

// WindowEnd returns when a person's window closes: 24 hours after the last message on the channel of the Person. Only chat app 2 limits what can
// be sent afterwards. It returns the zero time if the person has not written, or if Prune has deleted the window. An empty Sender means any
// sender.
func (b *Book) WindowEnd(ctx context.Context, tx *sql.Tx, p Person) (time.Time, error) {
	known, err := b.namesOf(p.Channel, field{"Number", p.Number}, field{"UserID", p.UserID})
	if err != nil {
		return time.Time{}, err
	}
	names, err := b.person(ctx, tx, []string{p.Channel.String()}, known)
	if err != nil {
		return time.Time{}, err
	}
	end, _, err := b.window(ctx, tx, scope{channel: p.Channel, names: names, sender: b.senderOf(p.Sender), anySender: p.Sender == ""})
	return end, err
}

// window returns when the window of a person ends, or the zero time, and the time of the database.
func (b *Book) window(ctx context.Context, tx *sql.Tx, s scope) (end, now time.Time, err error) {
	row := b.queryRow(ctx, tx, `SELECT COALESCE(MAX(last_at), 0), CLOCK FROM conversation
		WHERE channel = @channel AND peer IN (@names) AND (sender = @sender OR @anySender = 1)`,
		arguments{"channel": s.channel.String(), "names": s.names, "sender": s.sender, "anySender": toInt(s.anySender)})
	var last, present int64
	if err := row.Scan(&last, &present); err != nil {
		return time.Time{}, time.Time{}, fmt.Errorf("conversations: %w", err)
	}
	if last == 0 {
		return time.Time{}, time.UnixMilli(present), nil
	}
	return time.UnixMilli(last).Add(window), time.UnixMilli(present), nil
}

// Prune deletes closed windows, a thousand rows at a time, and returns how many. It keeps opt-outs, opt-ins and the names of people. Call it
// about once an hour, from any process.
func (b *Book) Prune(ctx context.Context) (deleted int64, err error) {
	var before int64
	if err = b.queryRow(ctx, nil, "SELECT CLOCK - @window", arguments{"window": window.Milliseconds()}).Scan(&before); err != nil {
		return 0, fmt.Errorf("conversations: %w", err)
	}
	// After it has waited for a row, PostgreSQL checks the outer condition again, but not the inner one: Note may have opened the window meanwhile.
	// The time is an argument, because PostgreSQL uses no index for a comparison with its clock.
	const closed = `DELETE FROM conversation WHERE last_at < @before AND (channel, peer, sender) IN (
		SELECT channel, peer, sender FROM conversation WHERE last_at < @before LIMIT 1000)`
	for {
		n, err := b.exec(ctx, nil, closed, arguments{"before": before})
		if err != nil || n == 0 {
			return deleted, err
		}
		deleted += n
	}
}

// exec runs a statement in a transaction, or in none if it is nil, and returns how many rows it changed. In the statements of exec, query and
// queryRow, CLOCK is the time of the database, in milliseconds since 1970, and @name is an argument.
func (b *Book) exec(ctx context.Context, tx *sql.Tx, statement string, values arguments) (int64, error) {
	run := b.db.ExecContext
	if tx != nil {
		run = tx.ExecContext
	}
	statement, args := bind(b.clock.Replace(statement), values)
	result, err := run(ctx, statement, args...)
	if err != nil {
		return 0, fmt.Errorf("conversations: %w", err)
	}
	changed, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("conversations: %w", err)
	}
	return changed, nil
}

// query asks for rows in a transaction, or in none if it is nil.
func (b *Book) query(ctx context.Context, tx *sql.Tx, statement string, values arguments) (*sql.Rows, error) {
	statement, args := bind(b.clock.Replace(statement), values)
	if tx != nil {
		return tx.QueryContext(ctx, statement, args...)
	}
	return b.db.QueryContext(ctx, statement, args...)
}

// queryRow asks for one row in a transaction, or in none if it is nil.
func (b *Book) queryRow(ctx context.Context, tx *sql.Tx, statement string, values arguments) *sql.Row {
	statement, args := bind(b.clock.Replace(statement), values)
	if tx != nil {
		return tx.QueryRowContext(ctx, statement, args...)
	}
	return b.db.QueryRowContext(ctx, statement, args...)
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
