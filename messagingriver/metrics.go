package messagingriver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Observe registers gauges of the outbox with a meter. Every process exports the numbers of the whole outbox, so take their maximum. They
// are read from the database when they are exported, at most every ten seconds. Completed and cancelled messages are not included: package
// messagingotel counts sent messages.
//
//	messaging.outbox.messages    {message}  messages in a state of River            messaging.destination.name, messaging.outbox.state
//	messaging.outbox.looked_up   {message}  messages that are looked up             messaging.destination.name
//	messaging.outbox.oldest.age  s          wait of the oldest message that is due  messaging.destination.name
//	messaging.outbox.paused      {queue}    1 while a person paused the queue       messaging.destination.name
//	messaging.outbox.held        {queue}    1 while the outbox paused the queue     messaging.destination.name
//	messaging.outbox.unreported  {outcome}  outcomes for which OnOutcome failed
//
// An outcome is unreported from a failed call of OnOutcome until a call succeeds; the log says why it failed.
//
// Unregister the registration before the database is closed.
func (o *Outbox[TTx]) Observe(meter metric.Meter) (metric.Registration, error) {
	var g gauges
	if err := g.create(meter); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var last figures
	var readAt time.Time
	callback := func(ctx context.Context, observer metric.Observer) error {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(readAt) > 10*time.Second {
			current, err := o.readFigures(ctx)
			if err != nil {
				return err
			}
			last = current
			readAt = time.Now()
		}
		for _, channel := range last.channels {
			g.observeChannel(observer, channel)
		}
		observer.ObserveFloat64(g.unreported, float64(last.unreported))
		return nil
	}
	return meter.RegisterCallback(callback, g.messages, g.lookedUp, g.oldestAge, g.paused, g.held, g.unreported)
}

// figures are what the gauges show.
type figures struct {
	channels   []ChannelStatus
	unreported int // outcomes for which OnOutcome failed
}

// readFigures reads the figures from the database.
func (o *Outbox[TTx]) readFigures(ctx context.Context) (figures, error) {
	channels, err := o.openStatus(ctx)
	if err != nil {
		return figures{}, err
	}
	f := figures{channels: channels}
	_, err = o.database.scan(ctx, o.database.executor, []any{&f.unreported}, countUnreported)
	return f, err
}

// gauges are the instruments of an outbox.
type gauges struct {
	messages   metric.Float64ObservableGauge
	lookedUp   metric.Float64ObservableGauge
	oldestAge  metric.Float64ObservableGauge
	paused     metric.Float64ObservableGauge
	held       metric.Float64ObservableGauge
	unreported metric.Float64ObservableGauge
}

func (g *gauges) create(meter metric.Meter) error {
	var errs error
	gauge := func(name, unit, description string) metric.Float64ObservableGauge {
		created, err := meter.Float64ObservableGauge("messaging.outbox."+name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = errors.Join(errs, err)
		return created
	}
	g.messages = gauge("messages", "{message}", "Number of messages in the outbox that are not completed or cancelled.")
	g.lookedUp = gauge("looked_up", "{message}", "Number of messages with an unknown outcome that are looked up.")
	g.oldestAge = gauge("oldest.age", "s", "How long the oldest message that is due has waited.")
	g.paused = gauge("paused", "{queue}", "1 while a person paused the queue of the channel, otherwise 0.")
	g.held = gauge("held", "{queue}", "1 while the outbox paused the queue of the channel, otherwise 0.")
	g.unreported = gauge("unreported", "{outcome}", "Number of outcomes for which OnOutcome failed and is called again.")
	return errs
}

// observeChannel records the figures of a channel.
func (g *gauges) observeChannel(observer metric.Observer, channel ChannelStatus) {
	name := attribute.String("messaging.destination.name", channel.Channel)
	isHeld := channel.Paused && channel.Cause != ""
	isPausedByPerson := channel.Paused && channel.Cause == ""
	observer.ObserveFloat64(g.lookedUp, float64(channel.LookedUp), metric.WithAttributes(name))
	observer.ObserveFloat64(g.oldestAge, channel.Oldest.Seconds(), metric.WithAttributes(name))
	observer.ObserveFloat64(g.paused, oneIf(isPausedByPerson), metric.WithAttributes(name))
	observer.ObserveFloat64(g.held, oneIf(isHeld), metric.WithAttributes(name))
	for _, state := range rivertype.JobStates() { // including states without messages, so that an alert ends
		if state == rivertype.JobStateCompleted || state == rivertype.JobStateCancelled {
			continue
		}
		attributes := metric.WithAttributes(name, attribute.String("messaging.outbox.state", string(state)))
		observer.ObserveFloat64(g.messages, float64(channel.States[state]), attributes)
	}
}

func oneIf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}
