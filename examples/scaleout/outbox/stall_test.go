package outbox

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/sms"
)

// stalled returns a worker that stalls for once between its last look at the clock and the request, as if its process were stopped there.
func (r *rig) stalled(options WorkerOptions, stall time.Duration) *Worker {
	r.t.Helper()
	w := r.worker(options)
	w.outbox.setup.AckWait = time.Hour // a stopped process sends no heartbeats
	var err error
	var stalls atomic.Int32
	w.client, err = w.client.With(messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodPost && stalls.Add(1) == 1 {
				// The context that the attempt ends with must not notice: a stopped process runs no timers.
				time.Sleep(stall)
				request = request.WithContext(context.WithoutCancel(request.Context()))
			}
			return base.RoundTrip(request)
		})
	}))
	require.NoError(r.t, err)
	return w
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWorkerWritesNothingAfterItsTime(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{AckWait: time.Second})
	m := testSMS(t, 1)
	r.put(m)
	options := fastOptions()
	r.run(r.stalled(options, 5*time.Second)) // until another worker has sent it again
	r.waitFor(m, Sending)
	r.start(options)
	record := r.waitFor(m, Accepted)
	require.Len(t, record.Overtaken, 1, "nobody is told that it was sent again")
	require.Eventually(t, func() bool { return len(r.record(m).Overtaken) == 2 }, 30*time.Second, 10*time.Millisecond, "nobody is told how the overtaken attempt ended")
	assert.Equal(t, 1, r.sendCount(m), "the request was written after its time")
	assert.Equal(t, 2, record.Attempt)
}

func TestOvertakenAttemptFlagsRecord(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{AckWait: time.Second})
	r.service.SetLag(time.Hour)
	m := testSMS(t, 1)
	r.put(m)
	options := fastOptions()
	slow := r.worker(options)
	slow.outbox.setup.AckWait = time.Hour // it sends no heartbeats
	var err error
	// The network delivers the request in time, and the response late: the outcome is unknown, and comes when the next attempt has started.
	slow.client, err = slow.client.With(messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := base.RoundTrip(request)
			if request.Method == http.MethodPost {
				time.Sleep(5 * time.Second)
				if err == nil {
					err = errors.Join(errors.New("connection reset"), response.Body.Close())
				}
				return nil, err
			}
			return response, err
		})
	}))
	require.NoError(t, err)
	stopSlow := r.run(slow)
	r.waitFor(m, Sending)
	stop := r.start(options)
	require.Eventually(t, func() bool { return slow.options.Metrics.Value("scaleout_alarms_total", "kind", "overtaken") > 0 }, 30*time.Second, 10*time.Millisecond)
	for _, overtaken := range r.record(m).Overtaken {
		assert.Equal(t, Unknown, overtaken.State)
	}
	assert.Greater(t, r.sendCount(m), 1, "Resend can send twice if the service lists late")

	stop()
	stopSlow()
	var found []Finding
	r.service.SetLag(0)
	_, _, err = r.outbox.Audit(t.Context(), slow.client, time.Now().Add(-time.Hour), false, func(f Finding) { found = append(found, f) })
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, "sent more than once", found[0].Problem)
	assert.Equal(t, r.sendCount(m), found[0].Listed)
}

func TestAuditComparesRecordsWithListing(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	client := r.worker(fastOptions()).client
	for n, state := range map[int]State{1: Accepted, 2: Refused, 3: Parked, 4: Queued, 5: Unknown} {
		r.forceRecord(testSMS(t, n), Record{State: state, SentAt: time.Now()})
		_, err := testSMS(t, n).send(t.Context(), client)
		require.NoError(t, err)
	}
	r.forceRecord(testSMS(t, 6), Record{State: Accepted})
	r.forceRecord(testChatApp1(t, 7), Record{State: Accepted})
	_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "other"})
	require.NoError(t, err)
	problems := map[string]string{}
	audit := func(mend bool) (records, rows int, err error) {
		clear(problems)
		return r.outbox.Audit(t.Context(), client, time.Now().Add(-time.Hour), mend, func(f Finding) { problems[f.Reference] = f.Problem })
	}
	records, rows, err := audit(false)
	require.NoError(t, err)
	assert.Equal(t, 6, records)
	assert.Equal(t, 6, rows)
	assert.Equal(t, map[string]string{
		"order-2": "refused, but listed", "order-3": "parked, but listed: resolve it as sent", "order-4": "queued, but listed: it would be sent again",
		"order-6": "accepted, but not listed", "": "listed without a record: sent by another program, or their records were removed",
	}, problems)

	r.publish(testSMS(t, 4), 0)
	r.publish(testSMS(t, 5), 0)
	_, _, err = audit(true)
	require.NoError(t, err)
	_, _, err = audit(false)
	require.NoError(t, err)
	assert.NotContains(t, problems, "order-3")
	assert.NotContains(t, problems, "order-4")
	r.start(fastOptions())
	r.waitFor(testSMS(t, 5), Accepted)
	r.waitForQueue(0)
	assert.Equal(t, 1, r.sendCount(testSMS(t, 4)), "sent again after a restore")
}

func TestWorkerTakesBackClaimWhoseResponseWasLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m := testSMS(t, 1)
	r.put(m)
	w := r.worker(relaxedOptions())
	before, err := r.outbox.read(t.Context(), m.Key())
	require.NoError(t, err)
	// The claim was written, its response was lost, and another worker has seen the claim for too long.
	r.forceRecord(m, Record{State: Unknown, Attempt: 1, Worker: w.name + "/1", Lane: settleLane, Token: 1, SentAt: time.Now()})
	d := &delivery{Worker: w, message: m, raw: noMessage{}, log: w.outbox.engine.Log}
	_, err = d.send(t.Context(), t.Context(), before)
	require.NoError(t, err)
	record := r.record(m)
	assert.Equal(t, Queued, record.State, "it would be looked up for hours")
	assert.Contains(t, record.Reason, "not sent")
	assert.Zero(t, r.service.Requests())
}

// noMessage is a message of which only the subject is asked.
type noMessage struct{ jetstream.Msg }

func (noMessage) Subject() string { return "" }
