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

// Observe registers gauges of the outbox with a meter. They are of the whole outbox, whichever process exports them: take their maximum. They
// are read from the database when they are exported, at most every ten seconds. Completed and cancelled messages are not among them: package
// messagingotel counts what is sent.
//
//	messaging.outbox.messages      {message}  messages in a state of River          messaging.destination.name, messaging.outbox.state
//	messaging.outbox.looked_up     {message}  messages that are looked up           messaging.destination.name
//	messaging.outbox.oldest.age    s          wait of the oldest that could be sent messaging.destination.name
//	messaging.outbox.paused        {queue}    1 while a person paused the queue     messaging.destination.name
//	messaging.outbox.held          {queue}    1 while the outbox paused the queue   messaging.destination.name
//
// Unregister the registration before the database is closed.
func (o *Outbox[TTx]) Observe(meter metric.Meter) (metric.Registration, error) {
	var errs error
	gauge := func(name, unit, description string) metric.Float64ObservableGauge {
		made, err := meter.Float64ObservableGauge("messaging.outbox."+name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = errors.Join(errs, err)
		return made
	}
	messages := gauge("messages", "{message}", "Number of messages in the outbox that are not completed or cancelled.")
	lookedUp := gauge("looked_up", "{message}", "Number of messages with an unknown outcome that are looked up.")
	age := gauge("oldest.age", "s", "For how long the oldest message that could be sent has waited.")
	paused := gauge("paused", "{queue}", "1 while a person paused the queue of the channel, otherwise 0.")
	held := gauge("held", "{queue}", "1 while the outbox paused the queue of the channel, otherwise 0.")
	if errs != nil {
		return nil, errs
	}
	var mu sync.Mutex
	var status Status
	var readAt time.Time
	return meter.RegisterCallback(func(ctx context.Context, observer metric.Observer) error {
		mu.Lock()
		defer mu.Unlock()
		if readAt.IsZero() || time.Since(readAt) > 10*time.Second {
			current, err := o.status(ctx, isOpen)
			if err != nil {
				return err
			}
			status, readAt = current, time.Now()
		}
		for _, channel := range status.Channels {
			name := attribute.String("messaging.destination.name", channel.Channel)
			observer.ObserveFloat64(lookedUp, float64(channel.LookedUp), metric.WithAttributes(name))
			observer.ObserveFloat64(age, channel.Oldest.Seconds(), metric.WithAttributes(name))
			observer.ObserveFloat64(paused, oneIf(channel.Paused && channel.Cause == ""), metric.WithAttributes(name))
			observer.ObserveFloat64(held, oneIf(channel.Paused && channel.Cause != ""), metric.WithAttributes(name))
			for _, state := range rivertype.JobStates() { // also those without messages, so that an alert ends
				if state == rivertype.JobStateCompleted || state == rivertype.JobStateCancelled {
					continue
				}
				with := metric.WithAttributes(name, attribute.String("messaging.outbox.state", string(state)))
				observer.ObserveFloat64(messages, float64(channel.States[state]), with)
			}
		}
		return nil
	}, messages, lookedUp, age, paused, held)
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
