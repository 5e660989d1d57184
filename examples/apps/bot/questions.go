package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// isOpen is the condition for a question that a colleague has to answer: it gets no reply, or its reply did not go out, may not have gone out, or
// is reported as failed. A confirmation is no question.
const isOpen = "(reference NOT LIKE '" + prefixConfirmation + "%' AND " +
	"((COALESCE(message_id, 'not noted yet') = '' AND status = '') OR status IN ('failed', 'expired', 'rejected')))"

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

// closeQuestions deletes the open questions with the reference IDs. A colleague has answered them.
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
			problems = append(problems, fmt.Errorf("%q is not the reference ID of an open question", reference))
		}
	}
	return errors.Join(problems...)
}

// explainMissing adds what to do to an error of the table of the replies, which may not exist.
func explainMissing(err error) error {
	return fmt.Errorf("%w; if the database has no tables yet, run: bot migrate", err)
}
