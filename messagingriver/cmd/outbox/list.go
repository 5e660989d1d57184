package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/messagingriver"
)

// listedMessage is a message in the output of list. It has no personal data.
type listedMessage struct {
	messagingriver.Key

	State   rivertype.JobState `json:"state"`
	Verdict string             `json:"verdict"` // a word of verdictHelp
	Reason  string             `json:"reason"`
	Time    time.Time          `json:"time"`

	Campaign  string `json:"campaign,omitzero"`
	MessageID string `json:"messageID,omitzero"`
	Cost      string `json:"cost,omitzero"`
	Currency  string `json:"currency,omitzero"`
}

func newListedMessage(record messagingriver.Record) listedMessage {
	message := listedMessage{
		Key:      record.Key,
		State:    record.State,
		Verdict:  verdictWord(record),
		Reason:   record.Reason,
		Time:     timeOf(record),
		Campaign: record.Campaign,
	}
	if record.Receipt != nil {
		message.MessageID = record.Receipt.ID
		message.Cost = record.Receipt.Cost
		message.Currency = record.Receipt.Currency
	}
	return message
}

func (m listedMessage) text() string {
	columns := []string{m.Channel, safe(m.Reference), string(m.State), m.Verdict, safe(m.Reason), formatTime(m.Time)}
	return strings.Join(columns, "\t") + "\n"
}

// formatTime returns a time in UTC to the second, or "" for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// timeOf returns the time that list shows for a message in its state.
func timeOf(record messagingriver.Record) time.Time {
	switch record.State {
	case rivertype.JobStateCompleted, rivertype.JobStateCancelled, rivertype.JobStateDiscarded:
		return record.Finalized
	case rivertype.JobStateRunning:
		return record.Attempted
	case rivertype.JobStateScheduled, rivertype.JobStateRetryable:
		return record.Scheduled
	default: // River's scheduled time means nothing for a message that is due, and for one that is paused
		return record.Created
	}
}

const listHelp = `List the messages in a state: the channel, the reference ID, the state, the verdict, the reason and the time, separated by tabs.
Without --state, it lists the messages that need a decision, which are discarded. If no message matches, it says so on standard error
and, unless there is --campaign, names the states that have messages. With --json, it also prints the campaign and, for an accepted
message, the message ID, cost and currency. A message that was resolved as sent has these three only if an attempt or a lookup got them.

The states are those of River:

  waiting     available, scheduled, retryable or pending
  available   due: the next free worker sends it. If the verdict is unknown, the worker looks up an SMS instead, and discards a chat-app
              message if no outcome arrives. If the verdict is accepted, refused or not sent, the worker ends the message without a
              request. The time is when the message was enqueued
  scheduled   like available, but due at the time in the list
  retryable   like scheduled, after an attempt that failed or did not end
  pending     its campaign is paused. The time is when it was enqueued
  running     a worker has it. The time is when the worker took it
  completed   the service accepted it, or a person resolved it as sent. The time is that of the end, as for the next two states
  cancelled   it was refused, denied or invalid, it expired, or a person ended it
  discarded   the verdict is unknown, or the attempts are used up: decide with outbox resolve
  all         every message

` + verdictHelp

func (op *operator) list() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the messages in a state and why they are there",
		Args:  noArgs,
		Long:  listHelp,
		Example: `  outbox list
  outbox list --state waiting --channel sms
  outbox list --state all --campaign spring --json`,
	}
	var filter listFilter
	cmd.Flags().StringVar(&filter.channel, "channel", "", "the `channel` of the messages: sms, chatapp1 or chatapp2 (default all)")
	cmd.Flags().StringVar(&filter.campaign, "campaign", "", "the `name` of the campaign of the messages (default all messages)")
	cmd.Flags().StringVar(&filter.state, "state", "discarded", "the `state` of the messages, see above")
	cmd.RunE = op.withDatabase(requiresDatabase, func(cmd *cobra.Command, _ []string, db database) error {
		if err := checkChannel(filter.channel); err != nil {
			return err
		}
		if filter.campaign != "" { // a mistyped name is an error
			if _, err := db.Campaigns(cmd.Context(), filter.campaign); err != nil {
				return err
			}
		}
		listed, err := op.printList(cmd, db, filter)
		if err != nil || listed > 0 {
			return err
		}
		text, err := filter.emptyText(cmd.Context(), db)
		if err != nil {
			return err
		}
		cmd.PrintErrln("outbox:", text)
		return nil
	})
	return cmd
}

