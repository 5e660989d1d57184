package outbox

import (
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func TestWorkersSendAllChannelsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	var all []Message
	for n := range 20 {
		all = append(all, testSMS(t, n), testChatApp1(t, n), testChatApp2(t, n))
	}
	r.put(all...)
	r.start(relaxedOptions())
	r.start(relaxedOptions())
	r.waitForAll()
	for _, m := range all {
		record := r.record(m)
		assert.Equal(t, Accepted, record.State)
		assert.Equal(t, 1, record.Attempt)
		assert.NotEmpty(t, record.MessageID)
		assert.Empty(t, record.Line, "the record still holds the accepted message")
		assert.Equal(t, 1, r.sendCount(m))
	}
}

func TestWorkerLooksUpAndSendsAfterKillBeforeSend(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m := testSMS(t, 1)
	r.put(m)
	started := time.Now()
	r.forceRecord(m, Record{State: Sending, Attempt: 1, Worker: "killed", SentAt: started})
	r.start(fastOptions())
	record := r.waitFor(m, Accepted)
	assert.Equal(t, 2, record.Attempt)
	assert.Equal(t, 1, r.sendCount(m))
	assert.Greater(t, time.Since(started), fastOptions().SendTimeout+fastOptions().SettleWindow, "the service had too little time to list it")
}

func TestWorkerFindsMessageAfterKillAfterSend(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m := testSMS(t, 1)
	r.put(m)
	r.forceRecord(m, Record{State: Sending, Attempt: 1, Worker: "killed"})
	_, err := m.send(t.Context(), r.worker(fastOptions()).client)
	require.NoError(t, err)
	r.start(fastOptions())
	record := r.waitFor(m, Accepted)
	assert.Equal(t, 1, record.Attempt)
	assert.Equal(t, r.service.Sent()[0].ID, record.MessageID)
	r.waitForAll()
	assert.Equal(t, 1, r.sendCount(m))
}

func TestWorkerParksChatAppMessageAfterKill(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	one, two := testChatApp1(t, 1), testChatApp2(t, 1)
	started := time.Now()
	for _, m := range []Message{one, two} {
		r.put(m)
		r.forceRecord(m, Record{State: Sending, Attempt: 1, Worker: "killed"})
	}
	r.start(fastOptions())
	for _, m := range []Message{one, two} {
		record := r.waitFor(m, Parked)
		assert.NotEmpty(t, record.Line, "an operator cannot send it again")
		assert.NotEmpty(t, record.Reason)
	}
	assert.Greater(t, time.Since(started), fastOptions().SendTimeout, "the killed worker might still have been sending")
	r.waitForAll()
	assert.Empty(t, r.service.Sent())
}

func TestWorkerAcknowledgesRecordedVerdict(t *testing.T) {
	t.Parallel()
	for _, state := range []State{Accepted, Refused, Parked} {
		r := newRig(t, engine.Setup{})
		m := testSMS(t, 1)
		r.put(m)
		r.forceRecord(m, Record{State: state, Attempt: 1})
		r.start(fastOptions())
		r.waitForAll()
		assert.Equal(t, state, r.record(m).State)
		assert.Empty(t, r.service.Sent())
	}
}

func TestWorkerLeavesMessageToSlowWorker(t *testing.T) {
	t.Parallel()
	for _, m := range []Message{testSMS(t, 1), testChatApp1(t, 1)} {
		r := newRig(t, engine.Setup{AckWait: 5 * time.Second})
		options := fastOptions()
		options.SendTimeout = 3 * time.Second
		r.service.Inject(messagingtest.Slow(700*time.Millisecond), 1)
		r.put(m)
		r.start(options)
		r.waitFor(m, Sending)
		r.publish(m, 7) // as if the engine had redelivered it
		r.start(options)
		r.waitForAll()
		assert.Equal(t, Accepted, r.record(m).State)
		assert.Equal(t, 1, r.record(m).Attempt)
		assert.Equal(t, 1, r.sendCount(m))
	}
}

func TestWorkerLooksUpAfterLostResponse(t *testing.T) {
	t.Parallel()
	for _, fault := range []messagingtest.Fault{messagingtest.AcceptThenDrop(), messagingtest.TruncatedResponse(), messagingtest.NotJSON(), messagingtest.DropUnread(), messagingtest.Status(503, 0)} {
		r := newRig(t, engine.Setup{})
		r.service.SetLag(100 * time.Millisecond)
		m := testSMS(t, 1)
		r.put(m)
		r.service.Inject(fault, 1)
		r.start(fastOptions())
		r.waitForAll()
		assert.Equal(t, Accepted, r.record(m).State, "%v", fault)
		assert.Equal(t, 1, r.sendCount(m), "%v", fault)
	}
}

