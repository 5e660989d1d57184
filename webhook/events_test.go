package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/webhook"
)

// named returns a receiver that takes POST by an overlay.
func named(t testing.TB, overlay string, options ...webhook.Option) *webhook.Receiver {
	t.Helper()
	names, err := contract.Parse([]byte(overlay))
	require.NoError(t, err)
	return hooks(append(options, webhook.WithContract(names), webhook.WithPOST())...)
}

const (
	// nested is an account that wraps each event in an object.
	nested = `{
		"webhook.sms": {"params": {"id": ["data.payload.id"], "from": ["data.payload.from.phone_number"], "to": ["data.payload.to.0.phone_number"],
			"text": ["data.payload.text"], "time": ["data.occurred_at"]}},
		"webhook.chatapp2": {"params": {"from": ["contact.number"], "json": ["contact.message"], "text": []}},
		"webhook.delivery": {"params": {"id": ["data.id"], "status": ["data.to.0.status"]}, "statuses": {"failed": ["5*", "delivery_*"], "delivered": ["1", "200"]}}}`
	// listed is an account that sends several events at once.
	listed = `{
		"webhook.sms": {"params": {"id": ["messageId"], "from": ["from"], "to": ["to"], "text": ["text.body"], "time": ["receivedAt"]},
			"events": ["data.results", "results"], "layouts": ["02.01.2006 15:04:05"]},
		"webhook.chatapp2": {"events": ["results"]},
		"webhook.delivery": {"params": {"id": ["messageId"], "status": ["status.groupId"]}, "statuses": {"delivered": ["3"], "failed": ["2", "4"]}, "events": ["results"]}}`
)

func TestPathsInBody(t *testing.T) {
	t.Parallel()
	rcv := named(t, nested)
	m, err := rcv.ParseSMS(post("tenant=5", "application/json", `{"data":{"event_type":"message.received","id":"evt","occurred_at":"2026-10-03T14:44:23Z",
		"payload":{"id":"m-1","from":{"phone_number":"+639171234567","carrier":"x"},"to":[{"phone_number":"21581"},{"phone_number":"2"}],"text":"a.b"}}}`))
	require.NoError(t, err)
	assert.Equal(t, "m-1", m.ID)
	assert.Equal(t, "+639171234567", m.From)
	assert.Equal(t, "21581", m.To)
	assert.Equal(t, "a.b", m.Text)
	assert.Equal(t, time.Date(2026, 10, 3, 14, 44, 23, 0, time.UTC), m.ReceivedAt)
	assert.Equal(t, "+639171234567", m.Params.Get("data.payload.from.phone_number"), "a path is a parameter too")
	assert.Equal(t, "5", m.Params.Get("tenant"))
	assert.False(t, m.Ambiguous)
	stores(t, m)

	m, err = rcv.ParseSMS(get("data.payload.from.phone_number=1111&data.payload.text=a"))
	require.NoError(t, err, "in a query a name is a name")
	assert.Equal(t, "1111", m.From)

	m, err = rcv.ParseSMS(post("data.payload.from.phone_number=1111", "", `{"data":{"payload":{"from":{"phone_number":"2222"},"id":"1"}}}`))
	require.NoError(t, err)
	assert.Equal(t, "1111", m.From, "the query comes first")
	assert.True(t, m.Ambiguous)

	m, err = rcv.ParseSMS(post("", "", `{"data":{"payload":{"from":{"phone_number":"1111"}}},"data":{"payload":{"from":{"phone_number":"2222"}}}}`))
	require.NoError(t, err)
	assert.Equal(t, "1111", m.From)
	assert.True(t, m.Ambiguous, "a member on the way came twice")

	for _, body := range []string{
		`{"data":{"payload":{"from":"1111"}}}`, `{"data":{"payload":{"from":{"phone_number":{"a":1}}}}}`, `{"data":[{"payload":{"from":{"phone_number":"1111"}}}]}`,
		`{"data":7}`, `{"data":{"payload":{"from":["1111"]}}}`, `{"data":` + strings.Repeat(`{"data":`, 7_000) + "1" + strings.Repeat("}", 7_001),
	} {
		_, err := rcv.ParseSMS(post("", "application/json", body))
		require.ErrorIs(t, err, webhook.ErrNoSender, body[:min(len(body), 80)])
	}

	chats, _, err := rcv.ParseChatApp2(post("", "application/json", `{"contact":{"number":"1111","message":{"type":"reaction","reaction":{"message_id":"m-1"}}}}`))
	require.NoError(t, err)
	assert.Equal(t, webhook.Reaction{MessageID: "m-1"}, chats[0].Content)
	assert.Equal(t, "1111", chats[0].From)

	for status, want := range map[string]webhook.Status{
		`200`: webhook.StatusDelivered, `"200"`: webhook.StatusDelivered, `1`: webhook.StatusDelivered, `503`: webhook.StatusFailed,
		`" Delivery_Failed "`: webhook.StatusFailed, `7`: webhook.StatusUnknown, `{"a":1}`: webhook.StatusUnknown, `"delivered"`: webhook.StatusUnknown,
	} {
		reports, err := rcv.ParseDelivery(post("", "application/json", `{"data":{"id":"m-1","to":[{"status":`+status+`}]}}`))
		require.NoError(t, err)
		assert.Equal(t, want, reports[0].Status, status)
	}
}

