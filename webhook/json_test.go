package webhook_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// keyed is an event.
type keyed interface {
	DuplicateKey() (string, bool)
}

// stores checks that an event survives storage, and returns its JSON.
func stores[E keyed](t testing.TB, event E) string {
	t.Helper()
	data, err := json.Marshal(event)
	require.NoError(t, err)
	var back E
	require.NoError(t, json.Unmarshal(data, &back), "%s", data)
	require.Equal(t, event, back)
	require.True(t, reflect.DeepEqual(event, back), "%s", data)
	key, lasting := event.DuplicateKey()
	key2, lasting2 := back.DuplicateKey()
	require.Equal(t, key, key2)
	require.Equal(t, lasting, lasting2)
	return string(data)
}

func TestEventsSurviveStorage(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST())
	for name, sample := range messagingtest.InboundSamples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, _, err := rcv.ParseChatApp1(messagingtest.NewRequest("/", sample))
			require.NoError(t, err)
			sample.Channel = "chatapp2"
			two, _, err := rcv.ParseChatApp2(messagingtest.NewRequest("/", sample))
			require.NoError(t, err)
			for _, m := range append(one, two...) {
				stores(t, m)
			}
		})
	}
	for _, query := range queries() {
		for _, at := range []string{
			"", "&timestamp=1791038663.25", "&timestamp=2026-10-03T14:44:23.123456789%2B08:00", "&timestamp=9e14", "&timestamp=-9e14", "&timestamp=2026-10-03T14:44:23+24:00",
			"&timestamp=0001-01-01T00:00:00%2B08:00", "&timestamp=9999-12-31T23:59:59-12:00", "&timestamp=0000-06-01T00:00:00Z", "&timestamp=99999999999999",
		} {
			r := get("from=1111&" + query + at)
			messages, err := rcv.ParseSMSMessages(r)
			if err == nil {
				stores(t, messages[0])
			}
			chats, _, err := rcv.ParseChatApp2(r)
			for i := 0; i < len(chats) && err == nil; i++ {
				stores(t, chats[i])
			}
			reports, err := rcv.ParseDelivery(get("id=1&" + query + at))
			if err == nil {
				stores(t, reports[0])
			}
		}
	}
	_, reports, err := payload(t, `{"statuses": [ {"id":"1", "status":"read","recipient_id":"<&>\u2028"} ]}`)
	require.NoError(t, err)
	assert.Contains(t, stores(t, reports[0]), `\"recipient_id\":`)
}

func TestEventsSurviveStorageWithEveryField(t *testing.T) {
	t.Parallel()
	stores(t, filled[webhook.SMSMessage]())
	stores(t, filled[webhook.DeliveryReport]())
	stores(t, filled[webhook.Other]())
	stores(t, filled[webhook.Preference]())
	m := filled[webhook.ChatMessage]()
	for _, content := range []webhook.Content{
		nil,
		webhook.Text{},
		webhook.Media{},
		webhook.Location{},
		webhook.Contacts{},
		webhook.Reply{},
		webhook.Reaction{},
		webhook.Order{},
		webhook.Order{Items: []webhook.OrderItem{}},
		webhook.System{},
		webhook.Unknown{},
		filled[webhook.Text](), filled[webhook.Media](),
		filled[webhook.Contacts](), filled[webhook.Reply](), filled[webhook.Reaction](), filled[webhook.System](), filled[webhook.Unknown](),
		webhook.Location{Latitude: 14.5995, Longitude: -120.98, Name: "Manila"},
		webhook.Order{CatalogID: "1", Items: []webhook.OrderItem{{Quantity: 7, Price: "1.10"}}},
	} {
		m.Content = content
		stores(t, m)
	}
	assert.JSONEq(t, `{}`, stores(t, webhook.SMSMessage{}), "what is zero is left out")
}

