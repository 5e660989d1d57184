// Package progress reports the progress of a campaign: from the records, which hold what became of each message, and from the stream,
// which holds the work that is left.
package progress

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
)

// rateWindow is the number of seconds over which the rate is measured.
const rateWindow = 5

// Status is the progress of a campaign.
type Status struct {
	// Messages counts the messages by state. Total counts all messages.
	Messages map[outbox.State]int
	Total    int
	// PossibleDuplicates counts the messages that may have been sent more than once: an attempt had no verdict when another started.
	PossibleDuplicates int
	// Unreadable counts the records that cannot be read.
	Unreadable int
	// PerSecond is the recent number of verdicts per second.
	PerSecond float64
	// Waiting is the number of messages in the stream, including those in flight. Oldest is how long the first of them has been there.
	Waiting uint64
	Oldest  time.Duration
	// Breakers are the open breakers.
	Breakers []outbox.Breaker
	// ToMend is what `campaign reconcile` would mend. Watch leaves it empty.
	ToMend outbox.Inspection
}

// Final returns the number of messages in a final state.
func (s Status) Final() int {
	n := 0
	for state, messages := range s.Messages {
		if state.IsFinal() {
			n += messages
		}
	}
	return n
}

// String returns the status in one line, and another for each problem.
func (s Status) String() string {
	var parts []string
	for _, state := range outbox.States() {
		if n := s.Messages[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	for _, problem := range []struct {
		n    int
		text string
	}{
		{s.PossibleDuplicates, "POSSIBLY SENT TWICE"},
		{s.Unreadable, "UNREADABLE"},
		{s.ToMend.Missing, "WITHOUT A TOKEN (run campaign reconcile)"},
		{s.ToMend.Lost, "WITHOUT A RECORD (run campaign reconcile)"},
	} {
		if problem.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", problem.n, problem.text))
		}
	}
	if parts == nil {
		parts = []string{"no messages"}
	}
	lines := []string{fmt.Sprintf("%s; %.0f/s", strings.Join(parts, ", "), s.PerSecond)}
	if s.Waiting > 0 {
		lines[0] += fmt.Sprintf("; lag %d, oldest %v", s.Waiting, s.Oldest.Round(100*time.Millisecond))
	}
	for _, b := range s.Breakers {
		lines = append(lines, fmt.Sprintf("BREAKER of %s open since %s: %s", b.Channel, b.Opened.Format(time.RFC3339), b.Reason))
	}
	return strings.Join(lines, "\n")
}

// Read returns the current status. Its memory does not grow with the number of records.
func Read(ctx context.Context, c *engine.Connection) (Status, error) {
	all := newCounter(false)
	for e, err := range outbox.All(ctx, c) {
		if err = all.count(e, err); err != nil {
			return Status{}, err
		}
	}
	status, err := all.status(ctx, c)
	if err != nil {
		return status, err
	}
	status.ToMend, err = outbox.Inspect(ctx, c, false, slog.New(slog.DiscardHandler))
	return status, err
}

// Watch reports the status at once and then once per interval, until report returns false or ctx ends. It takes about 30 bytes for each
// record.
func Watch(ctx context.Context, c *engine.Connection, interval time.Duration, report func(Status) (more bool)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all := newCounter(true)
	first := make(chan struct{})
	var follower sync.WaitGroup
	follower.Go(func() { cancel(all.follow(ctx, c, sync.OnceFunc(func() { close(first) }))) })
	defer follower.Wait()
	defer cancel(nil)
	select {
	case <-first:
	case <-ctx.Done():
		return watchError(ctx)
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		status, err := all.status(ctx, c)
		if err == nil && !report(status) { // an error may pass: the engine can be away for a while
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return watchError(ctx)
		}
	}
}

// watchError returns the cause of ctx's end, or nil if it was canceled.
func watchError(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// counter counts records by state.
type counter struct {
	mu         sync.Mutex
	states     map[uint64]mark // by the hash of the key; nil if each record comes once
	counts     map[outbox.State]int
	duplicates int
	unreadable int
	verdicts   [rateWindow]int // of recent seconds of the engine's clock, in turn
	latest     int64           // the last of these seconds
}

// mark is what was counted of a record.
type mark struct {
	state     byte // index in outbox.States
	duplicate bool
}

func newCounter(follows bool) *counter {
	c := &counter{counts: map[outbox.State]int{}}
	if follows {
		c.states = map[uint64]mark{}
	}
	return c
}

// follow counts all records, calls complete, and then counts the records that change.
func (c *counter) follow(ctx context.Context, connection *engine.Connection, complete func()) error {
	for e, err := range outbox.Follow(ctx, connection) {
		if err == nil && e.Key == "" {
			complete()
			continue
		}
		if err = c.count(e, err); err != nil {
			return err
		}
	}
	return nil
}

// count counts a record. It returns an error other than that of an unreadable record.
func (c *counter) count(e outbox.Entry, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(err, outbox.ErrUnreadable) {
		c.unreadable++
		return nil
	}
	if err != nil {
		return err
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(e.Key))
	before, known := c.states[h.Sum64()]
	states := outbox.States()
	if known {
		c.counts[states[before.state]]--
	}
	now := mark{duplicate: len(e.Overtaken) > 0}
	for i, state := range states {
		if state == e.State {
			now.state = byte(i)
		}
	}
	if c.states != nil {
		c.states[h.Sum64()] = now
	}
	c.counts[states[now.state]]++
	if now.duplicate && !before.duplicate {
		c.duplicates++
	}
	if e.State.IsFinal() && (!known || !states[before.state].IsFinal()) {
		c.advance(e.Since.Unix())
		if e.Since.Unix() > c.latest-rateWindow {
			c.verdicts[e.Since.Unix()%rateWindow]++
		}
	}
	return nil
}

// advance makes a second the latest, and forgets those that are too old.
func (c *counter) advance(second int64) {
	for ; c.latest < second; c.latest++ {
		if second-c.latest > rateWindow {
			c.latest = second - rateWindow
		}
		c.verdicts[(c.latest+1)%rateWindow] = 0
	}
}

// status combines the counts with the state of the stream. Times are the engine's.
func (c *counter) status(ctx context.Context, connection *engine.Connection) (Status, error) {
	stream, err := connection.Stream(ctx, engine.Outbox)
	if err != nil {
		return Status{}, err
	}
	info := stream.CachedInfo()
	s := Status{Waiting: info.State.Msgs, Messages: map[outbox.State]int{}}
	if s.Waiting > 0 {
		s.Oldest = max(0, info.TimeStamp.Sub(info.State.FirstTime))
	}
	if s.Breakers, err = outbox.Breakers(ctx, connection); err != nil {
		return Status{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for state, n := range c.counts {
		s.Messages[state] = n
		s.Total += n
	}
	s.PossibleDuplicates, s.Unreadable = c.duplicates, c.unreadable
	c.advance(info.TimeStamp.Unix())
	for _, n := range c.verdicts {
		s.PerSecond += float64(n) / rateWindow
	}
	return s, nil
}
