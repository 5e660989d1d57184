package account

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// shell runs command lines in an environment.
type shell struct {
	*testing.T

	in       string
	terminal bool

	pages     []string // of serveRows
	isServing bool
}

// newShell returns a shell whose account is that of a test server. The test cannot run in parallel: the environment is the process's.
func newShell(t *testing.T) (*shell, *messagingtest.Server) {
	t.Helper()
	srv := messagingtest.NewServer(t)
	t.Setenv("MESSAGING_BASE_URL", srv.URL)
	t.Setenv("MESSAGING_TOKEN", srv.Token)
	return &shell{T: t}, srv
}

// run returns what was printed and the exit status.
func (s *shell) run(args ...string) (stdout, stderr string, status int) {
	s.Helper()
	var out, errs bytes.Buffer
	console := cli.Console{In: strings.NewReader(s.in), Out: &out, Err: &errs, InTerminal: s.terminal}
	root := &cobra.Command{Use: "messaging"}
	root.AddCommand(New(console)...)
	status = console.Execute(s.Context(), root, args)
	return out.String(), errs.String(), status
}

func TestSendEndsWithVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		fault  *messagingtest.Fault
		args   []string
		status int
		want   string
	}{
		"accepted":       {nil, nil, cli.ExitOK, "accepted  id msg-1  reference order-1"},
		"refused":        {new(messagingtest.FaultStatus(http.StatusPaymentRequired, 0)), nil, cli.ExitRefused, "refused"},
		"unknown":        {new(messagingtest.FaultAcceptThenDrop()), nil, cli.ExitUnknown, "unknown  reference order-1"},
		"wrong message":  {nil, []string{"--to", "12"}, cli.ExitNotSent, "not sent"},
		"and in JSON":    {nil, []string{"--to", "12", "--json"}, cli.ExitNotSent, `{"verdict":"not sent","error":"messaging: sms.send not sent: To: want `},
		"valid":          {nil, []string{"-n"}, cli.ExitOK, "valid: nothing was sent"},
		"valid in JSON":  {nil, []string{"-n", "--json"}, cli.ExitOK, "{\"valid\":true}\n"},
		"an odd timeout": {nil, []string{"--timeout", "-1s"}, cli.ExitUsage, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, srv := newShell(t)
			if c.fault != nil {
				srv.Inject(*c.fault, 1)
			}
			args := []string{"send", "sms", "--from", "ACME", "--to", "+639171234567", "--text", "Hi", "--reference", "order-1"}
			out, errs, status := s.run(append(args, c.args...)...)
			assert.Equal(t, c.status, status, errs)
			assert.Contains(t, out, c.want)
			assert.NotContains(t, out+errs, "639171234567")
			if !slices.Contains(c.args, "--json") { // which says all in one object
				assert.Equal(t, status != cli.ExitOK, errs != "")
			}
		})
	}
	t.Run("not sent", func(t *testing.T) {
		s, srv := newShell(t)
		srv.Close()
		out, _, status := s.run("send", "sms", "--from", "ACME", "--to", "+639171234567", "--text", "Hi", "--json")
		assert.Equal(t, cli.ExitNotSent, status)
		var printed map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &printed))
		assert.Equal(t, "not sent", printed["verdict"])
	})
}

// TestInvalidCommandLine has common mistakes.
func TestInvalidCommandLine(t *testing.T) {
	s, srv := newShell(t)
	for want, args := range map[string][]string{
		"which channel? want one of chatapp1":        {"send"},
		`there is no command "sm"; did you mean sms`: {"send", "sm"},
		"unknown flag: --tex; -h lists the flags":    {"send", "sms", "--tex", "Hi"},
		"want REFERENCE, got 0 arguments":            {"find"},
		"want FILE [LINE], got 0 arguments":          {"replay"},
	} {
		out, errs, status := s.run(args...)
		assert.Equal(t, cli.ExitUsage, status)
		assert.Contains(t, errs, want)
		assert.Equal(t, 1, strings.Count(errs, "\n"), "one line")
		assert.Empty(t, out)
	}
	assert.Zero(t, srv.Requests())
	out, _, _ := s.run("__complete", "list", "--format", "")
	assert.Contains(t, out, "jsonl")
}

func TestSendTakesEveryChannel(t *testing.T) {
	for channel, args := range map[string][]string{
		"sms":      {"--from", "ACME"},
		"chatapp1": {"--from", "channel-1", "--ttl", "1m", "--fallback-from", "ACME", "--fallback-text", "Hi by SMS"},
		"chatapp2": {"--ttl", "1m"},
	} {
		s, srv := newShell(t)
		_, errs, status := s.run(append([]string{"send", channel, "--to", "+639171234567", "--text", "Hi"}, args...)...)
		assert.Equal(t, cli.ExitOK, status, errs)
		require.Len(t, srv.Sent(), 1, channel)
		assert.Equal(t, "Hi", srv.Sent()[0].Text)
	}
}

func TestSendReadsMessage(t *testing.T) {
	s, srv := newShell(t)
	s.in = `{"from": "ACME", "to": "+639171234567", "text": "Hi", "referenceID": "order-9"}`
	_, errs, status := s.run("send", "sms", "-f", "-", "--json")
	assert.Equal(t, cli.ExitOK, status, errs)
	require.Len(t, srv.Sent(), 1)
	assert.Equal(t, "order-9", srv.Sent()[0].ReferenceID)

	for want, text := range map[string]string{
		`unknown key "colour"`: `{"colour": "red"}`,
		"longer than 1 MiB":    strings.Repeat(" ", maxMessage+1),
	} {
		s.in = text
		_, errs, status := s.run("send", "sms", "-f", "-")
		assert.Equal(t, cli.ExitUsage, status)
		assert.Contains(t, errs, want)
	}
	_, errs, status = s.run("send", "sms", "-f", "-", "--text", "Hi")
	assert.Equal(t, cli.ExitUsage, status, "a file and flags contradict each other")
	assert.Contains(t, errs, "--text: want it in the file of --file")
	assert.Len(t, srv.Sent(), 1)
}

// TestSendAsksForRealAccount sends nowhere: the reply comes before the first request.
func TestSendAsksForRealAccount(t *testing.T) {
	s, _ := newShell(t)
	t.Setenv("MESSAGING_BASE_URL", "https://api.example.com")
	args := []string{"send", "sms", "--from", "ACME", "--to", "+639171234567", "--text", "Hi"}
	_, errs, status := s.run(args...)
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, errs, "--yes")
	s.terminal, s.in = true, "n\n"
	_, errs, status = s.run(args...)
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, errs, "api.example.com")
	assert.Contains(t, errs, "nothing was sent")
}

// fill sends messages.
func (s *shell) fill(n int) {
	s.Helper()
	for i := range n {
		_, errs, status := s.run("send", "sms", "--from", "ACME", "--to", "+639171234567", "--text", fmt.Sprint("text ", i), "--reference", fmt.Sprint("order-", i))
		require.Equal(s, cli.ExitOK, status, errs)
	}
}

