package messagingtest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

// changesAfter takes steps in a synctest bubble and returns what Changes yields before the first step and after each: an ID and a status.
func changesAfter(t *testing.T, s *Server, steps ...func()) []string {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	var got []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m := range s.Changes(ctx) {
			got = append(got, m.ID+" "+string(m.Status))
		}
	}()
	synctest.Wait()
	for _, step := range steps {
		step()
		synctest.Wait()
	}
	end()
	<-done
	return got
}

func TestChangesYieldsEntriesAndStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.Seed(Sent{ID: "m-1", Text: "before"})
		got := changesAfter(
			t, s,
			func() { s.Seed(Sent{ID: "m-2", Channel: channelChatApp1, To: "+639171234567"}, Sent{ID: "m-3"}) },
			func() { s.SetMessageDelivery("m-2", DeliveryAfter(time.Minute)) },
			func() { s.Advance(time.Minute) },
			func() { s.Advance(time.Minute) }, // nothing is left to happen
		)
		assert.Equal(t, []string{"m-1 ", "m-2 ", "m-3 ", "m-2 sent", "m-2 delivered"}, got)
	})
}

func TestChangesYieldsNothingBeforeAStatusChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.Seed(Sent{ID: "m-1", Channel: channelChatApp1, To: "+639171234567"})
		s.SetMessageDelivery("m-1", DeliveryAfter(time.Hour))
		got := changesAfter(
			t, s,
			func() { s.Advance(30 * time.Minute) },
			func() { s.Advance(30*time.Minute - 1) },
			func() { s.Advance(1) },
		)
		assert.Equal(t, []string{"m-1 sent", "m-1 delivered"}, got)
	})
}

func TestWaitForReturnsEachMessageOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.Seed(Sent{ID: "m-1", To: "+639171234567"}, Sent{ID: "m-2", To: "+639170000000"}, Sent{ID: "m-3", To: "639171234567"})
		for _, want := range []string{"m-1", "m-3"} {
			m, err := s.WaitFor(t.Context(), "639171234567")
			require.NoError(t, err)
			assert.Equal(t, want, m.ID)
		}
		time.AfterFunc(time.Second, func() { s.Seed(Sent{ID: "m-4", To: "+639171234567"}) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		m, err := s.WaitFor(ctx, "+639171234567")
		require.NoError(t, err)
		assert.Equal(t, "m-4", m.ID)
		_, err = s.WaitFor(ctx, "+639171234567")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Your code is 482913":                                 "482913",
		"482913 is your ACME verification code.":              "482913",
		"G-482913 is your code":                               "482913",
		"Code: 482-913":                                       "482913",
		"Your order 1701 is paid. The code is 4821.":          "4821",
		"Use 482913 to sign in":                               "482913",
		"<#> 4821 is your OTP\nFA+9qCX9VSu":                   "4821",
		"Kode Anda (4821) berlaku 5 menit":                    "4821",
		"Your PIN: *482913*":                                  "482913",
		"Your order 1701 is ready":                            "",
		"Call +639171234567 on 2026-10-03 at 14:44, ₱1500.00": "",
		"No code here":                                        "",
		"":                                                    "",
	} {
		assert.Equal(t, want, Sent{Text: text}.Code(), text)
	}
}

func TestCodeInABody(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		message Sent
		want    string
	}{
		"a parameter of a template": {
			Sent{To: "639171", Kind: "template", Channel: channelChatApp2, Body: json.RawMessage(`{"to":"639171","template":{"name":"login","components":[
				{"type":"body","parameters":[{"type":"text","text":"482913"}]}]}}`)}, "482913",
		},
		"an amount, a name and a payload": {
			Sent{Kind: "template", Channel: channelChatApp2, Body: json.RawMessage(`{"template":{"components":[{"type":"body","parameters":[
				{"type":"currency","currency":{"fallback_value":"1000 PHP","code":"PHP","amount_1000":1000000}},
				{"type":"payload","payload":"1234"},{"type":"text","text":"amount_1000"}]}]}}`)}, "",
		},
		"a caption": {
			Sent{Kind: "image", Channel: channelChatApp2, Body: json.RawMessage(`{"image":{"id":"1234","caption":"Your code: _4821_"}}`)}, "4821",
		},
		"the header of an interactive message": {
			Sent{Kind: "interactive", Channel: channelChatApp2, Text: "It is your code", Body: json.RawMessage(
				`{"interactive":{"header":{"type":"text","text":"4821"},"body":{"text":"It is your code"}}}`)}, "4821",
		},
		"a parameter by name": {
			Sent{Kind: "template", Channel: channelChatApp1, Template: "t-1", Body: json.RawMessage(`{"templateId":"t-1","templateParams":{"amount":"1000","code":"482913"}}`)},
			"482913",
		},
		"parameters in a form": {
			Sent{Kind: "template", Channel: channelChatApp1, Body: json.RawMessage(`{"templateParams":"{\"total_1000\":\"1000\",\"otp\":\"4821\"}"}`)}, "4821",
		},
		"no JSON": {Sent{Kind: "template", Body: json.RawMessage(`{`)}, ""},
	} {
		assert.Equal(t, tc.want, tc.message.Code(), name)
	}
}