func TestWorkerDoesNotSendAfterFailedLookup(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	options := fastOptions()
	options.SettleFor = 1500 * time.Millisecond
	m := testSMS(t, 1)
	r.put(m)
	r.service.Inject(messagingtest.AcceptThenDrop(), 1)
	r.service.Inject(messagingtest.Status(404, 0), 10_000) // the lookup gets a response, but from a wrong address
	r.start(options)
	record := r.waitFor(m, Parked)
	assert.Contains(t, record.Reason, "looked up for 1.5s")
	assert.Equal(t, 1, record.Attempt)
	r.waitForAll()
	assert.Equal(t, 1, r.sendCount(m))
}

func TestWorkerDoesNotResendUnlessToldTo(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	options := fastOptions()
	options.Resend, options.SettleFor = false, 2*time.Second
	m := testSMS(t, 1)
	r.put(m)
	r.service.Inject(messagingtest.DropUnread(), 1)
	r.start(options)
	record := r.waitFor(m, Parked)
	assert.Contains(t, record.Reason, "looked up for 2s")
	assert.Equal(t, 1, record.Attempt)
	assert.NotEmpty(t, record.Line, "an operator cannot send it again")
	assert.Zero(t, r.sendCount(m))
}

func TestWorkerParksIfLookupFindsAnotherMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	r.service.Seed(messagingtest.Sent{ID: "old", Channel: messagingtest.ChannelSMS, From: "ACME", To: "+639999999999", Text: "old", ReferenceID: "order-1"})
	m := testSMS(t, 1)
	r.put(m)
	r.service.Inject(messagingtest.DropUnread(), 1)
	options := fastOptions()
	options.SettleFor = time.Second
	r.start(options)
	assert.Contains(t, r.waitFor(m, Parked).Reason, "another number")
	assert.Len(t, r.service.Sent(), 1, "it was sent")
}

func TestWorkerParksIfLookupsCannotSettle(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	r.service.IgnoreFilter(true)
	r.service.Seed(messagingtest.Sent{ID: "old", Channel: messagingtest.ChannelSMS, From: "ACME", To: "+639999999999", Text: "old", ReferenceID: "order-2"})
	m := testSMS(t, 1)
	r.put(m)
	r.service.Inject(messagingtest.DropUnread(), 1)
	r.start(fastOptions())
	assert.Contains(t, r.waitFor(m, Parked).Reason, "a lookup cannot settle it")
}

func TestWorkerLooksUpAgainAfterDuplicate(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	r.service.RefuseDuplicates(true)
	r.service.SetLag(1300 * time.Millisecond) // longer than the settle window
	m := testSMS(t, 1)
	r.put(m)
	r.service.Inject(messagingtest.AcceptThenDrop(), 1)
	r.start(fastOptions())
	r.waitFor(m, Accepted)
	r.waitForAll()
	assert.Equal(t, 1, r.sendCount(m))
}

func TestWorkerRecordsRefusal(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	byService := testChatApp1(t, 1)
	byLibrary, err := NewMessage(sms.Message{From: "ACME", To: "nobody", Text: "secret", ReferenceID: "invalid"}, Options{})
	require.NoError(t, err)
	r.service.Inject(messagingtest.Status(400, 0), 1)
	r.put(byService, byLibrary)
	r.start(relaxedOptions())
	r.waitForAll()
	for m, reason := range map[*Message]string{&byService: "HTTP 400", &byLibrary: "To: "} {
		record := r.record(*m)
		assert.Equal(t, Refused, record.State)
		assert.Contains(t, record.Reason, reason)
		assert.NotContains(t, record.Reason, "nobody")
	}
	assert.Empty(t, r.service.Sent())
}

func TestWorkerRetriesUnprocessedMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m := testChatApp2(t, 1)
	r.put(m)
	r.service.Inject(messagingtest.Status(429, -1), 3)
	r.start(relaxedOptions())
	r.waitForAll()
	record := r.record(m)
	assert.Equal(t, Accepted, record.State)
	assert.Equal(t, 4, record.Attempt)
	assert.Equal(t, 1, r.sendCount(m))
}

func TestWorkerFinishesSendsWhenStopped(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	var all []Message
	for n := range 60 {
		all = append(all, testChatApp1(t, n))
	}
	r.put(all...)
	r.service.Inject(messagingtest.Slow(50*time.Millisecond), len(all))
	options := relaxedOptions()
	options.Concurrency = 4
	stop := r.start(options)
	require.Eventually(t, func() bool { return len(r.service.Sent()) > 5 }, 30*time.Second, time.Millisecond)
	stop()
	for e, err := range r.outbox.All(t.Context()) {
		require.NoError(t, err)
		assert.NotEqual(t, Sending, e.State, "the worker stopped in the middle of a send")
	}
	r.start(relaxedOptions())
	r.waitForAll()
	for _, m := range all {
		assert.Equal(t, Accepted, r.record(m).State)
		assert.Equal(t, 1, r.sendCount(m))
	}
}