// listFilter has the flags that choose the messages of a list.
type listFilter struct {
	channel  string // empty for all
	campaign string // empty for all messages
	state    string
}

// matches reports whether a message is of the channel and the campaign.
func (f listFilter) matches(record messagingriver.Record) bool {
	isOfChannel := f.channel == "" || record.Channel == f.channel
	isOfCampaign := f.campaign == "" || record.Campaign == f.campaign
	return isOfChannel && isOfCampaign
}

// kind returns what the messages are called, such as "sms message".
func (f listFilter) kind() string { return strings.TrimSpace(f.channel + " message") }

// printList prints the messages that match a filter, and returns how many.
func (op *operator) printList(cmd *cobra.Command, db database, filter listFilter) (int, error) {
	states, err := statesNamed(filter.state)
	if err != nil {
		return 0, err
	}
	listed := 0
	for record, err := range db.List(cmd.Context(), states...) {
		if err != nil {
			return listed, err
		}
		if !filter.matches(record) {
			continue
		}
		listed++
		message := newListedMessage(record)
		if err := op.print(cmd.OutOrStdout(), message, message.text()); err != nil {
			return listed, err
		}
	}
	return listed, nil
}

// emptyText says that no message matches the filter and, unless it names a campaign, which other states have messages.
func (f listFilter) emptyText(ctx context.Context, db database) (string, error) {
	if f.campaign != "" {
		return fmt.Sprintf("no %s of the campaign matches --state %s; outbox status counts its messages", f.kind(), f.state), nil
	}
	counts, err := f.countByState(ctx, db)
	if err != nil {
		return "", err
	}
	found := countTexts(counts)
	if len(found) == 0 {
		return fmt.Sprintf("there are no %ss", f.kind()), nil
	}
	return fmt.Sprintf("no %s is %s; %s", f.kind(), f.state, strings.Join(found, "; ")), nil
}

// countByState returns how many messages of the channel are in each state.
func (f listFilter) countByState(ctx context.Context, db database) (map[rivertype.JobState]int, error) {
	channels, err := db.Status(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[rivertype.JobState]int{}
	for _, status := range channels {
		isOfChannel := f.channel == "" || status.Channel == f.channel
		if !isOfChannel {
			continue
		}
		for state, n := range status.States {
			counts[state] += n
		}
	}
	return counts, nil
}

// countTexts returns a text for each state that has messages, such as "2 are cancelled (--state cancelled)".
func countTexts(counts map[rivertype.JobState]int) []string {
	var texts []string
	for _, state := range statesInOrder() {
		n := counts[state]
		if n == 0 {
			continue
		}
		verb := "are"
		if n == 1 {
			verb = "is"
		}
		texts = append(texts, fmt.Sprintf("%d %s %s (--state %s)", n, verb, state, state))
	}
	return texts
}

// statesNamed returns the states that the value of --state names.
func statesNamed(name string) ([]rivertype.JobState, error) {
	state := rivertype.JobState(name)
	switch {
	case name == "all":
		return rivertype.JobStates(), nil
	case name == "waiting":
		return []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStateScheduled, rivertype.JobStateRetryable, rivertype.JobStatePending,
		}, nil
	case slices.Contains(rivertype.JobStates(), state):
		return []rivertype.JobState{state}, nil
	}
	allowed := []string{"waiting", "all"}
	for _, known := range rivertype.JobStates() {
		allowed = append(allowed, string(known))
	}
	return nil, fmt.Errorf("--state is %q; want one of %s", name, strings.Join(allowed, ", "))
}
