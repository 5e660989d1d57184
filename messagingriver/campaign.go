package messagingriver

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Campaign is how many messages of a campaign are in each state.
type Campaign struct {
	Name   string        `json:"name"`
	Paused bool          `json:"paused"`
	States map[State]int `json:"states"`
	// AtLeast reports whether there may be more messages than were counted.
	AtLeast bool `json:"atLeast,omitempty"`
}

// Campaigns returns the campaigns with these names, or the first thousand by name if none is given. One without messages is an error.
// In each state 200,000 messages of a campaign are counted, or its equal share of a million if that is less.
func (o *Outbox[TTx]) Campaigns(ctx context.Context, names ...string) ([]Campaign, error) {
	wanted := make(list[Campaign], len(names))
	for i, name := range names {
		wanted[i].Name = name
	}
	if len(names) == 0 {
		var err error
		wanted, err = fetch(ctx, o.database, func(c *Campaign) []any { return []any{&c.Name} }, `
			WITH RECURSIVE names(name) AS ( -- one after another by the index, which has each campaign many times
				SELECT MIN(campaign) FROM messaging_outbox WHERE campaign IS NOT NULL
				UNION ALL SELECT (SELECT MIN(campaign) FROM messaging_outbox WHERE campaign > name) FROM names WHERE name IS NOT NULL)
			SELECT name FROM names WHERE name IS NOT NULL LIMIT 1000`)
		if err != nil || len(wanted) == 0 {
			return nil, err
		}
	}
	type counted struct {
		Campaign

		counts [8]int
	}
	most := min(200_000, 1_000_000/len(wanted))
	var counts strings.Builder
	for _, state := range States() {
		fmt.Fprintf(&counts, `, (SELECT COUNT(*) FROM (SELECT 1 FROM messaging_outbox
			WHERE campaign = value->>'name' AND state = '%s' LIMIT $2) AS counted)`, state)
	}
	found, err := fetchMany(ctx, o, func(c *counted) []any {
		n := &c.counts
		return []any{&c.Name, &c.Paused, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]}
	}, `
		SELECT value->>'name', EXISTS (SELECT 1 FROM messaging_pause p WHERE p.kind = 'campaign' AND p.name = value->>'name')`+
		counts.String()+" FROM ROWS ORDER BY 1", wanted, most)
	all := make([]Campaign, len(found))
	for i, c := range found {
		all[i] = Campaign{c.Name, c.Paused, map[State]int{}, slices.Contains(c.counts[:], most)}
		for j, state := range States() {
			if c.counts[j] > 0 {
				all[i].States[state] = c.counts[j]
			}
		}
		if len(names) > 0 && len(all[i].States) == 0 {
			return nil, noCampaign(c.Name)
		}
	}
	return all, err
}

func noCampaign(name string) error {
	return fmt.Errorf("messagingriver: there is no campaign %q", name)
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
	// The order has the index serve it. Otherwise PostgreSQL may look for a large campaign row by row.
	known, err := o.database.keys(ctx, "SELECT channel, reference FROM messaging_outbox WHERE campaign = $1 ORDER BY state LIMIT 1", name)
	if err != nil {
		return 0, err
	}
	if len(known) == 0 {
		return 0, noCampaign(name)
	}
	if err := o.database.exec(ctx, pause, name); err != nil {
		return 0, err
	}
	return o.sweep(ctx, "campaign = $2"+which, set, name)
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

// sweep changes all messages that wait and meet a condition, a batch at a time, so that no statement holds many. It returns how
// many.
func (o *Outbox[TTx]) sweep(ctx context.Context, condition, set string, args ...any) (n int, err error) {
	for {
		changed, err := o.changeSome(ctx, "UPDATE messaging_outbox SET "+set, "state = 'waiting'", condition, args...)
		if n += changed; err != nil || changed < batch {
			return n, err
		}
	}
}
