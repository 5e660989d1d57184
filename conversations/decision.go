package conversations

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/phone"
)

// An opt-out that arrives after an opt-in is ignored if the service dates it more than lateStop before the opt-in.
const lateStop = 24 * time.Hour

// decision is an opt-out or opt-in of a person.
type decision struct {
	scope

	isOut bool
	at    time.Time // the service's date, or the zero time
}

// OptOut records an opt-out, for example from a web form, a list of opt-outs, or the platform's own preferences. A person without a name, or on
// SMS without a phone number, is an error that matches [ErrNoPerson]. Numbers in national form need Options.CountryCode.
func (b *Book) OptOut(ctx context.Context, tx *sql.Tx, p Person) error {
	return b.decidePerson(ctx, tx, p, true)
}

// OptIn records an opt-in. It ends an opt-out with the same Sender and the same Marketing: an opt-in to marketing ends only an opt-out of
// marketing, and an opt-in to all messages does not end an opt-out of marketing.
func (b *Book) OptIn(ctx context.Context, tx *sql.Tx, p Person) error {
	return b.decidePerson(ctx, tx, p, false)
}

func (b *Book) decidePerson(ctx context.Context, tx *sql.Tx, p Person, isOut bool) error {
	if _, isPhone := phone.Key(p.Number, b.options.CountryCode); p.Channel == messaging.ChannelSMS && !isPhone {
		return fmt.Errorf("%w: Number: an SMS goes to a phone number", ErrNoPerson)
	}
	known, err := b.namesOf(p.Channel, field{"Number", p.Number}, field{"UserID", p.UserID})
	if err != nil {
		return err
	}
	if err = b.join(ctx, tx, p.Channel, known); err != nil {
		return err
	}
	names, err := b.person(ctx, tx, b.decisionChannels(p.Channel), known)
	if err != nil {
		return err
	}
	s := scope{channel: p.Channel, names: names, sender: b.senderOf(p.Sender), marketing: p.Marketing}
	_, err = b.decide(ctx, tx, decision{scope: s, isOut: isOut, at: p.At})
	return err
}

// decide records a decision under every name of the person, unless it is older than the current one. It reports whether the decision
// opted the person out of a channel, or in again. If several callers record the same decision at once, only one reports the change.
func (b *Book) decide(ctx context.Context, tx *sql.Tx, d decision) (changed bool, err error) {
	before, err := b.countOptOuts(ctx, tx, d.scope)
	if err != nil {
		return false, err
	}
	rows, err := b.write(ctx, tx, d)
	if err != nil {
		return false, err
	}
	after, err := b.countOptOuts(ctx, tx, d.scope)
	if err != nil || rows == 0 { // without a changed row, another caller made the change
		return false, err
	}
	if d.isOut {
		return after > before, nil
	}
	return after < before, nil
}

// write records a decision in two statements, and returns how many rows the decision changed. If the second statement fails, a retry still
// reports the change.
func (b *Book) write(ctx context.Context, tx *sql.Tx, d decision) (changed int64, err error) {
	q := newDecisionQuery(d, b.decisionChannels(d.channel))
	if _, err := b.exec(ctx, tx, q.touchSame(), q.args...); err != nil {
		return 0, err
	}
	return b.exec(ctx, tx, q.insertChanged(d.isOut), q.args...)
}

// A decisionQuery holds the arguments of the two statements that record a decision, and the parts that both statements have. Each statement must
// use all arguments.
type decisionQuery struct {
	query

	channels, names          []string // placeholders
	sender, marketing, isOut string   // placeholders

	ofPerson string // the condition of the rows of the person
	arrival  string // the value of arrived_at
	date     string // the value of dated_at
}

