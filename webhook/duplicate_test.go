package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// keys returns the duplicate key of a query, as a handler of each kind passes it to the store.
func keys(t *testing.T, callback webhook.Callback, query string) string {
	t.Helper()
	var got []string
	rcv := hooks(webhook.WithStore(keysOf(&got)), webhook.WithPOST())
	var event interface {
		DuplicateKey() (key string, lasting bool)
	}
	h := map[webhook.Callback]http.Handler{
		webhook.CallbackSMS:      rcv.SMS(func(_ context.Context, m webhook.SMSMessage) error { event = m; return nil }),
		webhook.CallbackChatApp1: rcv.ChatApp1(func(_ context.Context, m webhook.ChatMessage) error { event = m; return nil }),
		webhook.CallbackChatApp2: rcv.ChatApp2(func(_ context.Context, m webhook.ChatMessage) error { event = m; return nil }),
		webhook.CallbackDelivery: rcv.Delivery(func(_ context.Context, d webhook.DeliveryReport) error { event = d; return nil }),
	}[callback]
	require.Equal(t, 200, call(t, h, get(query)).Code, query)
	require.NotEmpty(t, got)
	got = got[len(got)-1:] // an event that does not identify itself is first looked up in the span before
	assert.Regexp(t, `^[a-z0-9]+\.[0-9a-f]{32}(\.[0-9]+)?$`, got[0])
	assert.LessOrEqual(t, len(got[0]), 100)
	assert.True(t, strings.HasPrefix(got[0], string(callback)+"."))
	key, lasting := event.DuplicateKey()
	if lasting {
		assert.Equal(t, got[0], key)
	} else {
		assert.True(t, strings.HasPrefix(got[0], key+"."), "a span of time")
	}
	return got[0]
}