func TestListFormats(t *testing.T) {
	s, _ := newShell(t)
	s.fill(3)
	out, _, status := s.run("list", "--after", "1h")
	assert.Equal(t, cli.ExitOK, status)
	assert.Equal(t, 4, strings.Count(out, "\n"))
	assert.Contains(t, out, "CREATED")
	out, _, _ = s.run("list", "--format", "csv", "--limit", "2")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	assert.Len(t, rows, 3)
	out, _, _ = s.run("list", "--json", "--reference", "order-1")
	var row map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &row))
	assert.Equal(t, "text 1", row["text"])
	for want, args := range map[string][]string{
		"--format: want":  {"--format", "xml"},
		"--after: want":   {"--after", "yesterday"},
		"--limit: must":   {"--limit", "-1"},
		"needs --out":     {"--resume"},
		"--format csv or": {"--resume", "-o", "x"},
	} {
		_, errs, status := s.run(append([]string{"list"}, args...)...)
		assert.Equal(t, cli.ExitUsage, status)
		assert.Contains(t, errs, want)
	}
}

// serveRows makes the account of a shell a service with these pages of rows.
func (s *shell) serveRows(pages ...string) {
	s.Helper()
	s.pages = pages
	if s.isServing { // a listing that is resumed needs the same account
		return
	}
	s.isServing = true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("pageNumber"))
		rows := ""
		if index := max(page, 1) - 1; index < len(s.pages) {
			rows = s.pages[index]
		}
		if rows == "fails" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"data":[%s],"totalPages":%d}`, rows, len(s.pages))
	}))
	s.Cleanup(server.Close)
	s.Setenv("MESSAGING_BASE_URL", server.URL)
}

func TestListKeepsFractions(t *testing.T) {
	s, _ := newShell(t)
	s.serveRows(`{"id":"m-1","createdAt":"2026-11-22T23:59:55.680Z"},{"id":"m-2","createdAt":"2026-11-22T23:59:55Z"}`)
	for _, format := range []string{"jsonl", "csv"} {
		out, errs, status := s.run("list", "--format", format)
		require.Equal(t, cli.ExitOK, status, errs)
		assert.Contains(t, out, "2026-11-22T23:59:55.68Z")
		assert.Contains(t, out, "2026-11-22T23:59:55Z")
	}
}

// unreadableRow returns a row with a time that cannot be read.
func unreadableRow(id string) string { return `{"id":"` + id + `","createdAt":"yesterday"}` }

func TestListCountsUnreadableRows(t *testing.T) {
	s, _ := newShell(t)
	many := strings.Repeat(unreadableRow("m-1")+",", 24) + unreadableRow("m-1")
	for want, pages := range map[string][]string{
		"messaging list: 1 row could not be read in full\n":  {`{"id":"m-2"},` + unreadableRow("m-1")},
		"messaging list: 3 rows could not be read in full\n": {unreadableRow("m-1") + "," + unreadableRow("m-2"), unreadableRow("m-3")},
		"messaging: sms.list: row 20 of page 1 (ID m-1) cannot be read: CreatedAt is in no known form (createdAt)\n" +
			"5 more rows of the page cannot be read\n" +
			"messaging list: 25 rows could not be read in full\n": {many},
	} {
		s.serveRows(pages...)
		out, errs, status := s.run("list", "--json")
		assert.Equal(t, cli.ExitRefused, status, errs)
		assert.True(t, strings.HasSuffix(errs, want), errs)
		assert.Contains(t, out, "m-1", "it is listed with what could be read of it")
	}
	s.serveRows(unreadableRow("m-1"), "fails")
	_, errs, status := s.run("list", "--json")
	assert.Equal(t, cli.ExitUnknown, status, errs)
}

// TestListCountsRowsWithinLimit has unreadable rows before and after the limit, on one page.
func TestListCountsRowsWithinLimit(t *testing.T) {
	s, _ := newShell(t)
	s.serveRows(`{"id":"m-1"},` + unreadableRow("m-2") + "," + unreadableRow("m-3"))
	out, errs, status := s.run("list", "--json", "--limit", "1")
	assert.Equal(t, cli.ExitOK, status, errs)
	assert.Empty(t, errs)
	assert.Contains(t, out, "m-1")
	_, errs, status = s.run("list", "--json", "--limit", "2")
	assert.Equal(t, cli.ExitRefused, status)
	assert.Contains(t, errs, "m-2")
	assert.NotContains(t, errs, "m-3")
	assert.Contains(t, errs, "messaging list: 1 row could not be read in full")
}

// TestResumedListCountsUnreadableRows has the rows in the page before an interruption.
func TestResumedListCountsUnreadableRows(t *testing.T) {
	s, _ := newShell(t)
	args := []string{"list", "--format", "csv", "--out", filepath.Join(t.TempDir(), "rows.csv")}
	s.serveRows(unreadableRow("m-1"), "fails")
	_, errs, status := s.run(args...)
	require.Equal(t, cli.ExitUnknown, status, errs)
	s.serveRows(unreadableRow("m-1"), `{"id":"m-2"}`)
	_, errs, status = s.run(append(args, "--resume")...)
	assert.Equal(t, cli.ExitRefused, status, errs)
	assert.Contains(t, errs, "1 row could not be read in full")
}

// TestResumeOfCompleteListWithUnreadableRows: a script that resumes until the status is not 4 gets the status of the listing.
func TestResumeOfCompleteListWithUnreadableRows(t *testing.T) {
	s, _ := newShell(t)
	file := filepath.Join(t.TempDir(), "rows.csv")
	args := []string{"list", "--format", "csv", "--out", file}
	s.serveRows(`{"id":"m-2"},` + unreadableRow("m-1"))
	_, errs, status := s.run(args...)
	require.Equal(t, cli.ExitRefused, status, errs)
	for range 2 {
		_, errs, status = s.run(append(args, "--resume")...)
		assert.Equal(t, cli.ExitRefused, status)
		assert.Contains(t, errs, "the listing is complete, and nothing was requested")
		assert.Contains(t, errs, "1 row could not be read in full")
	}
	_, errs, status = s.run(args...)
	assert.Equal(t, cli.ExitUsage, status, "a file is not overwritten")
	assert.NotContains(t, errs, "was interrupted")

	s.serveRows(`{"id":"m-2"}`)
	for _, again := range [][]string{args, append(args, "--resume")} {
		require.NoError(t, os.Remove(file))
		_, errs, status = s.run(again...)
		assert.Equal(t, cli.ExitOK, status, errs)
		assert.NoFileExists(t, statePath(file))
	}
}

// TestResumeOfCompleteListNamesChangedFlags: the file of one listing does not complete another.
func TestResumeOfCompleteListNamesChangedFlags(t *testing.T) {
	s, _ := newShell(t)
	args := []string{"list", "--format", "csv", "--resume", "--out", filepath.Join(t.TempDir(), "rows.csv")}
	s.serveRows(unreadableRow("m-1"))
	_, errs, status := s.run(args...)
	require.Equal(t, cli.ExitRefused, status, errs)
	_, errs, status = s.run(append(args, "--after", "48h")...)
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, errs, `had --after "", not "48h"; repeat its flags`)
	t.Setenv("MESSAGING_BASE_URL", "http://127.0.0.1:1")
	_, errs, status = s.run(args...)
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, errs, "MESSAGING_BASE_URL is http://127.0.0.1:1")
	assert.NotContains(t, errs, "the listing is complete")
}

// interruptedList lists into a file until the listing fails, and returns the file and the arguments.
func (s *shell) interruptedList() (file string, args []string) {
	s.Helper()
	file = filepath.Join(s.TempDir(), "rows.csv")
	args = []string{"list", "--format", "csv", "--out", file}
	s.serveRows(`{"id":"m-1"}`, "fails")
	_, errs, status := s.run(args...)
	require.Equal(s, cli.ExitUnknown, status, errs)
	return file, args
}

func TestResumeWithoutFileSaysHowToBeginAgain(t *testing.T) {
	s, _ := newShell(t)
	file, args := s.interruptedList()
	require.NoError(t, os.Remove(file))
	_, errs, status := s.run(append(args, "--resume")...)
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, errs, "; remove "+statePath(file)+" to begin again")
}

// A file that has become shorter would be filled up with zero bytes.
func TestResumeOfAFileThatLostRows(t *testing.T) {
	s, _ := newShell(t)
	file, args := s.interruptedList()
	require.NoError(t, os.Truncate(file, 3))
	_, errs, status := s.run(append(args, "--resume")...)
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, errs, file+" has 3 bytes, of ")
	assert.Contains(t, errs, "; remove it and "+statePath(file)+" to begin again")
}

// TestResumeNamesChangedFlags: rows of another listing would be appended to the file.
func TestResumeNamesChangedFlags(t *testing.T) {
	s, _ := newShell(t)
	args := []string{"list", "--format", "csv", "--after", "24h", "--to", "+639171234567", "--out", filepath.Join(t.TempDir(), "rows.csv")}
	s.serveRows(`{"id":"m-1"}`, "fails")
	_, errs, status := s.run(args...)
	require.Equal(t, cli.ExitUnknown, status, errs)
	for want, changes := range map[string][]string{
		`had --after "24h", not "48h"; repeat its flags`: {"--after", "48h"},
		`had --limit "0", not "5"`:                       {"--limit", "5"},
		`had --page-size "0", not "5"`:                   {"--page-size", "5"},
		"had another --to;":                              {"--to", "+639170000000"},
	} {
		_, errs, status := s.run(slices.Concat(args, []string{"--resume"}, changes)...)
		assert.Equal(t, cli.ExitUsage, status)
		assert.Contains(t, errs, want)
		assert.NotContains(t, errs, "+639171234567")
	}
	t.Setenv("MESSAGING_BASE_URL", "http://127.0.0.1:1")
	_, errs, status = s.run(append(args, "--resume")...)
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, errs, "MESSAGING_BASE_URL is http://127.0.0.1:1")
}

// TestListNamesInvalidFlags: nothing is requested, and no file is left behind.
func TestListNamesInvalidFlags(t *testing.T) {
	s, srv := newShell(t)
	file := filepath.Join(t.TempDir(), "rows.csv")
	for want, args := range map[string][]string{
		"--status: must be absent: the contract names no parameter for it": {"--status", "failed"},
		"--page-size: want 1 or more":                                      {"--page-size", "-1", "--format", "csv", "--out", file},
		"--before: must be later than --after":                             {"--after", "2026-11-02", "--before", "2026-11-01"},
	} {
		out, errs, status := s.run(append([]string{"list"}, args...)...)
		assert.Equal(t, cli.ExitUsage, status)
		assert.Contains(t, errs, want)
		assert.Empty(t, out)
	}
	assert.Zero(t, srv.Requests())
	assert.NoFileExists(t, file)
	assert.NoFileExists(t, statePath(file))
}

// TestResumeRemovesFilesOfListThatCannotBegin has an invalid flag in the first run, which is corrected. A file that existed before stays.
func TestResumeRemovesFilesOfListThatCannotBegin(t *testing.T) {
	s, _ := newShell(t)
	s.serveRows(`{"id":"m-1"}`)
	file := filepath.Join(t.TempDir(), "rows.csv")
	corrected := []string{"list", "--format", "csv", "--out", file, "--resume"}
	invalid := append(slices.Clone(corrected), "--page-size", "-1")

	_, errs, status := s.run(invalid...)
	assert.Equal(t, cli.ExitUsage, status, errs)
	assert.NoFileExists(t, file)
	assert.NoFileExists(t, statePath(file))

	require.NoError(t, os.WriteFile(file, nil, ownerOnly))
	_, errs, status = s.run(invalid...)
	assert.Equal(t, cli.ExitUsage, status, errs)
	assert.FileExists(t, file)
	assert.NoFileExists(t, statePath(file))

	_, errs, status = s.run(corrected...)
	assert.Equal(t, cli.ExitOK, status, errs)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(data), "m-1")
}

// TestInterruptedTableLeavesNoState: a table cannot be continued, so nothing of it blocks the next listing.
func TestInterruptedTableLeavesNoState(t *testing.T) {
	s, _ := newShell(t)
	file := filepath.Join(t.TempDir(), "rows.txt")
	args := []string{"list", "--out", file}
	s.serveRows(`{"id":"m-1"}`, "fails")
	_, errs, status := s.run(args...)
	assert.Equal(t, cli.ExitUnknown, status)
	assert.Contains(t, errs, "1 row is in "+file+", and a table cannot be continued")
	assert.NoFileExists(t, statePath(file))

	_, errs, status = s.run(args...)
	assert.Equal(t, cli.ExitUsage, status, "a file is not overwritten")
	assert.NotContains(t, errs, "--resume")
	require.NoError(t, os.Remove(file))
	s.serveRows(`{"id":"m-1"}`, `{"id":"m-2"},`+unreadableRow("m-3"))
	_, errs, status = s.run(args...)
	assert.Equal(t, cli.ExitRefused, status, errs)
	assert.Contains(t, errs, "3 rows are in")
	assert.NoFileExists(t, statePath(file))
}

// TestTableRemovesStateOfRemovedFile: the state of a CSV file that was removed does not call the table complete CSV.
func TestTableRemovesStateOfRemovedFile(t *testing.T) {
	s, _ := newShell(t)
	file := filepath.Join(t.TempDir(), "rows")
	s.serveRows(unreadableRow("m-1"))
	_, errs, status := s.run("list", "--format", "csv", "--out", file)
	require.Equal(t, cli.ExitRefused, status, errs)
	require.FileExists(t, statePath(file))
	require.NoError(t, os.Remove(file))
	_, errs, status = s.run("list", "--out", file)
	require.Equal(t, cli.ExitRefused, status, errs)
	assert.NoFileExists(t, statePath(file))
}

// TestListFiltersByStatus has a contract with a name for the filter.
func TestListFiltersByStatus(t *testing.T) {
	overlay := []byte(`{"sms.list": {"params": {"status": "state"}}}`)
	names, err := contract.Parse(overlay)
	require.NoError(t, err)
	srv := messagingtest.NewServer(t, messagingtest.WithContract(names))
	file := filepath.Join(t.TempDir(), "contract.json")
	require.NoError(t, os.WriteFile(file, overlay, 0o600))
	for name, value := range map[string]string{"MESSAGING_BASE_URL": srv.URL, "MESSAGING_TOKEN": srv.Token, table.EnvFile: file} {
		t.Setenv(name, value)
	}
	for i, status := range []string{"failed", "delivered"} {
		srv.Seed(messagingtest.Sent{ID: fmt.Sprint("msg-", i), ReferenceID: status, To: "+639171234567", DeliveryStatus: status, At: time.Now()})
	}
	out, errs, status := (&shell{T: t}).run("list", "--status", "failed", "--json")
	assert.Equal(t, cli.ExitOK, status, errs)
	assert.Contains(t, out, `"referenceID":"failed"`)
	assert.NotContains(t, out, `"referenceID":"delivered"`)
}

// TestCSVHasNoFormulas: a spreadsheet must not run a text as a formula.
func TestCSVHasNoFormulas(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"=1+1": "'=1+1", "@SUM(A1)": "'@SUM(A1)", "+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0", "-1+1": "'-1+1", "\t=1": "'\t=1", "\r=1": "'\r=1",
		"\n=1": "'\n=1", "＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠A1": "'＠A1", "é=1": "é=1",
		"+639171234567": "+639171234567", "-0.05": "-0.05", "0.50": "0.50", "Hi": "Hi", "": "", "a=b": "a=b",
	} {
		assert.Equal(t, want, withoutFormula(cell), cell)
	}
	var b strings.Builder
	rows := newWriter("csv", &b, false, false)
	require.NoError(t, rows.Write(row{Transaction: sms.Transaction{Text: "=1+1", ErrorCode: "=2+2"}}))
	require.NoError(t, rows.Flush())
	assert.Contains(t, b.String(), "'=1+1")
	assert.Contains(t, b.String(), "'=2+2")
}

func TestListWithoutRowsHasTheHeader(t *testing.T) {
	s, _ := newShell(t)
	out, _, status := s.run("list", "--format", "csv")
	assert.Equal(t, cli.ExitOK, status)
	assert.Regexp(t, `^id,referenceID,.*,text,verdict,errorCode\n$`, out)
	assert.Contains(t, out, ",sendStatus,deliveryStatus,status,")
	file := filepath.Join(t.TempDir(), "rows.csv")
	_, _, status = s.run("list", "--format", "csv", "--out", file)
	assert.Equal(t, cli.ExitOK, status)
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, out, string(written))
}

// TestListSaysThatThereAreNoRows: an empty table looks like a failure. Programs read the other formats.
func TestListSaysThatThereAreNoRows(t *testing.T) {
	s, _ := newShell(t)
	for format, want := range map[string]string{"table": "no rows\n", "csv": "", "jsonl": ""} {
		out, errs, status := s.run("list", "--format", format)
		assert.Equal(t, cli.ExitOK, status, format)
		assert.Equal(t, want, errs, format)
		assert.NotContains(t, out, "no rows", format)
	}
	s.fill(1)
	_, errs, _ := s.run("list")
	assert.Empty(t, errs)
}

func TestListPrintsRowCount(t *testing.T) {
	s, _ := newShell(t)
	for sent, want := range []string{"0 rows are in ", "1 row is in ", "2 rows are in "} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		_, errs, _ := s.run("list", "--format", "csv", "--out", file)
		assert.Contains(t, errs, want+file, sent)
		s.fill(1)
	}
}

// TestListResumes interrupts a listing into a file after each of its pages, and resumes it.
func TestListResumes(t *testing.T) {
	const rows = 10
	s, srv := newShell(t)
	s.fill(rows)
	out := filepath.Join(t.TempDir(), "rows.csv")
	args := []string{"list", "--page-size", "2", "--format", "csv", "-o", out}
	for page := range rows / 2 {
		if page > 0 {
			args = append(args[:7:7], "--resume")
		}
		srv.Inject(messagingtest.FaultSlow(time.Millisecond), 1)
		srv.Inject(messagingtest.FaultStatus(http.StatusNotFound, 0), 1) // not retried
		_, errs, status := s.run(args...)
		if status == cli.ExitOK {
			break
		}
		require.Equal(t, cli.ExitUnknown, status, errs)
		assert.Contains(t, errs, "--resume continues")
		file, err := os.OpenFile(out, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, _ = file.WriteString("half a ro") // as a kill in the middle of a page leaves
		require.NoError(t, file.Close())
	}
	srv.ClearFaults()
	_, errs, status := s.run(append(args[:7:7], "--resume")...)
	require.Equal(t, cli.ExitOK, status, errs)
	file, err := os.Open(out)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	read, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, row := range read[1:] {
		assert.False(t, seen[row[1]], row[1])
		seen[row[1]] = true
	}
	assert.Len(t, seen, rows)

	_, errs, status = s.run(append(args[:7:7], "--resume")...)
	assert.Equal(t, cli.ExitOK, status)
	assert.Contains(t, errs, "the listing is complete, and nothing was requested; to list again, remove the file or give another --out")
	_, errs, status = s.run(args[:7]...)
	assert.Equal(t, cli.ExitUsage, status, "a file is not overwritten")
	assert.Contains(t, errs, "--resume")
	require.NoError(t, os.WriteFile(out+".2", nil, 0o600))
	_, errs, status = s.run("list", "--format", "csv", "-o", out+".2")
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, errs, "--resume", "each error says the next step")
}

// TestResumeAfterKillBeforeFirstPage: the command was killed after it stored the state and before it created the file, or, in an earlier version,
// after it created the file.
func TestResumeAfterKillBeforeFirstPage(t *testing.T) {
	for name, kill := range map[string]func(file string) error{
		"state without a file":       os.Remove,
		"empty file without a state": func(file string) error { return os.Remove(statePath(file)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newShell(t)
			file := filepath.Join(t.TempDir(), "rows.jsonl")
			args := []string{"list", "--format", "jsonl", "--out", file}
			s.serveRows("fails")
			_, errs, status := s.run(args...)
			require.Equal(t, cli.ExitUnknown, status, errs)
			require.NoError(t, kill(file))
			s.serveRows(`{"id":"m-1"}`)
			_, errs, status = s.run(append(args, "--resume")...)
			assert.Equal(t, cli.ExitOK, status, errs)
			written, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Contains(t, string(written), "m-1")
			assert.NoFileExists(t, statePath(file))
		})
	}
}

// TestResumeLeavesNoFileOfAKill: each kill left another file if it came while the position was stored.
func TestResumeLeavesNoFileOfAKill(t *testing.T) {
	s, _ := newShell(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "rows.jsonl")
	args := []string{"list", "--format", "jsonl", "--out", file}
	s.serveRows("fails")
	_, errs, status := s.run(args...)
	require.Equal(t, cli.ExitUnknown, status, errs)
	require.NoError(t, os.WriteFile(statePath(file)+".new", []byte(`{"acc`), 0o600))
	s.serveRows(`{"id":"m-1"}`)
	_, errs, status = s.run(append(args, "--resume")...)
	require.Equal(t, cli.ExitOK, status, errs)
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, files, 1)
}

