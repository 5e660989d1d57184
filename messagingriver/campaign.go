package messagingriver

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
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

// Campaigns returns the campaigns with these names, or all campaigns by name if none is given. A name without messages is an error
// that matches messaging.ErrNotFound. Campaigns reads all messages of the campaigns.
func (o *Outbox[TTx]) Campaigns(ctx context.Context, names ...string) ([]Campaign, error) {
	if len(names) == 0 {
		return o.campaigns(ctx, o.database.statements.allCampaigns)
	}
	var all []Campaign
	for _, name := range names {
		found, err := o.campaigns(ctx, o.database.statements.oneCampaign, name)
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

// campaignCount is how many messages of a campaign are in a state.
type campaignCount struct {
	Name     string
	State    rivertype.JobState
	Messages int
}

// campaigns returns the campaigns whose messages a statement counts, by name.
func (o *Outbox[TTx]) campaigns(ctx context.Context, statement string, args ...any) ([]Campaign, error) {
	var counts []campaignCount
	if err := o.database.readJSON(ctx, &counts, statement, args...); err != nil {
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
	return fmt.Errorf("messagingriver: there is no campaign %q: %w", name, messaging.ErrNotFound)
}

// PauseCampaign stops the waiting messages of a campaign, until ResumeCampaign, and returns how many. They become pending. While a campaign
// has pending messages, it is paused: messages that are enqueued for it are pending, too, and none is sent again. Attempts that have begun finish.
// Call PauseCampaign again to stop messages that a transaction under way enqueued. If it returns 0 and the campaign has no pending message
// (see Campaigns), nothing is paused: messages that are enqueued later are sent. A campaign without messages is an error that matches
// messaging.ErrNotFound.
func (o *Outbox[TTx]) PauseCampaign(ctx context.Context, name string) (stopped int, err error) {
	return o.changeCampaign(ctx, name, o.database.statements.pauseCampaign)
}

// campaignInterval is the time after which a message that was not waiting when its campaign was paused is tried again.
const campaignInterval = 10 * time.Second

// isCampaignPaused reports whether a campaign is paused: messages of it are pending.
func (o *Outbox[TTx]) isCampaignPaused(ctx context.Context, on riverdriver.Executor, campaign string) (bool, error) {
	if campaign == "" {
		return false, nil
	}
	isPaused := false
	_, err := o.database.scan(ctx, on, []any{&isPaused}, o.database.statements.isCampaignPaused, campaign)
	return isPaused, err
}

// ResumeCampaign ends what PauseCampaign began and returns how many messages wait again. Messages of the campaign that a guard postponed, paused
// or not, become due at once, and the guard is asked again. Call ResumeCampaign again to resume messages that a transaction under way enqueued as
// pending: as long as there is one, the campaign is paused.
func (o *Outbox[TTx]) ResumeCampaign(ctx context.Context, name string) (resumed int, err error) {
	return o.changeCampaign(ctx, name, o.database.statements.wakeCampaign, o.database.statements.resumeCampaign)
}

// CancelCampaign cancels the waiting messages of a campaign, paused or not, and returns how many. Their content is deleted. Attempts
// that have begun finish; call CancelCampaign again to cancel messages that they did not send.
func (o *Outbox[TTx]) CancelCampaign(ctx context.Context, name string) (cancelled int, err error) {
	return o.changeCampaign(ctx, name, o.database.statements.cancelCampaign)
}

// changeCampaign changes messages of a campaign with statements and returns how many. It is an error if the campaign has no messages.
func (o *Outbox[TTx]) changeCampaign(ctx context.Context, name string, statements ...string) (int, error) {
	changed, err := o.changeMessages(ctx, name, statements)
	if err != nil {
		return 0, err
	}
	if changed == 0 {
		_, err = o.Campaigns(ctx, name)
	}
	return changed, err
}

// changeMessages changes messages of a campaign, if it has any, and returns how many.
func (o *Outbox[TTx]) changeMessages(ctx context.Context, name string, statements []string) (int, error) {
	changed := 0
	err := o.database.inLongTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		for _, statement := range statements {
			n, err := o.database.changeMany(ctx, tx, statement, name)
			if err != nil {
				return err
			}
			changed += n
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return changed, nil
}