func newDecisionQuery(d decision, channels []string) *decisionQuery {
	q := new(decisionQuery)
	q.channels = q.addAll(channels)
	q.names = q.addAll(d.names)
	q.sender = q.add(d.sender)
	q.marketing = q.add(toInt(d.marketing))
	q.isOut = q.add(toInt(d.isOut))
	at := "CAST(" + q.add(millis(d.at)) + " AS BIGINT)"
	q.ofPerson = "channel" + in(q.channels) + " AND peer" + in(q.names)
	// A decision arrives after every other decision of the person, even if the clock of the database (CLOCK) goes back.
	q.arrival = `(SELECT CASE WHEN COALESCE(MAX(arrived_at), 0) < CLOCK THEN CLOCK ELSE MAX(arrived_at) + 1 END
		FROM conversation_decision WHERE ` + q.ofPerson + `)`
	q.date = `CASE WHEN ` + at + ` < CLOCK THEN ` + at + ` ELSE CLOCK END`
	return q
}

// touchSame returns the statement that updates the dates of the rows that hold the same decision.
func (q *decisionQuery) touchSame() string {
	return `UPDATE conversation_decision SET arrived_at = ` + q.arrival + `,
		dated_at = CASE WHEN dated_at < ` + q.date + ` THEN ` + q.date + ` ELSE dated_at END
		WHERE sender = ` + q.sender + ` AND marketing = ` + q.marketing + ` AND is_out = ` + q.isOut + ` AND ` + q.ofPerson
}

// insertChanged returns the statement that inserts a row for each channel and name, or changes the row if it holds the opposite decision and this
// one counts.
func (q *decisionQuery) insertChanged(isOut bool) string {
	countsSQL := mayEndSQL("conversation_decision", "excluded")
	if isOut {
		countsSQL = "NOT " + isOldSQL("excluded", "conversation_decision")
	}
	var rows []string
	for _, channel := range q.channels {
		for _, name := range q.names {
			values := []string{channel, name, q.sender, q.marketing, q.isOut, q.arrival, q.date}
			rows = append(rows, "("+strings.Join(values, ", ")+")")
		}
	}
	return `INSERT INTO conversation_decision (channel, peer, sender, marketing, is_out, arrived_at, dated_at)
		VALUES ` + strings.Join(rows, ", ") + `
		ON CONFLICT (channel, peer, sender, marketing) DO UPDATE SET is_out = excluded.is_out, dated_at = excluded.dated_at,
			arrived_at = CASE WHEN excluded.arrived_at > conversation_decision.arrived_at
				THEN excluded.arrived_at ELSE conversation_decision.arrived_at + 1 END
		WHERE conversation_decision.is_out <> excluded.is_out AND ` + countsSQL
}

// mayEndSQL returns the condition that an opt-in may end an opt-out that arrived before it: the service does not date the opt-in earlier.
func mayEndSQL(stop, start string) string {
	return fmt.Sprintf("NOT (%[1]s.dated_at > 0 AND %[2]s.dated_at > 0 AND %[2]s.dated_at < %[1]s.dated_at)", stop, start)
}

// isOldSQL returns the condition that the service dates an opt-out so long before an opt-in that the opt-out is ignored.
func isOldSQL(stop, start string) string {
	return fmt.Sprintf("(%[1]s.dated_at > 0 AND %[2]s.dated_at > 0 AND %[1]s.dated_at < %[2]s.dated_at - %[3]d)",
		stop, start, lateStop.Milliseconds())
}

// isOut reports whether a person opted out of a channel, for a message from a sender.
func (b *Book) isOut(ctx context.Context, tx *sql.Tx, s scope, channel messaging.Channel) (bool, error) {
	var q query
	isOfChannel := "d.channel = " + q.add(channel.String())
	isOfKind := "(d.marketing = 0 OR " + q.add(toInt(s.marketing)) + " = 1)"
	isOfSender := "(d.sender = '' OR d.sender = " + q.add(s.sender) + " OR " + q.add(toInt(s.anySender)) + " = 1)"
	stops, err := b.countStops(ctx, tx, &q, s.names, isOfChannel+" AND "+isOfKind+" AND "+isOfSender)
	return stops > 0, err
}

