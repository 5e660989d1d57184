package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/messagingtest"
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
	option := regexp.MustCompile(`\bWith(out)?[A-Z]\w+|baseURL`)
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

// TestErrorsSayWhatToDo: each error of a natural mistake ends with the next step.
func TestErrorsSayWhatToDo(t *testing.T) {
	service := messagingtest.NewServer(t)
	for name, tt := range map[string]struct {
		baseURL, token string
		stdin          string
		args           []string
		want           string
	}{
		"no environment":       {args: []string{"list"}, want: `"messaging sandbox" runs a service on this machine and prints both`},
		"wrong token, list":    {baseURL: service.URL, token: "wrong", args: []string{"list"}, want: "; check MESSAGING_TOKEN, or MESSAGING_API_KEY and MESSAGING_API_SECRET\n"},
		"wrong token, send":    {baseURL: service.URL, token: "wrong", args: smsTo("+639171234567"), want: "\ncheck MESSAGING_TOKEN, or MESSAGING_API_KEY and MESSAGING_API_SECRET\n"},
		"wrong path":           {baseURL: service.URL + "/x", token: service.Token, args: []string{"list"}, want: "; check MESSAGING_BASE_URL, and the paths of MESSAGING_CONTRACT\n"},
		"not listed":           {baseURL: service.URL, token: service.Token, args: []string{"find", "x"}, want: "not listed: no SMS has this reference ID; an SMS may be listed later, a chat-app message never: its outcome comes in a delivery report\n"},
		"empty message":        {baseURL: service.URL, token: service.Token, stdin: " \n", args: []string{"send", "sms", "-f", "-"}, want: "--file: empty; want a message as JSON (see -h)\n"},
		"no channel":           {args: []string{"send", "--to", "+639171234567"}, want: "unknown flag: --to; the flags follow one of chatapp1, chatapp2, sms; -h shows an example\n"},
		"no secret":            {args: []string{"listen"}, want: "MESSAGING_WEBHOOK_SECRET: required, such as key=SECRET, or anyone could call; --insecure accepts callbacks without a secret\n"},
		"port alone":           {args: []string{"listen", "--insecure", "--listen", "8027"}, want: "want an address such as 127.0.0.1:8080, or 127.0.0.1:0 for any free port\n"},
		"unknown help":         {args: []string{"help", "sned"}, want: `there is no command "sned"; did you mean send?` + "\n"},
		"unknown help of send": {args: []string{"help", "send", "smss"}, want: `there is no command "smss"; did you mean sms?` + "\n"},
	} {
		t.Setenv("MESSAGING_BASE_URL", tt.baseURL)
		t.Setenv("MESSAGING_TOKEN", tt.token)
		for _, unset := range []string{"MESSAGING_API_KEY", "MESSAGING_API_SECRET", "MESSAGING_CONTRACT", "MESSAGING_WEBHOOK_SECRET"} {
			t.Setenv(unset, "")
			require.NoError(t, os.Unsetenv(unset))
		}
		var out, errs bytes.Buffer
		status := run(t.Context(), cli.Console{In: strings.NewReader(tt.stdin), Out: &out, Err: &errs}, tt.args)
		assert.NotEqual(t, cli.ExitOK, status, name)
		assert.Contains(t, errs.String(), tt.want, name)
	}
}

func smsTo(number string) []string {
	return []string{"send", "sms", "--from", "ACME", "--to", number, "--text", "Hi"}
}

// TestHelpOfSendNamesExitStatuses, and its example of JSON is a message.
func TestHelpOfSendNamesExitStatuses(t *testing.T) {
	for _, channel := range []string{"sms", "chatapp1", "chatapp2"} {
		out, _, status := execute(t, "help", "send", channel)
		assert.Equal(t, cli.ExitOK, status)
		assert.Contains(t, out, "  4   unknown: it may have been sent.")
		example := regexp.MustCompile(`(?m)^  (\{.*\})$`).FindStringSubmatch(out)
		if channel == "chatapp2" { // the platform's own form
			continue
		}
		require.NotNil(t, example, channel)
		t.Setenv("MESSAGING_BASE_URL", "https://api.example.com")
		t.Setenv("MESSAGING_TOKEN", "t")
		var stdout, errs bytes.Buffer
		console := cli.Console{In: strings.NewReader(example[1]), Out: &stdout, Err: &errs}
		assert.Equal(t, cli.ExitOK, run(t.Context(), console, []string{"send", channel, "-f", "-", "-n"}), errs.String())
	}
}
