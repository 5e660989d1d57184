// Package conversations keeps in PostgreSQL or SQLite who wrote to whom and when, and who opted out: what a program asks before it
// sends. Webhook handlers note what comes in, in their own transaction if they have one:
//
//	book, err := conversations.New(ctx, db, conversations.Options{})
//	...
//	hooks.SMS(func(ctx context.Context, m webhook.SMSMessage) error {
//		return book.Note(ctx, nil, conversations.Inbound{Channel: "sms", From: m.From, To: m.To, Text: m.Text, At: m.ReceivedAt})
//	})
//
// The client asks before each message:
//
//	client, err := messaging.NewClient(baseURL, messaging.WithGuard(book.Guard))
//
// It works with any driver of database/sql for the two databases, and imports none. A channel goes by its name in the contract.
package conversations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/sqlclock"
)

// window is for how long after a message of the recipient chat app 2 takes messages without a template.
const window = 24 * time.Hour

// kept is for how long it is remembered that somebody opted in again, in case an earlier stop word comes late.
const kept = 30 * 24 * time.Hour

// A Book is what is known of conversations, in the tables conversation and conversation_opt_out of a database that any number of
// processes may share. Get one from [New]; many goroutines may use it at once. Times in the future count as now, by the clock of the
// database.
//
// Numbers are compared by their digits, without a leading "+", "00" or "tel:", and without spaces, hyphens, dots and parentheses. What
// is no number, such as the ID of a user, is compared as it is.
type Book struct {
	db      *sql.DB
	options Options
	spell   *strings.Replacer
}

// Options are the properties of a Book. A zero field has its default.
type Options struct {
	// StopWords and StartWords are the texts with which somebody opts out and in again, in any case, with white space around
	// them or none. The defaults are STOP, UNSUBSCRIBE and QUIT, and START and UNSTOP. Words that are set replace these.
	StopWords, StartWords []string
	// PerSender has an opt-out hold for the sender of ours that the stop word went to. By default it holds for all of them: a
	// sender such as "ACME" receives no replies.
	PerSender bool
	// CountryCode is the code of numbers in national form, such as "63" for "0917 123 4567". By default these are taken as they
	// are.
	CountryCode string
}

// New returns a Book, and creates its tables unless they exist. On SQLite the pool needs either one connection
// (db.SetMaxOpenConns(1)), or a file with journal_mode(wal) and a busy_timeout. New returns an error that says so.
func New(ctx context.Context, db *sql.DB, options Options) (*Book, error) {
	switch {
	case db == nil:
		return nil, errors.New("conversations: the database is nil")
	case strings.Trim(options.CountryCode, "0123456789") != "" || strings.HasPrefix(options.CountryCode, "0"):
		return nil, fmt.Errorf("conversations: Options.CountryCode is %q; want digits such as 63", options.CountryCode)
	}
	if options.StopWords == nil {
		options.StopWords = []string{"STOP", "UNSUBSCRIBE", "QUIT"}
	}
	if options.StartWords == nil {
		options.StartWords = []string{"START", "UNSTOP"}
	}
	for _, word := range slices.Concat(options.StopWords, options.StartWords) {
		if strings.TrimSpace(word) == "" {
			return nil, errors.New("conversations: a word of Options is empty")
		}
	}
	clock, err := sqlclock.Create(ctx, db,
		`CREATE TABLE IF NOT EXISTS conversation (
			channel TEXT NOT NULL, peer TEXT NOT NULL, sender TEXT NOT NULL, last_at BIGINT NOT NULL, PRIMARY KEY (channel, peer, sender)
		)`,
		`CREATE TABLE IF NOT EXISTS conversation_opt_out (
			channel TEXT NOT NULL, peer TEXT NOT NULL, sender TEXT NOT NULL, decided_at BIGINT NOT NULL, is_out INTEGER NOT NULL,
			PRIMARY KEY (channel, peer, sender)
		)`,
		`CREATE INDEX IF NOT EXISTS conversation_last ON conversation (last_at)`,
		`CREATE INDEX IF NOT EXISTS conversation_opt_out_decided ON conversation_opt_out (is_out, decided_at)`)
	if err != nil {
		return nil, fmt.Errorf("conversations: %w", err)
	}
	return &Book{db, options, clock}, nil
}

// Inbound is a message that came in.
type Inbound struct {
	Channel  string
	From, To string    // the person, and the sender of ours that it went to
	Text     string    // the whole text
	At       time.Time // when it was received; the zero time is now
}

