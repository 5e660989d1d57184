package browsertest

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEndToEndInNode runs a test in Node over the JSON API.
func TestEndToEndInNode(t *testing.T) {
	hook := startBot(t)
	b := startSandbox(t, buildCommand(t), hook.args()...)
	node, err := exec.LookPath("node")
	require.NoError(t, err, "Node runs the test over the API")
	run := exec.CommandContext(t.Context(), node, "--test", "e2e.mjs")
	run.Env = append(run.Environ(), "MESSAGING_BASE_URL="+b.Base, "MESSAGING_TOKEN="+b.Token)
	out, err := run.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "# pass 6")
	hook.mu.Lock()
	defer hook.mu.Unlock()
	assert.Len(t, hook.received, 1, "the tap arrived once")
}
