package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// absent is the state of an SMS that the service lists and that the outbox does not have.
const absent rivertype.JobState = "absent"

// difference is what audit finds about an SMS.
type difference struct {
	Reference string             `json:"reference"`
	State     rivertype.JobState `json:"state"`
	Listed    int                `json:"listed"`

	isUnknown bool // whether its outcome is looked up
}

// differs reports whether the service lists an SMS another number of times than its state says.
func (d difference) differs() bool {
	switch {
	case d.State == rivertype.JobStateCompleted:
		return d.Listed != 1
	case d.State == rivertype.JobStateRunning, d.isUnknown:
		return d.Listed > 1
	default:
		return d.Listed > 0
	}
}

// audited is what audit found.
type audited struct {
	Compared    int `json:"compared"`
	Differences int `json:"differences"`
	Others      int `json:"others"` // listed SMS of other programs
}

func (op *operator) audit() *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Compare SMS with what the service lists", Args: cobra.NoArgs,
		Long: `Compare the SMS of some time with what the service lists: sent twice, completed and not listed, listed and not completed, and
listed and not in the outbox. The last are "absent". They were sent after the backup that was restored, or are of other
programs: those without a reference ID, or without the prefix of --prefix, are counted apart and are no difference.`,
	}
	within := cmd.Flags().Duration("within", 24*time.Hour, "how far back; less than Options.Keep")
	prefix := cmd.Flags().String("prefix", "", "what the reference IDs of this outbox begin with, if other programs use the account")
	cmd.RunE = op.on(theService, func(cmd *cobra.Command, _ []string, db database) error {
		var found audited
		err := compare(cmd.Context(), op.client, db, time.Now().Add(-*within), func(d difference) error {
			isOther := d.State == absent && (d.Reference == "" || !strings.HasPrefix(d.Reference, *prefix))
			if isOther {
				found.Others += d.Listed
				return nil
			}
			found.Compared++
			if !d.differs() {
				return nil
			}
			found.Differences++
			return op.print(cmd.OutOrStdout(), d, fmt.Sprintf("%s\tis %s; times listed: %d\n", safe(d.Reference), d.State, d.Listed))
		})
		if err != nil {
			return err
		}
		text := fmt.Sprintf("SMS compared: %d; differences: %d\n", found.Compared, found.Differences)
		if found.Others > 0 {
			text += fmt.Sprintf("listed SMS of other programs: %d\n", found.Others)
		}
		if err := op.print(cmd.OutOrStdout(), found, text); err != nil || found.Differences == 0 {
			return err
		}
		return errFindings
	})
	return cmd
}

// compare calls report for each SMS since a time that the outbox has or the service lists.
func compare(ctx context.Context, client *messaging.Client, db database, since time.Time, report func(difference) error) error {
	listed := map[string]int{}
	// The listing is read before the jobs, so that what is listed has a job.
	for transaction, err := range client.SMS.List(ctx, sms.ListOptions{CreatedAfter: since.Add(-time.Hour), PageSize: 500}) {
		if err != nil {
			return err
		}
		listed[transaction.ReferenceID]++
	}
	rows, err := db.pool().QueryContext(ctx, "SELECT args->>'reference', CAST(state AS TEXT), queue, created_at FROM "+db.table("river_job")+
		" WHERE kind = 'messaging' AND args->>'channel' = 'sms' ORDER BY 1")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var d difference
		var queue string
		var created time.Time
		if err := rows.Scan(&d.Reference, &d.State, &queue, &created); err != nil {
			return err
		}
		d.isUnknown = queue == "messaging_lookups" && d.State != rivertype.JobStateDiscarded && d.State != rivertype.JobStateCancelled
		d.Listed = listed[d.Reference]
		delete(listed, d.Reference)
		if d.Listed == 0 && created.Before(since) {
			continue
		}
		if err := report(d); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, reference := range slices.Sorted(maps.Keys(listed)) {
		if err := report(difference{Reference: reference, State: absent, Listed: listed[reference]}); err != nil {
			return err
		}
	}
	return nil
}