// TestResumeRejectsOtherFiles: a file without a state is a complete listing only if it looks like one.
func TestResumeRejectsOtherFiles(t *testing.T) {
	s, srv := newShell(t)
	s.fill(1)
	file := filepath.Join(t.TempDir(), "rows")
	for _, format := range []string{"csv", "jsonl"} {
		args := []string{"list", "--format", format, "--out", file, "--resume"}
		for _, content := range []string{"Dear diary,\n", `{"name":"other"}` + "\n", "id"} {
			require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
			requests := srv.Requests()
			_, errs, status := s.run(args...)
			assert.Equal(t, cli.ExitUsage, status, errs)
			assert.Contains(t, errs, "rows is not a listing in "+format)
			assert.Equal(t, requests, srv.Requests())
			kept, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, content, string(kept))
			assert.NoFileExists(t, statePath(file))
		}
		require.NoError(t, os.Remove(file))
		for _, want := range []string{"1 row is in", "the listing is complete, and nothing was requested"} {
			_, errs, status := s.run(args...)
			assert.Equal(t, cli.ExitOK, status, errs)
			assert.Contains(t, errs, want)
		}
		require.NoError(t, os.Remove(file))
	}
}

// TestCreateKeepsExistingFile: no state is left that would let --resume truncate the file.
func TestCreateKeepsExistingFile(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "rows.csv")
	require.NoError(t, os.WriteFile(out, []byte("kept"), 0o600))
	_, err := createResumable(out, &resumeState{})
	require.ErrorIs(t, err, fs.ErrExist)
	assert.NoFileExists(t, statePath(out))
	kept, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, "kept", string(kept))
}

