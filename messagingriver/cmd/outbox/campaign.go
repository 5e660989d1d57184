package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/riverqueue/river/rivertype"
	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/messagingriver"
)

func (op *operator) campaign() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaign pause|resume|cancel NAME",
		Short: "Pause, resume or cancel the waiting messages of a campaign",
		Long: `Pause, resume or cancel the waiting messages of a campaign, and print how many. Attempts that have begun are not stopped: after
"cancel", run the command again for messages that they did not send. Cancelled messages are not sent, and their content is deleted.
"resume" also makes messages due that a guard postponed, paused or not: the guard is asked again.

A campaign is paused as long as one of its messages is pending: after "cancel", messages that are enqueued later are sent.

The exit status is 1 if "pause" paused nothing, because no message waits. It is 0 if the campaign was paused already.`,
		Example: `  outbox campaign pause spring
  outbox campaign resume spring`,
		Args: exactArgs("pause|resume|cancel", "NAME"),
	}
	cmd.RunE = op.withDatabase(requiresDatabase, func(cmd *cobra.Command, args []string, db database) error {
		verb := args[0]
		name := args[1]
		changed, err := changeCampaign(cmd.Context(), db, verb, name)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s: %d\n", verb, changed)
		if err = op.print(cmd.OutOrStdout(), result{Done: verb, Messages: &changed}, text); err != nil {
			return err
		}
		switch {
		case verb == "pause" && changed == 0:
			return explainUnpaused(cmd, db, name)
		case verb == "resume":
			return explainPausedChannels(cmd, db)
		default:
			return nil
		}
	})
	return cmd
}

// changeCampaign pauses, resumes or cancels the messages of a campaign, and returns how many.
func changeCampaign(ctx context.Context, db database, verb, name string) (int, error) {
	switch verb {
	case "pause":
		return db.PauseCampaign(ctx, name)
	case "resume":
		return db.ResumeCampaign(ctx, name)
	case "cancel":
		return db.CancelCampaign(ctx, name)
	default:
		return 0, fmt.Errorf("campaign: %q is not one of pause, resume and cancel", verb)
	}
}

// explainUnpaused says why pause changed no message of a campaign. It returns errFindings unless the campaign was paused before.
func explainUnpaused(cmd *cobra.Command, db database, campaign string) error {
	campaigns, err := db.Campaigns(cmd.Context(), campaign)
	if err != nil {
		return err
	}
	if paused := campaigns[0].States[rivertype.JobStatePending]; paused > 0 {
		cmd.PrintErrf("the campaign was paused already: %d messages are pending\n", paused)
		return nil
	}
	cmd.PrintErrln("no message waits, so nothing is paused: messages that are enqueued later are sent")
	return errFindings
}

// explainPausedChannels says which channels with waiting messages are paused: a campaign that is resumed still waits for them.
func explainPausedChannels(cmd *cobra.Command, db database) error {
	text, err := pausedChannelsText(cmd.Context(), db)
	if err != nil {
		return err
	}
	cmd.PrintErr(text)
	return nil
}

// pausedChannelsText returns a line for each paused channel that has waiting messages.
func pausedChannelsText(ctx context.Context, db database) (string, error) {
	channels, err := db.Status(ctx)
	if err != nil {
		return "", err
	}
	var paused []messagingriver.ChannelStatus
	for _, status := range channels {
		if status.Paused && hasWaitingMessages(status) {
			paused = append(paused, status)
		}
	}
	if len(paused) == 0 {
		return "", nil
	}
	senders, err := readProcesses(ctx, db)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, status := range paused {
		text.WriteString(pauseText(status, senders.Running) + "\n")
	}
	return text.String(), nil
}

// hasWaitingMessages reports whether messages of a channel wait for their time or for a worker, and not for their campaign.
func hasWaitingMessages(status messagingriver.ChannelStatus) bool {
	waiting := status.States[rivertype.JobStateAvailable] + status.States[rivertype.JobStateScheduled] + status.States[rivertype.JobStateRetryable]
	return waiting > 0
}

// campaignText returns how many messages of a campaign are in each state, as a line.
func campaignText(campaign messagingriver.Campaign) string {
	var text strings.Builder
	fmt.Fprintf(&text, "campaign %s:", safe(campaign.Name))
	for _, state := range statesInOrder() {
		if n := campaign.States[state]; n > 0 {
			fmt.Fprintf(&text, " %d %s", n, state)
		}
	}
	text.WriteString("\n")
	return text.String()
}