// Note notes a message that came in, in a transaction of the caller, or in none if tx is nil. Messages may come late, in any order,
// and more than once.
func (b *Book) Note(ctx context.Context, tx *sql.Tx, m Inbound) error {
	if m.Channel == "" || m.From == "" {
		return errors.New("conversations: Note needs a Channel and a From")
	}
	at := atOf(m.At)
	if err := b.exec(ctx, tx, `INSERT INTO conversation (channel, peer, sender, last_at) VALUES ($1, $2, $3, `+at+`)
		ON CONFLICT (channel, peer, sender) DO UPDATE SET last_at = excluded.last_at WHERE conversation.last_at < excluded.last_at`,
		m.Channel, b.nameOf(m.From), b.nameOf(m.To)); err != nil {
		return err
	}
	is := func(word string) bool { return strings.EqualFold(strings.TrimSpace(word), strings.TrimSpace(m.Text)) }
	sender := m.To
	if !b.options.PerSender {
		sender = ""
	}
	switch {
	case slices.ContainsFunc(b.options.StopWords, is):
		return b.decide(ctx, tx, OptOut{m.Channel, m.From, sender, m.At}, 1)
	case slices.ContainsFunc(b.options.StartWords, is):
		return b.decide(ctx, tx, OptOut{m.Channel, m.From, sender, m.At}, 0)
	default:
		return nil
	}
}

// OptOut says who opted out of what.
type OptOut struct {
	Channel string
	From    string    // the person
	Sender  string    // the sender of ours that it holds for; empty is all
	At      time.Time // when; the zero time is now
}

// OptOut has a person opt out by hand, in a transaction of the caller, or in none if tx is nil. The latest decision holds.
func (b *Book) OptOut(ctx context.Context, tx *sql.Tx, o OptOut) error {
	return b.decide(ctx, tx, o, 1)
}

// OptIn has a person opt in again by hand, like OptOut. It ends the opt-out of the same Sender.
func (b *Book) OptIn(ctx context.Context, tx *sql.Tx, o OptOut) error { return b.decide(ctx, tx, o, 0) }

func (b *Book) decide(ctx context.Context, tx *sql.Tx, o OptOut, out int) error {
	if o.Channel == "" || o.From == "" {
		return errors.New("conversations: an opt-out needs a Channel and a From")
	}
	return b.exec(ctx, tx, `INSERT INTO conversation_opt_out (channel, peer, sender, decided_at, is_out)
		VALUES ($1, $2, $3, `+atOf(o.At)+`, $4)
		ON CONFLICT (channel, peer, sender) DO UPDATE SET decided_at = excluded.decided_at, is_out = excluded.is_out
		WHERE conversation_opt_out.decided_at <= excluded.decided_at`,
		o.Channel, b.nameOf(o.From), b.nameOf(o.Sender), out)
}

// OptOuts returns who opted out, in the order of channels and persons, as the book compares them.
func (b *Book) OptOuts(ctx context.Context) iter.Seq2[OptOut, error] {
	return func(yield func(OptOut, error) bool) {
		const some = 500
		var last OptOut
		for {
			page, err := b.optOuts(ctx, last, some)
			for _, one := range page {
				if !yield(one, nil) {
					return
				}
				last = one
			}
			if err != nil {
				yield(OptOut{}, fmt.Errorf("conversations: %w", err))
			}
			if err != nil || len(page) < some {
				return
			}
		}
	}
}

// optOuts returns some opt-outs after one of them.
func (b *Book) optOuts(ctx context.Context, last OptOut, some int) (page []OptOut, err error) {
	rows, err := b.db.QueryContext(ctx, `SELECT channel, peer, sender, decided_at FROM conversation_opt_out
		WHERE is_out = 1 AND (channel, peer, sender) > ($1, $2, $3) ORDER BY channel, peer, sender LIMIT $4`,
		last.Channel, last.From, last.Sender, some)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var one OptOut
		var at int64
		if err = rows.Scan(&one.Channel, &one.From, &one.Sender, &at); err != nil {
			return page, err
		}
		one.At = time.UnixMilli(at)
		page = append(page, one)
	}
	return page, rows.Err()
}

// Guard decides whether a message may go, for messaging.WithGuard: like Allow, without a transaction.
func (b *Book) Guard(ctx context.Context, m messaging.Outgoing) error { return b.Allow(ctx, nil, m) }

// Allow returns nil if a message may be sent now, messaging.ErrOptedOut or messaging.ErrWindowClosed if not, and any other error if the
// database could not tell. It reads in a transaction of the caller, or in none if tx is nil.
//
// The window is that of chat app 2, for whatever is no template. An opt-out that was committed before Allow is called counts. If m.From is
// empty, as on chat app 2, an opt-out from any sender of ours counts, and so does a message to any of them.
func (b *Book) Allow(ctx context.Context, tx *sql.Tx, m messaging.Outgoing) error {
	var out int
	err := b.queryRow(ctx, tx, `SELECT COUNT(*) FROM conversation_opt_out
		WHERE channel = $1 AND peer = $2 AND is_out = 1 AND (sender = '' OR sender = $3 OR $3 = '')`,
		m.Channel.String(), b.nameOf(m.To), b.nameOf(m.From)).Scan(&out)
	if err != nil {
		return fmt.Errorf("conversations: %w", err)
	}
	if out > 0 {
		return messaging.ErrOptedOut
	}
	if m.Channel != messaging.ChannelChatApp2 || m.Kind == "template" {
		return nil
	}
	_, left, err := b.window(ctx, tx, m)
	if err != nil {
		return err
	}
	if left <= 0 {
		return messaging.ErrWindowClosed
	}
	return nil
}

