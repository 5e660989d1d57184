package messagingriver_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// testMeter keeps the callback of an outbox.
type testMeter struct {
	noop.Meter

	callback metric.Callback
}

func (*testMeter) Float64ObservableGauge(
	name string, _ ...metric.Float64ObservableGaugeOption,
) (metric.Float64ObservableGauge, error) {
	return testGauge{name: name}, nil
}

func (m *testMeter) RegisterCallback(callback metric.Callback, _ ...metric.Observable) (metric.Registration, error) {
	m.callback = callback
	return noop.Registration{}, nil
}

type testGauge struct {
	noop.Float64ObservableGauge

	name string
}

// testObserver adds what each gauge shows, of all channels and states.
type testObserver struct {
	noop.Observer

	sums map[string]float64
}

func (o testObserver) ObserveFloat64(gauge metric.Float64Observable, value float64, _ ...metric.ObserveOption) {
	o.sums[gauge.(testGauge).name] += value
}

// observe returns the sum of each gauge of an outbox.
func observe(t testing.TB, r rig) map[string]float64 {
	t.Helper()
	var meter testMeter
	_, err := r.Observe(&meter)
	require.NoError(t, err)
	observer := testObserver{sums: map[string]float64{}}
	require.NoError(t, meter.callback(t.Context(), observer))
	return observer.sums
}

func TestObserve(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("a"), chat("b"))
		require.NoError(t, r.PauseChannel(t.Context(), "sms"))
		sums := observe(t, r)
		require.Positive(t, sums["messaging.outbox.oldest.age"])
		delete(sums, "messaging.outbox.oldest.age")
		require.Equal(t, map[string]float64{
			"messaging.outbox.messages":   2,
			"messaging.outbox.looked_up":  0,
			"messaging.outbox.paused":     1,
			"messaging.outbox.held":       0,
			"messaging.outbox.unreported": 0,
		}, sums)
	})
}

// An outcome for which OnOutcome fails is counted until a call succeeds.
func TestObserveCountsUnreportedOutcomes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		var isRepaired atomic.Bool
		options := messagingriver.Options{OnOutcome: func(context.Context, messagingriver.Outcome) error {
			if isRepaired.Load() {
				return nil
			}
			return errors.New("the report cannot be written")
		}}
		r := t.newRig(t, newClient(t, messagingtest.NewServer(t)), options)
		r.insert(t, messagingriver.InsertOptions{}, text("a"), chat("b"))
		r.start(t)
		awaitCount := func(want float64) {
			require.Eventually(t, func() bool { return observe(t, r)["messaging.outbox.unreported"] == want }, patience, 50*time.Millisecond)
		}
		awaitCount(2)
		isRepaired.Store(true)
		r.exec(t, "UPDATE JOBS SET scheduled_at = created_at WHERE kind = 'messaging_outcome'") // without the wait
		awaitCount(0)
	})
}
