package learn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

// TestLearnOrder has requests of a listing that orders its rows.
func TestLearnOrder(t *testing.T) {
	t.Parallel()
	const response = `{"rows": [{"messageId": "h-1", "accepted_at": "2026-11-28T08:05:00Z"}]}`
	row := func(lines, direction string) string {
		return "=== row\nid: h-1\n" + lines + "\ncurl 'https://api.example.com/v3/messages?sort=accepted_at&dir=" + direction + "'\n" + response
	}
	for direction, words := range map[string]map[string]any{
		"asc":  {"ascending": "asc", "descending": "desc"},
		"DESC": {"ascending": "ASC", "descending": "DESC"},
	} {
		got, err := learnObject(t, row("created: 2026-11-28T08:05:00Z\nsortBy: accepted_at\norder: "+direction+"\n", direction))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"sortBy": "sort", "order": "dir"}, at(got, "sms.list", "params"))
		assert.Equal(t, map[string]any{"created": "accepted_at"}, at(got, "sms.list", "sorts"))
		assert.Equal(t, words, at(got, "sms.list", "orders"))
		assert.NotContains(t, at(got, "sms.list", "params//"), "order")
	}

	got, err := learnObject(t, row("sortBy: accepted_at\norder: up\n", "up"))
	require.NoError(t, err)
	assert.Contains(t, at(got, "sms.list", "sorts//"), `write {"created": "accepted_at"}`)
	assert.Contains(t, at(got, "sms.list", "orders//"), `write the words for both directions`)

	examples, err := Parse(row("", "asc"))
	require.NoError(t, err)
	result, err := Learn(examples)
	require.NoError(t, err)
	const want = "sms.list.params: not learned: if sort and dir order the rows, add to the row the line sortBy: and the value of sort, " +
		"and the line order: and the value of dir"
	assert.Contains(t, result.Warnings, want)
	_, err = contract.Parse([]byte(result.Overlay))
	require.NoError(t, err)
}
