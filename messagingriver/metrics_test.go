package messagingriver_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func TestObserveMeasuresTheOutbox(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t)
		options := quick()
		options.Rate = 30
		r := t.newRig(t, client, options)
		reader := metric.NewManualReader()
		meters := metric.NewMeterProvider(metric.WithReader(reader))
		defer func() { require.NoError(t, meters.Shutdown(t.Context())) }()
		registration, err := r.Observe(meters.Meter("test"))
		require.NoError(t, err)
		insert(t, r, smsMessage("a"), smsMessage("b"), chatMessage("c"))
		require.NoError(t, r.exec(t.Context(), "UPDATE messaging_outbox SET state = 'parked', created_at = created_at - 60000 WHERE reference = 'b'"))
		require.NoError(t, r.Pause(t.Context(), "chatapp1"))
		require.NoError(t, r.exec(t.Context(), "INSERT INTO messaging_breaker (channel, cause, account, pause, probe_at) VALUES ('sms', 'HTTP 503', 0, 1, 9000000000000)"))

		var all metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &all))
		got := map[string]float64{}
		for _, m := range all.ScopeMetrics[0].Metrics {
			series := func(attributes attribute.Set, value float64) {
				channel, _ := attributes.Value("messaging.destination.name")
				state, _ := attributes.Value("messaging.outbox.state")
				got[fmt.Sprint(m.Name, " ", channel.AsString(), " ", state.AsString())] = value
			}
			switch data := m.Data.(type) {
			case metricdata.Gauge[int64]:
				for _, point := range data.DataPoints {
					series(point.Attributes, float64(point.Value))
				}
			case metricdata.Gauge[float64]:
				for _, point := range data.DataPoints {
					series(point.Attributes, point.Value)
				}
			}
		}
		for series, want := range map[string]float64{
			"messaging.outbox.messages sms waiting": 1, "messaging.outbox.messages sms parked": 1, "messaging.outbox.messages sms unknown": 0,
			"messaging.outbox.messages chatapp1 waiting": 1, "messaging.outbox.paused chatapp1 ": 1, "messaging.outbox.paused sms ": 0,
			"messaging.outbox.breaker.open sms ": 1, "messaging.outbox.breaker.open chatapp2 ": 0, "messaging.outbox.rate  ": 30,
		} {
			value, ok := got[series]
			assert.True(t, ok, "%s: %v", series, got)
			assert.InDelta(t, want, value, 0, series)
		}
		assert.InDelta(t, 60, got["messaging.outbox.oldest.age sms parked"], 20)
		require.NoError(t, registration.Unregister())
	})
}
