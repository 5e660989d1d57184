package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// absent is the state of an SMS that the service lists, but the outbox does not have.
const absent rivertype.JobState = "absent"

// comparison is an SMS in the outbox and in the listing of the service.
type comparison struct {
	Reference string             `json:"reference"`
	State     rivertype.JobState `json:"state"`
	// Listed is how often the service lists the SMS.
	Listed int `json:"listed"`

	isLookedUp bool
}

// differs reports whether the service lists the SMS more or less often than its state allows.
func (c comparison) differs() bool {
	switch {
	case c.State == rivertype.JobStateCompleted:
		return c.Listed != 1
	case c.State == rivertype.JobStateRunning, c.isLookedUp:
		return c.Listed > 1
	default:
		return c.Listed > 0
	}
}

// isOfOtherProgram reports whether another program sent the SMS: the outbox does not have it, and its reference ID has another prefix.
func (c comparison) isOfOtherProgram(prefix string) bool {
	isOurs := c.Reference != "" && strings.HasPrefix(c.Reference, prefix)
	return c.State == absent && !isOurs
}

// auditResult is the result of audit, as JSON.
type auditResult struct {
	Compared    int `json:"compared"`
	Differences int `json:"differences"`
	Others      int `json:"others"` // listed SMS of other programs
}

func (r auditResult) text() string {
	text := fmt.Sprintf("SMS compared: %d; differences: %d\n", r.Compared, r.Differences)
	if r.Others > 0 {
		text += fmt.Sprintf("listed SMS of other programs: %d\n", r.Others)
	}
	return text
}

func (op *operator) audit() *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Compare SMS with what the service lists", Args: noArgs,
		Long: `Compare the SMS of a period with what the service lists. Differences are SMS that were sent twice, that are completed but not
listed, that are listed but not completed, and that are listed but not in the outbox. The last are "absent": they were sent
after the backup that was restored, or by other programs. SMS without a reference ID, or without the prefix of --prefix, are
counted as SMS of other programs and are no difference.`,
		Example: `  outbox audit --within 48h
  outbox audit --prefix order-`,
	}
	within := cmd.Flags().Duration("within", 24*time.Hour, "how far back to compare; it must be less than Options.Keep of the program")
	prefix := cmd.Flags().String("prefix", "", "the `text` with which the reference IDs of this outbox begin, if other programs use the account")
	cmd.RunE = op.withDatabase(requiresService, func(cmd *cobra.Command, _ []string, db database) error {
		since := time.Now().Add(-*within)
		var result auditResult
		for c, err := range compare(cmd.Context(), op.client, db, since) {
			if err != nil {
				return err
			}
			if c.isOfOtherProgram(*prefix) {
				result.Others += c.Listed
				continue
			}
			result.Compared++
			if !c.differs() {
				continue
			}
			result.Differences++
			text := fmt.Sprintf("%s\tis %s; times listed: %d\n", safe(c.Reference), c.State, c.Listed)
			if err := op.print(cmd.OutOrStdout(), c, text); err != nil {
				return err
			}
		}
		if err := op.print(cmd.OutOrStdout(), result, result.text()); err != nil {
			return err
		}
		if result.Differences > 0 {
			return errFindings
		}
		return nil
	})
	return cmd
}

// compare yields each SMS since a time that the outbox has or the service lists. An error ends it.
func compare(ctx context.Context, client *messaging.Client, db database, since time.Time) iter.Seq2[comparison, error] {
	return func(yield func(comparison, error) bool) {
		// The listing is read before the jobs, so that each listed SMS has a job.
		listed, err := countListed(ctx, client, since.Add(-time.Hour))
		if err != nil {
			yield(comparison{}, err)
			return
		}
		for job, err := range smsJobs(ctx, db) {
			if err != nil {
				yield(comparison{}, err)
				return
			}
			job.Listed = listed[job.Reference]
			delete(listed, job.Reference)
			isOld := job.Listed == 0 && job.created.Before(since)
			if !isOld && !yield(job.comparison, nil) {
				return
			}
		}
		for _, reference := range slices.Sorted(maps.Keys(listed)) {
			if !yield(comparison{Reference: reference, State: absent, Listed: listed[reference]}, nil) {
				return
			}
		}
	}
}

// countListed returns how often the service lists each reference ID since a time, without rows of messages that it refused.
func countListed(ctx context.Context, client *messaging.Client, since time.Time) (map[string]int, error) {
	listed := map[string]int{}
	for transaction, err := range client.SMS.List(ctx, sms.ListOptions{CreatedAfter: since, PageSize: 500}) {
		hasReference := errors.Is(err, messaging.ErrUnreadableRow) && transaction.ReferenceID != ""
		if err != nil && !hasReference {
			return nil, err
		}
		if client.SMS.Verdict(transaction) != messaging.Refused {
			listed[transaction.ReferenceID]++
		}
	}
	return listed, nil
}

// smsJob is an SMS in the outbox.
type smsJob struct {
	comparison

	created time.Time
}

// smsJobs yields the SMS in the outbox by their reference IDs. An error ends it.
func smsJobs(ctx context.Context, db database) iter.Seq2[smsJob, error] {
	return func(yield func(smsJob, error) bool) {
		rows, err := db.query(ctx, `SELECT args->>'reference', CAST(state AS TEXT), queue, created_at FROM JOBS
			WHERE kind = 'messaging' AND args->>'channel' = 'sms' ORDER BY 1`)
		if err != nil {
			yield(smsJob{}, err)
			return
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var job smsJob
			var queue string
			if err := rows.Scan(&job.Reference, &job.State, &queue, &job.created); err != nil {
				yield(smsJob{}, err)
				return
			}
			isFinal := job.State == rivertype.JobStateDiscarded || job.State == rivertype.JobStateCancelled
			job.isLookedUp = queue == "messaging_lookups" && !isFinal
			if !yield(job, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(smsJob{}, err)
		}
	}
}
