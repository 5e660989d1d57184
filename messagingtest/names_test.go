package messagingtest

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

// The default contract is spelled twice, so that a mistake in either shows here.
func TestNamesAgreeWithDefaultContract(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(contract.Default())
	require.NoError(t, err)
	type send struct {
		Path             string
		Fields           table
		With             map[string]map[string]json.RawMessage
		Answer, Response map[string][]string
		Accepted         []string
	}
	type webhook struct{ Params map[string][]string }
	var c struct {
		Auth struct {
			Token   struct{ Header, Scheme string }
			KeyPair struct{ Key, Secret string }
		}
		Errors   map[string]json.RawMessage
		SMS      send `json:"sms.send"`
		ChatApp1 send `json:"chatapp1.send"`
		ChatApp2 send `json:"chatapp2.send"`
		List     struct {
			Path           string
			Params, Orders table
			Items          []string
			Page, Record   map[string][]string
		} `json:"sms.list"`
		InboundSMS      webhook `json:"webhook.sms"`
		InboundChatApp1 webhook `json:"webhook.chatapp1"`
		InboundChatApp2 webhook `json:"webhook.chatapp2"`
		Delivery        struct {
			Params       map[string][]string
			Placeholders table
		} `json:"webhook.delivery"`
	}
	require.NoError(t, json.Unmarshal(text, &c))
	first := func(lists map[string][]string) table {
		names := table{}
		for concept, list := range lists {
			names[concept] = list[0]
		}
		return names
	}
	n := defaultNames()
	assert.Equal(t, table{
		"header": c.Auth.Token.Header, "scheme": c.Auth.Token.Scheme, "key": c.Auth.KeyPair.Key, "secret": c.Auth.KeyPair.Secret,
	}, n.auth)
	for concept, name := range n.errors {
		var paths []string
		require.NoError(t, json.Unmarshal(c.Errors[concept], &paths))
		assert.Equal(t, paths[0], name)
	}
	for name, tt := range map[string]struct {
		ours   sendNames
		theirs send
	}{
		"SMS": {n.sms, c.SMS}, "chat app 1": {n.chatApp1, c.ChatApp1}, "chat app 2": {n.chatApp2, c.ChatApp2},
	} {
		assert.Equal(t, tt.theirs.Path, tt.ours.path, name)
		assert.Equal(t, tt.theirs.Fields, tt.ours.fields, name)
		for concept, companions := range tt.theirs.With {
			for field, value := range companions {
				assert.Equal(t, string(value), tt.ours.with[concept][field], name)
			}
		}
		if tt.ours.response != nil {
			paths := tt.theirs.Response
			if paths == nil {
				paths = tt.theirs.Answer
			}
			assert.Equal(t, first(paths), tt.ours.response, name)
			assert.Contains(t, tt.theirs.Accepted, tt.ours.accepted, name)
		}
	}
	assert.Equal(t, c.List.Path, n.list.path)
	maps.DeleteFunc(c.List.Params, func(_, name string) bool { return name == "" })
	ours := maps.Clone(n.list.params)
	delete(ours, "offset")
	delete(ours, "cursor")
	assert.Equal(t, c.List.Params, ours)
	assert.Equal(t, c.List.Orders, n.list.orders)
	assert.Equal(t, first(c.List.Record), n.list.record)
	c.List.Page["status"], c.List.Page["items"] = []string{"status"}, c.List.Items
	assert.Equal(t, first(c.List.Page), n.list.page)
	inbound := first(c.InboundChatApp1.Params)
	assert.Equal(t, inbound, first(c.InboundChatApp2.Params))
	maps.Copy(inbound, first(c.InboundSMS.Params))
	assert.Equal(t, inbound, n.inbound)
	assert.Equal(t, first(c.Delivery.Params), n.delivery)
	assert.Equal(t, c.Delivery.Placeholders, n.placeholders)
}
