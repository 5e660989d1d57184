package learn

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/contract"
)

// phaseText has a send whose status is at phase, and a refusal with HTTP 200.
const phaseText = requestText + "=== accepted\nid: h-1\n\n" + `{"messageId": "h-1", "phase": "accepted"}` +
	"\n\n=== refused\nhttp: 200\nclass: invalid\n\n" + `{"phase": "BOUNCED"}` + "\n\n"

// TestLearnSendStatus: a row whose message was refused is not accepted.
func TestLearnSendStatus(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]messaging.Verdict{"BOUNCED": messaging.Refused, "accepted": messaging.Accepted} {
		got, err := Parse(phaseText + "=== row\nid: h-2\npath: /m\nsendStatus: " + word + "\n\n" +
			`{"rows": [{"messageId": "h-2", "phase": "` + word + `"}]}`)
		require.NoError(t, err)
		result, err := Learn(got)
		require.NoError(t, err)
		assert.Equal(t, []any{"phase"}, at(overlayOf(t, result), "sms.list", "record", "sendStatus"))
		assert.NotContains(t, strings.Join(result.Warnings, "\n"), "send status")
		names, err := contract.Parse([]byte(result.Overlay))
		require.NoError(t, err)
		client, err := (&stub{status: 200, body: `{"rows": [{"messageId": "h-2", "phase": "` + word + `"}]}`}).client(names)
		require.NoError(t, err)
		rows, _ := firstRows(client)
		require.Len(t, rows, 1)
		assert.Equal(t, want, client.SMS.Verdict(rows[0]), word)
	}
}

// TestLearnNotesSendStatus: a member that may be a send status has the line to write, in the overlay and on the terminal.
func TestLearnNotesSendStatus(t *testing.T) {
	t.Parallel()
	const line = `if phase says that the service refused a message, and not that its delivery failed, add the line sendStatus: and its value to the row, or write "sendStatus": ["phase"]: ` +
		"without it a refused message counts as accepted"
	for name, tt := range map[string]struct {
		before, member string
		want           bool
	}{
		"a refusal that would be the status of delivery": {strings.ReplaceAll(phaseText, "phase", "state"), `"state": "BOUNCED"`, true},
		"a status of delivery":                           {strings.ReplaceAll(phaseText, "phase", "state"), `"state": "DELIVRD"`, false},
		"a failed delivery":                              {strings.ReplaceAll(phaseText, "BOUNCED", "rejected"), `"state": "rejected"`, false},
		"the name of the send's status":                  {phaseText, `"phase": "ANYTHING"`, true},
		"the name of the send's and 200":                 {phaseText, `"phase": 200`, false},
		"a word of the send's status":                    {"", `"phase": "accepted"`, true},
		"another word":                                   {"", `"phase": "night"`, false},
		"a member that is read":                          {"", `"status": "accepted"`, false},
	} {
		line := line
		if strings.Contains(tt.member, "state") {
			line = strings.ReplaceAll(line, "phase", "state")
		}
		text := tt.before + "=== row\nid: h-2\npath: /m\n\n" + `{"rows": [{"messageId": "h-2", ` + tt.member + `}]}`
		got, err := learnObject(t, text)
		require.NoError(t, err, name)
		note, _ := at(got, "sms.list", "record//").(string)
		assert.Equal(t, tt.want, strings.Contains(note, line), "%s: %s", name, note)
		status, _, progress := run(t, text, false)
		assert.Equal(t, cli.ExitOK, status)
		assert.Equal(t, tt.want, strings.Contains(progress, line), name)
	}
}

// TestLearnNotesWordsOfSendStatus: a word that the contract does not know would count as accepted.
func TestLearnNotesWordsOfSendStatus(t *testing.T) {
	t.Parallel()
	const row = "=== row\nid: h-2\npath: /m\nsendStatus: accepted\n\n" +
		`{"rows": [{"messageId": "h-2", "phase": "accepted"}, {"messageId": "h-3", "phase": "BOUNCED"}, {"messageId": "h-4", "phase": "failed"}]}`
	got, err := learnObject(t, row)
	require.NoError(t, err)
	assert.Equal(t, "a row with the send status BOUNCED counts as accepted: if a word means that the service refused the message, add it here, "+
		"and otherwise to accepted", at(got, "sms.send", "refused//"))
	got, err = learnObject(t, phaseText+row)
	require.NoError(t, err)
	assert.Nil(t, at(got, "sms.send", "refused//"), "the refusal shows the word")
	got, err = learnObject(t, "=== row\nid: h-2\npath: /m\nsendStatus: 4711\n\n"+`{"rows": [{"messageId": "h-2", "phase": 4711}]}`)
	require.NoError(t, err)
	assert.Equal(t, "a number in phase says nothing: a row with one counts as accepted, even if the service refused its message", at(got, "sms.list", "record//"))
}
