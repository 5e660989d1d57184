// Package progress tells how far a campaign has come: from the records, which say what became of each message, and from the stream,
// which says what is left to be done.
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

// recently is how far back the rate looks.
const recently = 5 * time.Second

// Status is how far a campaign has come.
type Status struct {
	// Messages counts the messages in each state, and Total all of them.
	Messages map[outbox.State]int
	Total    int
	// Doubles counts the messages that may have gone out more than once: an attempt was accepted when another had begun.
	Doubles int
	// PerSecond is how many messages got their verdict in a second, lately.
	PerSecond float64
	// Waiting is how many messages are in the stream, those under way included, and Oldest how long the first of them has been
	// there.
	Waiting uint64
	Oldest  time.Duration
}

// Final counts the messages for which no process has anything left to do.
func (s Status) Final() int {
	n := 0
	for state, messages := range s.Messages {
		if state.IsFinal() {
			n += messages
		}
	}
	return n
}

// String gives the status in one line.
func (s Status) String() string {
	var parts []string
	for _, state := range outbox.States() {
		if n := s.Messages[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if s.Doubles > 0 {
		parts = append(parts, fmt.Sprintf("%d PERHAPS SENT TWICE", s.Doubles))
	}
	if parts == nil {
		parts = []string{"no messages"}
	}
	line := fmt.Sprintf("%s; %.0f/s", strings.Join(parts, ", "), s.PerSecond)
	if s.Waiting > 0 {
		line += fmt.Sprintf("; lag %d, the oldest %v", s.Waiting, s.Oldest.Round(100*time.Millisecond))
	}
	return line
}

// brief is what fits beside a bar.
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

// Read gives the status of this moment.
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

// Watch reports the status at once and again and again, until report returns false or the context ends.
func Watch(ctx context.Context, c *engine.Connection, every time.Duration, report func(Status) (more bool)) error {
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
		return cause(ctx)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		status, err := all.status(ctx, c)
		if err == nil && !report(status) { // an engine that is away has no status; the next may have
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return cause(ctx)
		}
	}
}

// cause is nil where somebody just wanted no more.
func cause(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// counter counts records.
type counter struct {
	mu      sync.Mutex
	states  map[string]outbox.State
	counts  map[outbox.State]int
	doubles map[string]struct{}
	final   []time.Time // when the last messages got their verdict
	earlier bool        // others had got theirs before those
}

func newCounter() *counter {
	return &counter{states: map[string]outbox.State{}, counts: map[outbox.State]int{}, doubles: map[string]struct{}{}}
}

// follow counts the records, calls complete when it has seen all, and goes on with those that change.
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
		c.doubles[e.Key] = struct{}{}
	}
	if e.State.IsFinal() && !before.IsFinal() {
		c.final = append(c.final, e.Since)
	}
}

// status adds what the stream says. The time is the engine's.
func (c *counter) status(ctx context.Context, connection *engine.Connection) (Status, error) {
	stream, err := connection.JetStream.Stream(ctx, engine.Outbox)
	if err != nil {
		return Status{}, fmt.Errorf("progress: the stream %s: %w", engine.Outbox, err)
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
	s.Doubles = len(c.doubles)
	s.PerSecond = c.rate(info.TimeStamp)
	return s, nil
}

func (c *counter) rate(now time.Time) float64 {
	var lately []time.Time
	for _, at := range c.final {
		if now.Sub(at) < recently {
			lately = append(lately, at)
		}
	}
	c.earlier = c.earlier || len(lately) < len(c.final)
	c.final = lately
	span := recently
	if !c.earlier && len(lately) > 0 { // it has only begun
		first := lately[0]
		for _, at := range lately {
			if at.Before(first) {
				first = at
			}
		}
		span = max(now.Sub(first), time.Second)
	}
	return float64(len(lately)) / span.Seconds()
}