// TestCreateRemovesFileWithoutState: a file without a state would block the next run. A folder with the state's name keeps the state
// from being saved.
func TestCreateRemovesFileWithoutState(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "rows.csv")
	require.NoError(t, os.Mkdir(statePath(out), 0o700))
	_, err := createResumable(out, &resumeState{})
	require.ErrorContains(t, err, "--out")
	assert.NoFileExists(t, out)

	require.NoError(t, os.Remove(statePath(out)))
	file, err := createResumable(out, &resumeState{})
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

func TestFind(t *testing.T) {
	s, srv := newShell(t)
	s.fill(1)
	out, _, status := s.run("find", "order-0")
	assert.Equal(t, cli.ExitOK, status)
	assert.Contains(t, out, "text 0")
	_, errs, status := s.run("find", "order-1")
	assert.Equal(t, cli.ExitNotListed, status, "a script that sends a refused message again must not send this one")
	assert.Contains(t, errs, "messaging find: not listed: no SMS has this reference ID; ")
	assert.NotContains(t, errs, "failed", "the listing did not fail")
	srv.Inject(messagingtest.FaultStatus(http.StatusNotFound, 0), 1)
	_, _, status = s.run("find", "order-0")
	assert.Equal(t, cli.ExitUnknown, status, "a failed lookup says nothing")
	_, _, status = s.run("find")
	assert.Equal(t, cli.ExitUsage, status)
}