func TestDuplicateKey(t *testing.T) {
	t.Parallel()
	const sms, chat, delivery = webhook.CallbackSMS, webhook.CallbackChatApp1, webhook.CallbackDelivery
	for name, tt := range map[string]struct {
		callback webhook.Callback
		a, b     string
		same     bool
	}{
		"the ID is the key":                       {sms, "id=1&from=1111", "from=1111&id=1&attempt=2", true},
		"another ID":                              {sms, "id=1&from=1111", "id=2&from=1111", false},
		"another sender":                          {sms, "id=1&from=1111", "id=1&from=2222", false},
		"the same sender, less well escaped":      {sms, "id=1&from=%2B1111", "id=1&from=+1111", true},
		"another text":                            {sms, "id=1&from=1111&text=a", "id=1&from=1111&text=b", false},
		"an ID that is a reference":               {sms, "id=1&from=1111&timestamp=1791038663", "referenceId=1&from=1111&timestamp=1791038663", false},
		"two spellings without an ID":             {sms, "from=1&timestamp=1791038663&message=a%20b", "from=1&timestamp=1791038663&message=a+b", true},
		"parameters that run together":            {sms, "from=1&timestamp=1791038663&message=ab", "from=1&timestamp=1791038663&message=a&b", false},
		"separators in a value":                   {sms, "from=1&timestamp=1791038663&a=b&c=d", "from=1&timestamp=1791038663&a=b%26c%3Dd", false},
		"another time":                            {sms, "from=1&timestamp=1791038663", "from=1&timestamp=1791038664", false},
		"a text that claims the ID of another":    {sms, "text=x&id=1002&from=2222&msgId=7&msisdn=1111", "id=1002&from=2222&text=x", false},
		"a claim that comes again":                {sms, "text=x&id=1002&from=2222&msgId=7&msisdn=1111", "text=x&id=1002&from=2222&msgId=7&msisdn=1111", true},
		"another part of what the contract lacks": {sms, "id=1&from=1111&part=1", "id=1&from=1111&part=2", true},
		"the same ID at another time":             {sms, "id=1&from=1111&text=yes&date=1791038663", "id=1&from=1111&text=yes&date=1791042263", false},
		"the same ID at an unknown time":          {sms, "id=1&from=1111&text=yes&date=noon", "id=1&from=1111&text=yes&date=midnight", false},
		"another keyword":                         {sms, "id=1&from=1111&keyword=a", "id=1&from=1111&keyword=b", false},
		"another medium":                          {chat, "id=1&from=1111&type=image&mediaUrl=https://a/1", "id=1&from=1111&type=image&mediaUrl=https://a/2", false},
		"another caption":                         {chat, "id=1&from=1111&type=image&mediaId=1&caption=a", "id=1&from=1111&type=image&mediaId=1&caption=b", false},
		"another place":                           {chat, "id=1&from=1111&latitude=1&longitude=2", "id=1&from=1111&latitude=1&longitude=3", false},
		"another reply":                           {chat, `id=1&from=1111&payload={"type":"button","button":{"payload":"YES"}}`, `id=1&from=1111&payload={"type":"button","button":{"payload":"NO"}}`, false},
		"another kind":                            {chat, "id=1&from=1111&type=image&mediaId=1", "id=1&from=1111&type=video&mediaId=1", false},
		"an unknown kind":                         {chat, "id=1&from=1111&type=hologram&beam=1", "id=1&from=1111&type=hologram&beam=2", false},
		"a chat message":                          {chat, "id=1&from=1111&message=a", "id=1&from=1111&message=a&attempt=2", true},
		"a chat message of another sender":        {chat, "id=1&from=1111&message=a", "id=1&from=2222&message=a", false},
		"a chat message in JSON":                  {chat, `payload={"id":"1","from":"1111","type":"x"}`, `payload={"id":"1","from":"1111","type":"x"}&attempt=2`, true},
		"another chat message in JSON":            {chat, `payload={"id":"1","from":"1111","type":"x"}`, `payload={"id":"2","from":"1111","type":"x"}`, false},
		"a report in another case":                {delivery, "id=1&status=sent&to=1", "id=1&status=SENT+&to=1&attempt=2", true},
		"another status":                          {delivery, "id=1&status=sent", "id=1&status=delivered", false},
		"another word for the status":             {delivery, "id=1&status=sent", "id=1&status=enroute", false},
		"another recipient":                       {delivery, "id=1&status=sent&to=1", "id=1&status=sent&to=2", false},
		"a report that comes again":               {delivery, "id=1&status=sent&to=1&timestamp=1", "id=1&status=sent&to=1&timestamp=1", true},
		"a report of another time":                {delivery, "id=1&status=sent&to=1&timestamp=1", "id=1&status=sent&to=1&timestamp=2", false},
		"a recipient that the contract lacks":     {delivery, "id=1&status=sent&msisdn=1", "id=1&status=sent&msisdn=2", false},
		"a status next to a placeholder":          {delivery, "id=1&to=1&status=null&state=SENT", "id=1&to=1&status=null&state=DELIVRD", false},
		"a status next to a hyphen":               {delivery, "id=1&to=1&status=-&state=SENT", "id=1&to=1&status=-&state=DELIVRD", false},
		"an unknown status":                       {delivery, "id=1&to=1&status=777", "id=1&to=1&status=777&attempt=2", true},
		"another kind of report":                  {delivery, "id=1&to=1&status=sent&transactionType=sms", "id=1&to=1&status=sent&transactionType=chat", false},
		"another error code":                      {delivery, "id=1&to=1&status=failed&errorCode=1", "id=1&to=1&status=failed&errorCode=2", false},
		"a cost that comes later":                 {delivery, "id=1&to=1&status=delivered", "id=1&to=1&status=delivered&cost=0.05&currency=EUR", false},
		"a status that the contract lacks":        {delivery, "id=1&state=DELIVRD", "id=1&state=UNDELIV", false},
		"the same without a status":               {delivery, "id=1&state=DELIVRD", "id=1&state=DELIVRD", true},
		"a reference alone":                       {delivery, "referenceId=1&status=sent", "referenceId=1&status=sent", true},
		"a reference alone, another time":         {delivery, "referenceId=1&status=sent&timestamp=1", "referenceId=1&status=sent&timestamp=2", false},
		"a reference alone, another status":       {delivery, "referenceId=1&status=sent", "referenceId=1&status=read", false},
		"a reference that is the ID of another":   {delivery, "id=1&status=sent", "referenceId=1&status=sent", false},
		"two statuses":                            {delivery, "id=1&status=sent&_status=read", "id=1&status=sent", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := keys(t, tt.callback, tt.a), keys(t, tt.callback, tt.b)
			assert.Equal(t, tt.same, a == b)
		})
	}
	assert.NotEqual(t, keys(t, chat, "id=1&from=1"), keys(t, webhook.CallbackChatApp2, "id=1&from=1"))
	for _, query := range []string{"id=639171234567&from=639171234567&message=hunter2", "from=639171234567&message=hunter2", "id=hunter2&referenceId=hunter2&from=639171234567"} {
		key := keys(t, sms, query)
		assert.NotContains(t, key, "639171234567")
		assert.NotContains(t, key, "hunter2")
	}
}

// A service that calls twice at once is handled once at every moment, and a person who writes the same again after five seconds twice.
func TestEventThatDoesNotIdentifyItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handled := 0
		rcv := hooks(webhook.WithStore(webhook.NewMemoryStore(1000, time.Hour)))
		h := rcv.SMS(func(context.Context, webhook.SMSMessage) error { handled++; return nil })
		arrive := func(text string) {
			require.Equal(t, 200, call(t, h, get("from=1111&message="+text)).Code)
		}
		time.Sleep(50 * time.Millisecond) // so that a pair is around each full second
		for i := range 60 {
			text := fmt.Sprint("yes", i)
			arrive(text)
			time.Sleep(60 * time.Millisecond)
			arrive(text)
			time.Sleep(40 * time.Millisecond)
		}
		assert.Equal(t, 60, handled)
		handled = 0
		for range 3 {
			arrive("again")
			time.Sleep(5 * time.Second)
		}
		assert.Equal(t, 3, handled)
	})
}

