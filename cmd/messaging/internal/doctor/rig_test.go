package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// rig runs the command against a service.
type rig struct {
	*testing.T

	env map[string]string
}

func newRig(t *testing.T, baseURL, token string) *rig {
	t.Helper()
	return &rig{t, map[string]string{envBaseURL: baseURL, envToken: token}}
}

// run returns the exit status, and what was printed.
func (r *rig) run(args ...string) (status int, out, progress string) {
	r.Helper()
	var stdout, stderr safeBuffer
	status = execute(r.Context(), append([]string{"-rate", "1000"}, args...), cli.Console{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Getenv: func(name string) string { return r.env[name] }})
	return status, stdout.String(), stderr.String()
}

// report runs the command with -json and returns the report.
func (r *rig) report(args ...string) Report {
	r.Helper()
	report, _ := r.reportAndProgress(args...)
	return report
}

func (r *rig) reportAndProgress(args ...string) (report Report, progress string) {
	r.Helper()
	status, out, progress := r.run(append(args, "-json")...)
	require.NoError(r, json.Unmarshal([]byte(out), &report), "%s%s", out, progress)
	require.Equal(r, status, report.Status)
	return report, progress
}

// check returns a check of a report.
func (r *rig) check(report Report, section, name string) Check {
	r.Helper()
	for _, c := range report.Checks {
		if c.Section == section && c.Name == name {
			return c
		}
	}
	require.Fail(r, "no such check", "%s %s in %+v", section, name, report.Checks)
	return Check{}
}

// overlayFile writes an overlay to a file, and sets the variable for it.
func (r *rig) overlayFile(overlay string) {
	r.Helper()
	file := filepath.Join(r.TempDir(), "contract.json")
	require.NoError(r, os.WriteFile(file, []byte(overlay), 0o600))
	r.env[envContract] = file
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

// execute runs the command as main does.
func execute(ctx context.Context, args []string, console cli.Console) int {
	return console.Execute(ctx, NewCommand(console), args)
}