// countOptOuts returns how many channels a person opted out of with exactly this sender, which may be empty for all, and this kind. It counts the
// channels on which a decision of the person counts.
func (b *Book) countOptOuts(ctx context.Context, tx *sql.Tx, s scope) (int, error) {
	var q query
	isOfChannel := "d.channel" + in(q.addAll(b.decisionChannels(s.channel)))
	isOfKind := "d.marketing = " + q.add(toInt(s.marketing))
	isOfSender := "d.sender = " + q.add(s.sender)
	return b.countStops(ctx, tx, &q, s.names, isOfChannel+" AND "+isOfKind+" AND "+isOfSender)
}

// countStops returns on how many channels an opt-out of a person meets the condition and has not been ended by an opt-in under another name of
// the person. The query holds the arguments of the condition.
func (b *Book) countStops(ctx context.Context, tx *sql.Tx, q *query, personNames []string, condition string) (count int, err error) {
	names := q.addAll(personNames)
	err = b.queryRow(ctx, tx, `SELECT COUNT(DISTINCT d.channel) FROM conversation_decision d
		WHERE `+condition+` AND d.peer`+in(names)+` AND d.is_out = 1 AND NOT EXISTS (
			SELECT 1 FROM conversation_decision s
			WHERE s.channel = d.channel AND s.peer`+in(names)+` AND s.sender = d.sender AND s.marketing = d.marketing AND s.is_out = 0
				AND (`+isOldSQL("d", "s")+` OR s.arrived_at > d.arrived_at AND `+mayEndSQL("d", "s")+`)
		)`, q.args...).Scan(&count)
	if err != nil {
		return 0, fmt.Errorf("conversations: %w", err)
	}
	return count, nil
}

// OptOuts yields the opt-outs, ordered by channel and person, with normalized names: a number is digits without +. A person with two names is
// yielded once, with both. A person with more names may be yielded more than once. OptOuts may also yield a person who opted out under one name
// and in again under another before Book knew that both name one person. Allow then lets messages to that person through. With
// Options.AllChannels a person is yielded for each channel, and may be yielded once for each name. On SMS only phone numbers are yielded.
func (b *Book) OptOuts(ctx context.Context) iter.Seq2[Person, error] {
	return func(yield func(Person, error) bool) {
		const pageSize = 500
		var last optOut
		for {
			page, err := b.optOuts(ctx, last, pageSize)
			for _, row := range page {
				last = row
				person := row.person()
				canSend := person.Channel != messaging.ChannelSMS || person.Number != ""
				if canSend && !yield(person, nil) {
					return
				}
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
		if _, isPhone := phone.Key(name, ""); isPhone { // digits that are too many for a number are a user ID
			p.Number = name
		} else {
			p.UserID = name
		}
	}
	return p
}

// optOuts returns the page of opt-outs after the last one. Of two names of a person, it returns the opt-out of the first.
func (b *Book) optOuts(ctx context.Context, last optOut, most int) (page []optOut, err error) {
	var q query
	position := []string{q.add(last.channel), q.add(last.peer), q.add(last.sender), q.add(last.marketing)}
	rows, err := b.query(ctx, nil, `SELECT channel, peer, sender, marketing,
			COALESCE((SELECT MIN(p.other) FROM conversation_person p WHERE p.channel = d.channel AND p.name = d.peer), ''),
			CASE WHEN dated_at > 0 THEN dated_at ELSE arrived_at END
		FROM conversation_decision d
		WHERE is_out = 1 AND (channel, peer, sender, marketing) > (`+strings.Join(position, ", ")+`) AND NOT EXISTS (
			SELECT 1 FROM conversation_person p JOIN conversation_decision e
				ON e.channel = p.channel AND e.peer = p.other AND e.sender = d.sender AND e.marketing = d.marketing
			WHERE p.channel = d.channel AND p.name = d.peer AND e.is_out = 1 AND e.peer < d.peer
		)
		ORDER BY channel, peer, sender, marketing LIMIT `+q.add(most), q.args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var row optOut
		if err = rows.Scan(&row.channel, &row.peer, &row.sender, &row.marketing, &row.other, &row.at); err != nil {
			return page, err
		}
		page = append(page, row)
	}
	return page, rows.Err()
}
