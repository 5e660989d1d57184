package messagingriver

import (
	"context"
	"errors"
	"fmt"
)

// PauseCampaign stops the messages of a campaign at once, until ResumeCampaign. What is enqueued for it meanwhile waits, too.
// Messages under way end. A campaign without messages is an error.
func (o *Outbox[TTx]) PauseCampaign(ctx context.Context, name string) error {
	if err := o.knowsCampaign(ctx, name); err != nil {
		return err
	}
	if err := o.database.exec(ctx, "INSERT INTO messaging_pause (kind, name) VALUES ('campaign', $1) ON CONFLICT DO NOTHING", name); err != nil {
		return err
	}
	// That holds them. Without a time they are also out of the way of a claim.
	_, err := o.eachOf(ctx, name, "due_at IS NOT NULL", "UPDATE messaging_outbox SET due_at = NULL")
	return err
}

// ResumeCampaign ends what PauseCampaign began.
func (o *Outbox[TTx]) ResumeCampaign(ctx context.Context, name string) error {
	if err := o.knowsCampaign(ctx, name); err != nil {
		return err
	}
	if err := o.database.exec(ctx, "DELETE FROM messaging_pause WHERE kind = 'campaign' AND name = $1", name); err != nil {
		return err
	}
	_, err := o.eachOf(ctx, name, "due_at IS NULL", "UPDATE messaging_outbox SET due_at = LATER(not_before, created_at)")
	return err
}

// CancelCampaign drops the messages of a campaign that wait, and returns how many. It stops the campaign at once. Messages under
// way end, and one of them that is not sent waits again: then CancelCampaign can be called once more.
func (o *Outbox[TTx]) CancelCampaign(ctx context.Context, name string) (int, error) {
	if err := o.PauseCampaign(ctx, name); err != nil {
		return 0, err
	}
	n, err := o.eachOf(ctx, name, "true", `UPDATE messaging_outbox
		SET state = 'dropped', problem = 'its campaign was cancelled', message = NULL, recipient = NULL, due_at = CLOCK`)
	return n, errors.Join(err, o.ResumeCampaign(ctx, name))
}

func (o *Outbox[TTx]) knowsCampaign(ctx context.Context, name string) error {
	known, err := o.database.keys(ctx, "SELECT channel, reference FROM messaging_outbox WHERE campaign = $1 LIMIT 1", name)
	if err == nil && len(known) == 0 {
		err = fmt.Errorf("messagingriver: there is no campaign %q", name)
	}
	return err
}

// eachOf changes the messages of a campaign that wait and meet a condition, some at a time, and returns how many.
func (o *Outbox[TTx]) eachOf(ctx context.Context, campaign, condition, change string) (int, error) {
	return o.sweep(ctx, "campaign = $2 AND state = 'waiting' AND "+condition, change+" WHERE state = 'waiting' AND ", campaign)
}

// sweep changes all rows that meet a condition, a batch at a time, so that no statement holds many, and returns how many.
func (o *Outbox[TTx]) sweep(ctx context.Context, condition, change string, args ...any) (n int, err error) {
	for {
		changed, err := o.database.keys(ctx, "WITH batch AS MATERIALIZED (SELECT channel, reference FROM messaging_outbox WHERE "+condition+
			" LIMIT $1 UNLOCKED) "+change+inBatch+" RETURNING channel, reference", append([]any{batch}, args...)...)
		if n += len(changed); err != nil || len(changed) < batch {
			return n, err
		}
	}
}
