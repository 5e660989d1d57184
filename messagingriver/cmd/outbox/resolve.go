package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// selection has the flags that choose messages.
type selection struct {
	channel string
	reason  string
	file    string
	state   string
	stdin   io.Reader
}

// keys returns the messages that flags and arguments name.
func (s selection) keys(ctx context.Context, db database, references []string) ([]messagingriver.Key, error) {
	if s.reason != "" {
		if len(references) > 0 || s.file != "" {
			return nil, errors.New("--reason cannot be combined with reference IDs or --file")
		}
		return s.withReason(ctx, db)
	}
	if s.state != "" {
		return nil, errors.New("--state is for --reason; want no --state with reference IDs or --file")
	}
	listed, err := s.listed()
	if err != nil {
		return nil, err
	}
	references = append(references, listed...)
	if len(references) == 0 {
		return nil, errors.New("no messages are named; want reference IDs, --file or --reason")
	}
	var keys []messagingriver.Key
	for _, reference := range references {
		channel, err := s.channelOf(ctx, db, reference)
		if err != nil {
			return nil, err
		}
		keys = append(keys, messagingriver.Key{Channel: channel, Reference: reference})
	}
	return keys, nil
}

// channelOf returns the value of --channel, or the only channel that has a message with the reference ID. It returns "" if no channel or
// several have one.
func (s selection) channelOf(ctx context.Context, db database, reference string) (string, error) {
	if s.channel != "" {
		return s.channel, nil
	}
	records, err := db.Get(ctx, reference)
	if errors.Is(err, messaging.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if len(records) > 1 {
		return "", nil
	}
	return records[0].Channel, nil
}

// listed returns the reference IDs in the file of --file.
func (s selection) listed() ([]string, error) {
	if s.file == "" {
		return nil, nil
	}
	file, err := s.readFile()
	if err != nil {
		return nil, err
	}
	var references []string
	for line := range strings.Lines(string(file)) {
		if reference := strings.TrimSpace(line); reference != "" {
			references = append(references, reference)
		}
	}
	return references, nil
}

func (s selection) readFile() ([]byte, error) {
	if s.file == "-" {
		return io.ReadAll(s.stdin)
	}
	return os.ReadFile(s.file)
}

// withReason returns the messages of the channel in a state whose reason contains a text.
func (s selection) withReason(ctx context.Context, db database) ([]messagingriver.Key, error) {
	state := cmp.Or(rivertype.JobState(s.state), rivertype.JobStateDiscarded)
	if state != rivertype.JobStateDiscarded && state != rivertype.JobStateCancelled {
		return nil, fmt.Errorf("--state is %q; want discarded or cancelled", s.state)
	}
	matches := map[string][]messagingriver.Key{} // by channel
	for record, err := range db.List(ctx, state) {
		if err != nil {
			return nil, err
		}
		if strings.Contains(record.Reason, s.reason) {
			matches[record.Channel] = append(matches[record.Channel], record.Key)
		}
	}
	if s.channel == "" && len(matches) > 0 {
		var counts []string
		for _, channel := range slices.Sorted(maps.Keys(matches)) {
			counts = append(counts, fmt.Sprintf("%s: %d", channel, len(matches[channel])))
		}
		return nil, fmt.Errorf("--reason also wants --channel; it matches %s", strings.Join(counts, ", "))
	}
	return matches[s.channel], nil
}

// unresolved is a message that a decision did not apply to.
type unresolved struct {
	Reference string `json:"referenceID"`
	Reason    string `json:"reason"`
}

// resolution is the result of resolve, as JSON.
type resolution struct {
	Done       messagingriver.Decision `json:"done"`
	Messages   int                     `json:"messages"`
	Unresolved []unresolved            `json:"unresolved,omitempty"`
	Expired    []string                `json:"expired,omitempty"`  // reference IDs of messages to which resend applied, but which are not sent
	Unpaused   []string                `json:"unpaused,omitempty"` // campaigns that were paused until the last pending message was resolved
	// MayHaveFallback are the reference IDs of messages that were resolved as sent, although OnOutcome may have sent a fallback for them.
	MayHaveFallback []string `json:"mayHaveFallback,omitempty"`
}

func (r resolution) text() string {
	var text strings.Builder
	for _, message := range r.Unresolved {
		fmt.Fprintf(&text, "%s: %s\n", safe(message.Reference), message.Reason)
	}
	for _, reference := range r.Expired {
		fmt.Fprintf(&text, "%s: it has expired, so it is not sent but cancelled; OnOutcome is called\n", safe(reference))
	}
	for _, reference := range r.MayHaveFallback {
		fmt.Fprintf(&text, "%s: it was cancelled or discarded as not sent: if the program has sent a fallback, the recipient gets both\n", safe(reference))
	}
	for _, campaign := range r.Unpaused {
		fmt.Fprintf(&text, "campaign %s is no longer paused, because none of its messages is pending: messages that are enqueued later are sent\n", safe(campaign))
	}
	fmt.Fprintf(&text, "%s: %d of %d\n", r.Done, r.Messages, r.Messages+len(r.Unresolved))
	return text.String()
}

const resolveHelp = `Decide about messages, which are named by their reference IDs, by the file of --file, or by --reason.

  sent     the message went out. It becomes completed
  resend   it did not go out; send it again. Only messages that are discarded, cancelled or looked up. One that has expired and whose
           outcome is unknown ends as with notsent instead
  notsent  it did not go out, and something else is sent instead. Only messages that are discarded with an unknown outcome. It becomes
           cancelled, and a running process calls OnOutcome with the verdict NotSent: the program may send a fallback. This is final:
           resend does not apply to it any more
  drop     it must not be sent. It becomes cancelled, and its content is deleted. OnOutcome is not called, but if the message was sent
           after all, a report that it failed can still lead to the fallback of your handler

"outbox list" lists the messages that wait for a decision. If a message did go out, the recipient gets it twice after resend, and with
its fallback after notsent: compare with "outbox audit" before. With --reason, resend only for a reason that proves that no message went
out, such as "sms.send not sent". A message whose reason is "has an unknown outcome", such as after HTTP 503, may have gone out.

It prints how many messages the decision applied to, and why it did not apply to the others. Messages are settled one by one, in
the order in which they are named. After an error it says how many are settled and which was the last: run the command again for
the others. Messages that were resolved as sent or not sent, or dropped, do not change. A message that was sent again does not change
either, unless it is discarded once more in the meantime: then begin after the last one that was settled.

The exit status is 1 if no message changed.`

func (op *operator) resolve() *cobra.Command {
	var s selection
	cmd := &cobra.Command{
		Use: "resolve sent|resend|notsent|drop [REFERENCE...]", Short: "Decide about discarded, cancelled and waiting messages",
		Long: resolveHelp,
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
		if resolved.Messages == 0 {
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

// noteUnresolved notes a message that the decision did not apply to.
func (r *resolution) noteUnresolved(ctx context.Context, db database, key messagingriver.Key) error {
	reason, err := whyUnresolved(ctx, db, r.Done, key)
	if err != nil {
		return err
	}
	r.Unresolved = append(r.Unresolved, unresolved{key.Reference, reason})
	return nil
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

// progress says which of the keys were settled before an error.
func (r *resolution) progress(keys []messagingriver.Key) string {
	settled := r.Messages + len(r.Unresolved)
	if settled == 0 {
		return fmt.Sprintf("%s: 0 of %d", r.Done, len(keys))
	}
	last := safe(keys[settled-1].Reference)
	return fmt.Sprintf("%s: %d of %d, and %d unchanged; the last was %s; run it again for the others",
		r.Done, r.Messages, len(keys), len(r.Unresolved), last)
}

// whyUnresolved returns why a decision did not apply to a message.
func whyUnresolved(ctx context.Context, db database, decision messagingriver.Decision, key messagingriver.Key) (string, error) {
	records, err := db.Get(ctx, key.Reference)
	if errors.Is(err, messaging.ErrNotFound) {
		return "no such message", nil
	}
	if err != nil {
		return "", err
	}
	var channels []string
	for _, record := range records {
		if record.Key == key {
			return whyUnchanged(decision, record), nil
		}
		channels = append(channels, record.Channel)
	}
	slices.Sort(channels)
	if key.Channel == "" {
		return fmt.Sprintf("several channels have it (%s); choose with --channel", strings.Join(channels, ", ")), nil
	}
	return fmt.Sprintf("no such %s; there is a %s message, use --channel %s", key.Channel, channels[0], channels[0]), nil
}

// whyUnchanged returns why a decision did not change the message of a record.
func whyUnchanged(decision messagingriver.Decision, record messagingriver.Record) string {
	switch {
	case record.State == rivertype.JobStateRunning:
		return "a worker has it; try again when its attempt has ended, or up to 45 seconds after SendTimeout if the worker was killed"
	case record.State == rivertype.JobStateCompleted:
		return "it is completed"
	case record.Verdict == messaging.Accepted:
		return "it was accepted, and will be completed"
	case decision == messagingriver.NotSent && record.ResolvedNotSent:
		return "it was resolved as not sent before"
	case decision == messagingriver.NotSent:
		return fmt.Sprintf("it is %s; notsent is for a message that is discarded with an unknown outcome", record.State)
	case decision != messagingriver.Resend: // it changed a moment ago
		return fmt.Sprintf("it is %s", record.State)
	case record.State == rivertype.JobStateDiscarded, record.State == rivertype.JobStateCancelled:
		return whyFinalUnchanged(record)
	default:
		return whyWaitingUnchanged(record)
	}
}

// whyFinalUnchanged returns why a message that is discarded or cancelled was not sent again.
func whyFinalUnchanged(record messagingriver.Record) string {
	switch {
	case hasExpired(record):
		return expiredText(record)
	case record.Message == nil:
		return fmt.Sprintf("it is %s, and its content is deleted", record.State)
	default: // it was resolved as not sent, or changed a moment ago
		return fmt.Sprintf("it is %s: %s", record.State, safe(record.Reason))
	}
}

// whyWaitingUnchanged returns why a message that waits was not sent again.
func whyWaitingUnchanged(record messagingriver.Record) string {
	isUnknown := verdictWord(record) == messaging.Unknown.String()
	switch {
	case record.ResolvedNotSent:
		return "it was resolved as not sent, which is final"
	case hasExpired(record) && !isUnknown:
		return expiredText(record)
	case record.State == rivertype.JobStatePending:
		return "its campaign is paused; outbox campaign resume " + safe(record.Campaign)
	case isUnknown:
		return "it may have been sent, and will be looked up; try again when its lookup has begun"
	default:
		return fmt.Sprintf("it is %s, and needs no decision", record.State)
	}
}

func expiredText(record messagingriver.Record) string {
	return "it expired at " + record.Expires.UTC().Format(time.RFC3339)
}