// TestFindSaysThatSeveralRowsHaveTheReference: the message was sent twice, or the ID was used before.
func TestFindSaysThatSeveralRowsHaveTheReference(t *testing.T) {
	s, srv := newShell(t)
	srv.Seed(messagingtest.Sent{ReferenceID: "order-1"}, messagingtest.Sent{ReferenceID: "order-1"}, messagingtest.Sent{ReferenceID: "order-2"})
	out, errs, status := s.run("find", "order-1")
	assert.Equal(t, cli.ExitOK, status)
	assert.Equal(t, 1, strings.Count(out, "order-1"))
	assert.Contains(t, errs, "2 rows have this reference ID, and this is the first; messaging list --reference order-1 shows them")
	_, errs, _ = s.run("find", "order-2")
	assert.Empty(t, errs)

	srv.Seed(messagingtest.Sent{ReferenceID: "order 3; it's"}, messagingtest.Sent{ReferenceID: "order 3; it's"})
	_, errs, _ = s.run("find", "order 3; it's")
	assert.Contains(t, errs, `messaging list --reference 'order 3; it'\''s' shows them`, "a shell reads it as one word")
}

// seedVerdicts seeds a message for each verdict, whose reference is the verdict, and one with a price that cannot be read.
func seedVerdicts(srv *messagingtest.Server) {
	srv.Seed(
		messagingtest.Sent{ReferenceID: "accepted"},
		messagingtest.Sent{ReferenceID: "refused", SendStatus: "rejected"},
		messagingtest.Sent{ReferenceID: "unknown", Row: map[string]json.RawMessage{"error": []byte(`{"code":"200101"}`)}},
		messagingtest.Sent{ReferenceID: "unpriced", Row: map[string]json.RawMessage{"price": []byte(`"free"`)}},
	)
}

func TestFindEndsWithVerdict(t *testing.T) {
	s, srv := newShell(t)
	seedVerdicts(srv)
	for verdict, want := range map[string]int{"accepted": cli.ExitOK, "refused": cli.ExitRefused, "unknown": cli.ExitUnknown} {
		out, errs, status := s.run("find", verdict)
		assert.Equal(t, want, status, errs)
		assert.Regexp(t, `(?m)^verdict +`+verdict+`$`, out)
		out, _, status = s.run("find", verdict, "--json")
		assert.Equal(t, want, status)
		assert.Contains(t, out, `"verdict":"`+verdict+`"`)
	}
	out, _, _ := s.run("find", "unknown")
	assert.Regexp(t, `(?m)^errorCode +200101$`, out)
	out, _, status := s.run("find", "unpriced")
	assert.Equal(t, cli.ExitOK, status)
	assert.Regexp(t, `(?m)^readError +messaging: .* Price is not a decimal number`, out)
}

// TestListShowsVerdicts: a program or a spreadsheet can leave out messages that were not accepted.
func TestListShowsVerdicts(t *testing.T) {
	s, srv := newShell(t)
	seedVerdicts(srv)
	out, _, _ := s.run("list", "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	verdicts := map[string][]string{}
	for _, cells := range rows[1:] {
		verdicts[cells[1]] = cells[len(cells)-2:]
	}
	assert.Equal(t, map[string][]string{
		"accepted": {"accepted", ""}, "refused": {"refused", ""}, "unknown": {"unknown", "200101"}, "unpriced": {"accepted", ""},
	}, verdicts)

	out, _, _ = s.run("list", "--json")
	for line := range strings.Lines(out) {
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &got))
		for name := range got {
			assert.Regexp(t, `^[a-z]+([A-Z][A-Za-z]+)?$`, name)
		}
		reference, _ := got["referenceID"].(string)
		assert.Equal(t, verdicts[reference][0], got["verdict"])
		assert.Equal(t, reference == "unknown", got["errorCode"] == "200101")
		assert.Equal(t, reference == "unpriced", got["readError"] != nil)
	}

	out, _, _ = s.run("list")
	assert.Contains(t, out, " VERDICT ")
	assert.Regexp(t, `refused +refused +rejected`, out)
}

// TestTerminalGetsNoControlCharacters has a text that clears the screen.
func TestTerminalGetsNoControlCharacters(t *testing.T) {
	t.Parallel()
	const text = "Grüße 👋\x1b[2J\u009b2J\n\u202eabc"
	assert.Equal(t, `Grüße 👋\x1b[2J\u009b2J\n\u202eabc`, printable(text))
	for _, format := range []string{"table", "csv", "jsonl", "record"} {
		var b strings.Builder
		rows := newWriter(format, &b, true, true)
		require.NoError(t, rows.Write(row{Transaction: sms.Transaction{ID: text, From: text, Text: text, DeliveryStatus: text, ErrorCode: text, ReadError: errors.New(text)}}))
		require.NoError(t, rows.Flush())
		for _, r := range strings.ReplaceAll(b.String(), "\n", "") {
			assert.True(t, strconv.IsGraphic(r), "%s: %q", format, b.String())
		}
	}
	var b strings.Builder
	require.NoError(t, writeJSON(&b, map[string]string{"text": text + "\U000e0001"}))
	var back map[string]string
	require.NoError(t, json.Unmarshal([]byte(b.String()), &back))
	assert.Equal(t, text+"\U000e0001", back["text"], "JSON stays what it is")
}

