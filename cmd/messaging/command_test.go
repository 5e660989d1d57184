package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// execute runs a command line and returns what was printed.
func execute(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), cli.Console{Out: &out, Err: &errs, Getenv: func(string) string { return "" }}, args)
	return out.String(), errs.String(), status
}

func TestUnknownCommandIsSuggested(t *testing.T) {
	t.Parallel()
	_, errs, status := execute(t, "sandbx")
	assert.Equal(t, cli.ExitUsage, status)
	assert.Equal(t, "messaging: there is no command \"sandbx\"; did you mean sandbox?\n", errs)
	_, errs, status = execute(t)
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, errs, "Available Commands")
}

func TestHelpGoesToStandardOutput(t *testing.T) {
	t.Parallel()
	for _, command := range newCommand(cli.Console{}).Commands() {
		if !command.IsAvailableCommand() {
			continue
		}
		out, errs, status := execute(t, command.Name(), "-h")
		assert.Equal(t, cli.ExitOK, status, command.Name())
		assert.Contains(t, out, "Usage:", command.Name())
		assert.Empty(t, errs, command.Name())
	}
}

func TestFlagsTakeOneDash(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"version", "-json"}, {"version", "--json"}} {
		out, errs, status := execute(t, args...)
		assert.Equal(t, cli.ExitOK, status, errs)
		assert.Contains(t, out, `"version":"v`)
	}
	_, errs, status := execute(t, "send", "sms", "--text", "-json", "--to")
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, errs, "--to", "the value of --text is a value")
}

func TestVersionFlag(t *testing.T) {
	t.Parallel()
	out, _, status := execute(t, "--version")
	assert.Equal(t, cli.ExitOK, status)
	assert.Contains(t, out, buildVersion().Version)
}

func TestManualPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, errs, status := execute(t, "man", dir)
	require.Equal(t, cli.ExitOK, status, errs)
	page, err := os.ReadFile(filepath.Join(dir, "messaging-sandbox.1"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "--listen")
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	out, _, status := execute(t, "completion", "bash")
	assert.Equal(t, cli.ExitOK, status)
	assert.Contains(t, out, "messaging")
}
