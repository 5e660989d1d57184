package table

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// defaultsWith returns the default table with a further field of an SMS, as a later release may have it.
func defaultsWith(t *testing.T, field string) string {
	t.Helper()
	text, err := os.ReadFile("default.json")
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(text, &all))
	all["sms.send"].(map[string]any)["fields"].(map[string]any)["validity"] = field
	text, err = json.Marshal(all)
	require.NoError(t, err)
	return string(text)
}

func TestFieldOfALaterReleaseBreaksNoOverlay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ field, overlay, name string }{
		{"validity", `{}`, "validity"},
		{"validity", `{"sms.send":{"fields":{"text":"messages.0.text"}}}`, "validity"},
		{"validity", `{"sms.send":{"encoding":"form","fields":{"text":"validity.text"}}}`, "validity"},
		{"validity", `{"sms.send":{"constants":{"validity":60}}}`, ""},
		{"validity", `{"sms.send":{"constants":{"validity.unit":60}}}`, ""},
		{"validity", `{"sms.send":{"fields":{"text":"validity"}}}`, ""},
		{"validity", `{"sms.send":{"with":{"callback":{"validity":1}}}}`, ""},
		{"validity", `{"auth":{"keyPair":{"key":"validity"}}}`, ""},
		{"validity", `{"auth":{"keyPair":{"key":"validity","in":"query"}}}`, "validity"},
		{"options.validity", `{}`, "options.validity"},
		{"options.validity", `{"sms.send":{"path":"/v2/send"}}`, "options.validity"},
		{"options.validity", `{"sms.send":{"fields":{"reference":"options.reference"}}}`, "options.validity"},
		{"options.validity", `{"sms.send":{"encoding":"form","constants":{"app":1}}}`, "options.validity"},
		{"options.validity", `{"sms.send":{"fields":{"reference":"tag"}}}`, ""},
		{"options.validity", `{"sms.send":{"fields":{"reference":"options.0.reference"}}}`, ""},
		{"options.validity", `{"sms.send":{"fields":{"reference":"options"}}}`, ""},
	} {
		defaults := defaultsWith(t, tt.field)
		parsed, problems := parse(defaults, []byte(tt.overlay))
		require.Empty(t, problems.List, tt.overlay)
		assert.Equal(t, tt.name, parsed.SMSSend.Fields["validity"], "%s %s", tt.field, tt.overlay)
		if tt.name == "" {
			assert.Equal(t, tt.field, parsed.SMSSend.Displaced("validity"), tt.overlay)
		}
		text, err := json.Marshal(parsed)
		require.NoError(t, err)
		again, problems := parse(defaults, text)
		require.Empty(t, problems.List, tt.overlay)
		assert.Equal(t, parsed.SMSSend.Fields, again.SMSSend.Fields, tt.overlay)
	}
}

// What a message cannot do without, and the page of a listing, keep their names: the client refuses the overlay.
func TestNeededNamesDoNotGiveWay(t *testing.T) {
	t.Parallel()
	parsed, problems := parse(defaultsWith(t, ""), []byte(`{
		"sms.send": {"constants": {"from": 1, "to": 2, "text": 3, "dlrReport": 4}},
		"chatapp1.send": {"constants": {"from": 1}},
		"sms.list": {"constants": {"pageNumber": 1, "pageSize": 50}}
	}`))
	require.Empty(t, problems.List)
	for _, concept := range []string{"from", "to", "text"} {
		assert.Equal(t, concept, parsed.SMSSend.Fields[concept])
	}
	assert.Empty(t, parsed.SMSSend.FieldConstants["callback"])
	assert.Equal(t, "from", parsed.ChatApp1Send.Fields["channel"])
	assert.Equal(t, "pageNumber", parsed.SMSList.Params["page"])
	assert.Equal(t, "pageSize", parsed.SMSList.Displaced("pageSize"))
}