// The keys are promised: they are in databases.
func TestStoredKeys(t *testing.T) {
	t.Parallel()
	rcv := hooks(webhook.WithPOST())
	m, err := rcv.ParseSMS(get("id=m-1&from=1111&to=2&message=Hi&timestamp=1791038663&x=%FF\xff"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"m-1","from":"1111","to":"2","text":"Hi","received":"2026-10-03T14:44:23Z","rawTime":"1791038663",
		"params":[{"name":"id","value":"m-1"},{"name":"from","value":"1111"},{"name":"to","value":"2"},{"name":"message","value":"Hi"},
			{"name":"timestamp","value":"1791038663"},{"name":"x","value":"ÿÿ"}],
		"rawQueryBytes":"aWQ9bS0xJmZyb209MTExMSZ0bz0yJm1lc3NhZ2U9SGkmdGltZXN0YW1wPTE3OTEwMzg2NjMmeD0lRkb/"}`, stores(t, m))
	chats, _, err := payload(t, `{"from":"1111","id":"1","type":"reaction","reaction":{"message_id":"m-0","emoji":"👍"}}`)
	require.NoError(t, err)
	chats[0].Params = nil
	assert.JSONEq(t, `{"callback":"chatapp2","id":"1","from":"1111","content":{"reaction":{"messageID":"m-0","emoji":"👍"}},
		"json":"{\"from\":\"1111\",\"id\":\"1\",\"type\":\"reaction\",\"reaction\":{\"message_id\":\"m-0\",\"emoji\":\"👍\"}}"}`, stores(t, chats[0]))
}

func TestStoredEventsOfOthers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``: "unexpected end", `[]`: "webhook: the event cannot be decoded", `{"id":7}`: `"id" cannot be a JSON number`,
		`{"content":{}}`: "not one that this package knows", `{"content":{"hologram":{}}}`: "not one that this package knows", `{"content":7}`: "cannot be a JSON number",
		`{"received":"hunter2"}`: "want JSON as MarshalJSON writes it",
	} {
		m := webhook.ChatMessage{ID: "kept"}
		err := json.Unmarshal([]byte(text), &m)
		require.ErrorContains(t, err, want, text)
		assert.NotContains(t, err.Error(), "hunter2")
		assert.Equal(t, webhook.ChatMessage{ID: "kept"}, m, text)
	}
	var m webhook.ChatMessage
	require.NoError(t, json.Unmarshal([]byte(`{"id":"1","later":true,"content":{"text":{"body":"a"},"later":1}}`), &m))
	assert.Equal(t, webhook.ChatMessage{ID: "1", Content: webhook.Text{Body: "a"}}, m)
	_, err := json.Marshal(webhook.ChatMessage{Content: &webhook.Text{Body: "hunter2"}})
	require.ErrorContains(t, err, "its content is a *webhook.Text, want a value of this package")
	assert.NotContains(t, err.Error(), "hunter2")
	data, err := json.Marshal(webhook.ChatMessage{Content: webhook.Contacts(nil)})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &m))
	assert.Equal(t, webhook.Contacts(nil), m.Content)
}

func FuzzStoredEvents(f *testing.F) {
	f.Add(`{"id":"m-1","from":"1111","text":"a","received":"2026-10-03T14:44:23+08:00","params":[{"name":"a"}],"rawQueryBytes":"/w=="}`)
	f.Add(`{"content":{"order":{"items":[{"quantity":7}]}},"json":"{","context":{"forwarded":true}}`)
	f.Add(`{"content":{"unknown":{"kind":"a","json":"\ud800"}},"params":[],"status":"unknown","statusAt":"0001-01-01T00:00:00Z"}`)
	f.Add(`{"content":{"contacts":[{"phones":[{}]}]},"RAWQUERY":"a","rawquery":"b"}`)
	f.Add(strings.Repeat(`{"content":`, 100))
	f.Fuzz(func(t *testing.T, text string) {
		again(t, text, new(webhook.SMSMessage))
		again(t, text, new(webhook.ChatMessage))
		again(t, text, new(webhook.DeliveryReport))
	})
}

// again decodes what may be an event: what comes out of it can be stored.
func again[E any](t *testing.T, text string, event *E) {
	t.Helper()
	if json.Unmarshal([]byte(text), event) != nil {
		return
	}
	data, err := json.Marshal(event)
	require.NoError(t, err)
	var back E
	require.NoError(t, json.Unmarshal(data, &back))
	twice, err := json.Marshal(back)
	require.NoError(t, err)
	require.Equal(t, string(data), string(twice))
}

func TestTimesCanBeStored(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"9e14":                          {}, // the year 30488
		"-9e14":                         {},
		"99999999999999999":             {},
		"253402300799":                  time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).AddDate(0, 0, 0),
		"2026-10-03T14:44:23%2B24:00":   time.Date(2026, 10, 2, 14, 44, 23, 0, time.UTC),
		"9999-12-31T23:59:59-12:00":     {},
		"0001-01-01T00:00:00%2B08:00":   {},
		"0001-01-01T08:00:00%2B08:00":   {},
		"2026-10-03T14:44:23.5%2B08:00": time.Date(2026, 10, 3, 6, 44, 23, 5e8, time.UTC),
	} {
		m, err := hooks().ParseSMS(get("from=1111&timestamp=" + text))
		require.NoError(t, err)
		if text == "253402300799" {
			want = m.ReceivedAt // milliseconds
		}
		assert.True(t, want.Equal(m.ReceivedAt), "%s: %v", text, m.ReceivedAt)
		stores(t, m)
	}
	assert.Equal(t, http.StatusOK, call(t, hooks().SMS(ignore), get("from=1111&timestamp=9e14")).Code)
}
