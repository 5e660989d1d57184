package learn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReplayFindsExampleByReference has examples with a reference and no ID, behind others without an ID.
func TestReplayFindsExampleByReference(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a row": "=== row\nreference: otp-2\nto: 639171234567\n\n" +
			`{"rows": [{"clientRef": "otp-1", "to": "639170000001"}, {"clientRef": "otp-2", "to": "639171234567"}]}`,
		"a report": requestText + acceptedText + "=== delivery\nreference: otp-2\nstatus: DELIVRD\n\n" +
			`[{"clientRef": "otp-1", "state": "UNDELIV"}, {"clientRef": "otp-2", "state": "DELIVRD"}]`,
	} {
		_, err := learnObject(t, text)
		require.NoError(t, err, name)
	}
}

// TestReplayFindsExampleByID: the ID decides, because two messages can have the same reference.
func TestReplayFindsExampleByID(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, "=== row\nid: h-2\nreference: otp-1\nto: 639171234567\n\n"+
		`{"rows": [{"messageId": "h-1", "clientRef": "otp-1", "to": "639170000001"}, {"messageId": "h-2", "clientRef": "otp-1", "to": "639171234567"}]}`)
	require.NoError(t, err)
	assert.Equal(t, []any{"to"}, at(got, "sms.list", "record", "to"))
}
