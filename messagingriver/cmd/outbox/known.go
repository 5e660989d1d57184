package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
)

// loadedLine is a line whose message is enqueued, or known.
type loadedLine struct {
	number    int
	campaign  string
	recipient uint64 // the hash of recipientOf
	isInvalid bool   // it is not enqueued
}

// knownMessage is a message that the outbox has.
type knownMessage struct {
	key      messagingriver.Key
	campaign string
	content  string // empty if it was deleted
}

// noteDifferences moves lines from the known ones to the different ones: the outbox has their reference IDs for other messages, so it sends none of theirs.
// It reads all messages of the outbox, which is faster than a query for each line.
func (l *loader) noteDifferences(ctx context.Context) error {
	rows, err := l.db.query(ctx, `
		SELECT COALESCE(args->>'channel', ''), COALESCE(args->>'reference', ''), COALESCE(metadata->>'campaign', ''), COALESCE(args->>'message', '')
		FROM JOBS WHERE kind = 'messaging'`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var known knownMessage
		if err := rows.Scan(&known.key.Channel, &known.key.Reference, &known.campaign, &known.content); err != nil {
			return err
		}
		line, isLoaded := l.firstLines[known.key]
		if !isLoaded || line.isInvalid {
			continue
		}
		if difference := l.difference(line, known); difference != "" {
			l.result.Known--
			l.result.Different = append(l.result.Different, differentLine{line.number, difference})
		}
	}
	slices.SortFunc(l.result.Different, func(a, b differentLine) int { return cmp.Compare(a.Line, b.Line) })
	return rows.Err()
}

// difference returns how the message of a line differs from the one that the outbox has, or "".
func (l *loader) difference(line loadedLine, known knownMessage) string {
	switch {
	case line.campaign != known.campaign && known.campaign == "":
		return "without a campaign"
	case line.campaign != known.campaign:
		return "in the campaign " + safe(known.campaign)
	case known.content == "":
		return ""
	}
	message, err := l.db.Decode(known.key.Channel, []byte(known.content))
	if err != nil || l.hash(recipientOf(message)) == line.recipient {
		return ""
	}
	return "for another recipient"
}

// recipientOf returns the recipient of a message, such that two spellings of an international number are equal.
func recipientOf(message messaging.Message) string {
	recipient := ""
	switch m := message.(type) {
	case sms.Message:
		recipient = m.To
	case chatapp1.Message:
		recipient = m.To
	case chatapp2.Message:
		recipient = cmp.Or(m.To, m.Recipient)
	}
	compact := strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "").Replace(recipient)
	return strings.TrimPrefix(compact, "00")
}

// noteRecipient notes a line of a campaign whose recipient an earlier line of the campaign has.
func (l *loader) noteRecipient(e entry) {
	if e.options.Campaign == "" { // several messages about orders, for example, may go to one person
		return
	}
	address := l.hash(e.key.Channel + "\x00" + e.options.Campaign + "\x00" + recipientOf(e.message))
	first, isRepeated := l.recipients[address]
	if isRepeated {
		l.result.SameRecipient = append(l.result.SameRecipient, repeatedLine{Line: e.line, First: first})
		return
	}
	l.recipients[address] = e.line
}

// sameRecipientText returns a warning about lines of a campaign with the same recipient, or "".
func (r loadResult) sameRecipientText() string {
	if len(r.SameRecipient) == 0 {
		return ""
	}
	example := r.SameRecipient[0]
	return fmt.Sprintf("outbox: lines whose recipient an earlier line of the campaign has: %d, such as line %d (line %d); "+
		"they are enqueued, because only reference IDs are compared\n", len(r.SameRecipient), example.Line, example.First)
}
