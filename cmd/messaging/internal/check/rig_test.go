package check

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// rig runs the command against a service.
type rig struct {
	*testing.T
}

func newRig(t *testing.T, baseURL, token string) *rig {
	t.Helper()
	t.Setenv("MESSAGING_BASE_URL", baseURL)
	t.Setenv("MESSAGING_TOKEN", token)
	t.Setenv("MESSAGING_VAR_ACCOUNT", "AC1") // of contracts with a variable
	for _, name := range []string{"MESSAGING_API_KEY", "MESSAGING_API_SECRET", table.EnvFile} {
		t.Setenv(name, "")
	}
	return &rig{t}
}

// run returns the exit status, and what was printed.
func (r *rig) run(args ...string) (status int, out, progress string) {
	r.Helper()
	var stdout, stderr safeBuffer
	status = execute(r.Context(), append([]string{"--rate", "1000"}, args...), cli.Console{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	return status, stdout.String(), stderr.String()
}

// sends runs the command with --send.
func (r *rig) sends(args ...string) (status int, out, progress string) {
	r.Helper()
	return r.run(append([]string{"--send", "--to", "+639170000001", "--from", "ACME", "--yes", "--wait", "2s"}, args...)...)
}

// overlayFile writes an overlay to a file, and sets the variable for it.
func (r *rig) overlayFile(overlay string) {
	r.Helper()
	file := filepath.Join(r.TempDir(), "contract.json")
	require.NoError(r, os.WriteFile(file, []byte(overlay), 0o600))
	r.Setenv(table.EnvFile, file)
}

func parseContract(t *testing.T, overlay string) contract.Contract {
	t.Helper()
	names, err := contract.Parse([]byte(overlay))
	require.NoError(t, err)
	return names
}

// The numbers and the text of the messages in the ledger of a test.
const (
	seedNumber = "+639171230045"
	seedText   = "The quick brown fox owes you 4711 pesos"
)

// seedMessages puts messages into the ledger.
func seedMessages(srv *messagingtest.Server, n int) { seedMessagesAs(srv, n, "delivered") }

// seedMessagesAs puts messages with a status into the ledger.
func seedMessagesAs(srv *messagingtest.Server, n int, status string) {
	for i := range n {
		at := time.Now().Add(-time.Duration(n-i) * 26 * time.Hour).Truncate(time.Second)
		srv.Seed(messagingtest.Sent{
			ID: fmt.Sprintf("msg-%c%d", 'a'+i, i), RequestID: fmt.Sprint("q-", i), ReferenceID: fmt.Sprint("order-", i), CategoryID: fmt.Sprint("c-", i%2),
			From: []string{"ACME", "Zorro"}[i%2], To: fmt.Sprint(seedNumber, i), Text: fmt.Sprint(seedText, " ", i), At: at,
			SentAt: at.Add(time.Minute), DeliveryStatus: status,
		})
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// execute runs the command as main does.
func execute(ctx context.Context, args []string, console cli.Console) int {
	return console.Execute(ctx, NewCommand(console), args)
}
