package messagingriver

import (
	"context"
	"fmt"
)

// Campaign is how many messages of a campaign are in each state.
type Campaign struct {
	Name   string        `json:"name"`
	Paused bool          `json:"paused"`
	States map[State]int `json:"states"`
	// AtLeast reports whether there may be more messages than were counted.
	AtLeast bool `json:"atLeast,omitempty"`
}

// Campaigns returns the campaigns of which there are messages, the first thousand by name. Each has an equal share of a million messages
// that are counted in each state, so that the outbox may be of any size.
func (o *Outbox[TTx]) Campaigns(ctx context.Context) ([]Campaign, error) {
	var states list[StateCount]
	for _, state := range States() {
		states = append(states, StateCount{State: state})
	}
	type row struct {
		Campaign

		state   State
		n, most int
	}
	rows, err := fetchMany(ctx, o, func(r *row) []any { return []any{&r.Name, &r.Paused, &r.state, &r.n, &r.most} }, `
		WITH RECURSIVE names(name) AS ( -- one after another by the index, which has each campaign many times
				SELECT MIN(campaign) FROM messaging_outbox WHERE campaign IS NOT NULL
				UNION ALL SELECT (SELECT MIN(campaign) FROM messaging_outbox WHERE campaign > name) FROM names WHERE name IS NOT NULL),
			listed AS MATERIALIZED (SELECT name FROM names WHERE name IS NOT NULL LIMIT 1000),
			bound AS MATERIALIZED (SELECT 1000000 / COUNT(*) AS most FROM listed)
		SELECT name, EXISTS (SELECT 1 FROM messaging_pause p WHERE p.kind = 'campaign' AND p.name = listed.name), value->>'state',
			(SELECT COUNT(*) FROM (SELECT 1 FROM messaging_outbox WHERE campaign = listed.name AND state = value->>'state'
				LIMIT (SELECT most FROM bound)) AS counted), (SELECT most FROM bound)
		FROM listed CROSS JOIN ROWS ORDER BY name`, states)
	var all []Campaign
	for _, r := range rows {
		if len(all) == 0 || all[len(all)-1].Name != r.Name {
			r.States = map[State]int{}
			all = append(all, r.Campaign)
		}
		last := &all[len(all)-1]
		if r.n > 0 {
			last.States[r.state] = r.n
		}
		last.AtLeast = last.AtLeast || r.n == r.most
	}
	return all, err
}

// PauseCampaign stops the messages of a campaign at once, until ResumeCampaign. What is enqueued for it meanwhile waits, too.
// Messages under way end. A campaign without messages is an error.
func (o *Outbox[TTx]) PauseCampaign(ctx context.Context, name string) error {
	// The pause holds them. Without a time they are also out of the way of a claim.
	_, err := o.changeCampaign(ctx, name, beginPause, " AND due_at IS NOT NULL", "due_at = NULL")
	return err
}

const (
	beginPause = "INSERT INTO messaging_pause (kind, name) VALUES ('campaign', $1) ON CONFLICT DO NOTHING"
	endPause   = "DELETE FROM messaging_pause WHERE kind = 'campaign' AND name = $1"
)

// ResumeCampaign ends what PauseCampaign began.
func (o *Outbox[TTx]) ResumeCampaign(ctx context.Context, name string) error {
	_, err := o.changeCampaign(ctx, name, endPause, " AND due_at IS NULL", "due_at = LATER(not_before, created_at)")
	return err
}

func (o *Outbox[TTx]) changeCampaign(ctx context.Context, name, pause, which, set string) (int, error) {
	if err := o.knowsCampaign(ctx, name); err != nil {
		return 0, err
	}
	if err := o.database.exec(ctx, pause, name); err != nil {
		return 0, err
	}
	return o.sweep(ctx, "campaign = $2 AND state = 'waiting'"+which, set, name)
}

// CancelCampaign drops the messages of a campaign that wait, and returns how many. It stops the campaign at once. Messages under
// way end, and one of them that is not sent waits again: then CancelCampaign can be called once more.
func (o *Outbox[TTx]) CancelCampaign(ctx context.Context, name string) (int, error) {
	n, err := o.changeCampaign(ctx, name, beginPause, "",
		"state = 'dropped', problem = 'its campaign was cancelled', message = NULL, recipient = NULL, due_at = CLOCK")
	if err != nil {
		return n, err
	}
	return n, o.ResumeCampaign(ctx, name)
}

func (o *Outbox[TTx]) knowsCampaign(ctx context.Context, name string) error {
	// The order has the index serve it. Otherwise PostgreSQL may look for a large campaign row by row.
	known, err := o.database.keys(ctx, "SELECT channel, reference FROM messaging_outbox WHERE campaign = $1 ORDER BY state LIMIT 1", name)
	if err == nil && len(known) == 0 {
		err = fmt.Errorf("messagingriver: there is no campaign %q", name)
	}
	return err
}

// sweep changes all messages that wait and meet a condition, a batch at a time, so that no statement holds many. It returns how
// many.
func (o *Outbox[TTx]) sweep(ctx context.Context, condition, set string, args ...any) (n int, err error) {
	for {
		changed, err := o.database.keys(ctx, "WITH batch AS MATERIALIZED (SELECT channel, reference FROM messaging_outbox WHERE "+condition+
			" LIMIT $1 UNLOCKED) UPDATE messaging_outbox SET "+set+" WHERE state = 'waiting' AND "+inBatch+" RETURNING channel, reference",
			append([]any{batch}, args...)...)
		if n += len(changed); err != nil || len(changed) < batch {
			return n, err
		}
	}
}
