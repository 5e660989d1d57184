package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/sms"
)

// absent is the state of an SMS that the service lists, but the outbox does not have.
const absent rivertype.JobState = "absent"

// comparison is an SMS in the outbox and in the listing of the service.
type comparison struct {
	Reference string             `json:"referenceID"`
	State     rivertype.JobState `json:"state"`
	// Listed is how often the service lists the SMS.
	Listed int `json:"listed"`

	isLookedUp bool
	// isSentAgain reports whether a worker has the SMS, and it is sent again if that worker died.
	isSentAgain bool
	// isNew reports whether the SMS was completed so late that the listing may not have it yet.
	isNew bool
}

// isTooNew reports whether the SMS cannot be compared yet: it is completed and not listed, but may be listed soon.
func (c comparison) isTooNew() bool {
	return c.isNew && c.State == rivertype.JobStateCompleted && c.Listed == 0
}

// differs reports whether the service lists the SMS more or less often than its state allows.
func (c comparison) differs() bool {
	switch {
	case c.isTooNew():
		return false
	case c.State == rivertype.JobStateCompleted:
		return c.Listed != 1
	case c.isSentAgain: // no request of its worker has begun, so another one sent it: after the backup that was restored
		return c.Listed > 0
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
	Others      int `json:"others"`           // listed SMS of other programs
	TooNew      int `json:"tooNew,omitempty"` // SMS that cannot be compared yet
	// Unreadable are the listed SMS of other programs that cannot be read in full. Others does not count them.
	Unreadable int `json:"unreadable,omitempty"`
}

func (r auditResult) text(lag time.Duration) string {
	text := fmt.Sprintf("SMS compared: %d; differences: %d\n", r.Compared, r.Differences)
	if r.TooNew > 0 {
		text += fmt.Sprintf("not compared, because completed within %v of the listing and not listed yet: %d; run audit again later\n", lag, r.TooNew)
	}
	if r.Others > 0 {
		text += fmt.Sprintf("listed SMS of other programs: %d\n", r.Others)
	}
	if r.Unreadable > 0 {
		text += fmt.Sprintf("listed SMS without a reference ID that cannot be read in full: %d\n", r.Unreadable)
	}
	return text
}

// auditor compares the SMS of the outbox with what the service lists.
type auditor struct {
	client *messaging.Client
	db     database

	within time.Duration
	lag    time.Duration
	prefix string
	began  time.Time // when the listing began

	result      auditResult
	differences []comparison
}

const auditHelp = `Compare the SMS of a period with what the service lists. It changes nothing. These differences are printed, one a line:

  is completed; times listed: 0     the outbox says that it went out, but the service does not list it
  is completed; times listed: 2     it was sent twice
  is available; times listed: 1     it waits, but was sent already: resolve it with "outbox resolve sent", or it is sent twice.
                                    Likewise scheduled, retryable, pending, discarded and cancelled, and on PostgreSQL running,
                                    unless the outbox knows that its request may have begun
  is absent; times listed: 1        the outbox does not have it: it was sent after the backup that was restored, or by another
                                    program

While programs send, a new SMS may be completed before the service lists it. So an SMS that was completed within --lag of the
listing and is not listed is no difference, but is counted as not compared. If the service takes longer to list, such SMS are
false differences: raise --lag, or stop the senders, wait, and use --lag 0 to compare everything.

Listed SMS without a reference ID, or without the prefix of --prefix, are counted as SMS of other programs and are no difference.
Of these, SMS without a reference ID that cannot be read in full are counted apart. If a reference ID cannot be read, audit fails.
Chat-app messages are not compared, because no service lists them.

The exit status is 1 if there are differences.`

func (op *operator) audit() *cobra.Command {
	var a auditor
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Compare SMS with what the service lists",
		Args:  noArgs,
		Long:  auditHelp,
		Example: `  outbox audit --within 48h
  outbox audit --prefix order-
  outbox audit --lag 0`,
	}
	cmd.Flags().DurationVar(&a.within, "within", 24*time.Hour, "how far back to compare; it must be less than Options.Keep of the program")
	cmd.Flags().DurationVar(&a.lag, "lag", 10*time.Minute, "how long the service may take to list an SMS")
	cmd.Flags().StringVar(&a.prefix, "prefix", "", "the `text` with which the reference IDs of this outbox begin, if other programs use the account")
	cmd.Flags().BoolVar(&op.plainHTTP, "plain-http", false, "allow MESSAGING_BASE_URL to be http:// on another host; the credentials then travel in the clear")
	cmd.RunE = op.withDatabase(requiresService, func(cmd *cobra.Command, _ []string, db database) error {
		if a.within <= 0 {
			return fmt.Errorf("--within is %v; want a duration such as 24h", a.within)
		}
		if a.lag < 0 {
			return fmt.Errorf("--lag is %v; want 0 or more, such as 10m", a.lag)
		}
		a.client = op.client
		a.db = db
		if err := a.compare(cmd.Context()); err != nil {
			return err
		}
		return op.report(cmd, &a)
	})
	return cmd
}

