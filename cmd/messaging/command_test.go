package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// execute runs a command line and returns what was printed.
func execute(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), cli.Console{Out: &out, Err: &errs}, args)
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

// TestEveryHelpHasAnExample, and names flags by two dashes.
func TestEveryHelpHasAnExample(t *testing.T) {
	t.Parallel()
	oneDash := regexp.MustCompile(`(^|[ ("'])-[a-z]{2,}`)
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		assert.True(t, c.HasExample(), c.CommandPath())
		for _, text := range []string{c.Long, c.Short, c.Example, c.Flags().FlagUsages()} {
			assert.Empty(t, oneDash.FindString(text), "%s: %s", c.CommandPath(), text)
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(newCommand(cli.Console{}))
}

// TestErrorsNameVariablesAndFlags: a user of the command does not know the options of the library.
func TestErrorsNameVariablesAndFlags(t *testing.T) {
	option := regexp.MustCompile(`With[A-Z]\w+|baseURL`)
	for _, environment := range []map[string]string{
		{},
		{"MESSAGING_BASE_URL": "https://api.example.com"},
		{"MESSAGING_BASE_URL": "http://api.example.com", "MESSAGING_TOKEN": "t"},
		{"MESSAGING_BASE_URL": "https://u:p@api.example.com", "MESSAGING_TOKEN": "t"},
		{"MESSAGING_BASE_URL": "https://api.example.com", "MESSAGING_TOKEN": "a\nb"},
		{"MESSAGING_BASE_URL": "https://api.example.com", "MESSAGING_API_KEY": "a\nb", "MESSAGING_API_SECRET": "s"},
		{"MESSAGING_BASE_URL": "x", "MESSAGING_TOKEN": "t"},
		{"MESSAGING_BASE_URL": "https://api.example.com", "MESSAGING_TOKEN": "t", "MESSAGING_API_KEY": "k"},
	} {
		for _, name := range []string{"MESSAGING_BASE_URL", "MESSAGING_TOKEN", "MESSAGING_API_KEY", "MESSAGING_API_SECRET", "MESSAGING_CONTRACT", "MESSAGING_WEBHOOK_SECRET"} {
			t.Setenv(name, environment[name])
		}
		for _, args := range [][]string{
			{"list"}, {"find", "r"}, {"send", "sms", "--from", "A", "--to", "+639171234567", "--text", "Hi"}, {"check"}, {"list", "--timeout", "-1s"}, {"listen"},
		} {
			var out, errs bytes.Buffer
			status := run(t.Context(), cli.Console{Out: &out, Err: &errs}, args)
			assert.NotEqual(t, cli.ExitOK, status, "%v in %v", args, environment)
			assert.Empty(t, option.FindString(errs.String()), "%v: %s", args, errs.String())
		}
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
