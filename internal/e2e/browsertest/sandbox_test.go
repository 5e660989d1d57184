package browsertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// A sandbox is the running command, with the account that it printed.
type sandbox struct {
	Base, Token string
	process     *exec.Cmd
}

// buildCommand builds the command and returns its path.
func buildCommand(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "messaging")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../../../cmd/messaging", "-o", path, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// startSandbox starts the command on a free port, as a user would.
func startSandbox(t *testing.T, command string, args ...string) *sandbox {
	t.Helper()
	args = append([]string{"sandbox", "-listen", "127.0.0.1:0"}, args...)
	b := &sandbox{process: exec.Command(command, args...)}
	b.process.Stderr = os.Stderr
	stdout, err := b.process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, b.process.Start())
	t.Cleanup(func() {
		_ = b.process.Process.Signal(os.Interrupt)
		_ = b.process.Wait()
	})
	lines := bufio.NewScanner(stdout)
	for (b.Base == "" || b.Token == "") && lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "export MESSAGING_BASE_URL="); ok {
			b.Base = value
		}
		if value, ok := strings.CutPrefix(lines.Text(), "export MESSAGING_TOKEN="); ok {
			b.Token = value
		}
	}
	require.NotEmpty(t, b.Token, "the command printed no token")
	return b
}

// client returns a client with what the command printed.
func (b *sandbox) client(t *testing.T, opts ...messaging.Option) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(b.Base, append([]messaging.Option{messaging.WithToken(b.Token)}, opts...)...)
	require.NoError(t, err)
	return client
}

// text sends an SMS.
func (b *sandbox) text(t *testing.T, to, text string) string {
	t.Helper()
	receipt, err := b.client(t).SMS.Send(t.Context(), sms.Message{From: "ACME", To: to, Text: text})
	require.NoError(t, err)
	return receipt.ID
}

// post makes a request to the API and returns its response.
func (b *sandbox) post(t *testing.T, path string, body any) map[string]any {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.Base+"/_sandbox/"+path, bytes.NewReader(text))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+b.Token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, string(answer))
	var result map[string]any
	require.NoError(t, json.Unmarshal(answer, &result))
	return result
}

// get reads from the API.
func (b *sandbox) get(t *testing.T, path string, to any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.Base+"/_sandbox/"+path, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(to))
}

// sendRefusedRequest makes a request that the contract does not know.
func sendRefusedRequest(t *testing.T, b *sandbox) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.Base+"/v1/messages",
		strings.NewReader(`{"sender":"ACME","recipient":"+639171234567","body":"Hi"}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", "a-key-of-somebody")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.GreaterOrEqual(t, resp.StatusCode, 400)
}
