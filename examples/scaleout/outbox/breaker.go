package outbox

import (
	"context"
	"log/slog"
	"time"

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

func sharedBreaker(o *Outbox, channel string) *shared[Breaker] {
	return &shared[Breaker]{outbox: o, key: "breaker." + channel}
}

// Breakers returns the open breakers.
func (o *Outbox) Breakers(ctx context.Context) (open []Breaker, err error) {
	for _, channel := range engine.Channels() {
		b, _, err := sharedBreaker(o, channel).read(ctx, 0)
		if err != nil {
			return nil, err
		}
		if b.Channel = Channel(channel); b.Reason != "" {
			open = append(open, b)
		}
	}
	return open, nil
}

// breakerTTL is how long a worker relies on the last state of a breaker that it has read.
const breakerTTL = time.Second

// breaker is one worker's view of the breaker of a channel. While it is open, one message at a time is a probe: the worker that moves Until
// forward sends it.
type breaker struct {
	*shared[Breaker]

	channel string
	clock   *clock
	monitor *metrics.Set
	// probeTime is how long a probe can take. After that another worker probes.
	probeTime time.Duration
}

func newBreaker(o *Outbox, channel string, clock *clock, monitor *metrics.Set, probeTime time.Duration) *breaker {
	b := &breaker{shared: sharedBreaker(o, channel), channel: channel, clock: clock, monitor: monitor, probeTime: probeTime}
	monitor.Gauge("scaleout_breaker_open", func() float64 {
		if b.last().Reason != "" {
			return 1
		}
		return 0
	}, "channel", channel)
	return b
}

// now returns the state, its revision, and the time.
func (b *breaker) now(ctx context.Context) (state Breaker, revision uint64, now time.Time, err error) {
	if now, err = b.clock.now(ctx); err == nil {
		state, revision, err = b.read(ctx, breakerTTL)
	}
	return state, revision, now, err
}

// wait returns when a message may be sent, or an error if ctx ends first. If it reports probe, the caller must report what became of
// the message.
func (b *breaker) wait(ctx context.Context) (probe bool, err error) {
	for ctx.Err() == nil {
		state, revision, now, err := b.now(ctx)
		switch {
		case err != nil || state.Reason == "":
			return false, err
		case state.Until.After(now):
			engine.Sleep(ctx, min(state.Until.Sub(now), breakerTTL))
			continue
		}
		state.Until = now.Add(b.probeTime)
		if ok, err := b.swap(ctx, state, revision); ok || err != nil {
			return ok, err
		}
		engine.Sleep(ctx, engine.Jitter(shortPause)) // another worker was faster
	}
	return false, ctx.Err()
}

// report opens the breaker if a message has failed for the account's sake, and closes it if a probe has succeeded.
func (b *breaker) report(ctx context.Context, probe bool, out outcome) {
	state, revision, now, err := b.now(ctx)
	if err != nil || !probe && (!out.account || state.Reason != "") {
		return
	}
	next := Breaker{}
	switch {
	case out.untried: // another message is the probe
		next = state
		next.Until = now
		_, _ = b.swap(ctx, next, revision)
		return
	case out.account, out.state == Unknown:
		const shortest, longest, longestAsked = 250 * time.Millisecond, time.Minute, time.Hour
		next = Breaker{Reason: out.reason, Opened: state.Opened, Failures: state.Failures + 1}
		wait := min(shortest<<min(state.Failures, 10), longest)
		next.Until = now.Add(max(wait, min(out.retryAfter, longestAsked)))
		if state.Reason == "" {
			next.Opened = now
		}
	default: // the service has judged the message, and not the account
	}
	if ok, err := b.swap(ctx, next, revision); err != nil || !ok {
		return // another worker has reported
	}
	log := b.clock.engine.Log.With(slog.String("channel", b.channel))
	if next.Reason == "" {
		log.WarnContext(ctx, "breaker closed: the service takes messages again", slog.Duration("after", now.Sub(state.Opened)))
		return
	}
	alarm(ctx, log, b.monitor, "breaker_open", "breaker open: messages stay queued, and one at a time is tried",
		slog.String("reason", next.Reason), slog.Int("failures", next.Failures), slog.Time("next_try", next.Until))
}
