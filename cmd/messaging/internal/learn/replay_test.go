package learn

import (
	"strings"
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

// TestReplayRefusesUnreadValues: a value of the example that the client does not read is a wrong result.
func TestReplayRefusesUnreadValues(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"price: free":      `price: "free" is no decimal number`,
		"parts: several":   `parts: "several" is no whole number`,
		"sent: 5th of May": `the time "5th of May" has a layout that the default contract does not read: remove the line sent:`,
	} {
		_, value, _ := strings.Cut(line, ": ")
		_, err := learnObject(t, "=== row\nid: h-1\ncreated: 2026-11-28T08:05:00Z\n"+line+"\n\n"+
			`{"rows": [{"messageId": "h-1", "made": "2026-11-28T08:05:00Z", "value": "`+value+`"}]}`)
		require.ErrorContains(t, err, want)
	}
	_, err := learnObject(t, "=== row\nid: h-1\nprice: 0.80 USD\nparts: 2\n\n"+`{"rows": [{"messageId": "h-1", "fee": "0.80 USD", "n": 2}]}`)
	require.NoError(t, err)
}

// TestReplayComparesErrorCode: the code of the second report is at another place, and the contract finds the one of the first there.
func TestReplayComparesErrorCode(t *testing.T) {
	t.Parallel()
	const report = "=== delivery\nid: h-1\nstatus: FAILED\nmeans: failed\nerrorCode: "
	_, err := learnObject(t, requestText+acceptedText+report+"131047\n\n"+`{"handle": "h-1", "state": "FAILED", "why": 131047}`+"\n\n"+
		report+"470\n\n"+`{"handle": "h-1", "state": "FAILED", "why": 7, "reason": 470}`)
	require.ErrorContains(t, err, `errorCode: got "7", want "470"`)
}
