package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
)

// knownMessage is a message that the outbox has.
type knownMessage struct {
	campaign  string
	recipient string // see recipientOf; empty if the content of the message was deleted
}

// difference returns how a line with a known reference ID differs from the message that the outbox has, or "". Then the line is not the one from which
// that message was loaded.
func (m knownMessage) difference(e entry) string {
	switch {
	case m.campaign != e.options.Campaign && m.campaign == "":
		return "without a campaign"
	case m.campaign != e.options.Campaign:
		return "in the campaign " + safe(m.campaign)
	case m.recipient != "" && m.recipient != recipientOf(e.message):
		return "for another recipient"
	default:
		return ""
	}
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

// known returns the messages with these reference IDs.
func (o outbox[TTx]) known(ctx context.Context, references []string) (map[messagingriver.Key]knownMessage, error) {
	encoded, err := json.Marshal(references)
	if err != nil {
		return nil, err
	}
	hasReference := `args->>'reference' IN (SELECT value FROM json_each($1))`
	if o.schema != "" { // in the form for which PostgreSQL has an index
		hasReference = `args @> ANY (ARRAY(SELECT jsonb_build_object('reference', value) FROM jsonb_array_elements_text(CAST($1 AS JSONB))))`
	}
	rows, err := o.query(ctx, `SELECT args->>'channel', args->>'reference', COALESCE(metadata->>'campaign', ''), COALESCE(args->>'message', '')
		FROM JOBS WHERE kind = 'messaging' AND `+hasReference, string(encoded))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	found := map[messagingriver.Key]knownMessage{}
	for rows.Next() {
		var key messagingriver.Key
		var m knownMessage
		var content string
		if err := rows.Scan(&key.Channel, &key.Reference, &m.campaign, &content); err != nil {
			return nil, err
		}
		if message, err := o.Decode(key.Channel, []byte(content)); err == nil {
			m.recipient = recipientOf(message)
		}
		found[key] = m
	}
	return found, rows.Err()
}

// noteDifferences moves lines from the known ones to the different ones, whose messages nobody gets.
func (l *loader) noteDifferences(ctx context.Context, entries []entry) error {
	references := make([]string, len(entries))
	for i, e := range entries {
		references[i] = e.key.Reference
	}
	known, err := l.db.known(ctx, references)
	if err != nil {
		return err
	}
	for _, e := range entries {
		m, isKnown := known[e.key]
		if !isKnown { // it was deleted a moment ago
			continue
		}
		if difference := m.difference(e); difference != "" {
			l.result.Known--
			l.result.Different = append(l.result.Different, differentLine{e.line, difference})
		}
	}
	return nil
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