// TestSendVerbose shows requests and responses without values of the message and without secrets.
func TestSendVerbose(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"err": map[string]any{"msg": "originator is missing for 639171234567 and " + r.Header.Get("Authorization"), "code": 17}, "got": string(body),
		})
	}))
	t.Cleanup(server.Close)
	t.Setenv("MESSAGING_BASE_URL", server.URL+"/v1")
	t.Setenv("MESSAGING_TOKEN", "hush-hush-1")
	s := &shell{T: t}
	args := []string{"send", "sms", "--from", "ACME", "--to", "+639171234567", "--text", "Your parcel 4711", "--reference", "order-17"}
	_, errs, status := s.run(args...)
	assert.Equal(t, cli.ExitRefused, status)
	assert.NotContains(t, errs, "> POST")
	_, errs, status = s.run(append(args, "--verbose")...)
	assert.Equal(t, cli.ExitRefused, status)
	assert.Contains(t, errs, "> POST "+server.URL+"/v1/sms/send\n< HTTP/1.1 400 Bad Request  application/json\n")
	assert.Contains(t, errs, "originator is missing")
	assert.Contains(t, errs, `"code": 17`)
	for _, private := range []string{"639171234567", "parcel", "4711", "hush"} {
		assert.NotContains(t, errs, private)
	}
}

// TestSendVerboseMasksPath has a token in the base URL.
func TestSendVerboseMasksPath(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	t.Setenv("MESSAGING_BASE_URL", server.URL+"/hush-hush-1/v1")
	t.Setenv("MESSAGING_TOKEN", "hush-hush-1")
	_, errs, _ := (&shell{T: t}).run("send", "sms", "--from", "ACME", "--to", "+639171234567", "--text", "Hi", "-v")
	assert.Contains(t, errs, "> POST "+server.URL+"/***/v1/sms/send\n")
}

// TestSendVerboseShowsPage: a response that is not JSON is shown without control characters.
func TestSendVerboseShowsPage(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<h1>Not here\x1b[2J</h1>")
	}))
	t.Cleanup(server.Close)
	t.Setenv("MESSAGING_BASE_URL", server.URL)
	t.Setenv("MESSAGING_TOKEN", "hush-hush-1")
	_, errs, _ := (&shell{T: t}).run("send", "sms", "--from", "ACME", "--to", "+639171234567", "--text", "Hi", "-v")
	assert.Contains(t, errs, `< <h1>Not here\x1b[2J</h1>`)
}

// TestSendHelpDescribesFile: chat app 2 has the form of the platform.
func TestSendHelpDescribesFile(t *testing.T) {
	s, _ := newShell(t)
	out, _, _ := s.run("send", "sms", "--help")
	assert.Contains(t, strings.ReplaceAll(out, "\n", " "), "the encoding of the Go type sms.Message")
	out, _, _ = s.run("send", "chatapp2", "--help")
	assert.Contains(t, strings.ReplaceAll(out, "\n", " "), "a message in the platform's own form")
	assert.NotContains(t, out, "Go type")
	assert.Contains(t, out, "referenceID and marketing")
	_, examples, _ := strings.Cut(out, "such as\n\n")
	examples, _, _ = strings.Cut(examples, "\n\n")
	decoder := json.NewDecoder(strings.NewReader(examples))
	for _, want := range []chatapp2.Content{chatapp2.Text{}, chatapp2.Template{}} {
		var message chatapp2.Message
		require.NoError(t, decoder.Decode(&message))
		assert.IsType(t, want, message.Content)
		assert.Empty(t, message.Extra)
	}
	assert.False(t, decoder.More())
}

// A message without content is named in words of JSON, and not by a field of Go.
func TestSendNamesAbsentContent(t *testing.T) {
	s, _ := newShell(t)
	for _, body := range []string{
		`{"to": "+639171234567", "content": {"body": "Hi"}}`, `{"to": "+639171234567", "type": "text", "content": {"body": "Hi"}}`,
	} {
		s.in = body
		_, errs, status := s.run("send", "chatapp2", "-n", "-f", "-")
		assert.Equal(t, cli.ExitUsage, status)
		assert.Contains(t, errs, `--file: the message has no content; want "text": {"body": "Hi"}, or another type`)
	}
}

// TestListenSaysHowManySecretsItTook: a space in a secret makes two of it.
func TestListenSaysHowManySecretsItTook(t *testing.T) {
	for want, secrets := range map[string]string{
		"callbacks need the secret of MESSAGING_WEBHOOK_SECRET":           "key=a-secret-of-the-webhook",
		"callbacks need one of the 2 secrets of MESSAGING_WEBHOOK_SECRET": "key=a-secret-of-the-webhook another-secret-of-it",
	} {
		t.Setenv("MESSAGING_WEBHOOK_SECRET", secrets)
		l := &listener{}
		_, err := l.newReceiver()
		require.NoError(t, err)
		assert.Equal(t, want, l.proof())
	}
	assert.Equal(t, "anyone may call", (&listener{insecure: true}).proof())
}

// TestListenEndsDuringCallback needs the race detector: listen ends while a handler waits for the rest of a body.
func TestListenEndsDuringCallback(t *testing.T) {
	t.Parallel()
	base, end := startListen(t, "--insecure", "--save", filepath.Join(t.TempDir(), "callbacks.jsonl"))
	dialer := net.Dialer{Timeout: 30 * time.Second}
	conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "POST /sms HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "100 Continue", "the handler reads the body")
	_, errs := end()
	assert.Contains(t, errs, "stopped: 0 callbacks")
}

