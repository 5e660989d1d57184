package messagingtest

import (
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

func TestSeedFillsAbsentFields(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	began := time.Now()
	s.Seed()
	assert.Nil(t, s.Sent())
	s.Seed(Sent{From: "ACME", To: "639171234567", Text: "Hi"}, Sent{ID: "msg-2"}, Sent{}, Sent{ID: "x", RequestID: "y", Parts: 7, At: day})
	sent := s.Sent()
	assert.Equal(t, "req-1", sent[0].RequestID)
	assert.WithinRange(t, sent[0].At, began, time.Now())
	assert.Equal(t, 1, sent[0].Parts)
	assert.Equal(t, []string{"msg-1", "msg-2", "msg-3", "x"}, []string{sent[0].ID, sent[1].ID, sent[2].ID, sent[3].ID})
	assert.Equal(t, Sent{ID: "x", Channel: channelSMS, RequestID: "y", Parts: 7, At: day}, sent[3])
	assert.Zero(t, s.Requests())
	assert.Equal(t, "1000000.00", s.Balance())

	s.Seed(Sent{ID: "msg-4"})
	assert.Equal(t, "msg-5", send(t, client, s, goodBody).data(t)["id"], "an ID that is taken is passed over")
}

// TestIDPrefix: the IDs of all channels have the prefix, also those that Seed fills in.
func TestIDPrefix(t *testing.T) {
	s := NewServer(t, WithIDPrefix("run-7-"))
	client := newClient(t)
	assert.Equal(t, "run-7-1", send(t, client, s, goodBody).data(t)["id"])
	s.Seed(Sent{Channel: channelChatApp2}, Sent{})
	sent := s.Sent()
	assert.Equal(t, "wamid."+base64.StdEncoding.EncodeToString([]byte("run-7-2")), sent[1].ID)
	assert.Equal(t, "run-7-3", sent[2].ID)
}

func TestSeedCopies(t *testing.T) {
	s := NewServer(t)
	extra := map[string]json.RawMessage{"app": []byte(`"billing"`)}
	s.Seed(Sent{Extra: extra})
	extra["app"][1] = 'X'
	extra["more"] = []byte("nonsense")
	assert.Equal(t, map[string]json.RawMessage{"app": []byte(`"billing"`)}, s.Sent()[0].Extra)
	assert.Equal(t, "billing", list(t, newClient(t), s).Data[0]["app"])
}

func TestSeedSetsCosts(t *testing.T) {
	s := NewServer(t)
	s.Seed(Sent{Operator: "OP_7", Country: "PH", Price: "0.35", Currency: "EUR", Parts: 2}, Sent{Parts: 2})
	rows := list(t, newClient(t), s).Data
	costs := func(row map[string]any) []any {
		return []any{row["operator"], row["country"], row["price"], row["currency"]}
	}
	assert.ElementsMatch(t, [][]any{{"OP_7", "PH", "0.35", "EUR"}, {"OP_1", "ZZ", "1.00", "XTS"}}, [][]any{costs(rows[0]), costs(rows[1])})
}

func TestSeedSetsTheSendStatus(t *testing.T) {
	s := NewServer(t)
	s.Seed(Sent{ID: "a", SendStatus: "rejected"}, Sent{ID: "b"})
	statuses := map[any]any{}
	for _, row := range list(t, newClient(t), s).Data {
		statuses[row["transactionId"]] = row["sendStatus"]
	}
	assert.Equal(t, map[any]any{"a": "rejected", "b": 1.0}, statuses)
}

func TestSeedListsTheStatusOfAnSMS(t *testing.T) {
	names, err := contract.Parse([]byte(`{"webhook.delivery": {"statuses": {"failed": ["UNDELIV"]}}}`))
	require.NoError(t, err)
	s := NewServer(t, WithContract(names))
	s.Seed(Sent{ID: "a", Status: contract.StatusFailed}, Sent{ID: "b", Status: contract.StatusFailed, DeliveryStatus: "17"}, Sent{ID: "c"})
	statuses := map[any]any{}
	for _, row := range list(t, newClient(t), s).Data {
		statuses[row["transactionId"]] = row["dlrStatus"]
	}
	assert.Equal(t, map[any]any{"a": "UNDELIV", "b": "17", "c": nil}, statuses)
}

func TestTrySeed(t *testing.T) {
	s := NewServer(t)
	entered, err := s.TrySeed(Sent{ID: "a", Text: "Hi"}, Sent{Channel: channelChatApp1})
	require.NoError(t, err)
	assert.Equal(t, s.Sent(), entered)
	for want, bad := range map[string]Sent{
		`messagingtest: message 1: the ID "a" is taken`:                                         {ID: "a"},
		`messagingtest: message 1: no such channel: "fax"`:                                      {Channel: "fax"},
		`messagingtest: message 1: the price is "free"; want an amount with up to two decimals`: {Price: "free"},
		`messagingtest: message 1: the value of "app" in Extra is not JSON`:                     {Extra: map[string]json.RawMessage{"app": []byte("{")}},
	} {
		_, err := s.TrySeed(Sent{ID: "b"}, bad)
		require.EqualError(t, err, want)
	}
	assert.Len(t, s.Sent(), 2, "all are entered, or none")
}

func TestSeedReplacesMembersOfTheRow(t *testing.T) {
	s := NewServer(t)
	members := map[string]json.RawMessage{"messageParts": []byte(`"two"`), "error": []byte(`{"code":"200101"}`)}
	s.Seed(Sent{ID: "a", Text: "Hi", Row: members, Extra: map[string]json.RawMessage{"text": []byte(`"not shown"`)}})
	members["messageParts"] = []byte("nonsense")
	row := list(t, newClient(t), s).Data[0]
	assert.Equal(t, []any{"a", "Hi", "two", map[string]any{"code": "200101"}}, []any{row["transactionId"], row["text"], row["messageParts"], row["error"]})
}

func TestSeedTakesTheNamesOfRowFromTheContract(t *testing.T) {
	names, err := contract.Parse([]byte(`{"sms.list": {"record": {"parts": ["size.segments"]}}}`))
	require.NoError(t, err)
	s := NewServer(t, WithContract(names))
	s.Seed(Sent{Row: map[string]json.RawMessage{"size": []byte(`"two"`)}})
	assert.Panics(t, func() { s.Seed(Sent{Row: map[string]json.RawMessage{"messageParts": []byte(`"two"`)}}) })
}

func TestSeedRefusesMisuse(t *testing.T) {
	s := NewServer(t)
	s.Seed(Sent{ID: "a"})
	assert.PanicsWithValue(t, `messagingtest: Seed: message 1: the ID "a" is taken`, func() { s.Seed(Sent{ID: "b"}, Sent{ID: "a"}) })
	assert.Panics(t, func() { s.Seed(Sent{ID: "b"}, Sent{ID: "b"}) })
	for _, price := range []string{"free", "0.", "-1", "0.125"} {
		assert.Panics(t, func() { s.Seed(Sent{Price: price}) }, price)
	}
	for _, value := range []string{"", "x", "{", "1 2"} {
		assert.Panics(t, func() { s.Seed(Sent{Extra: map[string]json.RawMessage{"a": []byte(value)}}) }, value)
		assert.Panics(t, func() { s.Seed(Sent{Row: map[string]json.RawMessage{"price": []byte(value)}}) }, value)
	}
	for _, name := range []string{"parts", "status", "messageparts", ""} {
		assert.PanicsWithValue(t, `messagingtest: Seed: message 0: the name "`+name+`" in Row is unknown; want names that the contract uses in rows (categoryId, code, `+
			"country, currency, dateCreated, dateSent, description, dlrStatus, error, from, message, messageParts, operator, price, referenceId, "+
			"requestId, sendStatus, text, to, transactionId), and other names in Extra",
			func() { s.Seed(Sent{Row: map[string]json.RawMessage{name: []byte(`"two"`)}}) })
	}
	assert.Len(t, s.Sent(), 1, "nothing was entered")
	assert.Equal(t, "a", list(t, newClient(t), s).ids(), "and the server goes on")
}
