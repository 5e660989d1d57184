package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/messagingriver"
)

// channelPauser pauses and resumes channels.
type channelPauser interface {
	PauseChannel(ctx context.Context, channel string) error
	ResumeChannel(ctx context.Context, channel string) error
}

// channelResult is what pause or resume did, as JSON.
type channelResult struct {
	Done    string `json:"done"`
	Channel string `json:"channel"`
}

func (op *operator) pause() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pause CHANNEL",
		Short: "Pause a channel, such as sms, in all processes",
		Long: `Pause a channel in all processes: sms, chatapp1 or chatapp2. Messages can be enqueued meanwhile; they wait. Messages with an
expiry can expire during the pause: they are cancelled, and the program's OnOutcome is called, which may send a fallback. Requests that have
begun end, and processes hear of the pause within 2 seconds. Only a person ends the pause, with "outbox resume" or in River UI.
"outbox status" shows it.`,
		Example: `  outbox pause sms
  outbox resume sms`,
		Args: exactArgs("CHANNEL"),
	}
	cmd.RunE = op.withDatabase(requiresDatabase, func(cmd *cobra.Command, args []string, db database) error {
		channel := args[0]
		if err := db.PauseChannel(cmd.Context(), channel); err != nil {
			return err
		}
		text := fmt.Sprintf("%s is paused; outbox resume %s ends this\n", channel, channel)
		return op.print(cmd.OutOrStdout(), channelResult{Done: "pause", Channel: channel}, text)
	})
	return cmd
}

// pauseText returns why a channel is paused, or "" if it is not. isRunning reports whether a process runs.
func pauseText(status messagingriver.ChannelStatus, isRunning bool) string {
	switch {
	case !status.Paused:
		return ""
	case status.Cause == "":
		return fmt.Sprintf("%s is paused by a person; outbox resume %s ends this", status.Channel, status.Channel)
	default:
		return fmt.Sprintf("%s is paused: %s%s", status.Channel, safe(status.Cause), nextRequestText(status, isRunning))
	}
}

// nextRequestText returns when the outbox tries a paused channel again: not before a process runs. It is empty if a person paused the channel.
func nextRequestText(channel messagingriver.ChannelStatus, isRunning bool) string {
	isDue := channel.NextRequest.Before(time.Now())
	switch {
	case channel.NextRequest.IsZero():
		return ""
	case isDue && isRunning:
		return "; the next message is sent at once"
	case isDue:
		return "; the next message is sent when a process runs"
	case isRunning:
		return "; the next message is sent at " + formatTime(channel.NextRequest)
	default:
		return "; the next message is sent at " + formatTime(channel.NextRequest) + ", or later when a process runs"
	}
}

// heldBack returns why the message of a record is not sent now, although it waits and may be due, or "".
func heldBack(ctx context.Context, db database, record messagingriver.Record) (string, error) {
	if verdictWord(record) != waits {
		return "", nil
	}
	pause, err := pauseOf(ctx, db, record.Channel)
	if err != nil {
		return "", err
	}
	var reasons []string
	if hasExpired(record) {
		reasons = append(reasons, "it has expired, and will not be sent")
	}
	if record.State == rivertype.JobStatePending {
		reasons = append(reasons, fmt.Sprintf("campaign %s is paused; outbox campaign resume %s ends this", record.Campaign, record.Campaign))
	}
	if pause != "" {
		reasons = append(reasons, pause)
	}
	return strings.Join(reasons, ", and "), nil
}

// pauseOf returns why a channel is paused, or "" if it is not.
func pauseOf(ctx context.Context, db database, channel string) (string, error) {
	paused, err := db.PausedChannels(ctx)
	if err != nil {
		return "", err
	}
	for _, status := range paused {
		if status.Channel != channel {
			continue
		}
		senders, err := readProcesses(ctx, db)
		if err != nil {
			return "", err
		}
		return pauseText(status, senders.Running), nil
	}
	return "", nil
}

func (op *operator) resume() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume CHANNEL",
		Short: "End the pause of a channel",
		Long: `End the pause of a channel: sms, chatapp1 or chatapp2. It ends a pause by "outbox pause", by River UI or by the outbox. If the service is
still in trouble, the outbox pauses the channel again.`,
		Example: `  outbox resume sms`,
		Args:    exactArgs("CHANNEL"),
	}
	cmd.RunE = op.withDatabase(requiresDatabase, func(cmd *cobra.Command, args []string, db database) error {
		channel := args[0]
		pause, readErr := pauseOf(cmd.Context(), db, channel)
		if err := db.ResumeChannel(cmd.Context(), channel); err != nil { // it explains better than readErr what is wrong with the database
			return err
		}
		if readErr != nil {
			return readErr
		}
		text := channel + " was not paused\n"
		if pause != "" {
			text = channel + " is resumed\n"
		}
		return op.print(cmd.OutOrStdout(), channelResult{Done: "resume", Channel: channel}, text)
	})
	return cmd
}
