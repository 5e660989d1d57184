package learn

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

var update = flag.Bool("update", false, "write the golden files")

// read returns the examples of a file in testdata.
func read(t *testing.T, name string) *Examples {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	examples, err := Parse(string(text))
	require.NoError(t, err)
	return examples
}

// TestLearn compares the overlays of ten services with golden files.
func TestLearn(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(t, err)
	require.Len(t, files, 10)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			result, err := Learn(read(t, filepath.Base(file)))
			require.NoError(t, err)
			got := result.Overlay
			golden := strings.TrimSuffix(file, ".txt") + ".json"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got+"\n"), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got+"\n")
		})
	}
}

// TestLearnsPage learns from the examples that docs/contract.md shows.
func TestLearnsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/contract.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?ms)^```text heron.txt\n(=== request.*?)^```$").FindSubmatch(page)
	require.NotNil(t, found)
	got, err := learnObject(t, string(found[1]))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"in": "header", "key": "X-Api-Key", "secret": ""}, at(got, "auth", "keyPair"))
	assert.Equal(t, []any{"messages.0.status.name"}, at(got, "sms.send", "response", "status"))
	note := `"classes//": ` + document.Encode(at(got, "errors", "classes//"))
	assert.Contains(t, string(page), note, "the page shows it")
}

// TestChatAppsOfPage sends by the contract of the page's last step. A default constant of the callback would go out, too.
func TestChatAppsOfPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/contract.md")
	require.NoError(t, err)
	step := regexp.MustCompile("(?s)### 7. Chat apps\n.*?```json\n(.*?)\n```").FindSubmatch(page)
	require.NotNil(t, step)
	names, err := contract.Parse(step[1])
	require.NoError(t, err)
	s := &stub{status: http.StatusBadRequest, body: "{}"}
	client, err := s.client(names)
	require.NoError(t, err)
	const callback = "https://shop.example.com/dlr"

	_, _ = client.ChatApp1.Send(t.Context(), chatapp1.Message{
		ChannelID: "heron", To: "639171234567", Payload: chatapp1.Text{Body: "Hi"}, ReferenceID: "order-17", CallbackURL: callback,
	})
	assert.JSONEq(t, `{"sender": "heron", "recipient": "639171234567", "content": {"text": "Hi"}, "clientId": "order-17",
		"notifyUrl": "https://shop.example.com/dlr"}`, s.sentBody)

	_, _ = client.ChatApp2.Send(t.Context(), chatapp2.Message{
		To: "639171234567", Content: chatapp2.Text{Body: "Hi"}, ReferenceID: "order-17", CallbackURL: callback,
	})
	assert.JSONEq(t, `{"message": {"messaging_product": "whatsapp", "recipient_type": "individual", "to": "639171234567", "type": "text",
		"text": {"body": "Hi"}}, "clientId": "order-17", "notifyUrl": "https://shop.example.com/dlr"}`, s.sentBody)
}

// TestUnseenRefusalIsNotAccepted learns without one of the refusals, and has the overlay judge it. What the documentation did not show may
// be unknown, and must not be accepted.
func TestUnseenRefusalIsNotAccepted(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(t, err)
	verdicts := map[messaging.Verdict]int{}
	for _, file := range files {
		all := read(t, filepath.Base(file))
		for i, unseen := range all.refused {
			examples := *all
			examples.refused = slices.Delete(slices.Clone(all.refused), i, i+1)
			l := newLearner(&examples)
			require.NoError(t, l.learn(), file)
			names, err := l.overlay.contract()
			require.NoError(t, err, file)
			require.NoError(t, l.replay(names).all(), file)
			_, err = l.replay(names).send(unseen, &stub{status: unseen.status, body: unseen.text})
			verdict := messaging.VerdictOf(err)
			verdicts[verdict]++
			if strings.Contains(unseen.text, "Message Submitted Successfully") {
				continue // it says so, and only a counter says the contrary
			}
			assert.NotEqual(t, messaging.Accepted, verdict, "%s: %s", file, unseen.name())
		}
	}
	assert.Greater(t, verdicts[messaging.Refused], verdicts[messaging.Unknown])
}