func TestSeveralEvents(t *testing.T) {
	t.Parallel()
	rcv := named(t, listed)
	const body = `{"messageCount":2,"messageId":"batch","data":{"results":[
		{"messageId":"m-1","from":"1111","to":"2","text":{"body":"a"},"receivedAt":"03.10.2026 14:44:23","keyword":null},
		{"messageId":"m-2","from":"2222","to":"2","text":{"body":"b"},"receivedAt":"2026-10-03 14:44:23"}]}}`
	messages, err := rcv.ParseSMSMessages(post("tenant=5", "application/json", body))
	require.NoError(t, err)
	require.Len(t, messages, 2)
	for i, m := range messages {
		assert.Equal(t, []string{"m-1", "m-2"}[i], m.ID)
		assert.Equal(t, []string{"1111", "2222"}[i], m.From)
		assert.Equal(t, []string{"a", "b"}[i], m.Text)
		assert.True(t, time.Date(2026, 10, 3, 14, 44, 23, 0, time.UTC).Equal(m.ReceivedAt), m.ReceivedAt)
		assert.Equal(t, "5", m.Params.Get("tenant"))
		assert.Empty(t, m.Params.Get("messageCount"), "members around the list say nothing about an event")
		assert.False(t, m.Ambiguous)
	}
	_, err = rcv.ParseSMS(post("", "", body))
	require.ErrorContains(t, err, "several messages")

	for name, tt := range map[string]struct {
		body  string
		froms []string
		err   error
	}{
		"a list that comes twice":  {`{"results":[{"from":"1111"}],"results":[{"from":"2222"}]}`, nil, webhook.ErrUnreadable},
		"one as an object":         {`{"results":{"from":"1111"}}`, []string{"1111"}, nil},
		"the first path counts":    {`{"results":[{"from":"2222"}],"data":{"results":[{"from":"1111"}]}}`, []string{"1111"}, nil},
		"no list":                  {`{"from":"1111"}`, []string{"1111"}, nil},
		"none":                     {`{"results":[]}`, nil, nil},
		"null":                     {`{"results":null,"from":"1111"}`, nil, nil},
		"a text in place of them":  {`{"results":"1111","from":"1111"}`, nil, webhook.ErrUnreadable},
		"some bad":                 {`{"results":[7,{"from":"1111"},{},{"from":{"a":1}},[],null,{"from":"2222"}]}`, []string{"1111", "2222"}, webhook.ErrUnreadable},
		"one of no sender":         {`{"results":[{"from":"1111"},{"text":{"body":"a"}}],"from":"3333"}`, []string{"1111"}, webhook.ErrNoSender},
		"many members":             {`{"results":[{"from":"1111"},{"from":"2222"` + strings.Repeat(`,"a":1`, 256) + `}]}`, []string{"1111"}, webhook.ErrTooLong},
		"as many as may be":        {`{"results":[` + strings.Repeat(`{"from":"1111"},`, 999) + `{"from":"2222"}]}`, append(slicesRepeat("1111", 999), "2222"), nil},
		"more":                     {`{"results":[` + strings.Repeat(`{"from":"1111"},`, 1000) + `{"from":"2222"}]}`, nil, webhook.ErrTooLarge},
		"very many, of nothing":    {`{"results":[` + strings.Repeat(`0,`, 30_000) + `0]}`, nil, webhook.ErrTooLarge},
		"lists in lists":           {`{"results":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`, nil, webhook.ErrUnreadable},
		"lists in lists, too deep": {`{"results":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, nil, webhook.ErrUnreadable},
		"cut off":                  {`{"results":[{"from":"1111"},{"fro`, nil, webhook.ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, err := rcv.ParseSMSMessages(post("", "application/json", tt.body))
			var froms []string
			for _, m := range messages {
				froms = append(froms, m.From)
			}
			assert.Equal(t, tt.froms, froms)
			require.ErrorIs(t, err, tt.err)
			var in inbox[webhook.SMSMessage]
			assert.Equal(t, err == nil, call(t, rcv.SMS(in.handle), post("", "application/json", tt.body)).Code == 200)
			assert.Len(t, in.got, len(tt.froms), "bad events lose no good ones")
		})
	}
}

func slicesRepeat(text string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = text
	}
	return all
}

// TestEventsAreNotHiddenBehindAnEmptyList sends the events at a path that is looked at after one that holds none.
func TestEventsAreNotHiddenBehindAnEmptyList(t *testing.T) {
	t.Parallel()
	rcv := named(t, listed)
	for _, empty := range []string{`{"results":null}`, `{"results":[]}`, `{"results":[ ]}`, `{}`, `null`} {
		messages, err := rcv.ParseSMSMessages(post("", "application/json", `{"data":`+empty+`,"results":[{"messageId":"m-1","from":"1111"}]}`))
		require.NoError(t, err, empty)
		require.Len(t, messages, 1, empty)
		assert.Equal(t, "m-1", messages[0].ID)
	}
	for _, none := range []string{`{"data":{"results":[]}}`, `{"data":{"results":[]},"results":null}`, `{"results":null}`} {
		messages, err := rcv.ParseSMSMessages(post("", "application/json", none))
		require.NoError(t, err, none)
		assert.Empty(t, messages, none)
	}
	messages, err := named(t, `{"webhook.sms": {"events": ["results", ""]}}`).ParseSMSMessages(post("", "application/json", `{"from":"1111","results":[]}`))
	require.NoError(t, err)
	assert.Empty(t, messages, "the body counts if the list is absent, but not if it is empty")
	for _, hidden := range []string{
		`{"data":{},"data":{"results":[{"messageId":"m-2","from":"2222"}]},"results":[{"messageId":"m-1","from":"1111"}]}`,
		`{"data":{"results":[]},"data":{"results":[{"messageId":"m-2","from":"2222"}]},"results":[{"messageId":"m-1","from":"1111"}]}`,
	} {
		_, err := rcv.ParseSMSMessages(post("", "application/json", hidden))
		require.ErrorIs(t, err, webhook.ErrUnreadable, "a list that comes twice is refused, wherever the others are")
	}
}

func TestSeveralEventsInListAsBody(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST(), withKey())
	messages, err := rcv.ParseSMSMessages(post("key=s3cret-of-16-chars", "application/json", `[{"id":"1","from":"1111","key":"x"},{"id":"2","from":"2222","message":"a"}]`))
	require.NoError(t, err)
	require.Len(t, messages, 2)
	assert.Empty(t, messages[0].Params.Get("key"))
	_, err = rcv.ParseSMSMessages(post("", "application/json", `[{"id":"1","from":"1111","key":"s3cret-of-16-chars"}]`))
	require.ErrorIs(t, err, webhook.ErrProof, "an event of a list is no place for a secret")
	messages, err = named(t, listed, withKey()).ParseSMSMessages(post("", "", `{"key":"s3cret-of-16-chars","results":[{"from":"1111","text":{"body":"a"}}]}`))
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprint(messages), "s3cret-of-16-chars")
}

