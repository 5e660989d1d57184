package conversations

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// lateStop is how long before an opt-in an opt-out may be dated that arrives after it and still counts.
const lateStop = 24 * time.Hour

// decision is a person who opts out or in.
type decision struct {
	query

	isOut bool
	at    time.Time // how the service dates it, or the zero time
}

// OptOut has a person opt out, such as by a form or by the platform's own preferences.
func (b *Book) OptOut(ctx context.Context, tx *sql.Tx, p Person) error {
	return b.decidePerson(ctx, tx, p, true)
}

// OptIn has a person opt in again, like OptOut. It ends the opt-out of the same Sender and of the same kind: an opt-in to Marketing ends no
// other opt-out, and an opt-in to all ends no opt-out of marketing alone.
func (b *Book) OptIn(ctx context.Context, tx *sql.Tx, p Person) error {
	return b.decidePerson(ctx, tx, p, false)
}

func (b *Book) decidePerson(ctx context.Context, tx *sql.Tx, p Person, isOut bool) error {
	known, err := b.namesOf(p.Channel, named{"Number", p.Number}, named{"UserID", p.UserID})
	if err != nil {
		return err
	}
	if err = b.join(ctx, tx, p.Channel, known); err != nil {
		return err
	}
	names, err := b.person(ctx, tx, p.Channel, known)
	if err != nil {
		return err
	}
	who := query{channel: p.Channel, names: names, sender: b.senderOf(p.Sender), marketing: p.Marketing}
	_, err = b.decide(ctx, tx, decision{query: who, isOut: isOut, at: p.At})
	return err
}

// decide notes a decision under all names of the person, unless the service dates it before one that it cannot end. It reports whether the
// person is opted out now and was not before, or the other way round. Of several callers with the same decision, one reports it.
func (b *Book) decide(ctx context.Context, tx *sql.Tx, d decision) (changed bool, err error) {
	was, err := b.isOutOf(ctx, tx, d.query)
	if err != nil {
		return false, err
	}
	turned, err := b.write(ctx, tx, d)
	if err != nil {
		return false, err
	}
	is, err := b.isOutOf(ctx, tx, d.query)
	return turned > 0 && was != is && is == d.isOut, err
}

// write notes a decision in two steps, and returns how many rows turned. Rows that say the same already are brought up to date first, so
// that a caller who tries again after a failure still sees what turned.
func (b *Book) write(ctx context.Context, tx *sql.Tx, d decision) (turned int64, err error) {
	in, args := d.in(d.channel.String(), d.sender, toInt(d.marketing), toInt(d.isOut), millis(d.at))
	const (
		dated = `CASE WHEN CAST($5 AS BIGINT) < CLOCK THEN CAST($5 AS BIGINT) ELSE CLOCK END`
		same  = ` WHERE channel = $1 AND sender = $2 AND marketing = $3 AND is_out = $4 AND peer IN `
	)
	// A decision arrives after every other one of the same person, whatever the clock of the database does.
	arrival := `(SELECT CASE WHEN COALESCE(MAX(arrived_at), 0) < CLOCK THEN CLOCK ELSE MAX(arrived_at) + 1 END
		FROM conversation_decision WHERE channel = $1 AND peer IN ` + in + `)`
	if _, err = b.exec(ctx, tx, `UPDATE conversation_decision SET arrived_at = `+arrival+`,
		dated_at = CASE WHEN dated_at < `+dated+` THEN `+dated+` ELSE dated_at END`+same+in, args...); err != nil {
		return 0, err
	}
	counts := mayEnd("conversation_decision", "excluded")
	if d.isOut {
		counts = "NOT " + isOld("excluded", "conversation_decision")
	}
	var rows []string
	for i := range d.names {
		place := strconv.Itoa(len(args) - len(d.names) + i + 1)
		rows = append(rows, `($1, $`+place+`, $2, $3, $4, `+arrival+`, `+dated+`)`)
	}
	return b.exec(ctx, tx, `INSERT INTO conversation_decision (channel, peer, sender, marketing, is_out, arrived_at, dated_at)
		VALUES `+strings.Join(rows, ", ")+`
		ON CONFLICT (channel, peer, sender, marketing) DO UPDATE SET is_out = excluded.is_out, dated_at = excluded.dated_at,
			arrived_at = CASE WHEN excluded.arrived_at > conversation_decision.arrived_at
				THEN excluded.arrived_at ELSE conversation_decision.arrived_at + 1 END
		WHERE conversation_decision.is_out <> excluded.is_out AND `+counts, args...)
}

// mayEnd returns the condition that an opt-in may end an opt-out which arrived before: the service does not date it earlier.
func mayEnd(stop, start string) string {
	return fmt.Sprintf("NOT (%[1]s.dated_at > 0 AND %[2]s.dated_at > 0 AND %[2]s.dated_at < %[1]s.dated_at)", stop, start)
}