// A store keeps keys over a deployment, and the service repeats events for days. If this test fails, the keys of a new release differ.
func TestDuplicateKeyOfEarlierReleases(t *testing.T) {
	t.Parallel()
	for want, query := range map[string]string{
		"chatapp1.dce5b6c9e8c0b55e93437dee6d79ac5b": "id=1&from=1111&message=yes&timestamp=1791038663",
		"chatapp1.229270af323d50af51db748706080168": "id=1&from=1111&type=location&latitude=14.5&longitude=121&timestamp=1791038663",
		"chatapp1.ee5d98818b1b1bf61f36439670d57944": "id=1&from=1111&type=image&url=https://example.com/a.png&timestamp=1791038663",
	} {
		m, _, err := hooks().ParseChatApp1(get(query))
		require.NoError(t, err)
		key, _ := m[0].DuplicateKey()
		assert.Equal(t, want, key)
	}
}

func TestDuplicateKeyLasting(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"id=1": true, "timestamp=1791038663": true, "timestamp=2026-10-03T14:44:23Z": true, "timestamp=20261003144423": true, "timestamp=1791038663250": true,
		"": false, "id=null": false, "timestamp=yesterday": false, "timestamp=0": false, "date=2026-10-03": false, "time=2026-10-03+14:44": false,
		"id=1&messageId=2": true,
	} {
		_, lasting := receive(t, "from=1111&message=yes&"+query).DuplicateKey()
		assert.Equal(t, want, lasting, query)
		_, lasting = chat(t, "from=1111&message=yes&"+query).DuplicateKey()
		assert.Equal(t, want, lasting, query)
	}
}

// A genuine event is never dropped as a duplicate of another.
func TestDuplicatesAreNotDistinctEvents(t *testing.T) {
	t.Parallel()
	store := webhook.WithStore(webhook.NewMemoryStore(1000, time.Hour))
	var sms inbox[webhook.SMSMessage]
	h := hooks(store).SMS(sms.handle)
	want := 0
	for _, id := range []string{"null", "0", "undefined", "-", "%25i", "none", "n/a"} {
		for _, text := range []string{"a", "b", "c"} {
			want++
			assert.Equal(t, 200, call(t, h, get("from=1111&id="+id+"&message="+text)).Code)
			assert.Len(t, sms.got, want, "%s %s", id, text)
		}
	}
	var reports inbox[webhook.DeliveryReport]
	d := hooks(store).Delivery(reports.handle)
	for i, state := range []string{"ENROUTE", "DELIVRD", "UNDELIV"} {
		assert.Equal(t, 200, call(t, d, get("id=1&state="+state)).Code)
		assert.Len(t, reports.got, i+1)
	}

	// A text that was not escaped claims to be event 1002. The genuine one is handled all the same.
	sms.got = nil
	assert.Equal(t, 200, call(t, h, get("msgId=7&msisdn=1111&text=x&id=1002&from=%2B63917")).Code)
	assert.Equal(t, 200, call(t, h, get("text=x&id=1002&from=%2B63917&msgId=8&msisdn=1111")).Code)
	assert.Equal(t, 200, call(t, h, get("msgId=1002&msisdn=%2B63917&text=x")).Code)
	require.Len(t, sms.got, 3)
	assert.True(t, sms.got[0].Ambiguous)
	assert.True(t, sms.got[1].Ambiguous)
	assert.False(t, sms.got[2].Ambiguous)
}

func TestStoreShared(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithStore(webhook.NewMemoryStore(100, time.Hour)))
	var sms inbox[webhook.SMSMessage]
	var one, two inbox[webhook.ChatMessage]
	var reports inbox[webhook.DeliveryReport]
	for _, h := range []http.Handler{rcv.SMS(sms.handle), rcv.ChatApp1(one.handle), rcv.ChatApp2(two.handle), rcv.Delivery(reports.handle)} {
		assert.Equal(t, 200, call(t, h, get("id=1&from=1111")).Code)
	}
	assert.Equal(t, []int{1, 1, 1, 1}, []int{len(sms.got), len(one.got), len(two.got), len(reports.got)})
}

// An ID that every message has identifies none of them: two genuine messages with it are two.
func TestDuplicateKeyNeedsAnIDThatIdentifies(t *testing.T) {
	t.Parallel()
	parse := func(query string) webhook.SMSMessage {
		m, err := hooks().ParseSMS(get(query))
		require.NoError(t, err)
		return m
	}
	for id, identifies := range map[string]bool{
		"sms": false, "inbound": false, "null-null": false, "undefined-undefined": false, "%251": false, "{id1}": false, "$(id)": false, "%25(id)s": false,
		"[id]": false, "@@id@@": false, "__MSG_ID__": false,
		"1": true, "m-1": true, "IRFa-VaY_jsOdHp-bQwlm": true, "{3F2504E0-4F89-11D3-9A0C-0305E82C3301}": true,
	} {
		first, second := parse("from=1111&message=yes&n=1&id="+id), parse("from=1111&message=yes&n=2&id="+id)
		key, lasting := first.DuplicateKey()
		other, _ := second.DuplicateKey()
		assert.Equal(t, identifies, lasting, id)
		assert.Equal(t, identifies, key == other, id)
	}
	assert.Equal(t, "sms", parse("from=1111&id=sms").ID, "it arrives")
}