// ParseSMS has no message to return for an empty list, but the service need not call again.
func TestEmptyListHasTheStatusOfTheHandler(t *testing.T) {
	t.Parallel()
	var in inbox[webhook.SMSMessage]
	for rcv, bodies := range map[*webhook.Receiver][]string{
		hooks(webhook.WithPOST()): {`[]`, "[] ", "\ufeff[ ]"},
		named(t, listed):          {`{"results":[]}`, `{"data":{"results":null},"from":"1111"}`},
	} {
		for _, body := range bodies {
			_, err := rcv.ParseSMS(post("", "", body))
			require.ErrorIs(t, err, webhook.ErrNoSender, body)
			refusal, _ := errors.AsType[*webhook.RejectError](err)
			assert.Equal(t, http.StatusOK, refusal.Status, body)
			assert.Equal(t, refusal.Status, call(t, rcv.SMS(in.handle), post("", "", body)).Code, body)
		}
	}
	assert.Empty(t, in.got)
	_, err := hooks(webhook.WithPOST()).ParseSMS(post("", "", `[{}]`))
	refusal, _ := errors.AsType[*webhook.RejectError](err)
	assert.Equal(t, http.StatusBadRequest, refusal.Status, "an event without a sender is no empty list")
}

func TestSeveralEventsOfChatAppsAndReports(t *testing.T) {
	t.Parallel()
	rcv := named(t, listed)
	chats, statuses, err := rcv.ParseChatApp2(post("from=9999", "application/json", `{"results":[
		{"from":"1111","id":"1","type":"text","text":{"body":"a"}},
		{"from":"2222","id":"2","type":"image","image":{"id":"7"}},
		{"id":"m-1","status":"read","recipient_id":"1111"}, {"id":"3"}]}`))
	require.ErrorIs(t, err, webhook.ErrNoSender)
	require.Len(t, chats, 2)
	require.Len(t, statuses, 1)
	assert.Equal(t, webhook.Text{Body: "a"}, chats[0].Content)
	assert.Equal(t, webhook.Media{Kind: webhook.MediaImage, ID: "7"}, chats[1].Content)
	assert.Equal(t, []string{"1111", "2222"}, []string{chats[0].From, chats[1].From}, "an event names its own sender")
	reports, err := rcv.ParseDelivery(post("", "application/json", `{"results":[{"messageId":"1","status":{"groupId":3}},{"messageId":"2","status":{"groupId":4,"name":"X"}},{}]}`))
	require.ErrorIs(t, err, webhook.ErrNoMessage)
	require.Len(t, reports, 2)
	assert.Equal(t, []webhook.Status{webhook.StatusDelivered, webhook.StatusFailed}, []webhook.Status{reports[0].Status, reports[1].Status})
	assert.True(t, reports[0].Status.Final())
	envelope := `{"messages":[` + strings.TrimSuffix(strings.Repeat(`{"from":"1","id":"1"},`, 600), ",") + `]}`
	_, _, err = named(t, listed, webhook.WithLimits(256, 1<<20)).ParseChatApp2(post("", "", `{"results":[`+envelope+`,`+envelope+`]}`))
	require.ErrorIs(t, err, webhook.ErrTooLarge, "the bound is on all events together")
}