// report prints the differences and their number. It returns errFindings if there are any.
func (op *operator) report(cmd *cobra.Command, a *auditor) error {
	for _, c := range a.differences {
		text := fmt.Sprintf("%s\tis %s; times listed: %d\n", safe(c.Reference), c.State, c.Listed)
		if err := op.print(cmd.OutOrStdout(), c, text); err != nil {
			return err
		}
	}
	if err := op.print(cmd.OutOrStdout(), a.result, a.result.text(a.lag)); err != nil {
		return err
	}
	if a.result.Differences > 0 {
		return errFindings
	}
	return nil
}

// compare compares the SMS of the period: first those of the outbox, then those that only the service has, each sorted by reference ID.
func (a *auditor) compare(ctx context.Context) error {
	a.began = time.Now()
	// The listing is read before the jobs, so that each listed SMS has a job.
	listed, err := a.countListed(ctx)
	if err != nil {
		return err
	}
	if err := a.compareJobs(ctx, listed); err != nil {
		return err
	}
	for _, reference := range slices.Sorted(maps.Keys(listed)) {
		a.add(comparison{Reference: reference, State: absent, Listed: listed[reference]})
	}
	return nil
}

// since is when the period begins.
func (a *auditor) since() time.Time { return a.began.Add(-a.within) }

// add counts an SMS, and keeps it if it differs.
func (a *auditor) add(c comparison) {
	if c.isOfOtherProgram(a.prefix) {
		a.result.Others += c.Listed
		return
	}
	if c.isTooNew() {
		a.result.TooNew++
		return
	}
	a.result.Compared++
	if c.differs() {
		a.result.Differences++
		a.differences = append(a.differences, c)
	}
}

// countListed returns how often the service lists each reference ID, without rows of messages that it refused. It begins an hour before the
// period: an SMS that was sent in the period may be listed earlier by the service's clock.
func (a *auditor) countListed(ctx context.Context) (map[string]int, error) {
	options := sms.ListOptions{CreatedAfter: a.since().Add(-time.Hour), PageSize: 500}
	listed := map[string]int{}
	for transaction, err := range a.client.SMS.List(ctx, options) {
		switch a.classify(transaction, err) {
		case rowFailed:
			return nil, explainListing(err)
		case rowRefused:
		case rowUnreadable:
			a.result.Unreadable++
		case rowSent:
			listed[transaction.ReferenceID]++
		}
	}
	return listed, nil
}

// listedRow is what a row of the listing means for the comparison.
type listedRow int

const (
	rowSent       listedRow = iota // the SMS was sent
	rowRefused                     // the service refused it
	rowUnreadable                  // it has no reference ID, so it is of another program, and cannot be read in full
	rowFailed                      // the listing failed, or it is not known whether the row has a reference ID
)

// classify returns what a row of the listing means. err is the error with which it was listed.
func (a *auditor) classify(transaction sms.Transaction, err error) listedRow {
	isUnreadable := errors.Is(err, messaging.ErrUnreadableRow)
	hasReference := transaction.ReferenceID != ""
	switch {
	case err != nil && !isUnreadable:
		return rowFailed
	case isUnreadable && !hasReference && !lacksReference(err):
		return rowFailed
	case a.client.SMS.Verdict(transaction) == messaging.Refused:
		return rowRefused
	case isUnreadable && !hasReference:
		return rowUnreadable
	default:
		return rowSent
	}
}