func TestWorkerWaitsForEngine(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	var all []Message
	for n := range 100 {
		all = append(all, testSMS(t, n))
	}
	r.put(all...)
	r.service.Inject(messagingtest.Slow(30*time.Millisecond), len(all))
	options := fastOptions()
	options.Concurrency = 8
	r.start(options)
	require.Eventually(t, func() bool { return len(r.service.Sent()) > 20 }, 30*time.Second, time.Millisecond)
	address, err := url.Parse(r.server.URL())
	require.NoError(t, err)
	port, err := strconv.Atoi(address.Port())
	require.NoError(t, err)
	r.server.Close()
	r.server, err = embedded.Start(r.directory, port)
	require.NoError(t, err)
	r.waitForAll()
	for _, m := range all {
		assert.Equal(t, Accepted, r.record(m).State)
		assert.Equal(t, 1, r.sendCount(m))
	}
}

func TestSetRateValidatesAndRemovesLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	require.Error(t, r.outbox.SetRate(t.Context(), -1))
	require.NoError(t, r.outbox.SetRate(t.Context(), 0.01))
	first, second := testSMS(t, 1), testSMS(t, 2)
	r.put(first)
	r.start(fastOptions())
	r.waitFor(first, Accepted)
	r.put(second) // it would be sent in a hundred seconds
	require.Never(t, func() bool { return r.record(second).State == Accepted }, 300*time.Millisecond, 50*time.Millisecond)
	require.NoError(t, r.outbox.SetRate(t.Context(), 0))
	r.waitFor(second, Accepted)
}

func TestNewWorkerRejectsBadOptions(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{AckWait: time.Second})
	client, err := messaging.NewClient(r.service.URL, messaging.WithToken(r.service.Token))
	require.NoError(t, err)
	for _, options := range []WorkerOptions{{SendTimeout: time.Second}, {Concurrency: -1}, {SettleWindow: -1, SendTimeout: time.Millisecond}} {
		_, err := r.outbox.NewWorker(client, options)
		assert.Error(t, err)
	}
}

func TestOutcomeReplacesEarlierState(t *testing.T) {
	accepted := outcome{state: Accepted, messageID: "id"}
	for _, test := range []struct {
		name      string
		record    Record
		out       outcome
		want      State // empty for no change
		overtaken int
		moves     bool // to another token
	}{
		{"accepted after unknown", Record{State: Unknown, Attempt: 2}, accepted, Accepted, 0, false},
		{"accepted after parked", Record{State: Parked, Attempt: 2}, accepted, Accepted, 0, false},
		{"accepted after queued", Record{State: Queued, Attempt: 2}, accepted, Accepted, 0, false},
		{"accepted after dropped by the operator", Record{State: Refused, Attempt: 2}, accepted, Accepted, 0, false},
		{"accepted after accepted", Record{State: Accepted, Attempt: 2}, accepted, "", 0, false},
		{"accepted after a later attempt started", Record{State: Sending, Attempt: 3}, accepted, Sending, 1, false},
		{"unknown after a later attempt started", Record{State: Sending, Attempt: 3}, outcome{state: Unknown}, Sending, 1, false},
		{"refused after a later attempt started", Record{State: Accepted, Attempt: 3}, outcome{state: Refused}, Accepted, 1, false},
		{"not processed after a later attempt started", Record{State: Accepted, Attempt: 3}, outcome{state: Queued}, Accepted, 1, false},
		{"refused after parked", Record{State: Parked, Attempt: 2}, outcome{state: Refused}, Refused, 0, false},
		{"not processed", Record{State: Sending, Attempt: 2}, outcome{state: Queued}, Queued, 0, false},
		{"not processed after parked", Record{State: Parked, Attempt: 2, Line: []byte("{}")}, outcome{state: Queued}, Queued, 0, true},
		{"not processed after unknown", Record{State: Unknown, Attempt: 2}, outcome{state: Queued}, Queued, 0, true},
		{"not processed after queued", Record{State: Queued, Attempt: 2}, outcome{state: Queued}, "", 0, false},
		{"unknown", Record{State: Sending, Attempt: 2}, outcome{state: Unknown}, Unknown, 0, true},
		{"unknown after unknown", Record{State: Unknown, Attempt: 2}, outcome{state: Unknown}, "", 0, false},
		{"unknown after queued because it was not listed", Record{State: Queued, Attempt: 2}, outcome{state: Unknown}, Unknown, 0, true},
	} {
		next, changes := Entry{Record: test.record}.withOutcome(2, test.out, Normal)
		assert.Equal(t, test.want != "", changes, test.name)
		if changes {
			assert.Equal(t, test.want, next.State, test.name)
			assert.Len(t, next.Overtaken, test.overtaken, test.name)
			assert.Equal(t, test.moves, next.Token != test.record.Token, test.name)
		}
	}
}
