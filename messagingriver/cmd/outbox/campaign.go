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
		Use: "campaign pause|resume|cancel NAME", Short: "Pause, resume or cancel the waiting messages of a campaign",
		Long: `Pause, resume or cancel the waiting messages of a campaign, and print how many. Attempts that have begun are not stopped: after
"cancel", run the command again for messages that they did not send. Cancelled messages are not sent, and their content is deleted.
"resume" also makes messages due that a guard postponed, paused or not: the guard is asked again.

A campaign is paused as long as one of its messages is pending: after "cancel", messages that are enqueued later are sent.`,
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
		hint, err := campaignHint(cmd.Context(), db, verb, name, changed)
		if err != nil {
			return err
		}
		cmd.PrintErr(hint)
		return nil
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

// campaignHint returns what a person may not expect after a change of a campaign, or "".
func campaignHint(ctx context.Context, db database, verb, name string, changed int) (string, error) {
	switch {
	case verb == "pause" && changed == 0:
		return unpausedText(ctx, db, name)
	case verb == "resume":
		return pausedChannelsText(ctx, db)
	default:
		return "", nil
	}
}

// unpausedText says why pause changed no message of a campaign.
func unpausedText(ctx context.Context, db database, campaign string) (string, error) {
	campaigns, err := db.Campaigns(ctx, campaign)
	if err != nil {
		return "", err
	}
	if paused := campaigns[0].States[rivertype.JobStatePending]; paused > 0 {
		return fmt.Sprintf("the campaign was paused already: %d messages are pending\n", paused), nil
	}
	return "no message waits, so nothing is paused: messages that are enqueued later are sent\n", nil
}

// pausedChannelsText says which channels with waiting messages are paused: a campaign that is resumed still waits for them.
func pausedChannelsText(ctx context.Context, db database) (string, error) {
	channels, err := db.Status(ctx)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, status := range channels {
		waiting := status.States[rivertype.JobStateAvailable] + status.States[rivertype.JobStateScheduled] + status.States[rivertype.JobStateRetryable]
		if status.Paused && waiting > 0 {
			text.WriteString(pauseText(status) + "\n")
		}
	}
	return text.String(), nil
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
