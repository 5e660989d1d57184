package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/metrics"
)

// Breaker says why no worker sends over a channel: the service has rejected the account, not a message.
type Breaker struct {
	Channel Channel `json:"-"`
	// Reason is the library's error text. It is empty if the breaker is closed.
	Reason string `json:"reason,omitempty"`
	// Opened is when the breaker was opened, and Until when the next message is tried, by the engine's clock.
	Opened time.Time `json:"opened,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	// Failures counts the failures since it was opened.
	Failures int `json:"failures,omitempty"`
}

// breakerPrefix starts the keys of breakers.
const breakerPrefix = "breaker."

// Breakers returns the open breakers.
func Breakers(ctx context.Context, c *engine.Connection) ([]Breaker, error) {
	bucket, err := c.Bucket(ctx, engine.Limits)
	if err != nil {
		return nil, err
	}
	var open []Breaker
	for _, channel := range engine.Channels() {
		found, err := bucket.Get(ctx, breakerPrefix+channel)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		var b Breaker
		if err == nil {
			err = json.Unmarshal(found.Value(), &b)
		}
		if err != nil {
			return nil, fmt.Errorf("outbox: reading the breaker of %s: %w", channel, err)
		}
		if b.Channel = Channel(channel); b.Reason != "" {
			open = append(open, b)
		}
	}
	return open, nil
}

// breakers are one worker's view of the breakers that all workers share. While a breaker is open, one message at a time is a probe:
// the worker that moves Until forward sends it.
type breakers struct {
	bucket  jetstream.KeyValue
	clock   *clock
	log     *slog.Logger
	monitor *metrics.Set
	// probeTime is how long a probe can take. After that another worker probes.
	probeTime time.Duration

	mu      sync.Mutex
	known   map[Channel]breakerState
	changed chan struct{} // closed when known changes
}

type breakerState struct {
	Breaker
	revision uint64
}

func newBreakers(bucket jetstream.KeyValue, clock *clock, log *slog.Logger, monitor *metrics.Set, probeTime time.Duration) *breakers {
	b := &breakers{bucket: bucket, clock: clock, log: log, monitor: monitor, probeTime: probeTime, known: map[Channel]breakerState{}, changed: make(chan struct{})}
	for _, channel := range engine.Channels() {
		monitor.Gauge("scaleout_breaker_open", func() float64 {
			if state, _ := b.state(Channel(channel)); state.Reason != "" {
				return 1
			}
			return 0
		}, "channel", channel)
	}
	return b
}

// follow keeps the view up to date until ctx ends.
func (b *breakers) follow(ctx context.Context) {
	for ctx.Err() == nil {
		watcher, err := b.bucket.Watch(ctx, breakerPrefix+"*")
		if err != nil {
			sleep(ctx, maxPause)
			continue
		}
		for found := range watcher.Updates() {
			var state breakerState
			if found != nil && json.Unmarshal(found.Value(), &state.Breaker) == nil {
				state.Channel, state.revision = Channel(strings.TrimPrefix(found.Key(), breakerPrefix)), found.Revision()
				b.learn(state)
			}
		}
	}
}

func (b *breakers) learn(state breakerState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if state.revision > b.known[state.Channel].revision {
		b.known[state.Channel] = state
		close(b.changed)
		b.changed = make(chan struct{})
	}
}

func (b *breakers) state(channel Channel) (state breakerState, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	state = b.known[channel]
	state.Channel = channel
	return state, b.changed
}

// wait returns when a message may be sent over a channel, or an error if ctx ends first. If it reports probe, the caller must report
// what became of the message.
func (b *breakers) wait(ctx context.Context, channel Channel) (probe bool, err error) {
	for {
		state, changed := b.state(channel)
		if state.Reason == "" {
			return false, ctx.Err()
		}
		now, err := b.clock.now(ctx)
		if err != nil {
			return false, err
		}
		if left := state.Until.Sub(now); left > 0 {
			timer := time.NewTimer(left)
			select {
			case <-timer.C:
			case <-changed:
			case <-ctx.Done():
			}
			timer.Stop()
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			continue
		}
		next := state
		next.Until = now.Add(b.probeTime)
		if b.write(ctx, next) {
			return true, nil
		}
		sleep(ctx, jitter(minPause)) // another worker was faster, and follow will learn of it
	}
}

// report opens a breaker if a message has failed for the account's sake, and closes it if a probe has succeeded.
func (b *breakers) report(ctx context.Context, channel Channel, probe bool, out outcome) {
	state, _ := b.state(channel)
	now, err := b.clock.now(ctx)
	if err != nil || !probe && (!out.account || state.Reason != "") {
		return
	}
	next := breakerState{Breaker: Breaker{Channel: channel}, revision: state.revision}
	switch {
	case out.untried: // another message is the probe
		next.Breaker = state.Breaker
		next.Until = now
		b.write(ctx, next)
		return
	case out.account, out.state == Unknown:
		const shortest, longest, longestAsked = 250 * time.Millisecond, time.Minute, time.Hour
		next.Reason, next.Opened, next.Failures = out.reason, state.Opened, state.Failures+1
		wait := min(shortest<<min(state.Failures, 10), longest)
		next.Until = now.Add(max(wait, min(out.retryAfter, longestAsked)))
		if state.Reason == "" {
			next.Opened = now
		}
	default: // the service has judged the message, and not the account
	}
	if !b.write(ctx, next) {
		return // another worker has reported
	}
	if next.Reason == "" {
		b.log.WarnContext(ctx, "breaker closed: the service takes messages again", slog.String("channel", string(channel)), slog.Duration("after", now.Sub(state.Opened)))
		return
	}
	b.monitor.Count("scaleout_alarms_total", "kind", "breaker_open")
	b.log.ErrorContext(ctx, "breaker open: messages stay queued, and one at a time is tried", slog.String("channel", string(channel)),
		slog.String("reason", next.Reason), slog.Int("failures", next.Failures), slog.Time("next_try", next.Until))
}

// write replaces the state of a breaker. It reports false if the state has changed or the engine does not respond.
func (b *breakers) write(ctx context.Context, next breakerState) bool {
	value, err := json.Marshal(next.Breaker)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	revision, err := b.bucket.Update(ctx, breakerPrefix+string(next.Channel), value, next.revision)
	if err != nil {
		return false
	}
	next.revision = revision
	b.learn(next)
	return true
}
