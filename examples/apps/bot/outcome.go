package main

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// noteOutcome notes the message ID of each reply, logs each message that was not accepted, and replaces a reply that was too late for the window.
func (b *bot) noteOutcome(ctx context.Context, outcome messagingriver.Outcome) error {
	if err := noteMessageID(ctx, b.db, outcome.Reference, outcome.Receipt.ID); err != nil {
		return err
	}
	if outcome.Err == nil {
		return nil
	}
	b.logger.WarnContext(ctx, "bot: a message was not accepted", "reference_id", outcome.Reference,
		"verdict", outcome.Verdict, "error", outcome.Err, "to_do", toDo(outcome))
	if isReplaced(outcome) {
		return b.replaceUnsent(ctx, outcome.Key)
	}
	return nil
}

// isReplaced reports whether a message is a reply that did not go out because it was too late for the window.
func isReplaced(outcome messagingriver.Outcome) bool {
	_, isChatApp2 := outcome.Message.(chatapp2.Message)
	isReply := isChatApp2 && strings.HasPrefix(outcome.Reference, prefixReply)
	return isReply && !outcome.MayHaveBeenSent() && errors.Is(outcome.Err, messaging.ErrWindowClosed)
}

// toDo says what a person has to do about a message that was not accepted.
func toDo(outcome messagingriver.Outcome) string {
	switch {
	case isReplaced(outcome):
		return "nothing: a template replaces it"
	case outcome.Verdict == messaging.Unknown:
		return `it may have gone out: see "outbox list", and decide by "outbox resolve"`
	case errors.Is(outcome.Err, messaging.ErrOptedOut):
		return `someone who opted out wrote again: see "bot questions", and call, or write by hand`
	default:
		return `see the error, and for a reply "bot questions"`
	}
}

// replaceUnsent enqueues a template in place of a reply that did not go out. In the same transaction it drops the reply, so that a person can no
// longer resend it. A second call finds the reply already dropped, and enqueues no second template.
func (b *bot) replaceUnsent(ctx context.Context, key messagingriver.Key) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	dropped, err := b.outbox.ResolveTx(ctx, tx, messagingriver.Drop, key)
	if err != nil {
		return err
	}
	if dropped == 0 { // a person has resent or dropped it, or "bot answer" has dropped it
		return nil
	}
	late, isFound, err := lockReply(ctx, tx, "", key.Reference)
	if err != nil {
		return err
	}
	if !isFound { // "bot done" has deleted the question; the rollback restores the reply
		return nil
	}
	if err = b.replace(ctx, tx, late); err != nil {
		return err
	}
	return tx.Commit()
}

// replace enqueues a template in place of a reply. The row of the reply is then the row of the template. The reference ID depends on the reply, so a
// reply has one template, even if its failure is reported twice.
func (b *bot) replace(ctx context.Context, tx *sql.Tx, late replyRow) error {
	template := prefixTemplate + late.reference
	if err := b.enqueue(ctx, tx, b.template(late.person, template, late.answer)); err != nil {
		return b.skipInvalid(ctx, err, template)
	}
	return setReference(ctx, tx, late.reference, template)
}

// report completes a message whose response was lost, because a report proves that the service accepted it. Then it notes the status.
func (b *bot) report(ctx context.Context, report webhook.DeliveryReport) error {
	if report.Ambiguous { // it may be about another message
		b.logger.WarnContext(ctx, "bot: an ambiguous report changes nothing", "report", report)
		return nil
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	_, err = b.outbox.ResolveTx(ctx, tx, messagingriver.Sent, keysOf(report.ReferenceID)...)
	if err != nil {
		return err
	}
	return b.noteStatus(ctx, tx, report)
}

// keysOf returns the key of a reference ID on each channel. At most one of them has a message, and the outbox ignores the others.
func keysOf(reference string) []messagingriver.Key {
	return []messagingriver.Key{
		{Channel: "sms", Reference: reference},
		{Channel: "chatapp1", Reference: reference},
		{Channel: "chatapp2", Reference: reference},
	}
}

// noteStatus notes the status of a reply, and replaces a reply that was too late for the window. Reports can arrive out of order: a failure that is
// reported after the delivery changes nothing. If the bot may not know the message ID of the report yet, noteStatus asks the service to call again.
func (b *bot) noteStatus(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) error {
	isEarly, err := mayBeEarly(ctx, tx, report) // asked first: the ID may be noted at any moment
	if err != nil {
		return err
	}
	row, isFound, err := lockReply(ctx, tx, report.ID, report.ReferenceID)
	if err != nil {
		return err
	}
	if !isFound && isEarly {
		return webhook.RetryLater(time.Second)
	}
	if !isFound || !report.Status.Supersedes(row.status) {
		return nil
	}
	if report.Status.Failed() {
		b.logger.WarnContext(ctx, "bot: a message was not delivered", "reference_id", row.reference, "report", report)
	}
	if err = setStatus(ctx, tx, row.reference, report.Status); err != nil {
		return err
	}
	wasTooLate := report.Status.Failed() && report.ErrorCode == windowClosed
	isChatApp2Reply := row.channel == "chatapp2" && strings.HasPrefix(row.reference, prefixReply)
	if !wasTooLate || !isChatApp2Reply {
		return nil
	}
	return b.replace(ctx, tx, row)
}

// windowClosed is the platform's code for a reply that it accepted after the window had closed.
const windowClosed = "131047"
