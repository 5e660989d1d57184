package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/riverqueue/river/rivertype"
	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

func (op *operator) show() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show REFERENCE|MESSAGEID",
		Short: "Show what the outbox knows about a message",
		Args:  exactArgs("REFERENCE|MESSAGEID"),
		Long: `Show what the outbox knows about the message with a reference ID: its state, verdict, IDs, attempts, reason and times. If several
channels have the reference ID, it shows the message of each. If no message has it, it shows the one with this message ID, which the
service gave it when it was accepted; that takes longer. Numbers and texts are not shown.

"outbox list --help" explains the states. "held back" says that its campaign or its channel is paused, or that it has expired. "ends as"
is the state in which a worker ends the message without another request or lookup. The reason is that of the last attempt that ended.
"failures" counts the attempts that count toward its MaxAttempts. "last worked" is when a worker last took it, to send it, look it up
or end it. "last request" is when its last request began.

` + verdictHelp + `

The exit status is 1 if there is no such message.`,
		Example: `  outbox show order-17
  outbox show order-17 --json
  outbox show msg-000123`,
	}
	cmd.RunE = op.withDatabase(requiresDatabase, func(cmd *cobra.Command, args []string, db database) error {
		records, err := recordsOf(cmd.Context(), db, args[0])
		if err != nil {
			return err
		}
		if len(records) == 0 {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "outbox: no message has the reference ID or message ID %q; outbox list --state all lists every message\n", args[0])
			return errFindings
		}
		for i, record := range records {
			shown, err := readShownRecord(cmd.Context(), db, record)
			if err != nil {
				return err
			}
			text := shown.text()
			if i > 0 {
				text = "\n" + text
			}
			if err := op.print(cmd.OutOrStdout(), shown, text); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

// recordsOf returns the messages with a reference ID or, if there are none, those with a message ID.
func recordsOf(ctx context.Context, db database, id string) ([]messagingriver.Record, error) {
	records, err := db.Get(ctx, id)
	if !errors.Is(err, messaging.ErrNotFound) {
		return records, err
	}
	references, err := referencesOf(ctx, db, id)
	if err != nil {
		return nil, err
	}
	var found []messagingriver.Record
	for _, reference := range references {
		records, err := db.Get(ctx, reference)
		if errors.Is(err, messaging.ErrNotFound) { // it was deleted a moment ago
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			if record.Receipt != nil && record.Receipt.ID == id {
				found = append(found, record)
			}
		}
	}
	return found, nil
}

// referencesOf returns the reference IDs of messages with a message ID. The message ID is in the receipt, which is River's output of the job.
func referencesOf(ctx context.Context, db database, messageID string) ([]string, error) {
	return queryTexts(ctx, db, `SELECT DISTINCT args->>'reference' FROM JOBS
		WHERE kind = 'messaging' AND metadata->'output'->>'ID' = $1 ORDER BY 1`, messageID)
}

// isDeleted reports whether the content of the message of a job was deleted. It is true, too, if the job has just been deleted.
func isDeleted(ctx context.Context, db database, job int64) (bool, error) {
	rows, err := db.query(ctx, "SELECT 1 FROM JOBS WHERE id = $1 AND args->'message' IS NOT NULL", job)
	if err != nil {
		return false, err
	}
	defer func() { _ = rows.Close() }()
	hasContent := rows.Next()
	return !hasContent, rows.Err()
}

// shownRecord is a message in the output of show. It has no number and no text of the message.
type shownRecord struct {
	messagingriver.Record

	Verdict  string        `json:"verdict"` // a word of verdictHelp, instead of that of Record
	Receipt  *shownReceipt `json:"receipt,omitzero"`
	HeldBack string        `json:"heldBack,omitzero"`

	isDeleted bool // its content
}

func newShownRecord(record messagingriver.Record) shownRecord {
	return shownRecord{Record: record, Verdict: verdictWord(record), Receipt: (*shownReceipt)(record.Receipt)}
}

// readShownRecord returns a record with what only the database says: what holds the message back, and whether its content was deleted.
func readShownRecord(ctx context.Context, db database, record messagingriver.Record) (shownRecord, error) {
	shown := newShownRecord(record)
	var err error
	shown.HeldBack, err = heldBack(ctx, db, record)
	if err != nil {
		return shown, err
	}
	if record.Message == nil { // it was deleted, or this version cannot read it
		shown.isDeleted, err = isDeleted(ctx, db, record.Job)
	}
	return shown, err
}

// shownReceipt is a messaging.Receipt, whose JSON is a stored form and has the names of Go.
type shownReceipt struct {
	ID          string          `json:"id,omitzero"`
	RequestID   string          `json:"requestID,omitzero"`
	ReferenceID string          `json:"referenceID,omitzero"`
	Parts       int             `json:"parts,omitzero"`
	UnitCost    string          `json:"unitCost,omitzero"`
	Cost        string          `json:"cost,omitzero"`
	Balance     string          `json:"balance,omitzero"`
	Currency    string          `json:"currency,omitzero"`
	Operator    string          `json:"operator,omitzero"`
	Status      string          `json:"status,omitzero"`
	Attempts    int             `json:"attempts,omitzero"`
	StatusCode  int             `json:"statusCode,omitzero"`
	Raw         json.RawMessage `json:"-"` // the outbox does not store it
}

// text returns the record as lines of name and value.
func (r shownRecord) text() string {
	var text strings.Builder
	for _, line := range r.lines() {
		if line.value != "" {
			fmt.Fprintf(&text, "%-13s %s\n", line.name, safe(line.value))
		}
	}
	return text.String()
}

// shownLine is a line of a record. It is omitted if the value is empty.
type shownLine struct{ name, value string }

func (r shownRecord) lines() []shownLine {
	var receipt shownReceipt
	if r.Receipt != nil {
		receipt = *r.Receipt
	}
	return []shownLine{
		{"channel", r.Channel},
		{"reference", r.Reference},
		{"state", string(r.State)},
		{"verdict", r.verdictText()},
		{"held back", r.HeldBack},
		{"ends as", string(r.EndsAs)},
		{"reason", r.Reason},
		{"message ID", receipt.ID},
		{"request ID", receipt.RequestID},
		{"cost", strings.TrimSpace(receipt.Cost + " " + receipt.Currency)},
		{"failures", strconv.Itoa(r.Failures)},
		{"campaign", r.Campaign},
		{"priority", strconv.Itoa(int(r.Priority))},
		{"content", r.contentText()},
		{"created", formatTime(r.Created)},
		{"last worked", formatTime(r.Attempted)},
		{"last request", formatTime(r.Begun)},
		{"next lookup", r.nextLookup()},
		{"next attempt", r.nextAttempt()},
		{"finished", formatTime(r.Finalized)},
		{"expires", formatTime(r.Expires)},
		{"job", strconv.FormatInt(r.Job, 10)},
	}
}

// verdictText returns the verdict, with its meaning where a stranger would have to guess.
func (r shownRecord) verdictText() string {
	switch {
	case r.isInDoubt() && r.isSMS():
		return "unknown: it may have been sent, and is looked up" + r.doubtEnd()
	case r.isInDoubt():
		return "unknown: it may have been sent, and waits for a delivery report" + r.doubtEnd()
	case r.Verdict == messaging.Unknown.String():
		return "unknown: it may have been sent"
	case r.isGivenUp():
		return "not sent: a person decided so; a running process cancels it and calls OnOutcome"
	case r.Verdict == waits:
		return "waits: it was not sent yet"
	case r.Verdict == messaging.Refused.String() && r.MayHaveBeenSent():
		return "refused, but it may have been sent: the response names a message"
	default:
		return r.Verdict
	}
}

// doubtEnd says when a message in doubt is discarded, if that is known. The time changes when lookups begin to fail, or succeed again.
func (r shownRecord) doubtEnd() string {
	if r.DoubtEnds.IsZero() {
		return ""
	}
	return "; discarded at " + formatTime(r.DoubtEnds) + " if nothing changes"
}

// isInDoubt reports whether the message may have been sent, and no worker or person has it. It is not sent while it is in doubt.
func (r shownRecord) isInDoubt() bool {
	isWaiting := r.Finalized.IsZero() && r.State != rivertype.JobStateRunning
	return r.Verdict == messaging.Unknown.String() && isWaiting && r.EndsAs == ""
}

// isGivenUp reports whether a person resolved the message as not sent, and no process has ended it yet.
func (r shownRecord) isGivenUp() bool {
	return r.ResolvedNotSent && r.Verdict == messaging.NotSent.String() && r.Finalized.IsZero()
}

func (r shownRecord) isSMS() bool { return r.Channel == messaging.ChannelSMS.String() }

func (r shownRecord) contentText() string {
	switch {
	case r.Message != nil:
		return "kept"
	case r.isDeleted:
		return "deleted"
	default:
		return "cannot be read by this version"
	}
}

// nextLookup returns the time of the next lookup of an SMS in doubt, or "".
func (r shownRecord) nextLookup() string {
	if r.isInDoubt() && r.isSMS() {
		return formatTime(r.Scheduled)
	}
	return ""
}

// nextAttempt returns the time of the next attempt, or "" if the message does not wait for a time.
func (r shownRecord) nextAttempt() string {
	waitsForTime := r.State == rivertype.JobStateScheduled || r.State == rivertype.JobStateRetryable
	if waitsForTime && !r.isInDoubt() && r.EndsAs == "" {
		return formatTime(r.Scheduled)
	}
	return ""
}
