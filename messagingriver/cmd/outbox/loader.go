package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// entry is a message of a file with its options.
type entry struct {
	key     messagingriver.Key
	message messaging.Message
	options messagingriver.InsertOptions
	line    int

	saysMarketing bool
}

// difference returns how the message that the outbox has for the key of an entry differs from that of the entry, or "".
func (e entry) difference(known messagingriver.Record) string {
	if known.Campaign != e.options.Campaign {
		if known.Campaign == "" {
			return "without a campaign"
		}
		return "in the campaign " + safe(known.Campaign)
	}
	isKept := known.Message != nil
	if isKept && recipientOf(known.Message) != recipientOf(e.message) {
		return "for another recipient"
	}
	return ""
}

// wrong returns the error of a message that db.insert found invalid, without its index there, which is not that of the line.
func (e entry) wrong(err error) error {
	reason := fmt.Sprint(errors.Unwrap(err))
	if invalid, isInvalid := errors.AsType[*messaging.ValidationError](err); isInvalid {
		reason = problemsText(invalid.Problems)
	}
	return wrongLineError{fmt.Sprintf("reference %q: %s", e.key.Reference, reason)}
}

// problemsText returns the problems of a message. The text of the error would add that nothing was sent.
func problemsText(problems []messaging.Problem) string {
	var texts []string
	for _, problem := range problems {
		texts = append(texts, problem.Field+": "+problem.Reason)
	}
	return strings.Join(texts, "; ")
}

// campaignRecipient is a recipient of a campaign.
type campaignRecipient struct {
	channel   string
	campaign  string
	recipient string // as recipientOf returns it
}

// loader enqueues the messages of a file in batches.
type loader struct {
	db          database
	flags       lineOptions
	skipInvalid bool
	firstLines  map[messagingriver.Key]int // the first line of each message
	recipients  map[campaignRecipient]int  // the first line of each recipient of a campaign, of the lines that are new or known
	batch       []entry                    // is not enqueued yet
	result      loadResult
}

func newLoader(db database, flags lineOptions, skipInvalid bool) *loader {
	return &loader{
		db:          db,
		flags:       flags,
		skipInvalid: skipInvalid,
		firstLines:  map[messagingriver.Key]int{},
		recipients:  map[campaignRecipient]int{},
	}
}

// load enqueues all lines. If a line is wrong, the lines before it are enqueued.
func (l *loader) load(ctx context.Context, lines lineReader) error {
	const batchSize = 1000
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return l.flush(ctx)
		}
		if err = l.take(line, err); err != nil {
			return errors.Join(l.flush(ctx), err)
		}
		if len(l.batch) < batchSize {
			continue
		}
		if err := l.flush(ctx); err != nil {
			return err
		}
	}
}

// take adds a line to the batch or, with skipInvalid, leaves out a line that is invalid. readErr is the error of reading it.
func (l *loader) take(line fileLine, readErr error) error {
	if readErr != nil {
		return l.leaveOut(line.number, readErr)
	}
	if err := l.add(line); err != nil {
		return l.leaveOut(line.number, err)
	}
	return nil
}

// leaveOut notes a line that is invalid, with skipInvalid. Otherwise it returns the error of the line with its number.
func (l *loader) leaveOut(line int, err error) error {
	if l.skipInvalid && errors.Is(err, messaging.ErrInvalid) {
		l.result.Invalid = append(l.result.Invalid, invalidLine{line, err.Error()})
		return nil
	}
	return fmt.Errorf("line %d: %w", line, err)
}

// add adds a line to the batch, unless it repeats the reference ID of an earlier line.
func (l *loader) add(line fileLine) error {
	options, err := line.options.or(l.flags).parse()
	if err != nil {
		return wrongLineError{err.Error()}
	}
	first, isRepeated := l.firstLines[line.key]
	hasReference := line.key.Reference != "" // a message without one is invalid, not repeated
	if isRepeated && hasReference {
		l.result.Repeated = append(l.result.Repeated, repeatedLine{Line: line.number, First: first})
		return nil
	}
	l.firstLines[line.key] = line.number
	l.batch = append(l.batch, entry{
		key:           line.key,
		message:       line.message,
		options:       options,
		line:          line.number,
		saysMarketing: line.saysMarketing,
	})
	return nil
}

// flush enqueues the batch in one transaction or, if one of its messages is invalid, one message after the other.
func (l *loader) flush(ctx context.Context) error {
	batch := l.batch
	l.batch = nil
	err := l.insert(ctx, batch)
	if errors.Is(err, messaging.ErrInvalid) { // nothing was enqueued
		return l.insertEach(ctx, batch)
	}
	return err
}

// insertEach enqueues each message in a transaction of its own. If one is invalid, those before it are kept, and with skipInvalid those after
// it are enqueued, too.
func (l *loader) insertEach(ctx context.Context, entries []entry) error {
	for _, e := range entries {
		if err := l.insertAlone(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// insertAlone enqueues a message in a transaction of its own or, with skipInvalid, leaves out its line if it is invalid.
func (l *loader) insertAlone(ctx context.Context, e entry) error {
	err := l.insert(ctx, []entry{e})
	if errors.Is(err, messaging.ErrInvalid) {
		return l.leaveOut(e.line, e.wrong(err))
	}
	return err
}

// insert enqueues messages in one transaction and notes what became of their lines.
func (l *loader) insert(ctx context.Context, entries []entry) error {
	known, err := l.db.insert(ctx, entries)
	if err != nil {
		return err
	}
	for _, e := range entries {
		record, isKnown := known[e.key]
		if !isKnown {
			l.result.New++
			l.noteCampaign(e)
			continue
		}
		if difference := e.difference(record); difference != "" {
			l.result.Different = append(l.result.Different, differentLine{e.line, difference})
			continue
		}
		l.result.Known++
		l.noteCampaign(e)
	}
	return nil
}

// noteCampaign notes what to warn about if a line is of a campaign. Messages without one, such as about orders, are rarely marketing, and several
// may go to one person.
func (l *loader) noteCampaign(e entry) {
	if e.options.Campaign == "" {
		return
	}
	if !e.saysMarketing {
		l.result.NotMarketing++
	}
	l.noteRecipient(e)
}

// noteRecipient notes a line of a campaign if an earlier line of the campaign has its recipient.
func (l *loader) noteRecipient(e entry) {
	recipient := campaignRecipient{e.key.Channel, e.options.Campaign, recipientOf(e.message)}
	first, isRepeated := l.recipients[recipient]
	if isRepeated {
		l.result.SameRecipient = append(l.result.SameRecipient, repeatedLine{Line: e.line, First: first})
		return
	}
	l.recipients[recipient] = e.line
}
