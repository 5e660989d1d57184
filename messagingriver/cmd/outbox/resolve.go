package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

const resolveHelp = `Decide about messages, which are named by their reference IDs, by the file of --file, or by --reason.

  sent     the message went out. It becomes completed
  resend   it did not go out; send it again. Only messages that are discarded, cancelled or looked up. A message that has
           expired with an unknown outcome becomes cancelled, and OnOutcome is called
  notsent  it did not go out, and something else is sent instead. Only messages that are discarded with an unknown outcome. It becomes
           cancelled, and a running process calls OnOutcome with the verdict NotSent: the program may send a fallback. This is final:
           resend does not apply to it any more
  drop     it must not be sent. It becomes cancelled, and its content is deleted. OnOutcome is not called, but if the message was sent
           after all, a report that it failed can still lead to the fallback of your handler

"outbox list" lists the messages that wait for a decision. If a message did go out, the recipient gets it twice after resend, and with
its fallback after notsent: compare with "outbox audit" before. With --reason, resend only for a reason that proves that no message went
out, such as "sms.send not sent". A message whose reason is "has an unknown outcome", such as after HTTP 503, may have gone out.

It prints how many messages the decision applied to, and why it did not apply to the others. Messages are resolved one by one, in
the order in which they are named. After an error it says how many are resolved and which was the last: run the command again for
the others. Messages that were resolved as sent or not sent, or dropped, do not change. A message that was sent again does not change
either, unless it is discarded once more in the meantime: then begin after the last one that was resolved.

The exit status is 1 if no message changed, unless the file of --file is empty.`

func (op *operator) resolve() *cobra.Command {
	var s selection
	cmd := &cobra.Command{
		Use:   "resolve sent|resend|notsent|drop [REFERENCE...]",
		Short: "Decide about discarded, cancelled and waiting messages",
		Long:  resolveHelp,
		Example: `  outbox resolve sent order-17 order-18
  outbox resolve resend --reason 'sms.send not sent' --channel sms
  outbox resolve drop --file references.txt --channel chatapp1
  grep ^order- references.txt | outbox resolve sent --file -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("resolve: want sent, resend, notsent or drop, and the messages; -h shows an example")
			}
			return checkDecision(messagingriver.Decision(args[0]))
		},
	}
	cmd.Flags().StringVar(&s.channel, "channel", "", "the `channel` of the messages (default the only one that has the reference ID)")
	cmd.Flags().StringVar(&s.reason, "reason", "", "decide about all messages of --channel whose reason contains this `text`")
	cmd.Flags().StringVar(&s.state, "state", "", "with --reason: the `state` of the messages, discarded or cancelled (default discarded)")
	cmd.Flags().StringVar(&s.file, "file", "", "decide about the messages of this `file`, with a reference ID on each line; - is standard input")
	cmd.RunE = op.withDatabase(requiresDatabase, func(cmd *cobra.Command, args []string, db database) error {
		decision := messagingriver.Decision(args[0])
		if err := checkChannel(s.channel); err != nil {
			return err
		}
		s.stdin = cmd.InOrStdin()
		keys, err := s.keys(cmd.Context(), db, args[1:])
		if err != nil {
			return err
		}
		if s.reason != "" && len(keys) == 0 {
			kind := cmp.Or(s.state, string(rivertype.JobStateDiscarded))
			if s.channel != "" {
				kind += " " + s.channel
			}
			cmd.PrintErrf("outbox: no %s message has this reason\n", kind)
		}
		resolved, err := resolveEach(cmd.Context(), db, decision, keys)
		if err != nil {
			return err
		}
		if err := op.print(cmd.OutOrStdout(), resolved, resolved.text()); err != nil {
			return err
		}
		isFileEmpty := s.file != "" && len(keys) == 0 // such as after an audit without findings
		if resolved.Messages == 0 && !isFileEmpty {
			return errFindings
		}
		return nil
	})
	return cmd
}

// checkDecision returns an error for an unknown decision.
func checkDecision(decision messagingriver.Decision) error {
	switch decision {
	case messagingriver.Sent, messagingriver.Resend, messagingriver.NotSent, messagingriver.Drop:
		return nil
	default:
		return fmt.Errorf("resolve: want sent, resend, notsent or drop, got %q; -h shows an example", string(decision))
	}
}

// resolveEach carries out a decision about messages, and finds out why it did not apply to some of them. An error says how far it got.
func resolveEach(ctx context.Context, db database, decision messagingriver.Decision, keys []messagingriver.Key) (resolution, error) {
	result := resolution{Done: decision}
	before, err := pausedCampaigns(ctx, db)
	if err != nil {
		return result, fmt.Errorf("%w (%s)", err, result.progress(keys))
	}
	for _, key := range keys {
		if err = result.resolve(ctx, db, key); err != nil {
			return result, fmt.Errorf("%w (%s)", err, result.progress(keys))
		}
	}
	after, err := pausedCampaigns(ctx, db)
	if err != nil {
		return result, fmt.Errorf("%w (%s)", err, result.progress(keys))
	}
	for _, campaign := range before {
		if !slices.Contains(after, campaign) {
			result.Unpaused = append(result.Unpaused, campaign)
		}
	}
	return result, nil
}

// pausedCampaigns returns the campaigns that have pending messages, which are paused.
func pausedCampaigns(ctx context.Context, db database) ([]string, error) {
	return queryTexts(ctx, db, "SELECT DISTINCT COALESCE(metadata->>'campaign', '') FROM JOBS WHERE kind = 'messaging' AND state = 'pending' ORDER BY 1")
}

// resolve carries out the decision about one message.
func (r *resolution) resolve(ctx context.Context, db database, key messagingriver.Key) error {
	if key.Channel == "" { // no channel has the message, or several have
		return r.noteUnresolved(ctx, db, key)
	}
	before, err := recordOf(ctx, db, key)
	if err != nil {
		return err
	}
	n, err := db.Resolve(ctx, r.Done, key)
	if err != nil {
		return err
	}
	if n == 0 {
		return r.noteUnresolved(ctx, db, key)
	}
	r.Messages++
	if r.Done == messagingriver.Sent && isFinallyUnsent(before) {
		r.MayHaveFallback = append(r.MayHaveFallback, key.Reference)
	}
	if r.Done == messagingriver.Resend && hasExpired(before) { // it is not sent
		r.Expired = append(r.Expired, key.Reference)
	}
	return nil
}

// recordOf returns the record of a message, or a zero Record if there is none.
func recordOf(ctx context.Context, db database, key messagingriver.Key) (messagingriver.Record, error) {
	records, err := db.Get(ctx, key.Reference)
	if errors.Is(err, messaging.ErrNotFound) {
		return messagingriver.Record{}, nil
	}
	if err != nil {
		return messagingriver.Record{}, err
	}
	for _, record := range records {
		if record.Key == key {
			return record, nil
		}
	}
	return messagingriver.Record{}, nil
}

// isFinallyUnsent reports whether the message of a record ended without being sent. Its program may have sent a fallback.
func isFinallyUnsent(record messagingriver.Record) bool {
	isFinal := !record.Finalized.IsZero()
	verdict := verdictWord(record)
	return isFinal && (verdict == messaging.Refused.String() || verdict == messaging.NotSent.String())
}

// hasExpired reports whether it is too late to send the message of a record.
func hasExpired(record messagingriver.Record) bool {
	return !record.Expires.IsZero() && record.Expires.Before(time.Now())
}
