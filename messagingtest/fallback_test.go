package messagingtest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

func TestFallbackIsSMS(t *testing.T) {
	t.Parallel()
	for path, begin := range map[string]string{chatApp1: "msg-", chatApp2: "wamid."} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s, client := NewServer(t), newClient(t)
			s.SetDelivery("639171234567", DeliveryUnreachable())
			body := with(sendPaths[path], `"ttl":600,"dlrCallback":"https://example.com/%s","dlrReport":1,`+chatFallback)
			require.Equal(t, http.StatusOK, sendTo(t, client, s, path, body).status)
			assert.Empty(t, list(t, client, s).Data)
			s.Advance(10 * time.Minute)

			sent := s.Sent()
			require.Len(t, sent, 2)
			assert.True(t, strings.HasPrefix(sent[0].ID, begin))
			assert.Equal(t, Sent{
				ID: "msg-2", Channel: channelSMS, Kind: "text", From: "ACME", To: "+639171234567", Text: "Hi by SMS",
				ReferenceID: "order-17",
				CallbackURL: "https://example.com/%s", Parts: 1, FallbackOf: sent[0].ID, RequestID: sent[0].RequestID,
				At: sent[0].At.Add(10 * time.Minute),
			}, sent[1])

			a := list(t, client, s, "filter[referenceId]", "order-17")
			assert.Equal(t, "msg-2", a.ids())
			assert.Equal(t, []string{"Hi by SMS"}, a.column("text"))
			assert.Equal(t, []string{sent[1].At.UTC().Format("2006-01-02T15:04:05.000Z")}, a.column("dateCreated"))
			assert.Equal(t, 1, *list(t, client, s).TotalRows)
			assert.Equal(t, "999999.00", s.Balance(), "both are paid")
		})
	}
}

func TestFallbackIsSentOnce(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetDelivery("639171234567", DeliveryUnreachable())
	const messages = 20
	for i := range messages {
		path := []string{chatApp1, chatApp2}[i%2]
		require.Equal(t, http.StatusOK, sendTo(t, client, s, path, with(sendPaths[path], `"ttl":60,`+chatFallback)).status)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				s.Advance(time.Second)
				_ = s.Sent()
				_ = s.Balance()
			}
		})
	}
	wg.Wait()
	replaced := map[string]int{}
	for _, m := range s.Sent() {
		if m.Channel == channelSMS {
			replaced[m.FallbackOf]++
		}
	}
	assert.Len(t, replaced, messages)
	assert.Len(t, s.Sent(), 2*messages)
	assert.Equal(t, messages, *list(t, client, s).TotalRows)
}

func TestFallbackAbsent(t *testing.T) {
	t.Parallel()
	eachPath(t, func(t *testing.T, s *Server, client *http.Client, path, body string) {
		t.Helper()
		for _, outcome := range []Delivery{DeliveryUnreachable(), DeliveryFailed(), DeliveryLate(0)} {
			s.SetDelivery("639171234567", outcome)
			require.Equal(t, http.StatusOK, sendTo(t, client, s, path, body).status)
		}
		s.Advance(2 * defaultTTL)
		assert.Len(t, s.Sent(), 3)
	})
}

func TestFallbackOrder(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetDelivery("639171234567", DeliveryUnreachable())
	for i, ttl := range []string{"90", "60", "120", "60"} {
		body := one(fmt.Sprintf(`"text":"Hi","ttl":%s,"sms_from":"ACME","sms_text":"%d"`, ttl, i))
		sendTo(t, client, s, chatApp1, body).data(t)
	}
	s.Advance(10 * time.Second)
	sendTo(t, client, s, chatApp1, one(`"text":"Hi","ttl":60,"sms_from":"ACME","sms_text":"4"`)).data(t)
	s.Advance(time.Hour)
	var texts []string
	for _, m := range s.Sent()[5:] {
		texts = append(texts, m.Text)
	}
	assert.Equal(t, []string{"1", "3", "4", "0", "2"}, texts)
}

