package messagingotel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	messaging "github.com/messaging-service/messaging-go"
)

// ObserveBreakers measures the circuit breakers of a client, by channel, whenever metrics are collected: the gauge
// messaging.client.breaker.open is 1 while a breaker is open, and otherwise 0. Clients derived by With share the breakers of the service, so
// observing one of them is enough, unless they have several credentials: each account has a breaker, too. stop ends it.
func (o *Observer) ObserveBreakers(client *messaging.Client) (stop func() error, err error) {
	if client == nil {
		return nil, errors.New("messagingotel: ObserveBreakers: needs a client, got nil")
	}
	registration, err := o.meter.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		for _, channel := range []messaging.Channel{messaging.ChannelSMS, messaging.ChannelChatApp1, messaging.ChannelChatApp2} {
			open := int64(0)
			if client.Breaker(channel).Open {
				open = 1
			}
			to.ObserveInt64(o.breaker, open, metric.WithAttributes(
				semconv.MessagingSystemKey.String(system), semconv.MessagingDestinationName(channel.String())))
		}
		return nil
	}, o.breaker)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}
