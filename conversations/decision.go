package conversations

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
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

// OptOut records an opt-out, for example from a web form, a list of opt-outs, or the platform's own preferences. It counts as arriving now, so
// record each entry of a list once, not each time the program starts: that would override a later START. With Person.At, an entry
// dated more than a day before the START is ignored. A person without a name, or on SMS without a phone number, is an error that matches
// [ErrNoPerson]. Numbers in national form need Options.CountryCode.
func (b *Book) OptOut(ctx context.Context, tx *sql.Tx, p Person) error {
	return b.decidePerson(ctx, tx, p, true)
}

// OptIn records an opt-in. It ends an opt-out with the same Sender and the same Marketing: an opt-in to marketing ends only an opt-out of
// marketing, and an opt-in to all messages does not end an opt-out of marketing.
func (b *Book) OptIn(ctx context.Context, tx *sql.Tx, p Person) error {
	return b.decidePerson(ctx, tx, p, false)
}

func (b *Book) decidePerson(ctx context.Context, tx *sql.Tx, p Person, isOut bool) error {
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
	channels := b.decisionChannels(d.channel)
	values := arguments{
		"channels":    channels,
		"channelRows": column(channels),
		"names":       d.names,
		"nameRows":    column(d.names),
		"sender":      d.sender,
		"marketing":   toInt(d.marketing),
		"isOut":       toInt(d.isOut),
		"at":          millis(d.at),
		"lateStop":    lateStop.Milliseconds(),
	}
	if _, err := b.exec(ctx, tx, updateSame, values); err != nil {
		return 0, err
	}
	return b.exec(ctx, tx, insertChanged(), values)
}

// datedDecision is the decision with its dates, for WITH. It arrives after every other decision of the person, even if the clock of the database
// goes back. Its date is that of the service, or the present if the service dates it later.
const datedDecision = `
	decision(arrived_at, dated_at) AS (
		SELECT CASE WHEN COALESCE(MAX(arrived_at), 0) < CLOCK THEN CLOCK ELSE MAX(arrived_at) + 1 END,
			CASE WHEN CAST(@at AS BIGINT) < CLOCK THEN CAST(@at AS BIGINT) ELSE CLOCK END
		FROM conversation_decision WHERE channel IN (@channels) AND peer IN (@names)
	)`

// updateSame updates the dates of the rows that hold the same decision.
const updateSame = `
	WITH` + datedDecision + `
	UPDATE conversation_decision SET
		arrived_at = (SELECT decision.arrived_at FROM decision),
		dated_at = CASE
			WHEN dated_at < (SELECT decision.dated_at FROM decision) THEN (SELECT decision.dated_at FROM decision)
			ELSE dated_at
		END
	WHERE sender = @sender AND marketing = @marketing AND is_out = @isOut AND channel IN (@channels) AND peer IN (@names)`

// insertChanged inserts a row for each channel and name, in the order in which rows are locked. A row that is there already changes if it holds
// the opposite decision, unless the service dates the new decision earlier: an opt-in by any time, an opt-out by more than lateStop.
func insertChanged() string {
	return `
	WITH target(channel) AS (VALUES @channelRows),
	person(name) AS (VALUES @nameRows),` + datedDecision + `
	INSERT INTO conversation_decision (channel, peer, sender, marketing, is_out, arrived_at, dated_at)
	SELECT target.channel, person.name, CAST(@sender AS TEXT), CAST(@marketing AS INTEGER), CAST(@isOut AS INTEGER),
		decision.arrived_at, decision.dated_at
	FROM target CROSS JOIN person CROSS JOIN decision WHERE true ORDER BY target.channel, person.name
	ON CONFLICT (channel, peer, sender, marketing) DO UPDATE SET
		is_out = excluded.is_out,
		dated_at = excluded.dated_at,
		arrived_at = CASE
			WHEN excluded.arrived_at > conversation_decision.arrived_at THEN excluded.arrived_at
			ELSE conversation_decision.arrived_at + 1
		END
	WHERE conversation_decision.is_out <> excluded.is_out
	AND NOT (excluded.is_out = 0 AND ` + datedBefore("excluded", "conversation_decision", "0") + `)
	AND NOT (excluded.is_out = 1 AND ` + datedBefore("excluded", "conversation_decision", "@lateStop") + `)`
}