func TestFallbackIsPaid(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetDelivery("639171234567", DeliveryUnreachable())
	s.SetBalance("3")
	long := one(`"text":"Hi","ttl":60,"sms_from":"ACME","sms_text":"` + strings.Repeat("я", 135) + `"`)
	sendTo(t, client, s, chatApp1, long).data(t)
	sendTo(t, client, s, chatApp1, long).data(t)
	assert.Equal(t, "2.00", s.Balance())
	s.Advance(time.Minute)
	sent := s.Sent()
	require.Len(t, sent, 3, "one of the two can be paid")
	assert.Equal(t, 3, sent[2].Parts)
	assert.Equal(t, sent[0].ID, sent[2].FallbackOf)
	assert.Equal(t, "0.50", s.Balance())

	s.SetBalance("100")
	s.Advance(time.Hour)
	assert.Len(t, s.Sent(), 3, "what could not be paid is not made up for")
}

func TestFallbackIsPaidAfterMessage(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetDelivery("639171234567", DeliveryFailed())
	s.SetBalance("0.50")
	require.Equal(t, http.StatusOK, sendTo(t, client, s, chatApp2, with(sendPaths[chatApp2], chatFallback)).status)
	require.Len(t, s.Sent(), 1)
	assert.Equal(t, contract.StatusFailed, s.Sent()[0].Status)
	assert.Equal(t, "0.00", s.Balance())
}

func TestFallbackIsNoDuplicate(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.RefuseDuplicates(true)
	s.SetDelivery("639171234567", DeliveryUnreachable())
	sendTo(t, client, s, chatApp1, with(sendPaths[chatApp1], `"ttl":1,`+chatFallback)).data(t)
	s.Advance(time.Second)
	assert.Len(t, s.Sent(), 2)
	assert.Equal(t, http.StatusConflict, send(t, client, s, with(goodBody, `"referenceId":"order-17"`)).status)
}

func TestResetCancelsFallbacks(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetDelivery("639171234567", DeliveryUnreachable())
	sendTo(t, client, s, chatApp1, with(sendPaths[chatApp1], `"ttl":60,`+chatFallback)).data(t)
	s.Advance(30 * time.Second)
	s.Reset()
	sendTo(t, client, s, chatApp1, with(sendPaths[chatApp1], `"ttl":60,`+chatFallback)).data(t)
	s.Advance(30 * time.Second)
	require.Len(t, s.Sent(), 1)
	assert.Equal(t, contract.StatusQueued, s.Sent()[0].Status)
	assert.WithinDuration(t, time.Now().Add(30*time.Second), s.Sent()[0].At, 20*time.Second, "the clock stays")
	s.Advance(30 * time.Second)
	assert.Len(t, s.Sent(), 2)
}

func TestFallbackAfterFault(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetDelivery("639171234567", DeliveryUnreachable())
	s.Inject(FaultAcceptThenDrop(), 1)
	require.Error(t, sendTo(t, client, s, chatApp1, with(sendPaths[chatApp1], `"ttl":60,`+chatFallback)).err)
	s.Advance(time.Minute)
	assert.Len(t, s.Sent(), 2)
}

func TestSeedKeepsChatMessages(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	given := Sent{
		ID: "a", Channel: channelChatApp1, RequestID: "q", Parts: 1, At: day, To: "639171234567", TTL: time.Second, FallbackFrom: "ACME",
		FallbackText: "Hi", Status: contract.StatusQueued, StatusAt: day, Body: []byte(`{}`),
	}
	s.Seed(given, Sent{Channel: channelChatApp2})
	s.Advance(defaultTTL)
	sent := s.Sent()
	require.Len(t, sent, 2)
	assert.Equal(t, given, sent[0])
	assert.True(t, strings.HasPrefix(sent[1].ID, "wamid."))
	assert.Empty(t, list(t, client, s).Data)
	assert.PanicsWithValue(t, `messagingtest: Seed: message 0: no such channel: "fax"`, func() { s.Seed(Sent{Channel: "fax"}) })
}