// A parameter of the query says nothing about the events of a body. If it contradicts one, that one is marked.
func TestSeveralEventsBesideQuery(t *testing.T) {
	t.Parallel()
	rcv := named(t, listed)
	_, err := rcv.ParseSMSMessages(post(strings.Repeat("a=b&", 250), "", `{"results":[`+strings.Repeat(`{"from":"1111"},`, 20)+`{}]}`))
	require.ErrorIs(t, err, webhook.ErrTooLong, "a query for each event would take much memory")
	messages, err := rcv.ParseSMSMessages(post("from=2222&messageId=7", "", `{"results":[{"from":"1111"},{"from":"2222"},{"messageId":"1","from":"2222"}]}`))
	require.NoError(t, err)
	require.Len(t, messages, 3)
	for i, m := range messages {
		assert.Equal(t, []string{"", "", "1"}[i], m.ID)
		assert.Equal(t, []string{"1111", "2222", "2222"}[i], m.From)
		assert.Equal(t, []bool{true, false, true}[i], m.Ambiguous)
	}
}

func TestSeveralEventsAreHandledOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fails := map[string]error{"2": errors.New("not yet")}
		var handled []string
		h := named(t, listed, webhook.WithStore(webhook.NewMemoryStore(100, time.Hour))).SMS(func(_ context.Context, m webhook.SMSMessage) error {
			if err := fails[m.ID]; err != nil {
				return err
			}
			handled = append(handled, m.ID+m.From+m.Text)
			return nil
		})
		hit := func(events string) int {
			handled = nil
			return call(t, h, post("", "", `{"results":[`+events+`]}`)).Code
		}
		const three = `{"messageId":"1","from":"1111"},{"messageId":"2","from":"1111"},{"messageId":"3","from":"1111"}`
		assert.Equal(t, 500, hit(three))
		assert.Equal(t, []string{"11111", "31111"}, handled)
		delete(fails, "2")
		assert.Equal(t, 200, hit(three))
		assert.Equal(t, []string{"21111"}, handled, "only what failed is handled again")
		assert.Equal(t, 200, hit(`{"messageId":"3","from":"1111"},{"messageId":"4","from":"1111"}`))
		assert.Equal(t, []string{"41111"}, handled, "each has a key of its own, no matter what else the request holds")

		assert.Equal(t, 200, hit(`{"messageId":"5","from":"1111"},{"messageId":"5","from":"1111"}`))
		assert.Equal(t, []string{"51111"}, handled, "twice in one body")
		assert.Equal(t, 200, hit(`{"messageId":"6","from":"1111"},{"messageId":"6","from":"2222"},{"messageId":"6","from":"1111","text":{"body":"b"}}`))
		assert.Equal(t, []string{"61111", "62222", "61111b"}, handled, "an ID that two senders claim, or two texts")

		synctest.Wait()
		time.Sleep(time.Second)
		const yes = `{"from":"1111","text":{"body":"yes"}},{"from":"1111","text":{"body":"yes"}}`
		assert.Equal(t, 200, hit(yes))
		assert.Len(t, handled, 2, "two equal messages of one body are two")
		assert.Equal(t, 200, hit(yes))
		assert.Empty(t, handled, "the service called again")
	})
}

