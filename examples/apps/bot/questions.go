package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// isOpen is the condition for a question that a colleague has to answer: its reply says so, or it gets no reply, or its reply did not go out, may not
// have gone out, or is reported as failed. A confirmation is no question.
const isOpen = "(reference LIKE '" + prefixColleague + "%' OR (reference NOT LIKE '" + prefixConfirmation + "%' AND " +
	"((" + hasNoID + " AND status = '') OR status IN ('failed', 'expired', 'rejected'))))"

// printQuestions prints a line for each open question, the oldest first: reference ID, time, channel, person and question.
func printQuestions(ctx context.Context, in settings, w io.Writer) error {
	b := new(bot)
	if err := b.connect(ctx, in.database); err != nil {
		return err
	}
	defer b.close()
	rows, err := b.db.QueryContext(ctx, "SELECT reference, asked, channel, person, question FROM bot_reply WHERE "+isOpen+" ORDER BY asked")
	if err != nil {
		return explainMissing(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err has the error
	for rows.Next() {
		var row replyRow
		var asked int64
		if err = rows.Scan(&row.reference, &asked, &row.channel, &row.person, &row.question); err != nil {
			return err
		}
		at := time.Unix(asked, 0).Format(time.DateTime)
		if _, err = fmt.Fprintf(w, "%s\t%s\t%s\t%q\t%q\n", row.reference, at, row.channel, row.person, row.question); err != nil {
			return err
		}
	}
	return rows.Err()
}

// answerQuestion enqueues a colleague's answer to an open question, and prints its reference ID, person and channel. The answer and its row are one
// transaction, so a question gets one answer, even if the command is killed or repeated. A process that serves sends it. If it does not go out, the
// question is open again, with the reference ID of the answer.
func answerQuestion(ctx context.Context, in settings, reference, text string, w io.Writer) error {
	b, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer b.close()
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	row, err := b.enqueueAnswer(ctx, tx, reference, text)
	if err != nil {
		return fmt.Errorf("nothing is sent: %w", err)
	}
	if err = tx.Commit(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s is enqueued, to %q on %s\n", row.reference, row.person, row.channel)
	return err
}

// enqueueAnswer enqueues a colleague's answer to an open question, if the person may get it now, and returns its row. After the window of chat app 2,
// a template brings the answer. enqueueAnswer drops the reply before it locks the row: report and replaceUnsent use the same order, so no two of them
// wait for each other. After an error the caller must roll back the transaction, which restores the reply.
func (b *bot) enqueueAnswer(ctx context.Context, tx *sql.Tx, reference, text string) (replyRow, error) {
	if err := b.dropReply(ctx, tx, reference); err != nil {
		return replyRow{}, err
	}
	row, err := setAnswer(ctx, tx, reference, text)
	if errors.Is(err, sql.ErrNoRows) {
		return row, notOpen(reference)
	}
	if err != nil {
		return row, explainMissing(err)
	}
	channel, err := messaging.ParseChannel(row.channel)
	if err != nil {
		return row, err
	}
	person := inbound{Inbound: conversations.Inbound{Channel: channel, From: row.person}}
	message := b.message(person, row.reference, text)
	err = b.book.Allow(ctx, tx, messaging.Outgoing{Channel: channel, To: row.person, Kind: "text"})
	if errors.Is(err, messaging.ErrWindowClosed) {
		message = b.template(row.person, row.reference, text)
		err = checkLength(text)
	}
	if err != nil {
		return row, explainDenial(err)
	}
	return row, b.enqueue(ctx, tx, message)
}

// checkLength returns an error if an answer is too long for the template. The platform would refuse it only after the command has ended.
func checkLength(answer string) error {
	length := utf8.RuneCountInString(oneLine(answer))
	if length > maxLateAnswer {
		return fmt.Errorf("after the 24-hour window, an answer has at most %d characters, and this one has %d", maxLateAnswer, length)
	}
	return nil
}

// dropReply drops the reply to a question, so that it can no longer be resent: the person would get the reply and the answer. If the question got no
// reply, or the service accepted the reply, there is nothing to drop, and dropReply does nothing.
//
// The person can still get both. A reply whose outcome is unknown may have gone out already. And if someone has just resent the reply, a worker may be
// sending it: the outbox does not drop a running message, which may go out and, if it fails, can be resent again.
func (b *bot) dropReply(ctx context.Context, tx *sql.Tx, reference string) error {
	_, err := b.outbox.ResolveTx(ctx, tx, messagingriver.Drop, keysOf(reference)...)
	if err != nil {
		return explainMissing(err)
	}
	return nil
}

// explainDenial adds what a colleague can do to an error of the book.
func explainDenial(err error) error {
	if errors.Is(err, messaging.ErrOptedOut) {
		return fmt.Errorf("%w; answer in another way, such as by phone", err)
	}
	return err
}

// closeQuestions deletes the open questions with the reference IDs, which a colleague has answered, such as by phone. Unlike dropReply, it leaves the
// replies in the outbox, where they can still be resent. "outbox resolve drop" prevents that.
func closeQuestions(ctx context.Context, in settings, references []string) error {
	b := new(bot)
	if err := b.connect(ctx, in.database); err != nil {
		return err
	}
	defer b.close()
	var problems []error
	for _, reference := range references {
		result, err := b.db.ExecContext(ctx, "DELETE FROM bot_reply WHERE reference = $1 AND "+isOpen, reference)
		if err != nil {
			return explainMissing(err)
		}
		deleted, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if deleted == 0 {
			problems = append(problems, notOpen(reference))
		}
	}
	return errors.Join(problems...)
}

// notOpen is the error for a question that is answered, or unknown.
func notOpen(reference string) error {
	return fmt.Errorf("%q is not the reference ID of an open question", reference)
}

// explainMissing adds what to do to an error of the database, whose tables may not exist. It returns an error of a context unchanged.
func explainMissing(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w; if the database has no tables yet, run: bot migrate", err)
}
