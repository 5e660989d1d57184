package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
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
		Use: "pause CHANNEL", Short: "Pause a channel, such as sms, in all processes",
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

func (op *operator) resume() *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume CHANNEL", Short: "End the pause of a channel",
		Long: `End the pause of a channel: sms, chatapp1 or chatapp2. It ends a pause by "outbox pause", by River UI or by the outbox. If the service is
still in trouble, the outbox pauses the channel again.`,
		Example: `  outbox resume sms`,
		Args:    exactArgs("CHANNEL"),
	}
	cmd.RunE = op.withDatabase(requiresDatabase, func(cmd *cobra.Command, args []string, db database) error {
		channel := args[0]
		wasPaused, readErr := db.isPaused(cmd.Context(), channel)
		if err := db.ResumeChannel(cmd.Context(), channel); err != nil { // it explains better than readErr what is wrong with the database
			return err
		}
		if readErr != nil {
			return readErr
		}
		text := channel + " was not paused\n"
		if wasPaused {
			text = channel + " is resumed\n"
		}
		return op.print(cmd.OutOrStdout(), channelResult{Done: "resume", Channel: channel}, text)
	})
	return cmd
}