// startListen runs listen until the function that it returns is called, which returns what was printed.
func startListen(t *testing.T, args ...string) (base string, end func() (stdout, stderr string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	var out, errs bytes.Buffer
	console := cli.Console{Out: &out, Err: writer}
	root := &cobra.Command{Use: "messaging"}
	root.AddCommand(New(console)...)
	done := make(chan int, 1)
	go func() {
		done <- console.Execute(ctx, root, append([]string{"listen", "--listen", "127.0.0.1:0"}, args...))
		_ = writer.Close()
	}()
	line := make([]byte, 4096)
	n, err := reader.Read(line)
	require.NoError(t, err)
	copied := make(chan struct{})
	go func() {
		_, _ = io.Copy(&errs, reader)
		close(copied)
	}()
	_, rest, ok := strings.Cut(string(line[:n]), "listening on ")
	require.True(t, ok, string(line[:n]))
	base, _, _ = strings.Cut(rest, ",")
	return base, func() (string, string) {
		cancel()
		assert.Equal(t, cli.ExitOK, <-done)
		<-copied
		return out.String(), errs.String()
	}
}

// TestListenPrintsNoControlCharacters receives a text with a C1 control character, which colors a terminal, and a mark that reverses text.
func TestListenPrintsNoControlCharacters(t *testing.T) {
	t.Parallel()
	const text = "\u009b31m\u202eabc"
	for _, flags := range [][]string{nil, {"--json"}} {
		base, end := startListen(t, append([]string{"--insecure"}, flags...)...)
		get(t, base+"/sms?from=1&text="+url.QueryEscape(text))
		out, _ := end()
		assert.Contains(t, out, `\u009b31m\u202eabc`)
		for _, r := range strings.TrimSuffix(out, "\n") {
			assert.True(t, strconv.IsGraphic(r), "%q", out)
		}
	}
}

func get(t *testing.T, url string) int {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	response, err := client.Get(url)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

// TestListenForwardsAndReplays receives callbacks for a program that fails at first.
func TestListenForwardsAndReplays(t *testing.T) {
	var got []string
	status := http.StatusTeapot
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.String())
		w.WriteHeader(status)
	}))
	defer program.Close()
	t.Setenv("MESSAGING_WEBHOOK_SECRET", "key=a-secret-of-the-webhook")
	saved := filepath.Join(t.TempDir(), "callbacks.jsonl")
	base, end := startListen(t, "--forward", program.URL+"/hooks", "--save", saved)
	assert.Equal(t, http.StatusTeapot, get(t, base+"/sms?key=a-secret-of-the-webhook&from=639170000001&to=ACME&message=a%20%1b%5b2J&id=i1"))
	assert.Equal(t, http.StatusForbidden, get(t, base+"/sms?from=639170000001&message=x"), "a callback without the secret goes nowhere")
	assert.Equal(t, http.StatusTeapot, get(t, base+"/delivery?key=a-secret-of-the-webhook&id=m1&status=1&to=639170000001"))
	out, errs := end()
	assert.Len(t, got, 2)
	assert.Equal(t, "/hooks/sms?key=a-secret-of-the-webhook&from=639170000001&to=ACME&message=a%20%1b%5b2J&id=i1", got[0])
	assert.Contains(t, out, `639170000001 → ACME  a \x1b[2J`)
	assert.Contains(t, out, "delivered")
	assert.Contains(t, errs, "stopped: 2 callbacks, 1 refused")
	assert.Regexp(t, `(?m)^→ 418 in \d+m?s for /sms$`, errs)
	assert.NotContains(t, errs+out, "a-secret-of-the-webhook")

	status = http.StatusOK
	s := &shell{T: t}
	printed, errs, code := s.run("replay", saved, "1", "--forward", program.URL+"/hooks")
	assert.Equal(t, cli.ExitOK, code, errs)
	assert.Contains(t, printed, "/sms  200")
	require.Len(t, got, 3)
	assert.Equal(t, got[0], got[2], "byte for byte")
	for want, args := range map[string][]string{
		"has 2 lines":     {"replay", saved, "9", "--forward", program.URL},
		"want a number":   {"replay", saved, "x", "--forward", program.URL},
		"--forward: want": {"replay", saved},
	} {
		_, errs, code := s.run(args...)
		assert.Equal(t, cli.ExitUsage, code)
		assert.Contains(t, errs, want)
	}
}

// TestListenKeepsEveryByteOfAQuery: a service may escape nothing, and send bytes that are not UTF-8.
func TestListenKeepsEveryByteOfAQuery(t *testing.T) {
	t.Parallel()
	const query = "from=639170000001&message=caf\xe9#5&id=i1"
	var got []string
	program := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.URL.RawQuery) }))
	defer program.Close()
	saved := filepath.Join(t.TempDir(), "callbacks.jsonl")
	base, end := startListen(t, "--insecure", "--forward", program.URL, "--save", saved)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/sms", http.NoBody)
	require.NoError(t, err)
	r.URL.RawQuery = query
	response, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode)
	out, _ := end()
	assert.Contains(t, out, "café#5")

	_, errs, code := (&shell{T: t}).run("replay", saved, "--forward", program.URL)
	assert.Equal(t, cli.ExitOK, code, errs)
	assert.Equal(t, []string{query, query}, got)
}

// TestListenSavesAcceptedCallbacksOnly: callbacks that the receiver refuses, and requests without effect, are neither saved nor forwarded.
func TestListenSavesAcceptedCallbacksOnly(t *testing.T) {
	forwarded := 0
	program := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { forwarded++ }))
	defer program.Close()
	t.Setenv("MESSAGING_WEBHOOK_SECRET", "key=a-secret-of-the-webhook")
	saved := filepath.Join(t.TempDir(), "callbacks.jsonl")
	base, end := startListen(t, "--forward", program.URL, "--save", saved)
	const secret = "key=a-secret-of-the-webhook"
	for want, request := range map[int][3]string{
		http.StatusOK:                    {http.MethodHead, "/sms?from=639170000001&" + secret, ""},
		http.StatusMethodNotAllowed:      {http.MethodPut, "/sms?from=639170000001&" + secret, ""},
		http.StatusForbidden:             {http.MethodGet, "/sms?from=639170000001", ""},
		http.StatusBadRequest:            {http.MethodGet, "/sms?message=x&" + secret, ""},
		http.StatusRequestURITooLong:     {http.MethodGet, "/sms?from=639170000001&message=" + strings.Repeat("a", 1<<17), ""},
		http.StatusRequestEntityTooLarge: {http.MethodPost, "/sms?from=639170000001", strings.Repeat("a", 4<<20)},
	} {
		r, err := http.NewRequestWithContext(t.Context(), request[0], base+request[1], strings.NewReader(request[2]))
		require.NoError(t, err)
		response, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, want, response.StatusCode, request[0])
	}
	_, errs := end()
	assert.Zero(t, forwarded)
	assert.Contains(t, errs, "stopped: 0 callbacks, 6 refused")
	assert.Contains(t, errs, "sms: webhook: sms: no sender")
	text, err := os.ReadFile(saved)
	require.NoError(t, err)
	assert.Empty(t, text)
}

// TestListenSaysWhyItDoesNotReadABody has a body that is too long, and one whose sender hangs up.
func TestListenSaysWhyItDoesNotReadABody(t *testing.T) {
	t.Parallel()
	hooks, err := webhook.NewReceiver(webhook.WithoutProof())
	require.NoError(t, err)
	for want, tt := range map[string]struct {
		body   io.Reader
		status int
	}{
		"/sms: the body cannot be read: http: request body too large": {strings.NewReader(strings.Repeat("a", 5<<20)), http.StatusRequestEntityTooLarge},
		"/sms: the body cannot be read: unexpected EOF":               {iotest.ErrReader(io.ErrUnexpectedEOF), http.StatusBadRequest},
	} {
		var errs bytes.Buffer
		l := &listener{console: cli.Console{Out: io.Discard, Err: &errs}}
		response := httptest.NewRecorder()
		l.handler(hooks).ServeHTTP(response, httptest.NewRequest(http.MethodPost, "/sms", tt.body))
		assert.Equal(t, tt.status, response.Code)
		assert.Equal(t, want+"\n", errs.String())
		assert.Equal(t, 1, l.refused)
	}
}

// TestSaveFileRemovesPartOfLine: a part of a line, which a full disk leaves, would join the next callback.
func TestSaveFileRemovesPartOfLine(t *testing.T) {
	t.Parallel()
	saved := filepath.Join(t.TempDir(), "callbacks.jsonl")
	file, err := openSaveFile(saved, false)
	require.NoError(t, err)
	defer file.close()
	request := httptest.NewRequest(http.MethodPost, "/sms", nil)
	_, err = file.add(newCallback(request, nil))
	require.NoError(t, err)
	whole, err := os.ReadFile(saved)
	require.NoError(t, err)
	n, err := file.file.WriteString(`{"number":2,`)
	require.NoError(t, err)
	require.NoError(t, file.removeEnd(n))
	left, err := os.ReadFile(saved)
	require.NoError(t, err)
	assert.Equal(t, string(whole), string(left))
}

