package messagingriver

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Observe registers gauges of the outbox with a meter. They are of the whole outbox, whichever process exports them: take their
// maximum. They are read from the database when they are exported, at most every ten seconds. Final messages are not among them:
// package messagingotel counts what is sent.
//
//	messaging.outbox.messages        {message}  open messages                             messaging.destination.name, messaging.outbox.state
//	messaging.outbox.oldest.age      s          age of the oldest that could be sent      messaging.destination.name, messaging.outbox.state
//	messaging.outbox.paused          {channel}  1 while a channel is paused               messaging.destination.name
//	messaging.outbox.breaker.open    {breaker}  1 while the shared breaker is open        messaging.destination.name
//	messaging.outbox.rate            {message}  messages a second; 0 is no limit
//
// The states are waiting, sending, unknown and parked. Unregister the registration before the database is closed.
func (o *Outbox[TTx]) Observe(meter metric.Meter) (metric.Registration, error) {
	var errs error
	gauge := func(name, unit, description string) metric.Float64ObservableGauge {
		made, err := meter.Float64ObservableGauge("messaging.outbox."+name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = errors.Join(errs, err)
		return made
	}
	messages := gauge("messages", "{message}", "Number of messages in the outbox that are not final.")
	age := gauge("oldest.age", "s", "Age of the oldest message in a state, since it could have been sent.")
	paused := gauge("paused", "{channel}", "1 while a channel is paused, otherwise 0.")
	breaker := gauge("breaker.open", "{breaker}", "1 while the shared circuit breaker is open, otherwise 0.")
	rate := gauge("rate", "{message}", "Messages a second of all processes together; 0 is no limit.")
	if errs != nil {
		return nil, errs
	}
	var mu sync.Mutex
	var status Status
	var read time.Time
	open := []State{Waiting, Sending, Unknown, Parked}
	return meter.RegisterCallback(func(ctx context.Context, observer metric.Observer) error {
		mu.Lock()
		defer mu.Unlock()
		if read.IsZero() || time.Since(read) > 10*time.Second {
			now, err := o.status(ctx, openStates, nil, nil)
			if err != nil {
				return err
			}
			status, read = now, time.Now()
		}
		observer.ObserveFloat64(rate, status.Rate)
		for _, channel := range status.Channels {
			name := attribute.String("messaging.destination.name", channel.Channel)
			observer.ObserveFloat64(paused, oneIf(channel.Paused), metric.WithAttributes(name))
			observer.ObserveFloat64(breaker, oneIf(channel.Breaker != ""), metric.WithAttributes(name))
			counts := map[State]StateCount{}
			for _, count := range channel.States {
				counts[count.State] = count
			}
			for _, state := range open { // also those of which there are none, so that an alert ends
				with := metric.WithAttributes(name, attribute.String("messaging.outbox.state", string(state)))
				observer.ObserveFloat64(messages, float64(counts[state].Messages), with)
				observer.ObserveFloat64(age, counts[state].Oldest.Seconds(), with)
			}
		}
		return nil
	}, messages, age, paused, breaker, rate)
}

func oneIf(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
