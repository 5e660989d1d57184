package learn

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/contract"
)

// run runs the command as main does.
func run(t *testing.T, input string, isTerminal bool, args ...string) (status int, out, progress string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	console := cli.Console{In: strings.NewReader(input), InTerminal: isTerminal, Out: &stdout, Err: &stderr}
	status = console.Execute(t.Context(), NewCommand(console), append([]string{"learn"}, args...))
	return status, stdout.String(), stderr.String()
}

func TestCommandWritesNewFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "contract.json")
	status, out, progress := run(t, "", false, filepath.Join("testdata", "flat.txt"), "-o", file)
	require.Equal(t, cli.ExitOK, status, progress)
	assert.Empty(t, out)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	_, err = contract.Parse(raw)
	require.NoError(t, err)
	status, _, progress = run(t, "", false, filepath.Join("testdata", "flat.txt"), "-o", file)
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, progress, "the file exists; --force replaces it")
}

func TestCommandForceReplacesFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "contract.json")
	require.NoError(t, os.WriteFile(file, []byte("before"), 0o600))
	examples := filepath.Join("testdata", "flat.txt")
	status, _, progress := run(t, "", false, "absent.txt", "-o", file, "--force")
	assert.Equal(t, cli.ExitUsage, status, progress)
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "before", string(before), "nothing was learned")
	status, _, progress = run(t, "", false, examples, "-o", file, "--force")
	require.Equal(t, cli.ExitOK, status, progress)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	_, err = contract.Parse(after)
	require.NoError(t, err)
	status, _, progress = run(t, "", false, examples, "--force")
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, progress, "--force: needs --out")
}

func TestCommandForceTouchesNoOtherFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	other := filepath.Join(folder, "contract.json.new", "kept.txt")
	require.NoError(t, os.Mkdir(filepath.Dir(other), 0o700))
	require.NoError(t, os.WriteFile(other, []byte("kept"), 0o600))
	file := filepath.Join(folder, "contract.json")
	status, _, progress := run(t, "", false, filepath.Join("testdata", "flat.txt"), "-o", file, "--force")
	require.Equal(t, cli.ExitOK, status, progress)
	assert.FileExists(t, other)
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, files, 2, "no temporary file is left")
}

func TestCommandReadsStandardInput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"-"}} {
		status, out, progress := run(t, requestText+acceptedText, false, args...)
		require.Equal(t, cli.ExitOK, status, progress)
		_, err := contract.Parse([]byte(out))
		require.NoError(t, err)
	}
}

// TestCommandDoesNotWriteWrongOverlay: a wrong overlay is worse than none.
func TestCommandDoesNotWriteWrongOverlay(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "contract.json")
	status, out, progress := run(t, requestText+acceptedText+"=== refused\nhttp: 200\nclass: invalid\n\n"+`{"messageId": "h-2", "state": "queued"}`, false, "-o", file)
	assert.Equal(t, cli.ExitRefused, status)
	assert.Empty(t, out)
	assert.Contains(t, progress, "the result is accepted and not refused")
	assert.Contains(t, progress, "nothing was written")
	assert.NoFileExists(t, file)
}

func TestCommandUsage(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"no such file":           {filepath.Join(t.TempDir(), "absent.txt")},
		"--keep: is only for":    {"--keep", filepath.Join(t.TempDir(), "examples.txt")},
		"unknown flag: --colour": {"--colour"},
	} {
		status, out, progress := run(t, "", false, args...)
		assert.Equal(t, cli.ExitUsage, status, want)
		assert.Contains(t, progress, want)
		assert.Empty(t, out)
	}
}

// TestCommandNamesFileOfError: with several files, the number of a line is of its file.
func TestCommandNamesFileOfError(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	request := write("request.txt", requestText)
	for text, want := range map[string]string{
		"{}":                                    "line 1 of %s: want a heading",
		"\n=== request\nto: 1\ntext: Hi\n\nx=1": "line 2 of %s, request: there is one on line 1 of " + request,
		"=== accepted\ncolour: red\n":           `line 2 of %s: unknown key "colour"`,
		"=== accepted\nid: h-1\n\n{\n\"id\": }": "line 1 of %s, accepted: the response is not JSON, near line 5 of %s, column 7",
	} {
		other := write("other.txt", text)
		status, _, progress := run(t, "", false, request, other)
		assert.Equal(t, cli.ExitUsage, status)
		assert.Contains(t, progress, strings.ReplaceAll(want, "%s", other))
	}
}

// TestCommandExplainsInvalidFile has a file of another kind.
func TestCommandExplainsInvalidFile(t *testing.T) {
	t.Parallel()
	status, _, progress := run(t, "", false, "command_test.go")
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, progress, "line 1: want a heading")
}