func TestSetMessageDelivery(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	assert.False(t, s.SetMessageDelivery("msg-9", Delivery{}))

	sms := send(t, client, s, `{"from":"ACME","to":"+639171234567","text":"Hi"}`).data(t)["id"]
	require.True(t, s.SetMessageDelivery(sms, DeliveryFailed()))
	assert.Equal(t, contract.StatusFailed, s.Sent()[0].Status)
	assert.Equal(t, []string{"failed"}, list(t, client, s).column("dlrStatus"), "a listing shows it")

	s.SetDelivery("+639171234567", DeliveryUnreachable())
	require.Equal(t, http.StatusOK, sendTo(t, client, s, chatApp1, with(sendPaths[chatApp1], `"ttl":600,`+chatFallback)).status)
	chat := s.Sent()[1].ID
	s.Advance(5 * time.Minute)
	require.True(t, s.SetMessageDelivery(chat, DeliveryRead()))
	s.Advance(time.Hour)
	sent := s.Sent()
	require.Len(t, sent, 2, "the fallback does not apply any longer")
	assert.Equal(t, contract.StatusRead, sent[1].Status)

	require.True(t, s.SetMessageDelivery(chat, DeliveryUnreachable()), "its lifetime is over")
	assert.Equal(t, contract.StatusExpired, s.Sent()[1].Status)
	require.Len(t, s.Sent(), 3)
	assert.Equal(t, chat, s.Sent()[2].FallbackOf)
	require.True(t, s.SetMessageDelivery(chat, DeliveryFailed()))
	s.Advance(time.Hour)
	assert.Len(t, s.Sent(), 3, "a fallback is sent once")
}

func TestSetMessageDeliveryListsTheContractsOwnWord(t *testing.T) {
	t.Parallel()
	for overlay, want := range map[string]string{
		`{}`: "delivered",
		`{"webhook.delivery": {"statuses": {"delivered": ["DELIVRD", "1"]}}}`:          "DELIVRD",
		`{"webhook.delivery": {"statuses": {"delivered": ["2", "DELIVERED"]}}}`:        "delivered",
		`{"webhook.delivery": {"statuses": {"delivered": ["DELI*"]}}}`:                 "delivered",
		`{"webhook.delivery": {"statuses": {"delivered": ["ok*"]}}}`:                   "ok",
		`{"webhook.delivery": {"statuses": {"delivered": []}}}`:                        "delivered",
		`{"webhook.delivery": {"statuses": {"delivered": ["1"], "sent": ["deliv*"]}}}`: "1",
	} {
		names, err := contract.Parse([]byte(overlay))
		require.NoError(t, err)
		s, client := NewServer(t, WithContract(names)), newClient(t)
		id := send(t, client, s, `{"from":"ACME","to":"+639171234567","text":"Hi"}`).data(t)["id"]
		require.True(t, s.SetMessageDelivery(id, Delivery{}))
		assert.Equal(t, []string{want}, list(t, client, s).column("dlrStatus"), overlay)
	}
}

func TestListingShowsStatusAfterAdvance(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	id := send(t, client, s, `{"from":"ACME","to":"+639171234567","text":"Hi"}`).data(t)["id"]
	require.True(t, s.SetMessageDelivery(id, DeliveryAfter(10*time.Minute)))
	assert.Equal(t, []string{"sent"}, list(t, client, s).column("dlrStatus"))
	s.Advance(10 * time.Minute)
	assert.Equal(t, contract.StatusDelivered, s.Sent()[0].Status)
	assert.Equal(t, "delivered", s.Sent()[0].DeliveryStatus)
	assert.Equal(t, []string{"delivered"}, list(t, client, s).column("dlrStatus"))
}

func TestRemove(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.RefuseDuplicates(true)
	s.Seed(Sent{ID: "m-1", ReferenceID: "r"}, Sent{ID: "m-2", ReferenceID: "r"}, Sent{ID: "m-3"})
	assert.True(t, s.Remove("m-2"))
	assert.False(t, s.Remove("m-2"), "it is gone")
	assert.NotEmpty(t, s.ledger.byReference["r"], "another has the reference")
	assert.True(t, s.Remove("m-1"))
	assert.Empty(t, s.ledger.byReference["r"])
	sent := s.Sent()
	require.Len(t, sent, 1)
	assert.Equal(t, "m-3", sent[0].ID)
}

func TestContextWithFault(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Inject(FaultNotJSON(), 1)
	assert.Equal(t, FaultDropUnread(), nextFault(ContextWithFault(t.Context(), FaultDropUnread()), s))
	assert.Equal(t, Fault{}, nextFault(ContextWithFault(t.Context(), Fault{}), s), "the zero fault passes")
	assert.Equal(t, FaultNotJSON(), nextFault(t.Context(), s), "what was injected still waits")
	assert.Equal(t, 3, s.Requests())
}

func TestWatchOnAnotherListener(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	var got []string
	s.Watch(func(r *http.Request, fault Fault, requestID string) {
		got = append(got, r.URL.Path+" "+fault.String()+" "+requestID)
	})
	front := httptest.NewServer(s)
	defer front.Close()
	s.Inject(FaultDropUnread(), 1)
	for range 2 {
		req := newRequest(t, s, `{"from":"ACME","to":"+639171234567","text":"Hi"}`)
		req.URL.Host = front.Listener.Addr().String()
		_ = do(client, req)
	}
	assert.Equal(t, []string{"/sms/send DropUnread ", "/sms/send None req-1"}, got)
	assert.Len(t, s.Sent(), 1)
}
