package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/messagingriver"
)

// overview is the state of the outbox.
type overview struct {
	Processes processes
	Channels  []messagingriver.ChannelStatus
	Campaigns []messagingriver.Campaign
}

// MarshalJSON writes durations as seconds, which programs in other languages can read.
func (o overview) MarshalJSON() ([]byte, error) {
	type channel struct {
		messagingriver.ChannelStatus

		Oldest float64 `json:"oldest"` // hides that of ChannelStatus
	}
	channels := make([]channel, len(o.Channels))
	for i, status := range o.Channels {
		channels[i] = channel{status, status.Oldest.Seconds()}
	}
	return json.Marshal(struct {
		Processes processes                 `json:"processes"`
		Channels  []channel                 `json:"channels"`
		Campaigns []messagingriver.Campaign `json:"campaigns,omitempty"`
	}{o.Processes, channels, o.Campaigns})
}

func (op *operator) status() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Count messages by channel, state and campaign, and show pauses and whether a process runs",
		Args:  noArgs,
		Long: `Count the messages by channel, state and campaign, and show which channels are paused and whether a process runs that sends.
"outbox list --help" explains the states.

The first four states are of messages that wait, the last three are final. The column "looked up" counts the SMS that wait and whose
verdict is unknown: they may have been sent, and are looked up in the listing of the service. They are also counted under their
state. The column "oldest" is how long the oldest message that is due has waited, in JSON in seconds; it includes no message that
is looked up.

If no process runs, it says so within 25 seconds, and when the last was seen: to about 10 seconds if it was killed, and by its last
attempt if it stopped. It also says how many messages workers have, if a killed process may be one of them. Another process takes those
up to 45 seconds after SendTimeout; the times are for 30 seconds, the default. Messages that no worker has do not wait so long.`,
		Example: `  outbox status
  outbox status --json`,
	}
	cmd.RunE = op.withDatabase(requiresDatabase, func(cmd *cobra.Command, _ []string, db database) error {
		channels, err := db.Status(cmd.Context())
		if err != nil {
			return err
		}
		campaigns, err := db.Campaigns(cmd.Context())
		if err != nil {
			return err
		}
		running, err := readProcesses(cmd.Context(), db)
		if err != nil {
			return err
		}
		current := overview{running, channels, campaigns}
		return op.print(cmd.OutOrStdout(), current, current.text())
	})
	return cmd
}

// statesInOrder returns River's states in the order in which a message passes through them.
func statesInOrder() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStatePending,
		rivertype.JobStateScheduled,
		rivertype.JobStateAvailable,
		rivertype.JobStateRetryable,
		rivertype.JobStateRunning,
		rivertype.JobStateCompleted,
		rivertype.JobStateCancelled,
		rivertype.JobStateDiscarded,
	}
}

// text returns the overview as a table, with lines about processes, pauses, discarded messages and campaigns.
func (o overview) text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%-10s", "")
	for _, state := range statesInOrder() {
		fmt.Fprintf(&text, "%10s", state)
	}
	fmt.Fprintf(&text, "%11s%10s\n", "looked up", "oldest")
	for _, channel := range o.Channels {
		fmt.Fprintf(&text, "%-10s", channel.Channel)
		for _, state := range statesInOrder() {
			fmt.Fprintf(&text, "%10d", channel.States[state])
		}
		fmt.Fprintf(&text, "%11d%10v\n", channel.LookedUp, channel.Oldest.Round(time.Second))
	}
	text.WriteString(o.Processes.text(time.Now()))
	for _, channel := range o.Channels {
		if channel.Paused {
			text.WriteString(pauseText(channel, o.Processes.Running) + "\n")
		}
		if n := channel.States[rivertype.JobStateDiscarded]; n > 0 {
			fmt.Fprintf(&text, "%s: %d discarded; outbox list shows why, and outbox resolve decides\n", channel.Channel, n)
		}
	}
	for _, campaign := range o.Campaigns {
		text.WriteString(campaignText(campaign))
	}
	return text.String()
}