func TestSecretIsNoPartOfAPath(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(listed))
	require.NoError(t, err)
	for _, parameter := range []string{"data", "results", "text", "status"} {
		_, err := webhook.NewReceiver(webhook.WithContract(names), webhook.WithSecret(parameter, "s3cret-of-16-chars"))
		require.ErrorContains(t, err, "callback needs the parameter itself", parameter)
	}
}

// The default contract looks for events at data.payload and delivery_reports, if the body is no event.
func TestSecretIsNoPartOfAPathWithinABody(t *testing.T) {
	t.Parallel()
	for _, parameter := range []string{"data", "delivery_reports"} {
		_, err := webhook.NewReceiver(webhook.WithSecret(parameter, "s3cret-of-16-chars"))
		require.ErrorContains(t, err, "callback needs the parameter itself", parameter)
	}
}

// The memory of a request is a small multiple of its bytes, no matter what a list holds.
func TestSeveralEventsAreBounded(t *testing.T) {
	t.Parallel()
	rcv := named(t, listed, webhook.WithLimits(256, 8<<20))
	for name, body := range map[string]string{
		"a million":     `{"results":[` + strings.Repeat(`{},`, 1_000_000) + `{}]}`,
		"many members":  `{"results":[{` + strings.TrimSuffix(strings.Repeat(`"":0,`, 200_000), ",") + `}]}`,
		"a deep member": `{"results":[{"from":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			_, err := rcv.ParseSMSMessages(post("", "", body))
			require.Error(t, err)
			assert.Less(t, time.Since(began), time.Minute)
		})
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("", `{"results":[{"messageId":"1","from":"1111","text":{"body":"a"}},{"from":"2222"},7]}`)
	f.Add("key=s3cret-of-16-chars", `{"data":{"results":{"from":"1111","receivedAt":"03.10.2026 14:44:23"}}}`)
	f.Add("from=1", `[{"from":"1111","key":"s3cret-of-16-chars"},[],null]`)
	f.Add("", `{"results":[{"type":"text","text":{"body":"a"},"from":"1","id":"1"},{"id":"1","status":{"groupId":3},"recipient_id":"1","messageId":"s3cret-of-16-chars"}],"key":"s3cret-of-16-chars"}`)
	f.Add("", `{"results":`+strings.Repeat(`[`, 100)+`]`)
	rcv := named(f, listed, withKey())
	names, err := contract.Parse([]byte(nested))
	require.NoError(f, err)
	deep := hooks(webhook.WithContract(names), webhook.WithPOST())
	f.Fuzz(func(t *testing.T, query, body string) {
		messages, err := rcv.ParseSMSMessages(post(query, "", body))
		if err != nil {
			refused(t, query, body, err, false)
		}
		for _, m := range messages {
			require.NotEmpty(t, m.From)
			require.Empty(t, m.Params.All("key"))
			keepsQuery(t, query, m.RawQuery)
			stores(t, m)
		}
		chats, reports, _ := rcv.ParseChatApp2(post(query, "", body))
		for _, m := range chats {
			keepsQuery(t, query, m.RawQuery)
			stores(t, m)
			m.RawQuery = query // as without a secret
			checkChat(t, query, body+strings.Repeat(" ", len(query)*len(chats)), m)
		}
		more, _ := rcv.ParseDelivery(post(query, "", body))
		for _, d := range append(reports, more...) {
			require.NotEmpty(t, d.ID+d.ReferenceID)
			require.True(t, d.JSON == nil || json.Valid(d.JSON))
			keepsQuery(t, query, d.RawQuery)
			stores(t, d)
		}
		require.LessOrEqual(t, len(messages), 1000)
		if m, err := deep.ParseSMS(post(query, "", body)); err == nil {
			require.NotEmpty(t, m.From)
			stores(t, m)
		}
		var in inbox[webhook.SMSMessage]
		h := deep.SMS(in.handle)
		status := call(t, h, post(query, "", body)).Code
		require.True(t, status != http.StatusOK || len(in.got) > 0 || strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(body, "\ufeff")), "["), "%d", status)
	})
}

func TestTelNumbers(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"tel:%2B639171234567": "+639171234567", "tel:+639171234567": "+639171234567", "+tel:639171234567": "639171234567", "TEL:21581;ext=1": "21581",
		"tel:": "tel:", "telephone": "telephone",
	} {
		m, err := hooks().ParseSMS(get("from=" + value + "&to=" + value + "&message=tel:1"))
		require.NoError(t, err)
		assert.Equal(t, []string{want, want, "tel:1"}, []string{m.From, m.To, m.Text}, value)
	}
	m, err := hooks().ParseSMS(get("from=tel:%2B639171234567&msisdn=639171234567"))
	require.NoError(t, err)
	assert.False(t, m.Ambiguous, "the same number")
}

// By default a body that is no event itself is looked into. What is an event itself is not.
func TestEventsWithinABody(t *testing.T) {
	t.Parallel()
	long := `{"from":"1111"` + strings.Repeat(`,"a":"b"`, 300) + `}`
	rcv := hooks(webhook.WithPOST())
	for body, want := range map[string]string{
		`{"from":"1111","text":"a","data":{"from":"2222","text":"b"}}`:                      "1111 a",
		`{"id":"evt","type":"inbound","data":{"from":"2222","text":"b"}}`:                   "2222 b",
		`{"id":"evt","data":{"id":"x","payload":{"id":"m","from":"2222","text":"b"}}}`:      "2222 b",
		`{"results":[{"from":"1111","text":"a"},{"sender":"2222","message":"b"}]}`:          "1111 a,2222 b",
		`{"message":{"from":"2222","text":"b"}}`:                                            "2222 b",
		`{"from":{"phone_number":"2222"},"body":"b"}`:                                       "2222 b",
		`{"from":"1111","message":"a","data":[1,2],"results":[{"from":"3333","text":"c"}]}`: "1111 a",
	} {
		messages, err := rcv.ParseSMSMessages(post("", "", body))
		require.NoError(t, err, body)
		var got []string
		for _, m := range messages {
			got = append(got, m.From+" "+m.Text)
		}
		assert.Equal(t, want, strings.Join(got, ","), body)
	}
	for _, body := range []string{`{"data":{"x":1}}`, `{"data":[]}`, `{"data":7}`, `{"message":"a"}`, `{"data":{"from":"1"},"data":{"from":"2"}}`} {
		_, err := rcv.ParseSMSMessages(post("", "", body))
		require.ErrorIs(t, err, webhook.ErrNoSender, body)
	}
	for body, want := range map[string]error{
		`{"results":[7]}`:       webhook.ErrUnreadable,
		`{"data":` + long + `}`: webhook.ErrTooLong,
	} {
		_, err := rcv.ParseSMSMessages(post("", "", body))
		require.ErrorIs(t, err, want, "the reason why the event within was not read")
	}
	messages, err := rcv.ParseSMSMessages(post("", "", `{"data":{"x":1},"results":[],"payload":[{"from":"1111"},7,{"from":"2222"}]}`))
	require.ErrorIs(t, err, webhook.ErrUnreadable)
	assert.Len(t, messages, 2, "a bad event loses no good ones")
}

// The ID of a callback is not that of the message.
func TestReportWithinABody(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST())
	for body, want := range map[string]string{
		`{"id":"evt","event_type":"message.finalized","data":{"payload":{"id":"m-1","status":"delivered"}}}`:           "m-1 delivered",
		`{"id":"evt","status":"ok","results":[{"messageId":"m-1","status":{"groupName":"DELIVERED"}}]}`:                "m-1 delivered",
		`{"id":"m-1","status":"delivered","data":{"campaign":7}}`:                                                      "m-1 delivered",
		`{"id":"evt","message_id":"m-1","status":"delivered"}`:                                                         "m-1 delivered",
		`{"id":"evt","data":{"id":"m-1","status":"delivered"}}`:                                                        "m-1 delivered",
		`{"message_id":"m-1","state":"failed","data":{"id":"x","status":"delivered"}}`:                                 "m-1 failed",
		`{"id":"s","status":"sent","recipient_id":"1","data":{"id":"x","status":"delivered"}}`:                         "s sent",
		`{"id":"evt","status":"delivered","data":{"id":"m-1","status":"sent"},"payload":{"id":"m-2","status":"sent"}}`: "m-1 sent",
	} {
		reports, err := rcv.ParseDelivery(post("", "", body))
		require.NoError(t, err, body)
		require.Len(t, reports, 1, body)
		assert.Equal(t, want, reports[0].ID+" "+string(reports[0].Status), body)
		assert.False(t, reports[0].Ambiguous, body)
	}
}

// An ID around a list may be that of the callback, so reports that cannot be read are not lost behind it.
func TestUnreadableReportsAreNotLostBehindTheirBody(t *testing.T) {
	t.Parallel()
	byDefault := hooks(webhook.WithPOST())
	byID := named(t, `{"webhook.delivery": {"params": {"id": ["id"], "status": ["status"]}, "events": ["", "reports"]}}`)
	for name, tt := range map[string]struct {
		rcv  *webhook.Receiver
		body string
		ids  []string
		err  error
	}{
		"no objects":                   {byID, `{"id":"batch","reports":[7]}`, []string{"batch"}, webhook.ErrUnreadable},
		"no IDs":                       {byID, `{"id":"batch","reports":[{"name":"m-1","status":"sent"}]}`, []string{"batch"}, webhook.ErrNoMessage},
		"a single one without an ID":   {byID, `{"id":"batch","reports":{"name":"m-1","status":"sent"}}`, []string{"batch"}, webhook.ErrNoMessage},
		"lists":                        {byID, `{"id":"batch","reports":[[{"id":"m-1","status":"sent"}]]}`, []string{"batch"}, webhook.ErrUnreadable},
		"too many":                     {byID, `{"id":"batch","reports":[` + strings.Repeat(`{"id":"m-1"},`, 1000) + `{"id":"m-2"}]}`, []string{"batch"}, webhook.ErrTooLarge},
		"a list that comes twice":      {byID, `{"id":"batch","reports":[{"id":"m-1"}],"reports":[{"id":"m-2"}]}`, []string{"batch"}, webhook.ErrUnreadable},
		"messages":                     {byID, `{"id":"batch","reports":{"messages":[{"id":"m-1","from":"1111","type":"text","text":{"body":"a"}}]}}`, []string{"batch"}, webhook.ErrUnhandled},
		"a content by its type":        {byID, `{"id":"evt","type":"reports","reports":{"id":"m-1","status":"sent"}}`, []string{"m-1"}, nil},
		"some good":                    {byID, `{"id":"batch","reports":[{"id":"m-1","status":"sent"},{"name":"m-2"}]}`, []string{"m-1"}, webhook.ErrNoMessage},
		"below a status of the call":   {byDefault, `{"id":"evt","status":"ok","results":[{"name":"m-1"}]}`, []string{"evt"}, webhook.ErrNoMessage},
		"below a status of a message":  {byDefault, `{"id":"evt","status":"delivered","results":[{"name":"m-1"}]}`, []string{"evt"}, webhook.ErrNoMessage},
		"a path before a readable one": {byDefault, `{"id":"evt","results":[{"name":"m-1"}],"data":{"id":"m-2","status":"sent"}}`, []string{"m-2"}, webhook.ErrNoMessage},
		"none":                         {byID, `{"id":"m-1","reports":[]}`, []string{"m-1"}, nil},
		"a status in an object":        {byDefault, `{"id":"evt","status":"sent","data":{"name":"m-1","status":"failed"}}`, []string{"evt"}, webhook.ErrNoMessage},
		"statuses of the platform":     {byDefault, `{"id":"evt","status":"sent","data":{"statuses":[{"name":"m-1"}]}}`, []string{"evt"}, webhook.ErrNoMessage},
		"an object of many members":    {byDefault, `{"id":"evt","status":"sent","data":{"a":1` + strings.Repeat(`,"a":1`, 256) + `}}`, []string{"evt"}, webhook.ErrTooLong},
		"an object below the callback": {byDefault, `{"id":"evt","status":"ok","data":{"name":"m-1"}}`, []string{"evt"}, webhook.ErrNoMessage},
		"an object about a status":     {byDefault, `{"id":"m-1","status":"delivered","data":{"campaign":7}}`, []string{"m-1"}, nil},
		"an object about a message":    {byDefault, `{"message_id":"m-1","data":{"campaign":7}}`, []string{"m-1"}, nil},
		"an object around a report":    {byDefault, `{"id":"evt","data":{"campaign":7},"payload":{"id":"m-1","status":"sent"}}`, []string{"m-1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reports, err := tt.rcv.ParseDelivery(post("", "application/json", tt.body))
			var ids []string
			for _, d := range reports {
				ids = append(ids, d.ID)
			}
			assert.Equal(t, tt.ids, ids, "what can be read arrives")
			require.ErrorIs(t, err, tt.err)
			var in inbox[webhook.DeliveryReport]
			code := call(t, tt.rcv.Delivery(in.handle), post("", "application/json", tt.body)).Code
			assert.Equal(t, tt.err == nil, code == http.StatusOK, "the service has to call again")
			assert.Len(t, in.got, len(tt.ids))
		})
	}
}

// A message of the platform is an event by itself, like a status of the platform.
func TestMessageOfThePlatformIsNotLostBehindAList(t *testing.T) {
	t.Parallel()
	rcv := named(t, `{"webhook.chatapp2": {"events": ["", "data"]}}`)
	messages, _, err := rcv.ParseChatApp2(post("", "", `{"from":"1111","id":"m-1","type":"text","text":{"body":"a"},"data":[{"from":"2222","text":"b"}]}`))
	require.NoError(t, err)
	require.Len(t, messages, 1)
	assert.Equal(t, "m-1", messages[0].ID)
	messages, _, err = rcv.ParseChatApp2(post("", "", `{"id":"evt","type":"data","data":{"from":"2222","id":"m-2","text":"b"}}`))
	require.NoError(t, err)
	require.Len(t, messages, 1)
	assert.Equal(t, "m-2", messages[0].ID, "a callback with a type and its content is no message")
	messages, _, err = rcv.ParseChatApp2(post("", "", `{"payload":"{\"from\":\"1111\",\"id\":\"m-1\",\"type\":\"text\",\"text\":{\"body\":\"a\"}}","data":{"campaign":7}}`))
	require.NoError(t, err, "an object without a sender says something about the message")
	assert.Len(t, messages, 1)
}
