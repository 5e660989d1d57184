package learn

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
)

// TestLearnKeepsDefaultWords has a report with another word for rejected. Without the default words, a row that was refused would count as accepted.
func TestLearnKeepsDefaultWords(t *testing.T) {
	t.Parallel()
	const rows = `{"rows": [{"messageId": "h-2", "phase": "rejected"}]}`
	examples, err := Parse(phaseText + "=== row\nid: h-2\npath: /m\nsendStatus: rejected\n\n" + rows +
		"\n\n=== delivery\nid: h-1\nstatus: NO_WAY\nmeans: rejected\n\nid=h-1&status=NO_WAY\n")
	require.NoError(t, err)
	result, err := Learn(examples)
	require.NoError(t, err)
	got := overlayOf(t, result)
	words, _ := at(got, "webhook.delivery", "statuses", "rejected").([]any)
	assert.Subset(t, words, []any{"rejected", "NO_WAY"})
	for _, note := range []any{at(got, "webhook.delivery", "statuses//"), at(got, "sms.send", "accepted//")} {
		assert.Contains(t, note, "the rest are defaults, which stay")
	}

	names, err := contract.Parse([]byte(result.Overlay))
	require.NoError(t, err)
	client, err := (&stub{status: http.StatusOK, body: rows}).client(names)
	require.NoError(t, err)
	read, err := firstRows(client)
	require.NoError(t, err)
	require.Len(t, read, 1)
	assert.Equal(t, messaging.Refused, client.SMS.Verdict(read[0]))
}
