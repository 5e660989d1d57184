package messagingriver

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// tend does what no job does for itself, every few seconds until ctx ends.
func (o *Outbox[TTx]) tend(ctx context.Context) {
	ticker := time.NewTicker(tendInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if o.mindClock(ctx) {
			o.tendOnce(ctx)
		}
	}
}

// mindClock stops River while the clock of this process is wrong, and reports whether it is right.
func (o *Outbox[TTx]) mindClock(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	difference, err := o.clockDifference(bounded)
	if err != nil {
		if ctx.Err() == nil {
			o.options.Logger.WarnContext(ctx, "messagingriver: the database cannot be reached", "error", err)
		}
		return false
	}
	isRight := difference <= maxClockDifference
	p := &o.process
	p.mu.Lock()
	worker := p.river
	p.mu.Unlock()
	switch {
	case !isRight && worker != nil:
		o.options.Logger.ErrorContext(ctx, "messagingriver: this process does not work, because its clock differs from the database's",
			"difference", difference.Round(time.Second), "allowed", maxClockDifference)
		if err := worker.Stop(ctx); err != nil {
			return false // the outbox stops
		}
		p.mu.Lock()
		p.river = nil
		p.mu.Unlock()
	case isRight && worker == nil:
		p.mu.Lock()
		err := o.startWorker(ctx)
		p.mu.Unlock()
		if err != nil {
			o.options.Logger.ErrorContext(ctx, "messagingriver: this process cannot work again", "error", err)
		}
	}
	return isRight
}

// tendOnce makes one round.
func (o *Outbox[TTx]) tendOnce(ctx context.Context) {
	check := func(what string, err error) {
		if err != nil && ctx.Err() == nil {
			o.options.Logger.WarnContext(ctx, "messagingriver: maintenance failed, and is repeated", "because", what, "error", err)
		}
	}
	check("rescued messages cannot be moved", o.database.exec(ctx, o.rescuedToLookups(), lookups))
	check("late outcomes cannot be recorded", o.recordLateOutcomes(ctx))
	check("the content of accepted messages cannot be deleted", o.database.exec(ctx, `
		UPDATE JOBS SET args = WITHOUT_MESSAGE WHERE id IN (SELECT id FROM JOBS WHERE `+hasContent+` LIMIT 5000)`))
	check("jobs of outcomes cannot be deleted", o.database.exec(ctx, `
		DELETE FROM JOBS WHERE kind = 'messaging_outcome' AND state = 'completed'`))
	check("paused queues cannot be read", o.replaceProbes(ctx))
}

// replaceProbes has another message probe in each held channel whose probe died or expired.
func (o *Outbox[TTx]) replaceProbes(ctx context.Context) error {
	var held []string
	if err := o.readJSON(ctx, &held, "SELECT LIST(name) FROM QUEUES WHERE "+isHeld); err != nil {
		return err
	}
	for channel := range o.channels {
		if slices.Contains(held, queueOf(channel)) {
			o.nextProbe(ctx, channel, time.Second)
		}
	}
	return nil
}

// rescuedToLookups returns the statement that moves messages whose process died and which may have been sent. In their own queue they would
// wait behind their campaign, or until a pause ends.
func (o *Outbox[TTx]) rescuedToLookups() string {
	inDoubt := "COALESCE(metadata->>'begun', '') <> COALESCE(metadata->>'ended', '')"
	if !o.database.isPostgres {
		inDoubt = "COALESCE(metadata->>'answered', 0) <> metadata->>'river:rescue_count'"
	}
	return `UPDATE JOBS SET queue = $1 WHERE kind = 'messaging' AND queue <> $1 AND state IN ('available', 'retryable', 'scheduled')
		AND metadata->'river:rescue_count' IS NOT NULL AND ` + inDoubt
}

// recordLateOutcomes completes messages that a frozen process recorded as accepted after they were discarded or cancelled.
func (o *Outbox[TTx]) recordLateOutcomes(ctx context.Context) error {
	params := river.NewJobListParams().Kinds(messageKind).First(1000).
		States(rivertype.JobStateDiscarded, rivertype.JobStateCancelled).Where("metadata->>'verdict' = 'accepted'")
	found, err := o.database.list(ctx, params)
	if err != nil {
		return fmt.Errorf("messagingriver: %w", err)
	}
	for _, job := range found.Jobs {
		err := o.database.exec(ctx, `UPDATE JOBS SET state = 'completed', finalized_at = NOW
			WHERE id = $1 AND state IN ('discarded', 'cancelled') AND metadata->>'verdict' = 'accepted'`, job.ID)
		if err == nil {
			err = o.announce(ctx, job.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