// isOld returns the condition that the service dates an opt-out long before an opt-in.
func isOld(stop, start string) string {
	return fmt.Sprintf("(%[1]s.dated_at > 0 AND %[2]s.dated_at > 0 AND %[1]s.dated_at < %[2]s.dated_at - %[3]d)",
		stop, start, lateStop.Milliseconds())
}

// isOut reports whether a person opted out of a channel, for a message from a sender.
func (b *Book) isOut(ctx context.Context, tx *sql.Tx, who query, of messaging.Channel) (bool, error) {
	in, args := who.in(of.String(), toInt(who.marketing), who.sender, toInt(who.anySender))
	return b.isStopped(ctx, tx, `d.channel = $1 AND (d.marketing = 0 OR $2 = 1) AND (d.sender = '' OR d.sender = $3 OR $4 = 1)`, in, args)
}

// isOutOf reports whether a person opted out of exactly this: the sender, which may be all, and the kind.
func (b *Book) isOutOf(ctx context.Context, tx *sql.Tx, who query) (bool, error) {
	in, args := who.in(who.channel.String(), toInt(who.marketing), who.sender)
	return b.isStopped(ctx, tx, `d.channel = $1 AND d.marketing = $2 AND d.sender = $3`, in, args)
}

// isStopped reports whether there is a decision of a person that opts out of what the condition says, and that no decision of the same
// person under another name has ended. in is the list of the person's names.
func (b *Book) isStopped(ctx context.Context, tx *sql.Tx, condition, in string, args []any) (bool, error) {
	var n int
	err := b.queryRow(ctx, tx, `SELECT COUNT(*) FROM conversation_decision d
		WHERE `+condition+` AND d.peer IN `+in+` AND d.is_out = 1 AND NOT EXISTS (
			SELECT 1 FROM conversation_decision s
			WHERE s.channel = d.channel AND s.peer IN `+in+` AND s.sender = d.sender AND s.marketing = d.marketing AND s.is_out = 0
				AND (`+isOld("d", "s")+` OR s.arrived_at > d.arrived_at AND `+mayEnd("d", "s")+`)
		)`, args...).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("conversations: %w", err)
	}
	return n > 0, nil
}

// OptOuts returns who opted out, in the order of channels and persons, as the book compares them. A person who is known by two names is
// returned with both of them, or once for each if more is known.
func (b *Book) OptOuts(ctx context.Context) iter.Seq2[Person, error] {
	return func(yield func(Person, error) bool) {
		const pageSize = 500
		var last optOut
		for {
			page, err := b.optOuts(ctx, last, pageSize)
			for _, one := range page {
				if !yield(one.person(), nil) {
					return
				}
				last = one
			}
			if err != nil {
				yield(Person{}, fmt.Errorf("conversations: %w", err))
				return
			}
			if len(page) < pageSize {
				return
			}
		}
	}
}

// optOut is a row of an opt-out.
type optOut struct {
	channel, peer, sender string
	marketing             int
	other                 string // another name of the person, or ""
	at                    int64
}

func (o optOut) person() Person {
	p := Person{Sender: o.sender, Marketing: o.marketing == 1, At: time.UnixMilli(o.at)}
	for _, channel := range channels() {
		if channel.String() == o.channel {
			p.Channel = channel
		}
	}
	for _, name := range []string{o.other, o.peer} {
		if strings.Trim(name, "0123456789") == "" {
			p.Number = name
		} else {
			p.UserID = name
		}
	}
	return p
}

// optOuts returns some opt-outs after one of them. Of two names of a person, the one that sorts first is returned.
func (b *Book) optOuts(ctx context.Context, last optOut, most int) (page []optOut, err error) {
	rows, err := b.db.QueryContext(ctx, `SELECT channel, peer, sender, marketing,
			COALESCE((SELECT MIN(p.other) FROM conversation_person p WHERE p.channel = d.channel AND p.name = d.peer), ''),
			CASE WHEN dated_at > 0 THEN dated_at ELSE arrived_at END
		FROM conversation_decision d
		WHERE is_out = 1 AND (channel, peer, sender, marketing) > ($1, $2, $3, $4) AND NOT EXISTS (
			SELECT 1 FROM conversation_person p JOIN conversation_decision e
				ON e.channel = p.channel AND e.peer = p.other AND e.sender = d.sender AND e.marketing = d.marketing
			WHERE p.channel = d.channel AND p.name = d.peer AND e.is_out = 1 AND e.peer < d.peer
		)
		ORDER BY channel, peer, sender, marketing LIMIT $5`, last.channel, last.peer, last.sender, last.marketing, most)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var one optOut
		if err = rows.Scan(&one.channel, &one.peer, &one.sender, &one.marketing, &one.other, &one.at); err != nil {
			return page, err
		}
		page = append(page, one)
	}
	return page, rows.Err()
}
