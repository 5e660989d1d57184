package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
)

// TestOneDash has two commands with a flag of the same name: in one it has a value, in the other it has none.
func TestOneDash(t *testing.T) {
	t.Parallel()
	newRoot := func() *cobra.Command {
		root := &cobra.Command{Use: "tool"}
		list := &cobra.Command{Use: "list", RunE: func(*cobra.Command, []string) error { return nil }}
		list.Flags().Bool("raw", false, "")
		list.Flags().IntP("limit", "n", 0, "")
		show := &cobra.Command{Use: "show", RunE: func(*cobra.Command, []string) error { return nil }}
		show.Flags().String("raw", "", "")
		show.Flags().Bool("limit", false, "")
		root.AddCommand(list, show)
		return root
	}
	for args, want := range map[string]string{
		"list -raw -limit 3":     "list --raw --limit 3",
		"list -limit=3 -raw":     "list --limit=3 --raw",
		"list -n 3 -limit -raw":  "list -n 3 --limit -raw",
		"show -raw -limit":       "show --raw -limit",
		"show -limit -raw -help": "show --limit --raw -help",
		"list -- -raw":           "list -- -raw",
		"list --raw -help":       "list --raw --help",
		"list raw -unknown":      "list raw -unknown",
		"-help":                  "--help",
	} {
		assert.Equal(t, want, strings.Join(withTwoDashes(newRoot(), strings.Fields(args)), " "), args)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	check := Words(2, "FROM", "TO", "NOTE")
	require.NoError(t, check(nil, []string{"a", "b"}))
	require.EqualError(t, check(nil, []string{"a"}), "want FROM TO [NOTE], got 1 argument; -h shows an example")
	require.EqualError(t, check(nil, nil), "want FROM TO [NOTE], got 0 arguments; -h shows an example")
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	const action = "This sends one SMS."
	for reply, want := range map[string]string{
		"y\n":     "",
		" YES \n": "",
		"n\n":     "nothing was sent",
		"yess\n":  "nothing was sent",
		"\n":      "nothing was sent",
		"":        "nothing was sent",
	} {
		var question bytes.Buffer
		console := Console{In: strings.NewReader(reply), Err: &question, InTerminal: true}
		err := console.Confirm(t.Context(), action, "--yes")
		assert.Equal(t, action+" Send? [y/N] ", question.String())
		if want == "" {
			require.NoError(t, err, reply)
		} else {
			require.ErrorContains(t, err, want, reply)
		}
	}
	err := Console{In: strings.NewReader("y\n")}.Confirm(t.Context(), action, "--yes")
	require.ErrorContains(t, err, "no terminal")
	require.ErrorContains(t, err, "Add --yes")
}

func TestNewClientErrorNamesFlags(t *testing.T) {
	t.Setenv("MESSAGING_BASE_URL", "http://api.example.com")
	t.Setenv("MESSAGING_TOKEN", "")
	_, err := NewClient(-time.Second, false, messaging.WithRateLimit(-1, 1))
	require.EqualError(t, err, "--rate: must be more than 0 requests per second, got -1; --timeout: must be more than 0, got -1s; "+
		"MESSAGING_BASE_URL: must be https: credentials would travel in the clear (--plain-http allows it); "+
		"MESSAGING_TOKEN: want credentials, got none; set it, or MESSAGING_API_KEY and MESSAGING_API_SECRET")
	t.Setenv("MESSAGING_BASE_URL", "https://user:password@api.example.com")
	t.Setenv("MESSAGING_TOKEN", "Bearer abc")
	_, err = NewClient(time.Second, false)
	require.EqualError(t, err, "MESSAGING_BASE_URL: must not hold a user or a password; use MESSAGING_API_KEY and MESSAGING_API_SECRET; "+
		`MESSAGING_TOKEN: got a token that begins with "Bearer"; want it without the scheme word, which the contract adds`)
}

func TestStatusPrintsOneLine(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	console := Console{Err: &errs}
	assert.Equal(t, ExitOK, console.Status("messaging list", nil))
	assert.Equal(t, ExitUnknown, console.Status("messaging list", &ExitError{Status: ExitUnknown}), "everything was printed already")
	assert.Empty(t, errs.String())
	assert.Equal(t, ExitUsage, console.Status("messaging list", assert.AnError))
	assert.Equal(t, 1, strings.Count(errs.String(), "\n"))
}

// TestStatusPrintsALineForEachProblemOfAContract: a contract is written by hand, and its problems are long.
func TestStatusPrintsALineForEachProblemOfAContract(t *testing.T) {
	file := filepath.Join(t.TempDir(), "contract.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"x": 1, "y": 2}`), 0o600))
	t.Setenv("MESSAGING_BASE_URL", "https://api.example.com")
	t.Setenv("MESSAGING_TOKEN", "abc")
	t.Setenv("MESSAGING_API_KEY", "")
	t.Setenv("MESSAGING_CONTRACT", file)
	_, err := NewClient(time.Second, false)
	require.Error(t, err)
	var errs bytes.Buffer
	console := Console{Err: &errs}
	assert.Equal(t, ExitUsage, console.Status("messaging list", err))
	lines := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
	require.Len(t, lines, 2, errs.String())
	assert.Regexp(t, "^messaging list: MESSAGING_CONTRACT: contract: x: unknown key", lines[0])
	assert.Regexp(t, "^contract: y: unknown key", lines[1])
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `Grüße \x1b[2J\n\u202e`, Printable("Grüße \x1b[2J\n\u202e"))
}
