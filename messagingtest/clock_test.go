package messagingtest

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

func TestDefaultTTL(t *testing.T) {
	t.Parallel()
	for _, path := range []string{chatApp1, chatApp2} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s, client := NewServer(t), newClient(t)
			s.SetDelivery("639171234567", DeliveryUnreachable())
			require.Equal(t, 200, sendTo(t, client, s, path, with(sendPaths[path], chatFallback)).status)
			s.Advance(defaultTTL - 1)
			require.Len(t, s.Sent(), 1)
			assert.Zero(t, s.Sent()[0].TTL)
			s.Advance(1)
			require.Len(t, s.Sent(), 2)
			assert.Equal(t, contract.StatusExpired, s.Sent()[0].Status)
		})
	}
}

func TestLifetimeIgnoresRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.SetDelivery("639171234567", DeliveryUnreachable())
		body := with(sendPaths[chatApp1], `"ttl":1,`+chatFallback)
		m, wrong := readSend(s, chatApp1, body)
		require.Nil(t, wrong)
		require.Nil(t, s.submit(&m))
		began := time.Now()

		time.Sleep(time.Hour)
		assert.Equal(t, contract.StatusQueued, s.Sent()[0].Status)
		s.Advance(time.Second)
		sent := s.Sent()
		require.Len(t, sent, 2)
		assert.Equal(t, contract.StatusExpired, sent[0].Status)
		assert.True(t, sent[1].At.Equal(began.Add(time.Second)))
	})
}

func TestAdvanceDatesMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		began := time.Now()
		s.Seed(Sent{})
		s.Advance(time.Hour)
		time.Sleep(time.Minute)
		s.Seed(Sent{}, Sent{At: day})
		sent := s.Sent()
		assert.True(t, sent[0].At.Equal(began))
		assert.True(t, sent[1].At.Equal(began.Add(time.Hour+time.Minute)))
		assert.True(t, sent[2].At.Equal(day))
	})
}

func TestSetLagCountsAdvance(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetLag(time.Hour)
	s.Advance(2 * time.Hour)
	send(t, client, s, goodBody).data(t)
	assert.Empty(t, list(t, client, s).Data, "what passed before does not count")
	s.Advance(59 * time.Minute)
	assert.Empty(t, list(t, client, s).Data)
	s.Advance(time.Minute)
	assert.Len(t, list(t, client, s).Data, 1)
}

func TestAdvanceBounds(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetDelivery("639171234567", DeliveryLate(math.MaxInt64))
	sendTo(t, client, s, chatApp1, with(sendPaths[chatApp1], `"ttl":9223372036,`+chatFallback)).data(t)
	s.Advance(0)
	assert.Len(t, s.Sent(), 1)
	s.Advance(math.MaxInt64)
	s.Advance(math.MaxInt64)
	require.Len(t, s.Sent(), 2)
	assert.Equal(t, contract.StatusDelivered, s.Sent()[0].Status)
	assert.PanicsWithValue(t, "messagingtest: Advance(-1ns): the duration is negative", func() { s.Advance(-1) })
}