// datedBefore is the condition that the service dates one row earlier than another, by more than a margin in milliseconds. A row without a date of
// the service is neither earlier nor later.
func datedBefore(earlier, later, margin string) string {
	return fmt.Sprintf("(%[1]s.dated_at > 0 AND %[2]s.dated_at > 0 AND %[1]s.dated_at < %[2]s.dated_at - %[3]s)", earlier, later, margin)
}

// isOut reports whether a person opted out of a channel, for a message from a sender.
func (b *Book) isOut(ctx context.Context, tx *sql.Tx, s scope, channel messaging.Channel) (bool, error) {
	stops, err := b.countStops(ctx, tx, s, []string{channel.String()}, appliesToScope)
	return stops > 0, err
}

// countOptOuts returns how many channels a person opted out of with exactly this sender, which may be empty for all, and this kind. It counts the
// channels on which a decision of the person counts.
func (b *Book) countOptOuts(ctx context.Context, tx *sql.Tx, s scope) (int, error) {
	return b.countStops(ctx, tx, s, b.decisionChannels(s.channel), isOfScope)
}

// countStops returns on how many of the channels a person opted out, by a decision that meets a condition: isOfScope or appliesToScope.
func (b *Book) countStops(ctx context.Context, tx *sql.Tx, s scope, channels []string, condition string) (count int, err error) {
	err = b.queryRow(ctx, tx, selectStops(condition), arguments{
		"channels":  channels,
		"names":     s.names,
		"sender":    s.sender,
		"anySender": toInt(s.anySender),
		"marketing": toInt(s.marketing),
		"lateStop":  lateStop.Milliseconds(),
	}).Scan(&count)
	if err != nil {
		return 0, fmt.Errorf("conversations: %w", err)
	}
	return count, nil
}

// Conditions of an opt-out in selectStops.
const (
	// isOfScope: it is of exactly the sender and the kind of a scope.
	isOfScope = `stop.sender = @sender AND stop.marketing = @marketing`
	// appliesToScope: it stops messages of that sender and kind.
	appliesToScope = `
		(stop.sender = '' OR stop.sender = @sender OR @anySender = 1)
		AND (stop.marketing = 0 OR @marketing = 1)`
)

// selectStops counts the channels with an opt-out that meets a condition, under one name of the person, and that no opt-in under another name has
// ended. An opt-in ends an opt-out that the service dates more than lateStop earlier. It also ends an opt-out that arrived before it, unless the
// service dates the opt-in earlier.
func selectStops(condition string) string {
	return `
	SELECT COUNT(DISTINCT stop.channel) FROM conversation_decision AS stop
	WHERE stop.channel IN (@channels) AND stop.peer IN (@names) AND stop.is_out = 1
	AND ` + condition + `
	AND NOT EXISTS (
		SELECT 1 FROM conversation_decision AS start
		WHERE start.channel = stop.channel AND start.peer IN (@names) AND start.is_out = 0
		AND start.sender = stop.sender AND start.marketing = stop.marketing
		AND (
			` + datedBefore("stop", "start", "@lateStop") + `
			OR (start.arrived_at > stop.arrived_at AND NOT ` + datedBefore("start", "stop", "0") + `)
		)
	)`
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
	rows, err := b.query(ctx, nil, `SELECT channel, peer, sender, marketing,
			COALESCE((SELECT MIN(p.other) FROM conversation_person p WHERE p.channel = d.channel AND p.name = d.peer), ''),
			CASE WHEN dated_at > 0 THEN dated_at ELSE arrived_at END
		FROM conversation_decision d
		WHERE is_out = 1 AND (channel, peer, sender, marketing) > (@channel, @peer, @sender, @marketing) AND NOT EXISTS (
			SELECT 1 FROM conversation_person p JOIN conversation_decision e
				ON e.channel = p.channel AND e.peer = p.other AND e.sender = d.sender AND e.marketing = d.marketing
			WHERE p.channel = d.channel AND p.name = d.peer AND e.is_out = 1 AND e.peer < d.peer
		)
		ORDER BY channel, peer, sender, marketing LIMIT @most`,
		arguments{"channel": last.channel, "peer": last.peer, "sender": last.sender, "marketing": last.marketing, "most": most})
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