// WindowEnd returns when the time ends in which messages without a template can be sent to a person, and the zero time if the person
// has not written. Rows that Prune deleted have ended. Of the message, the channel, the recipient and the sender count.
func (b *Book) WindowEnd(ctx context.Context, tx *sql.Tx, m messaging.Outgoing) (time.Time, error) {
	end, _, err := b.window(ctx, tx, m)
	return end, err
}

func (b *Book) window(ctx context.Context, tx *sql.Tx, m messaging.Outgoing) (end time.Time, left time.Duration, err error) {
	var last, now int64
	if err = b.queryRow(ctx, tx, `SELECT COALESCE(MAX(last_at), 0), CLOCK FROM conversation
		WHERE channel = $1 AND peer = $2 AND (sender = $3 OR $3 = '')`,
		m.Channel.String(), b.nameOf(m.To), b.nameOf(m.From)).Scan(&last, &now); err != nil {
		return time.Time{}, 0, fmt.Errorf("conversations: %w", err)
	}
	if last == 0 {
		return time.Time{}, 0, nil
	}
	end = time.UnixMilli(last).Add(window)
	return end, end.Sub(time.UnixMilli(now)), nil
}

// queryRow asks for one row in a transaction, or in none if it is nil.
func (b *Book) queryRow(ctx context.Context, tx *sql.Tx, query string, args ...any) *sql.Row {
	query = b.spell.Replace(query)
	if tx != nil {
		return tx.QueryRowContext(ctx, query, args...)
	}
	return b.db.QueryRowContext(ctx, query, args...)
}

// Prune deletes what is of no use any more, a thousand rows at a time, and returns how many: closed windows, and opt-ins of 30 days ago.
// Opt-outs stay. Call it now and then, as once an hour, from any process.
func (b *Book) Prune(ctx context.Context) (deleted int64, err error) {
	for _, of := range []string{
		fmt.Sprintf("conversation WHERE last_at < CLOCK - %d", window.Milliseconds()),
		fmt.Sprintf("conversation_opt_out WHERE is_out = 0 AND decided_at < CLOCK - %d", kept.Milliseconds()),
	} {
		table, _, _ := strings.Cut(of, " ")
		statement := b.spell.Replace("DELETE FROM " + table +
			" WHERE (channel, peer, sender) IN (SELECT channel, peer, sender FROM " + of + " LIMIT 1000)")
		for n := int64(1); n > 0; deleted += n {
			result, err := b.db.ExecContext(ctx, statement)
			if err == nil {
				n, err = result.RowsAffected()
			}
			if err != nil {
				return deleted, fmt.Errorf("conversations: %w", err)
			}
		}
	}
	return deleted, nil
}

// exec runs a statement in a transaction, or in none if it is nil.
func (b *Book) exec(ctx context.Context, tx *sql.Tx, statement string, args ...any) error {
	run := b.db.ExecContext
	if tx != nil {
		run = tx.ExecContext
	}
	if _, err := run(ctx, b.spell.Replace(statement), args...); err != nil {
		return fmt.Errorf("conversations: %w", err)
	}
	return nil
}

// atOf returns a time as SQL, in milliseconds since 1970, and no later than now.
func atOf(at time.Time) string {
	if at.IsZero() {
		return "CLOCK"
	}
	return fmt.Sprintf("CASE WHEN %[1]d < CLOCK THEN %[1]d ELSE CLOCK END", at.UnixMilli())
}

// nameOf returns a number or another name in the form in which it is compared. A name that no database can hold is cut, so that the
// webhook that brings it does not fail each time.
func (b *Book) nameOf(name string) string {
	const longest = 255
	name = strings.ToValidUTF8(strings.ReplaceAll(strings.TrimSpace(name), "\x00", ""), "")
	name = strings.ToValidUTF8(name[:min(len(name), longest)], "")
	number := name
	if len(number) > 4 && strings.EqualFold(number[:4], "tel:") {
		number = number[4:]
	}
	number = strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "").Replace(number)
	digits, isInternational := strings.CutPrefix(number, "+")
	if !isInternational {
		digits, isInternational = strings.CutPrefix(number, "00")
	}
	switch national, isNational := strings.CutPrefix(digits, "0"); {
	case digits == "" || strings.Trim(digits, "0123456789") != "":
		return name
	case isNational && !isInternational && b.options.CountryCode != "":
		return b.options.CountryCode + national
	default:
		return digits
	}
}