// lacksReference reports whether a row without a reference ID has none, by its error. Otherwise its reference ID cannot be read.
func lacksReference(err error) bool {
	row, isRow := errors.AsType[codec.UnreadableError](err)
	return isRow && row.IsReferenceKnown()
}

// explainListing returns the error of a listing, with the variables to check if they may be its cause.
func explainListing(err error) error {
	failed, isOfService := errors.AsType[*messaging.Error](err)
	isInterrupted := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	switch {
	case errors.Is(err, messaging.ErrUnauthorized):
		return fmt.Errorf("%w; check MESSAGING_TOKEN, or MESSAGING_API_KEY and MESSAGING_API_SECRET", err)
	case !isOfService, isInterrupted:
		return err
	case failed.StatusCode == 0, failed.StatusCode == http.StatusNotFound: // there was no response, or it is not the service
		return fmt.Errorf("%w; MESSAGING_BASE_URL names the service", err)
	default:
		return err
	}
}

// isSentAgainOnPostgres holds for a running SMS that is sent again if its worker died: it has no outcome, and no mark of a request without one.
const isSentAgainOnPostgres = `state = 'running' AND COALESCE(metadata->>'verdict', '') NOT IN ('accepted', 'unknown')
			AND COALESCE(metadata->>'begun', '') IN ('', COALESCE(metadata->>'ended', ''), COALESCE(metadata->>'unsent', ''))`

// compareJobs compares the SMS of the outbox with the listing, and removes them from it.
func (a *auditor) compareJobs(ctx context.Context, listed map[string]int) error {
	isSentAgain := "FALSE" // on SQLite, where each rescued SMS is looked up
	if a.db.usesPostgres() {
		isSentAgain = isSentAgainOnPostgres
	}
	rows, err := a.db.query(ctx, `SELECT args->>'reference', CAST(state AS TEXT), queue, created_at, attempted_at, finalized_at,
			COALESCE(metadata->>'begun_at', ''), COALESCE(metadata->>'unknown_since', ''), metadata->'river:rescue_count' IS NOT NULL,
			`+isSentAgain+`
		FROM JOBS WHERE kind = 'messaging' AND args->>'channel' = 'sms' ORDER BY 1`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		job, err := scanSMSJob(rows)
		if err != nil {
			return err
		}
		job.Listed = listed[job.Reference]
		delete(listed, job.Reference)
		isOld := job.earliestRequest().Before(a.since())
		if isOld && job.Listed == 0 { // the listing may begin later
			continue
		}
		job.isNew = job.finalized.After(a.began.Add(-a.lag))
		a.add(job.comparison)
	}
	return rows.Err()
}

// smsJob is an SMS in the outbox.
type smsJob struct {
	comparison

	created   time.Time
	attempted time.Time // when a worker got it last, to send it or to look it up, or zero
	finalized time.Time // zero while it waits or a worker has it

	begun        time.Time // when its last request began, or zero: SQLite does not record it
	unknownSince time.Time // when its outcome became unknown, or zero
	isRescued    bool      // from a process that was killed
}

// earliestRequest returns a time before which the request of the SMS did not begin. An SMS can be sent long after it was enqueued, and completed
// long after it was sent.
func (j smsJob) earliestRequest() time.Time {
	switch {
	case !j.begun.IsZero():
		return j.begun
	case j.attempted.IsZero(), j.isRescued: // it was sent elsewhere, or the process that sent it recorded no time
		return j.created
	case !j.unknownSince.IsZero(): // lookups came later
		return j.unknownSince
	default:
		return j.attempted
	}
}

// scanSMSJob reads a row of compareJobs.
func scanSMSJob(rows *sql.Rows) (smsJob, error) {
	var job smsJob
	var queue, begun, unknownSince string
	var attempted, finalized sql.NullTime
	err := rows.Scan(&job.Reference, &job.State, &queue, &job.created, &attempted, &finalized, &begun, &unknownSince, &job.isRescued, &job.isSentAgain)
	job.attempted = attempted.Time
	job.finalized = finalized.Time
	job.begun, _ = time.Parse(time.RFC3339Nano, begun)               // it stays zero without one
	job.unknownSince, _ = time.Parse(time.RFC3339Nano, unknownSince) // likewise
	job.isLookedUp = queue == "messaging_lookups" && !finalized.Valid
	return job, err
}
