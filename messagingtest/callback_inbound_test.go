package messagingtest

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInboundSamplesHaveEveryKind(t *testing.T) {
	t.Parallel()
	kinds, inner := map[string]bool{}, map[string]bool{}
	for name, m := range InboundSamples() {
		if strings.HasPrefix(name, "flat ") {
			assert.Empty(t, m.JSON, name)
			kinds["flat "+m.Kind] = true
			continue
		}
		kinds[m.Kind] = true
		var message map[string]struct{ Type string }
		_ = json.Unmarshal([]byte(m.JSON), &message) // members that are no objects stay empty
		inner[message[m.Kind].Type] = true
	}
	assert.ElementsMatch(t, []string{
		"flat ", "flat text", "flat image", "flat video", "flat audio", "flat document", "flat sticker", "flat location", "flat hologram",
		"", "text", "image", "video", "audio", "document", "sticker", "location", "contacts", "button", "interactive", "reaction", "order",
		"system", "unsupported", "edit", "revoke", "request_welcome", "hologram",
	}, slices.Collect(maps.Keys(kinds)))
	assert.ElementsMatch(t, []string{
		"", "button_reply", "list_reply", "nfm_reply", "call_permission_reply", "payment_method", "gesture_reply",
		"user_changed_number", "user_changed_user_id", "customer_identity_changed", "poll",
	}, slices.Collect(maps.Keys(inner)))
}

func TestInboundSamplesAreConsistent(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for name, m := range InboundSamples() {
		if m.JSON == "" {
			assert.False(t, ids[m.ID], name)
			ids[m.ID] = true
			continue
		}
		var message struct {
			From, ID, Timestamp, Type string
			FromUserID                string `json:"from_user_id"`
			Entry                     []struct {
				Changes []struct {
					Value struct{ Messages []json.RawMessage }
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(m.JSON), &message), "%s: %s", name, m.JSON)
		_, ok := readJSON([]byte(m.JSON))
		require.True(t, ok, "%s: a name comes twice", name)
		if len(message.Entry) > 0 {
			require.NoError(t, json.Unmarshal(message.Entry[0].Changes[0].Value.Messages[0], &message), name)
		}
		assert.False(t, ids[message.ID], name)
		ids[message.ID] = true
		if m.ID == "" {
			assert.Equal(t, InboundChatApp{JSON: m.JSON}, m, name)
			assert.NotEqual(t, message.From == "", message.FromUserID == "", name)
			continue
		}
		assert.Equal(t, m.ID, message.ID, name)
		assert.Equal(t, m.From, message.From, name)
		assert.Equal(t, m.Kind, message.Type, name)
		assert.Equal(t, strconv.FormatInt(m.ReceivedAt.Unix(), 10), message.Timestamp, name)
	}
	assert.NotContains(t, ids, "")
}

func TestInboundSamplesAreNewInEachRange(t *testing.T) {
	t.Parallel()
	for range 2 {
		for name, m := range InboundSamples() {
			if name == "flat hologram" {
				assert.Equal(t, url.Values{"beam": {"7"}}, m.Extra)
				m.Extra.Set("beam", "8")
				break
			}
		}
	}
	names := map[string]bool{}
	for name := range InboundSamples() {
		assert.False(t, names[name], "%q comes twice", name)
		names[name] = true
	}
}
