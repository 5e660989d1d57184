package messagingtest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

const chatFallback = `"sms_from":"ACME","sms_text":"Hi by SMS","referenceId":"order-17"`

func TestOutcomes(t *testing.T) {
	t.Parallel()
	const ttl = time.Minute
	type moment struct {
		at    time.Duration // on the clock
		state contract.Status
		since time.Duration
		sms   int
	}
	both := []string{chatApp1, chatApp2}
	for _, tc := range []struct {
		outcome Delivery
		paths   []string
		course  []moment
	}{
		{Delivery{}, both, []moment{{0, contract.StatusDelivered, 0, 0}, {ttl, contract.StatusDelivered, 0, 0}}},
		{Delivery{}, both, []moment{{0, contract.StatusDelivered, 0, 0}, {ttl, contract.StatusDelivered, 0, 0}}},
		{DeliveryAfter(-1), both, []moment{{0, contract.StatusDelivered, 0, 0}}},
		{DeliveryAfter(time.Second), both, []moment{
			{0, contract.StatusSent, 0, 0},
			{time.Second - 1, contract.StatusSent, 0, 0},
			{time.Second, contract.StatusDelivered, time.Second, 0},
			{2 * ttl, contract.StatusDelivered, time.Second, 0},
		}},
		{DeliveryAfter(ttl), both, []moment{
			{ttl - 1, contract.StatusSent, 0, 0},
			{ttl, contract.StatusDelivered, ttl, 0},
			{2 * ttl, contract.StatusDelivered, ttl, 0},
		}},
		{DeliveryAfter(ttl + 1), both, []moment{
			{ttl - 1, contract.StatusSent, 0, 0},
			{ttl, contract.StatusExpired, ttl, 1},
			{ttl + 1, contract.StatusExpired, ttl, 1},
			{2 * ttl, contract.StatusExpired, ttl, 1},
		}},
		{DeliveryUnreachable(), both, []moment{
			{0, contract.StatusQueued, 0, 0},
			{ttl - 1, contract.StatusQueued, 0, 0},
			{ttl, contract.StatusExpired, ttl, 1},
			{100 * ttl, contract.StatusExpired, ttl, 1},
		}},
		{DeliveryFailed(), []string{chatApp1}, []moment{
			{0, contract.StatusFailed, 0, 0},
			{ttl - 1, contract.StatusFailed, 0, 0},
			{ttl, contract.StatusFailed, 0, 1},
			{2 * ttl, contract.StatusFailed, 0, 1},
		}},
		{DeliveryFailed(), []string{chatApp2}, []moment{
			{0, contract.StatusFailed, 0, 1},
			{ttl, contract.StatusFailed, 0, 1},
			{2 * ttl, contract.StatusFailed, 0, 1},
		}},
		{DeliveryRead().After(time.Second), both, []moment{
			{0, contract.StatusSent, 0, 0},
			{time.Second - 1, contract.StatusSent, 0, 0},
			{time.Second, contract.StatusRead, time.Second, 0},
			{2 * ttl, contract.StatusRead, time.Second, 0},
		}},
		{DeliveryRead().After(ttl + 1), both, []moment{
			{ttl, contract.StatusExpired, ttl, 1},
			{2 * ttl, contract.StatusExpired, ttl, 1},
		}},
		{DeliveryFailed().After(time.Second), []string{chatApp1}, []moment{
			{0, contract.StatusSent, 0, 0},
			{time.Second, contract.StatusFailed, time.Second, 0},
			{ttl, contract.StatusFailed, time.Second, 1},
		}},
		{DeliveryFailed().After(time.Second), []string{chatApp2}, []moment{
			{time.Second - 1, contract.StatusSent, 0, 0},
			{time.Second, contract.StatusFailed, time.Second, 1},
			{2 * ttl, contract.StatusFailed, time.Second, 1},
		}},
		{DeliveryFailed().After(ttl + 1), both, []moment{
			{ttl - 1, contract.StatusSent, 0, 0},
			{ttl, contract.StatusExpired, ttl, 1},
			{2 * ttl, contract.StatusExpired, ttl, 1},
		}},
		{DeliveryLate(time.Second), both, []moment{
			{0, contract.StatusSent, 0, 0},
			{ttl - 1, contract.StatusSent, 0, 0},
			{ttl, contract.StatusExpired, ttl, 1},
			{ttl + time.Second - 1, contract.StatusExpired, ttl, 1},
			{ttl + time.Second, contract.StatusDelivered, ttl + time.Second, 1},
			{3 * ttl, contract.StatusDelivered, ttl + time.Second, 1},
		}},
		{DeliveryLate(-1), both, []moment{
			{ttl - 1, contract.StatusSent, 0, 0},
			{ttl, contract.StatusDelivered, ttl, 1},
			{2 * ttl, contract.StatusDelivered, ttl, 1},
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
					assert.Equal(t, m.state, sent[0].Status, "at %v", m.at)
					assert.Equal(t, sent[0].At.Add(m.since), sent[0].StatusAt, "at %v", m.at)
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
		state   contract.Status
	}{
		{`"to":"+63917000001"`, contract.StatusQueued},
		{`"to":"63917000001"`, contract.StatusQueued},
		{`"to":"+63917000002"`, contract.StatusFailed},
		{`"to":"63917000002"`, contract.StatusFailed},
		{`"to":"+63 917-000-002"`, contract.StatusFailed},
		{`"to":"63917000003"`, contract.StatusDelivered},
		{`"recipient":"US.1"`, contract.StatusFailed},
		{`"recipient":"US.2"`, contract.StatusDelivered},
	} {
		r := sendTo(t, client, s, chatApp2, `{"messaging_product":"whatsapp",`+tc.address+`,"text":{"body":"Hi"}}`)
		require.Equal(t, http.StatusOK, r.status, "%s", r.body)
		sent := s.Sent()
		assert.Equal(t, tc.state, sent[len(sent)-1].Status, tc.address)
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
	s.SetDelivery("639171234567", Delivery{})
	sendOne()
	sent := s.Sent()
	assert.Equal(t, contract.StatusQueued, sent[0].Status, "a reset forgets no outcome, and a message keeps its own")
	assert.Equal(t, contract.StatusDelivered, sent[1].Status)
}

func TestSetDeliveryIgnoresSMS(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetDelivery("639171234567", DeliveryUnreachable())
	send(t, client, s, goodBody).data(t)
	s.Advance(2 * defaultTTL)
	require.Len(t, s.Sent(), 1)
	m := s.Sent()[0]
	assert.Empty(t, m.Status)
	assert.Zero(t, m.StatusAt)
	assert.Empty(t, m.DeliveryStatus)
}

func TestDeliveriesAreComparable(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Delivery{}, DeliveryAfter(0))
	assert.Equal(t, DeliveryLate(0), DeliveryLate(-time.Second))
	assert.NotEqual(t, DeliveryAfter(time.Second), DeliveryLate(time.Second))
	assert.Equal(t, DeliveryFailed(), DeliveryFailed().After(time.Hour).After(-1))
}

func TestSetDeliveryRefusesMisuse(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	assert.PanicsWithValue(t, "messagingtest: SetDelivery: the recipient is empty",
		func() { s.SetDelivery("", DeliveryUnreachable()) })
	assert.PanicsWithValue(t, "messagingtest: After: a message that is never delivered has no delay",
		func() { DeliveryUnreachable().After(time.Second) })
}