// TestInterview types the examples, and keeps them in a file that gives the same overlay.
func TestInterview(t *testing.T) {
	t.Parallel()
	keep := filepath.Join(t.TempDir(), "examples.txt")
	typed := strings.Join([]string{
		"639171234567", "Hi there", "", "", "", "/m", `{"to": "639171234567",`, `"text": "Hi there"}`, ".", // request
		"202", "h-1", `{"messageId": "h-1"}`, ".", // accepted
		"invalid", "400", "E1", `{"fault": "E1"}`, ".", "", // refused
		"",                                                                     // row
		"639170000001", "", "Yes", "", "", "sender=639170000001&body=Yes", ".", // inbound
		"h-1", "DELIVRD", "", "", "", "mid=h-1&s=DELIVRD", ".", "", // delivery
	}, "\n") + "\n"
	status, out, progress := run(t, typed, true, "--keep", keep)
	require.Equal(t, cli.ExitOK, status, progress)
	assert.Contains(t, out, `"from": ["sender"]`)
	assert.Contains(t, out, `"invalid": ["E1"]`)
	assert.Contains(t, progress, "Paste the example")
	info, err := os.Stat(keep)
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077, "a pasted request can hold credentials: %v", info.Mode())
	status, again, progress := run(t, "", false, keep)
	require.Equal(t, cli.ExitOK, status, progress)
	assert.Equal(t, out, again)
}

// TestInterviewKeepsExamples: typed examples with an error can be corrected.
func TestInterviewKeepsExamples(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	typed := "639171234567\nHi there\n\n\n\n/m\n{\"to\": \"639171234567\", \"text\": \"Hi there\"}\n.\n202\nh-2\n{\"messageId\": \"h-1\"}\n.\n\n\n\n\n"
	status, _, progress := run(t, typed, true)
	assert.Equal(t, cli.ExitRefused, status)
	found := regexp.MustCompile(`The examples are in (\S+)\. `).FindStringSubmatch(progress)
	require.NotNil(t, found, progress)
	text, err := os.ReadFile(found[1])
	require.NoError(t, err)
	corrected := strings.Replace(string(text), "id: h-2", "id: h-1", 1)
	status, _, progress = run(t, corrected, false)
	assert.Equal(t, cli.ExitOK, status, progress)
}

// TestInterviewKeepsExamplesWithoutTheirFile: typed examples are not lost if a file cannot be written.
func TestInterviewKeepsExamplesWithoutTheirFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const typed = "639171234567\nHi there\n\n\n\n/m\n{\"to\": \"639171234567\", \"text\": \"Hi there\"}\n.\n202\nh-1\n{\"messageId\": \"h-1\"}\n.\n\n\n\n\n"
	for _, flag := range []string{"--keep", "--out"} {
		status, _, progress := run(t, typed, true, flag, filepath.Join(t.TempDir(), "absent", "file"))
		assert.Equal(t, cli.ExitUsage, status, progress)
		assert.Contains(t, progress, flag+": open ")
		found := regexp.MustCompile(`The examples are in (\S+)\. `).FindStringSubmatch(progress)
		require.NotNil(t, found, progress)
		status, _, progress = run(t, "", false, found[1])
		assert.Equal(t, cli.ExitOK, status, progress)
	}
}

func TestInterviewEnds(t *testing.T) {
	t.Parallel()
	for want, typed := range map[string]string{
		"the input ended":              "639171234567\n",
		"want an example of a request": "\n",
	} {
		status, out, progress := run(t, typed, true)
		assert.Equal(t, cli.ExitUsage, status)
		assert.Contains(t, progress, want)
		assert.Empty(t, out)
	}
}

// TestHelpHasExamplesThatCanBeLearned: a newcomer copies the file of the help.
func TestHelpHasExamplesThatCanBeLearned(t *testing.T) {
	t.Parallel()
	_, after, _ := strings.Cut(learnHelp, "  === request")
	file, _, isFound := strings.Cut("  === request"+after, "The kinds are:")
	require.True(t, isFound)
	file = strings.ReplaceAll("\n"+file, "\n  ", "\n")
	result, _, err := learn([]source{{text: file}})
	require.NoError(t, err)
	assert.Contains(t, result.Overlay, `"to": "recipient"`)
}

// TestHelpListsEachKey: the help names every key of each kind.
func TestHelpListsEachKey(t *testing.T) {
	t.Parallel()
	kinds := []string{kindRequest, kindAccepted, kindRefused, kindRow, kindInbound, kindDelivery}
	_, help, _ := strings.Cut(learnHelp, "The kinds are:\n")
	help, _, _ = strings.Cut(help, "A file has one request")
	for i, kind := range kinds {
		_, about, found := strings.Cut(help, "\n  "+kind+" ")
		require.True(t, found, kind)
		if i+1 < len(kinds) {
			about, _, _ = strings.Cut(about, "\n  "+kinds[i+1]+" ")
		}
		for _, key := range keysOf(kind) {
			assert.Regexp(t, `\b`+key+`\b`, about, kind)
		}
	}
}
