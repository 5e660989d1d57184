package messagingriver

import (
	"context"
	"fmt"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
)

// Campaign has the number of messages of a campaign in each state.
type Campaign struct {
	Name string `json:"name"`
	// States has the number of messages in each of River's states. Pending messages are paused.
	States map[rivertype.JobState]int `json:"states"`
}

// Unfinished returns how many messages may still change their state by themselves. The others were completed, cancelled or discarded.
func (c Campaign) Unfinished() int {
	n := 0
	for state, messages := range c.States {
		switch state {
		case rivertype.JobStateCompleted, rivertype.JobStateCancelled, rivertype.JobStateDiscarded:
		default:
			n += messages
		}
	}
	return n
}

// Campaigns returns the campaigns with these names, or all campaigns by name if none is given. A name without messages is an error.
// Campaigns reads all messages of the campaigns.
func (o *Outbox[TTx]) Campaigns(ctx context.Context, names ...string) ([]Campaign, error) {
	if len(names) == 0 {
		return o.campaigns(ctx, "metadata->>'campaign' IS NOT NULL")
	}
	var all []Campaign
	for _, name := range names {
		found, err := o.campaigns(ctx, "IN_CAMPAIGN", name)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, noCampaign(name)
		}
		all = append(all, found...)
	}
	return all, nil
}

// campaigns returns the campaigns of the messages that meet a condition, by name.
func (o *Outbox[TTx]) campaigns(ctx context.Context, which string, args ...any) ([]Campaign, error) {
	var counts []struct {
		Name     string
		State    rivertype.JobState
		Messages int
	}
	err := o.readJSON(ctx, &counts, `
		SELECT LIST(OBJECT('name', name, 'state', state, 'messages', messages)) FROM (
			SELECT metadata->>'campaign' AS name, state, COUNT(*) AS messages FROM JOBS WHERE kind = 'messaging' AND `+which+`
			GROUP BY 1, 2 ORDER BY 1) AS counted`, args...)
	if err != nil {
		return nil, err
	}
	var all []Campaign
	for _, count := range counts {
		if len(all) == 0 || all[len(all)-1].Name != count.Name {
			all = append(all, Campaign{Name: count.Name, States: map[rivertype.JobState]int{}})
		}
		all[len(all)-1].States[count.State] = count.Messages
	}
	return all, nil
}

func noCampaign(name string) error {
	return fmt.Errorf("messagingriver: there is no campaign %q", name)
}

// isInCampaign is the condition that a message is of the campaign $1.
const isInCampaign = "kind = 'messaging' AND IN_CAMPAIGN"

// isWaiting returns the condition that a message of the campaign $1 waits to be sent. Messages that are looked up, or soon will be, do not.
func (o *Outbox[TTx]) isWaiting() string {
	const isKnown = "COALESCE(metadata->>'verdict', '') <> 'unknown'" // an unknown message may not be in the queue of lookups yet
	return isInCampaign + " AND queue <> 'messaging_lookups' AND " + isKnown + " AND NOT (" + o.isRescuedInDoubt() + ")"
}

// PauseCampaign stops the waiting messages of a campaign, until ResumeCampaign, and returns how many. They become pending. While a campaign
// has pending messages, messages that are enqueued for it are pending, too. Attempts under way end; call PauseCampaign again to stop
// messages that they did not send, or that a transaction under way enqueued. A campaign without messages is an error.
func (o *Outbox[TTx]) PauseCampaign(ctx context.Context, name string) (int, error) {
	return o.changeCampaign(ctx, name, "SET state = 'pending' WHERE "+o.isWaiting()+" AND state IN ('available', 'scheduled', 'retryable')")
}

// ResumeCampaign ends what PauseCampaign began and returns how many messages wait again.
func (o *Outbox[TTx]) ResumeCampaign(ctx context.Context, name string) (int, error) {
	return o.changeCampaign(ctx, name, `SET state = CASE WHEN scheduled_at > NOW THEN CAST('scheduled' AS JOB_STATE)
		ELSE CAST('available' AS JOB_STATE) END WHERE `+isInCampaign+" AND state = 'pending'")
}

// CancelCampaign cancels the waiting messages of a campaign, paused or not, and returns how many. Their content is deleted. Attempts under
// way end; call CancelCampaign again to cancel messages that they did not send.
func (o *Outbox[TTx]) CancelCampaign(ctx context.Context, name string) (int, error) {
	return o.changeCampaign(ctx, name, `SET state = 'cancelled', finalized_at = NOW, args = WITHOUT_MESSAGE,
		metadata = MERGE('{"reason": "its campaign was cancelled", "classes": null}')
		WHERE `+o.isWaiting()+" AND state IN ('available', 'scheduled', 'retryable', 'pending')")
}

// changeCampaign changes messages of a campaign and returns how many.
func (o *Outbox[TTx]) changeCampaign(ctx context.Context, name, change string) (int, error) {
	if _, err := o.Campaigns(ctx, name); err != nil {
		return 0, err
	}
	tx, err := o.database.executor.Begin(ctx) // a large campaign takes longer than inTx allows
	if err != nil {
		return 0, o.database.explain(err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // nothing after the commit
	changed, err := o.database.update(ctx, tx, change, name)
	if err != nil {
		return 0, err
	}
	return changed, o.database.explain(tx.Commit(ctx))
}

// update changes jobs and returns how many.
func (d *database) update(ctx context.Context, tx riverdriver.ExecutorTx, change string, args ...any) (changed int, err error) {
	if d.isPostgres {
		_, err = d.scan(ctx, tx, []any{&changed}, "WITH changed AS (UPDATE JOBS "+change+" RETURNING 1) SELECT COUNT(*) FROM changed", args...)
		return changed, err
	}
	if err = tx.Exec(ctx, d.dialect.Replace("UPDATE JOBS "+change), args...); err != nil {
		return 0, d.explain(err)
	}
	_, err = d.scan(ctx, tx, []any{&changed}, "SELECT changes()")
	return changed, err
}