// TestReplayIgnoresNewCallbacks sends a file to a program that saves into it.
func TestReplayIgnoresNewCallbacks(t *testing.T) {
	t.Parallel()
	saved := filepath.Join(t.TempDir(), "callbacks.jsonl")
	line := []byte(`{"number":1,"method":"GET","path":"/sms","query":"from=639170000001"}` + "\n")
	require.NoError(t, os.WriteFile(saved, bytes.Repeat(line, 2), 0o600))
	calls := 0
	program := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if calls++; calls > 10 {
			return
		}
		file, err := os.OpenFile(saved, os.O_APPEND|os.O_WRONLY, 0)
		if assert.NoError(t, err) {
			_, err = file.Write(line)
			assert.NoError(t, err)
			assert.NoError(t, file.Close())
		}
	}))
	defer program.Close()
	s := &shell{T: t}
	printed, errs, code := s.run("replay", saved, "--forward", program.URL)
	assert.Equal(t, cli.ExitOK, code, errs)
	assert.Equal(t, 2, calls)
	assert.Equal(t, 2, strings.Count(printed, "/sms  200"))
}

// TestListenBoundsUnprovenCallbacks: anyone can call, so the file is bounded and each callback is marked.
func TestListenBoundsUnprovenCallbacks(t *testing.T) {
	t.Setenv("MESSAGING_WEBHOOK_SECRET", "") // restored at the end
	require.NoError(t, os.Unsetenv("MESSAGING_WEBHOOK_SECRET"))
	program := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	program.Close()
	saved := filepath.Join(t.TempDir(), "callbacks.jsonl")
	base, end := startListen(t, "--insecure", "--forward", strings.TrimPrefix(program.URL, "http://"), "--save", saved)
	for i := range maxUnproven + 5 {
		assert.Equal(t, http.StatusBadGateway, get(t, fmt.Sprintf("%s/sms?from=639170000001&message=x&id=i%d", base, i)))
	}
	_, errs := end()
	assert.Contains(t, errs, "→ the program is down: ")
	assert.Equal(t, 1, strings.Count(errs, "no more are saved without a secret"))
	text, err := os.ReadFile(saved)
	require.NoError(t, err)
	assert.Equal(t, maxUnproven, strings.Count(string(text), "\n"))
	assert.Equal(t, maxUnproven, strings.Count(string(text), `"unproven":true`))

	file, err := openSaveFile(saved+".2", true)
	require.NoError(t, err)
	defer file.close()
	request := httptest.NewRequest(http.MethodPost, "/sms", nil)
	for range 40 {
		_, err := file.add(newCallback(request, make([]byte, 1<<20)))
		require.NoError(t, err)
	}
	info, err := os.Stat(saved + ".2")
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(maxUnprovenBytes))
	assert.Greater(t, info.Size(), int64(maxUnprovenBytes/2))
}

// TestListenBoundsFileOfSeveralRuns: the bounds are of the file, and not of one run.
func TestListenBoundsFileOfSeveralRuns(t *testing.T) {
	t.Parallel()
	request := httptest.NewRequest(http.MethodPost, "/sms", nil)
	for name, tt := range map[string]struct {
		runs, callbacks, size int
	}{
		"callbacks": {3, maxUnproven/2 + 1, 1},
		"bytes":     {4, 5, 1 << 20},
	} {
		saved := filepath.Join(t.TempDir(), name)
		for range tt.runs {
			file, err := openSaveFile(saved, true)
			require.NoError(t, err)
			for range tt.callbacks {
				_, err = file.add(newCallback(request, make([]byte, tt.size)))
				require.NoError(t, err)
			}
			file.close()
		}
		text, err := os.ReadFile(saved)
		require.NoError(t, err)
		assert.LessOrEqual(t, strings.Count(string(text), "\n"), maxUnproven, name)
		assert.LessOrEqual(t, len(text), maxUnprovenBytes, name)
	}
}

// TestListenPrintsFailuresOfProgram forwards to a program that hangs up, and to one that is down.
func TestListenPrintsFailuresOfProgram(t *testing.T) {
	t.Setenv("MESSAGING_WEBHOOK_SECRET", "key=a-secret-of-the-webhook")
	hangUp := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer hangUp.Close()
	down := httptest.NewServer(nil)
	down.Close()
	for want, target := range map[string]string{`→ no response in \d+m?s for /sms: EOF`: hangUp.URL, `→ the program is down: dial tcp `: down.URL} {
		base, end := startListen(t, "--forward", target)
		assert.Equal(t, http.StatusBadGateway, get(t, base+"/sms?key=a-secret-of-the-webhook&from=639170000001&message=x"))
		_, errs := end()
		assert.Regexp(t, want, errs)
	}
}

// TestListenReturnsResponseOfProgram: the service gets the status, header and body of the program.
func TestListenReturnsResponseOfProgram(t *testing.T) {
	t.Setenv("MESSAGING_WEBHOOK_SECRET", "key=a-secret-of-the-webhook")
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "later")
	}))
	defer program.Close()
	base, end := startListen(t, "--forward", program.URL)
	response, err := http.Get(base + "/sms?key=a-secret-of-the-webhook&from=639170000001&message=x")
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	end()
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	assert.Equal(t, "7", response.Header.Get("Retry-After"))
	assert.Equal(t, "later", string(body))
}

func TestListenNeedsProof(t *testing.T) {
	t.Setenv("MESSAGING_WEBHOOK_SECRET", "")
	s := &shell{T: t}
	_, errs, status := s.run("listen", "--listen", "127.0.0.1:0")
	assert.Equal(t, cli.ExitUsage, status)
	assert.Contains(t, errs, "MESSAGING_WEBHOOK_SECRET")
	assert.Contains(t, errs, "--insecure accepts")
}

func TestSendHasEveryChannel(t *testing.T) {
	t.Parallel()
	send := newSend(cli.Console{})
	var names []string
	for _, c := range table.Channels() {
		names = append(names, c.Name)
	}
	var commands []string
	for _, command := range send.Commands() {
		commands = append(commands, command.Name())
	}
	assert.ElementsMatch(t, names, commands)
	assert.EqualError(t, send.RunE(send, nil), "which channel? want one of "+strings.Join(slices.Sorted(slices.Values(names)), ", "))
}

func TestListenTakesEveryCallback(t *testing.T) {
	t.Parallel()
	hooks, err := webhook.NewReceiver(webhook.WithoutProof())
	require.NoError(t, err)
	console := cli.Console{Out: io.Discard, Err: io.Discard}
	handler := (&listener{console: console}).handler(hooks)
	for name := range new(table.Table).Webhooks() {
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/"+name, http.NoBody))
		assert.NotEqual(t, http.StatusNotFound, response.Code, name)
		assert.Contains(t, newListen(console).Long, "/"+name)
	}
}

func TestRowsHaveAColumnForEachFieldOfATransaction(t *testing.T) {
	_, empty := columns(row{})
	for field := range reflect.TypeFor[sms.Transaction]().Fields() {
		if field.Tag.Get("concept") == "" {
			continue
		}
		var tx sms.Transaction
		switch to := reflect.ValueOf(&tx).Elem().FieldByIndex(field.Index); {
		case to.Kind() == reflect.String:
			to.SetString("x")
		case to.CanInt():
			to.SetInt(1)
		case to.Kind() == reflect.Bool:
			to.SetBool(true)
		default:
			to.Set(reflect.ValueOf(time.Unix(1, 0)))
		}
		_, values := columns(row{Transaction: tx})
		assert.NotEqual(t, empty, values, "columns shows no %s", field.Name)
	}
}
