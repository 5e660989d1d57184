// Package progress reports the progress of a campaign: from the records, which hold what became of each message, and from the stream,
// which holds the work that is left.
package progress

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
)

// rateWindow is the time over which the rate is measured.
const rateWindow = 5 * time.Second

// Status is the progress of a campaign.
type Status struct {
	// Messages counts the messages by state. Total counts all messages.
	Messages map[outbox.State]int
	Total    int
	// PossibleDuplicates counts the messages that may have been sent more than once: an attempt was accepted after another had started.
	PossibleDuplicates int
	// PerSecond is the recent number of verdicts per second.
	PerSecond float64
	// Waiting is the number of messages in the stream, including those in flight. Oldest is how long the first of them has been there.
	Waiting uint64
	Oldest  time.Duration
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

// String returns the status in one line.
func (s Status) String() string {
	var parts []string
	for _, state := range outbox.States() {
		if n := s.Messages[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if s.PossibleDuplicates > 0 {
		parts = append(parts, fmt.Sprintf("%d POSSIBLY SENT TWICE", s.PossibleDuplicates))
	}
	if parts == nil {
		parts = []string{"no messages"}
	}
	line := fmt.Sprintf("%s; %.0f/s", strings.Join(parts, ", "), s.PerSecond)
	if s.Waiting > 0 {
		line += fmt.Sprintf("; lag %d, oldest %v", s.Waiting, s.Oldest.Round(100*time.Millisecond))
	}
	return line
}

// brief returns the status in the few words that fit beside a bar.
func (s Status) brief() string {
	var parts []string
	for _, state := range []outbox.State{outbox.Accepted, outbox.Refused, outbox.Parked} {
		if n := s.Messages[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	parts = append(parts, fmt.Sprintf("%.0f/s", s.PerSecond), fmt.Sprintf("lag %d", s.Waiting))
	return strings.Join(parts, ", ")
}

// Read returns the current status.
func Read(ctx context.Context, c *engine.Connection) (Status, error) {
	all := newCounter()
	for e, err := range outbox.All(ctx, c) {
		if err != nil {
			return Status{}, err
		}
		all.count(e)
	}
	return all.status(ctx, c)
}

// Watch reports the status at once and then once per interval, until report returns false or ctx ends.
func Watch(ctx context.Context, c *engine.Connection, interval time.Duration, report func(Status) (more bool)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all := newCounter()
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
	states     map[string]outbox.State
	counts     map[outbox.State]int
	duplicates map[string]struct{}
	final      []time.Time // times of recent verdicts
	hasEarlier bool        // there were verdicts before those
}

func newCounter() *counter {
	return &counter{states: map[string]outbox.State{}, counts: map[outbox.State]int{}, duplicates: map[string]struct{}{}}
}

// follow counts all records, calls complete, and then counts the records that change.
func (c *counter) follow(ctx context.Context, connection *engine.Connection, complete func()) error {
	for e, err := range outbox.Follow(ctx, connection) {
		if err != nil {
			return err
		}
		if e.Key == "" {
			complete()
			continue
		}
		c.count(e)
	}
	return nil
}

func (c *counter) count(e outbox.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, known := c.states[e.Key]
	if known {
		c.counts[before]--
	}
	c.states[e.Key] = e.State
	c.counts[e.State]++
	if len(e.OtherIDs) > 0 {
		c.duplicates[e.Key] = struct{}{}
	}
	if e.State.IsFinal() && !before.IsFinal() {
		c.final = append(c.final, e.Since)
	}
}

// status combines the counts with the state of the stream. Times are the engine's.
func (c *counter) status(ctx context.Context, connection *engine.Connection) (Status, error) {
	stream, err := connection.JetStream.Stream(ctx, engine.Outbox)
	if err != nil {
		return Status{}, fmt.Errorf("progress: stream %s: %w", engine.Outbox, err)
	}
	info := stream.CachedInfo()
	s := Status{Waiting: info.State.Msgs}
	if s.Waiting > 0 {
		s.Oldest = max(0, info.TimeStamp.Sub(info.State.FirstTime))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Messages = make(map[outbox.State]int, len(c.counts))
	for state, n := range c.counts {
		s.Messages[state] = n
		s.Total += n
	}
	s.PossibleDuplicates = len(c.duplicates)
	s.PerSecond = c.rate(info.TimeStamp)
	return s, nil
}

func (c *counter) rate(now time.Time) float64 {
	var recent []time.Time
	for _, at := range c.final {
		if now.Sub(at) < rateWindow {
			recent = append(recent, at)
		}
	}
	c.hasEarlier = c.hasEarlier || len(recent) < len(c.final)
	c.final = recent
	span := rateWindow
	if !c.hasEarlier && len(recent) > 0 { // the campaign has just started
		first := recent[0]
		for _, at := range recent {
			if at.Before(first) {
				first = at
			}
		}
		span = max(now.Sub(first), time.Second)
	}
	return float64(len(recent)) / span.Seconds()
}
