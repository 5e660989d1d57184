package messagingtest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const chatFallback = `"sms_from":"ACME","sms_text":"Hi by SMS","referenceId":"order-17"`

func TestOutcomes(t *testing.T) {
	t.Parallel()
	const ttl = time.Minute
	type moment struct {
		at    time.Duration // on the clock
		state DeliveryState
		since time.Duration
		sms   int
	}
	both := []string{chatApp1, chatApp2}
	for _, tc := range []struct {
		outcome Delivery
		paths   []string
		course  []moment
	}{
		{Delivery{}, both, []moment{{0, StateDelivered, 0, 0}, {ttl, StateDelivered, 0, 0}}},
		{Deliver(), both, []moment{{0, StateDelivered, 0, 0}, {ttl, StateDelivered, 0, 0}}},
		{DeliveryAfter(-1), both, []moment{{0, StateDelivered, 0, 0}}},
		{DeliveryAfter(time.Second), both, []moment{
			{0, StateSent, 0, 0},
			{time.Second - 1, StateSent, 0, 0},
			{time.Second, StateDelivered, time.Second, 0},
			{2 * ttl, StateDelivered, time.Second, 0},
		}},
		{DeliveryAfter(ttl), both, []moment{
			{ttl - 1, StateSent, 0, 0},
			{ttl, StateDelivered, ttl, 0},
			{2 * ttl, StateDelivered, ttl, 0},
		}},
		{DeliveryAfter(ttl + 1), both, []moment{
			{ttl - 1, StateSent, 0, 0},
			{ttl, StateExpired, ttl, 1},
			{ttl + 1, StateExpired, ttl, 1},
			{2 * ttl, StateExpired, ttl, 1},
		}},
		{DeliveryUnreachable(), both, []moment{
			{0, StateQueued, 0, 0},
			{ttl - 1, StateQueued, 0, 0},
			{ttl, StateExpired, ttl, 1},
			{100 * ttl, StateExpired, ttl, 1},
		}},
		{DeliveryFailed(), []string{chatApp1}, []moment{
			{0, StateFailed, 0, 0},
			{ttl - 1, StateFailed, 0, 0},
			{ttl, StateFailed, 0, 1},
			{2 * ttl, StateFailed, 0, 1},
		}},
		{DeliveryFailed(), []string{chatApp2}, []moment{
			{0, StateFailed, 0, 1},
			{ttl, StateFailed, 0, 1},
			{2 * ttl, StateFailed, 0, 1},
		}},
		{DeliveryLate(time.Second), both, []moment{
			{0, StateSent, 0, 0},
			{ttl - 1, StateSent, 0, 0},
			{ttl, StateExpired, ttl, 1},
			{ttl + time.Second - 1, StateExpired, ttl, 1},
			{ttl + time.Second, StateDelivered, ttl + time.Second, 1},
			{3 * ttl, StateDelivered, ttl + time.Second, 1},
		}},
		{DeliveryLate(-1), both, []moment{
			{ttl - 1, StateSent, 0, 0},
			{ttl, StateDelivered, ttl, 1},
			{2 * ttl, StateDelivered, ttl, 1},
		}},
	} {
		for _, path := range tc.paths {
			t.Run(fmt.Sprint(tc.outcome, path), func(t *testing.T) {
				t.Parallel()
				s, client := NewServer(t), newClient(t)
				s.Advance(time.Hour) // what was before counts for nothing
				s.SetDelivery("+639171234567", tc.outcome)
				require.Equal(t, http.StatusOK, sendTo(t, client, s, path, with(sendPaths[path], `"ttl":60,`+chatFallback)).status)
				var passed time.Duration
				for _, m := range tc.course {
					s.Advance(m.at - passed)
					passed = m.at
					sent := s.Sent()
					require.Len(t, sent, 1+m.sms, "at %v", m.at)
					assert.Equal(t, m.state, sent[0].State, "at %v", m.at)
					assert.Equal(t, sent[0].At.Add(m.since), sent[0].StateAt, "at %v", m.at)
				}
				assert.Len(t, list(t, client, s).Data, len(s.Sent())-1)
			})
		}
	}
}

func TestSetDeliveryIsByRecipient(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetDelivery("+63917000001", DeliveryUnreachable())
	s.SetDelivery("63917000002", DeliveryFailed())
	s.SetDelivery("US.1", DeliveryFailed())
	for _, tc := range []struct {
		address string
		state   DeliveryState
	}{
		{`"to":"+63917000001"`, StateQueued},
		{`"to":"63917000001"`, StateQueued},
		{`"to":"+63917000002"`, StateFailed},
		{`"to":"63917000002"`, StateFailed},
		{`"to":"+63 917-000-002"`, StateFailed},
		{`"to":"63917000003"`, StateDelivered},
		{`"recipient":"US.1"`, StateFailed},
		{`"recipient":"US.2"`, StateDelivered},
	} {
		r := sendTo(t, client, s, chatApp2, `{"messaging_product":"whatsapp",`+tc.address+`,"text":{"body":"Hi"}}`)
		require.Equal(t, http.StatusOK, r.status, "%s", r.body)
		sent := s.Sent()
		assert.Equal(t, tc.state, sent[len(sent)-1].State, tc.address)
	}
}

func TestSetDeliveryAffectsLaterMessages(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	sendOne := func() {
		t.Helper()
		sendTo(t, client, s, chatApp1, sendPaths[chatApp1]).data(t)
	}
	s.SetDelivery("639171234567", DeliveryUnreachable())
	sendOne()
	s.Reset()
	sendOne()
	s.SetDelivery("639171234567", Deliver())
	sendOne()
	sent := s.Sent()
	assert.Equal(t, StateQueued, sent[0].State, "a reset forgets no outcome, and a message keeps its own")
	assert.Equal(t, StateDelivered, sent[1].State)
}

func TestSetDeliveryIgnoresSMS(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetDelivery("639171234567", DeliveryUnreachable())
	send(t, client, s, goodBody).data(t)
	s.Advance(2 * DefaultTTL)
	require.Len(t, s.Sent(), 1)
	m := s.Sent()[0]
	assert.Empty(t, m.State)
	assert.Zero(t, m.StateAt)
	assert.Empty(t, m.DeliveryStatus)
}

func TestOutcomesAreComparable(t *testing.T) {
	t.Parallel()
	assert.Zero(t, Deliver())
	assert.Equal(t, Deliver(), DeliveryAfter(0))
	assert.Equal(t, DeliveryLate(0), DeliveryLate(-time.Second))
	assert.NotEqual(t, DeliveryAfter(time.Second), DeliveryLate(time.Second))
}

func TestSetDeliveryRefusesMisuse(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	assert.PanicsWithValue(t, "messagingtest: SetDelivery: the recipient is empty",
		func() { s.SetDelivery("", DeliveryUnreachable()) })
}
