package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// shell runs commands against a database and a service.
type shell struct {
	*testing.T

	environment map[string]string
	service     *messagingtest.Server
}

// run runs a command and returns its output and what it said on standard error.
func (s shell) run(want int, args ...string) (out, said string) {
	s.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	status := run(ctx, args, func(name string) string { return s.environment[name] }, &stdout, &stderr)
	assert.Equal(s, want, status, "%v: %s", args, &stderr)
	return stdout.String(), stderr.String()
}

// file writes a file and returns its name.
func (s shell) file(name, content string) string {
	s.Helper()
	path := filepath.Join(s.TempDir(), name)
	require.NoError(s, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// work runs workers until every message is in a state where it stays.
func (s shell) work(args ...string) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan int)
	var out, errs bytes.Buffer
	go func() {
		ended <- run(ctx, append([]string{"work", "--send-timeout", "2s", "--settle-for", "1s"}, args...),
			func(name string) string { return s.environment[name] }, &out, &errs)
	}()
	require.Eventually(s, func() bool {
		open := 0
		for state, n := range s.counts() {
			if state == messagingriver.Waiting || state == messagingriver.Sending || state == messagingriver.Unknown {
				open += n
			}
		}
		return open == 0
	}, time.Minute, 50*time.Millisecond)
	cancel()
	assert.Zero(s, <-ended, "%s", &errs)
	assert.Equal(s, "working; interrupt to stop\n", out.String())
}

func (s shell) counts() map[messagingriver.State]int {
	s.Helper()
	out, _ := s.run(0, "status", "--json")
	var status messagingriver.Status
	require.NoError(s, json.Unmarshal([]byte(out), &status))
	counts := map[messagingriver.State]int{}
	for _, channel := range status.Channels {
		for _, state := range channel.States {
			counts[state.State] += state.Messages
		}
	}
	return counts
}

// onBoth runs a test on SQLite, and on PostgreSQL if .ci/with-postgres runs it beside one.
func onBoth(t *testing.T, test func(s shell)) {
	t.Helper()
	urls := map[string]string{"SQLite": filepath.Join(t.TempDir(), "outbox.db")}
	if url := os.Getenv("OUTBOX_POSTGRES"); url != "" {
		schema := "t" + strings.ToLower(rand.Text())
		connection, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		_, err = connection.Exec(t.Context(), "CREATE SCHEMA "+schema)
		require.NoError(t, err)
		require.NoError(t, connection.Close(t.Context()))
		urls["PostgreSQL"] = url + "&search_path=" + schema
	}
	for name, url := range urls {
		t.Run(name, func(t *testing.T) {
			service := messagingtest.NewServer(t)
			s := shell{t, map[string]string{
				"DATABASE_URL": url, "MESSAGING_BASE_URL": service.URL, "MESSAGING_TOKEN": service.Token,
			}, service}
			t.Setenv("MESSAGING_BASE_URL", service.URL)
			t.Setenv("MESSAGING_TOKEN", service.Token)
			out, _ := s.run(0, "migrate")
			assert.Equal(t, "done\n", out)
			test(s)
		})
	}
}

func testClient(s shell) *messaging.Client {
	s.Helper()
	client, err := messaging.NewClientFromEnv()
	require.NoError(s, err)
	return client
}

func line(reference string) string {
	return fmt.Sprintf(`{"channel": "sms", "message": {"from": "ACME", "to": "+639171234567", "text": "Hi", "referenceID": %q}}`, reference)
}

func TestLoadWorkAuditAndResolve(t *testing.T) {
	onBoth(t, func(s shell) {
		file := s.file("messages.jsonl", line("a")+"\n\n"+line("b")+"\n"+line("c")+"\n")
		out, _ := s.run(0, "load", file)
		assert.Equal(s, "enqueued: 3; known: 0\n", out)
		out, _ = s.run(0, "load", file, "--json")
		assert.JSONEq(s, `{"new": 0, "known": 3}`, out, "each line once")
		out, _ = s.run(0, "load", s.file("more.csv", "from,to,text,reference\nACME,+639171234567,Hi,d\nACME,+639171234567,Hi,e\n"))
		assert.Equal(s, "enqueued: 2; known: 0\n", out)
		out, _ = s.run(0, "cancel", "e")
		assert.Equal(s, "drop: 1 of 1\n", out)

		s.service.Inject(messagingtest.Status(422, 0), 1)
		s.service.Inject(messagingtest.DropUnread(), 1)
		s.work("--workers", "1")
		assert.Equal(s, map[messagingriver.State]int{messagingriver.Accepted: 2, messagingriver.Refused: 1, messagingriver.Parked: 1, messagingriver.Dropped: 1}, s.counts())
		out, _ = s.run(0, "status")
		assert.Contains(s, out, "rate: no limit")
		assert.NotContains(s, out, "chatapp9")

		out, _ = s.run(0, "refused")
		assert.Contains(s, out, "HTTP 422")
		out, _ = s.run(0, "parked", "--json")
		var record map[string]any
		require.NoError(s, json.Unmarshal([]byte(out), &record))
		assert.Equal(s, "sms", record["channel"])
		assert.NotContains(s, out, "639171234567")
		out, _ = s.run(0, "parked", "--reason", "something else")
		assert.Empty(s, out)

		out, _ = s.run(0, "resolve", "resend", "--reason", "HTTP 422", "--state", "refused")
		assert.Equal(s, "resend: 1 of 1\n", out)
		out, _ = s.run(0, "resolve", "resend", "--file", s.file("references", fmt.Sprint(record["reference"], "\n")), "--json")
		assert.JSONEq(s, `{"done": "resend", "messages": 1}`, out)
		s.work()
		assert.Equal(s, map[messagingriver.State]int{messagingriver.Accepted: 4, messagingriver.Dropped: 1}, s.counts())
		out, _ = s.run(0, "audit")
		assert.Equal(s, "SMS compared: 5; differences: 0\n", out)

		db, err := open(s.Context(), s.environment["DATABASE_URL"], false, testClient(s), messagingriver.Options{})
		require.NoError(s, err)
		defer db.close()
		_, err = db.pool().ExecContext(s.Context(), "UPDATE messaging_outbox SET state = 'parked' WHERE reference = 'd'")
		require.NoError(s, err)
		out, said := s.run(1, "audit")
		assert.Equal(s, "d\tis parked; times listed: 1\nSMS compared: 5; differences: 1\n", out)
		assert.Empty(s, said)
	})
}

// TestRestoredBackupIsComparedBeforeItIsSent: what was sent after a backup is listed, and waits or is absent in what is restored.
// The commands are those of docs/scale.md.
func TestRestoredBackupIsComparedBeforeItIsSent(t *testing.T) {
	onBoth(t, func(s shell) {
		exec := func(statements ...string) {
			db, err := open(s.Context(), s.environment["DATABASE_URL"], false, testClient(s), messagingriver.Options{})
			require.NoError(s, err)
			defer db.close()
			for _, statement := range statements {
				_, err = db.pool().ExecContext(s.Context(), statement)
				require.NoError(s, err)
			}
		}
		s.run(0, "load", s.file("a.jsonl", line("a-1")+"\n"+line("a-2")+"\n"+line("a-3")))
		exec("CREATE TABLE outbox_backup AS SELECT * FROM messaging_outbox", "CREATE TABLE job_backup AS SELECT * FROM river_job")
		later := s.file("b.jsonl", line("b-1"))
		s.run(0, "load", later)
		s.work()
		require.Len(s, s.service.Sent(), 4)
		s.service.Seed(messagingtest.Sent{From: "ACME", To: "+639171234567", Text: "of another program"},
			messagingtest.Sent{From: "ACME", To: "+639171234567", Text: "of another program", ReferenceID: "x"})
		exec("DELETE FROM messaging_outbox", "INSERT INTO messaging_outbox SELECT * FROM outbox_backup",
			"DELETE FROM river_job", "INSERT INTO river_job SELECT * FROM job_backup")

		s.run(0, "pause")
		out, _ := s.run(1, "audit")
		waiting := "a-1\tis waiting; times listed: 1\na-2\tis waiting; times listed: 1\na-3\tis waiting; times listed: 1\n"
		assert.Equal(s, waiting+"b-1\tis absent; times listed: 1\nx\tis absent; times listed: 1\nSMS compared: 5; differences: 5\nlisted SMS of other programs: 1\n", out)
		s.run(0, "load", later) // as the program does that enqueues again what the backup has not
		out, _ = s.run(1, "audit", "--json", "--prefix", "a-")
		assert.Contains(s, out, `{"reference":"b-1","state":"waiting","listed":1}`, "it has a row")
		assert.Contains(s, out, `{"compared":4,"differences":4,"others":2}`)
		out, _ = s.run(0, "resolve", "sent", "--file", s.file("sent.txt", "a-1\na-2\na-3\nb-1\n"))
		assert.Equal(s, "sent: 4 of 4\n", out)
		s.run(0, "audit", "--prefix", "a-")
		s.run(0, "resume")
		s.run(0, "load", s.file("c.jsonl", line("a-4")))
		s.work()
		assert.Equal(s, map[messagingriver.State]int{messagingriver.Accepted: 5}, s.counts())
		sent := map[string]int{}
		for _, m := range s.service.Sent() {
			sent[m.ReferenceID]++
		}
		assert.Equal(s, map[string]int{"": 1, "x": 1, "a-1": 1, "a-2": 1, "a-3": 1, "a-4": 1, "b-1": 1}, sent, "nothing is sent twice")
	})
}

func TestPauseResumeAndRate(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "pause", "sms")
		out, _ := s.run(0, "status")
		assert.Contains(s, out, "sms: paused: by a person")
		assert.NotContains(s, out, "chatapp1: paused")
		s.run(0, "resume")
		s.run(0, "rate", "25")
		out, _ = s.run(0, "status", "--json")
		assert.Contains(s, out, `"rate":25`)
		assert.NotContains(s, out, `"paused":true`)
		out, _ = s.run(0, "rate", "0", "--json")
		assert.JSONEq(s, `{"done": "rate", "rate": 0}`, out)
	})
}

// TestStatusShowsTheRateOfTheWorkers: a process that asks need not know it.
func TestStatusShowsTheRateOfTheWorkers(t *testing.T) {
	onBoth(t, func(s shell) {
		ctx, cancel := context.WithCancel(s.Context())
		ended := make(chan int)
		var out, errs bytes.Buffer
		go func() {
			ended <- run(ctx, []string{"work", "--rate", "50"}, func(name string) string { return s.environment[name] }, &out, &errs)
		}()
		assert.Eventually(s, func() bool {
			said, _ := s.run(0, "status")
			return strings.Contains(said, "rate: 50 a second")
		}, 30*time.Second, 100*time.Millisecond)
		s.run(0, "rate", "25")
		said, _ := s.run(0, "status")
		assert.Contains(s, said, "rate: 25 a second")
		s.run(0, "rate", "0")
		said, _ = s.run(0, "status")
		assert.Contains(s, said, "rate: 50 a second", "their own again")
		cancel()
		assert.Zero(s, <-ended, "%s", &errs)
	})
}

// TestLoadNamesLinesThatRepeatAReferenceID: the second of two messages would be lost without a word.
func TestLoadNamesLinesThatRepeatAReferenceID(t *testing.T) {
	onBoth(t, func(s shell) {
		other := strings.Replace(line("a"), "+639171234567", "+639170000000", 1)
		file := s.file("messages.jsonl", line("a")+"\n"+line("b")+"\n"+other+"\n")
		out, said := s.run(1, "load", file)
		assert.Equal(s, "line 3 repeats the reference ID of line 1, and is not enqueued\nenqueued: 2; known: 0\n", out)
		assert.Empty(s, said)
		out, _ = s.run(1, "load", "--json", file)
		assert.JSONEq(s, `{"new": 0, "known": 2, "repeated": [{"line": 3, "first": 1}]}`, out)
	})
}

// TestOnlyMigrateCreates: a mistyped name is an error, and so is a database without tables.
func TestOnlyMigrateCreates(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("MESSAGING_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("MESSAGING_TOKEN", "t")
	try := func(url string, args ...string) (int, string) {
		var out, errs bytes.Buffer
		status := run(t.Context(), args, func(name string) string {
			return map[string]string{"DATABASE_URL": url, "MESSAGING_BASE_URL": "http://127.0.0.1:1", "MESSAGING_TOKEN": "t"}[name]
		}, &out, &errs)
		assert.LessOrEqual(t, strings.Count(errs.String(), "\n"), 1)
		return status, errs.String()
	}
	path := filepath.Join(folder, "100% #1.db")
	for _, args := range [][]string{{"status"}, {"work"}, {"parked"}, {"pause"}, {"audit"}, {"load", os.DevNull}} {
		status, said := try(path, args...)
		assert.Equal(t, 2, status)
		assert.Contains(t, said, "outbox migrate creates a database")
		assert.NoFileExists(t, path)
	}
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	for _, command := range []string{"status", "work"} {
		status, said := try(path, command)
		assert.Equal(t, 2, status)
		assert.Equal(t, "outbox: the database has no outbox of this version: run outbox migrate\n", said)
	}
	status, said := try(path, "migrate")
	assert.Zero(t, status, said)
	status, said = try(path, "status")
	assert.Zero(t, status, said)
	for _, url := range []string{path + "?mode=ro", "file:" + path, ":memory:"} {
		status, said = try(url, "migrate")
		assert.Equal(t, 2, status)
		assert.Contains(t, said, "want the path of an SQLite file, without file: or options")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.db"))
	require.NoError(t, err)
	assert.Equal(t, []string{path}, files)
}

func TestStatusWatchesUntilStopped(t *testing.T) {
	onBoth(t, func(s shell) {
		ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
		defer cancel()
		out := &stopper{lines: 2, stop: cancel}
		var errs bytes.Buffer
		assert.Zero(s, run(ctx, []string{"status", "--watch", "--json"}, func(name string) string { return s.environment[name] }, out, &errs), "%s", &errs)
		assert.Zero(s, out.lines)
	})
}

// A stopper calls stop when so many lines were written.
type stopper struct {
	lines int
	stop  func()
}

func (w *stopper) Write(p []byte) (int, error) {
	w.lines -= bytes.Count(p, []byte("\n"))
	if w.lines == 0 {
		w.stop()
	}
	return len(p), nil
}

// TestErrorsAreOneLine: with exit status 2.
func TestErrorsAreOneLine(t *testing.T) {
	onBoth(t, func(s shell) {
		db, err := open(s.Context(), s.environment["DATABASE_URL"], false, testClient(s), messagingriver.Options{})
		require.NoError(s, err)
		_, err = db.pool().ExecContext(s.Context(), "ALTER TABLE messaging_outbox RENAME TO away")
		require.NoError(s, err)
		_, said := s.run(2, "status")
		assert.Equal(s, "outbox: the database has no outbox of this version: run outbox migrate\n", said)
		_, err = db.pool().ExecContext(s.Context(), "ALTER TABLE away RENAME TO messaging_outbox")
		require.NoError(s, err)
		db.close()
		for name, tt := range map[string]struct {
			args []string
			want string
		}{
			"unknown command":  {[]string{"sing"}, `unknown command "sing"`},
			"unknown flag":     {[]string{"status", "--loud"}, "unknown flag: --loud"},
			"unknown decision": {[]string{"resolve", "forget", "a"}, `want Sent, Resend or Drop`},
			"nothing chosen":   {[]string{"resolve", "drop"}, "want reference IDs, --file or --reason"},
			"both chosen":      {[]string{"resolve", "drop", "a", "--reason", "x"}, "want no reference IDs beside it"},
			"too many chosen":  {[]string{"cancel", "--campaign", "x", "a"}, "want no reference IDs, --file or --channel beside it"},
			"unknown state":    {[]string{"resolve", "drop", "--reason", "x", "--state", "sent"}, "want parked or refused"},
			"unknown channel":  {[]string{"pause", "pigeon"}, `there is no channel "pigeon"`},
			"no number":        {[]string{"rate", "fast"}, `"fast" is no number`},
			"negative rate":    {[]string{"rate", "--", "-1"}, "want 0 to 1000000"},
			"no file":          {[]string{"load", "/nowhere"}, "no such file"},
			"bad line":         {[]string{"load", s.file("a.jsonl", line("ok")+"\nnonsense\n")}, "line 2: want an object"},
			"bad channel":      {[]string{"load", s.file("b.jsonl", `{"channel": "pigeon", "message": {}}`)}, `line 1: messagingriver: the channel is "pigeon"; want one of `},
			"no message":       {[]string{"load", s.file("c.jsonl", `{"channel": "sms"}`)}, "line 1: messagingriver: message: required, but absent"},
			"invalid message":  {[]string{"load", s.file("d.jsonl", line("ok")+"\n"+line(""))}, "line 2: messagingriver: ReferenceID"},
			"unknown column":   {[]string{"load", s.file("e.csv", "from,colour\n")}, `line 1: there is no column "colour"`},
			"ragged line":      {[]string{"load", s.file("f.csv", "from,to\na,b\nc\n")}, "line 3: wrong number of fields"},
		} {
			s.Run(name, func(t *testing.T) {
				inner := s
				inner.T = t
				_, said := inner.run(2, tt.args...)
				assert.Contains(t, said, tt.want)
				assert.Equal(t, 1, strings.Count(said, "\n"), said)
				assert.NotContains(t, said, "639171234567")
			})
		}
	})
	for url, want := range map[string]string{"": "DATABASE_URL is empty", "mysql://u:secret@h/d": "of another kind", "postgres://u:secret@h:x/d": "cannot be read"} {
		var out, errs bytes.Buffer
		assert.Equal(t, 2, run(t.Context(), []string{"status"}, func(name string) string {
			return map[string]string{"DATABASE_URL": url}[name]
		}, &out, &errs))
		assert.Contains(t, errs.String(), want)
		assert.NotContains(t, errs.String(), "secret")
	}
}

// TestOrderIsThatOfTheFile: load writes down what workers need for the order of a recipient's messages.
func TestOrderIsThatOfTheFile(t *testing.T) {
	onBoth(t, func(s shell) {
		s.run(0, "migrate")
		var lines strings.Builder
		var want []string
		for i := range 40 {
			reference := fmt.Sprint("order-", 40-i)
			want = append(want, reference)
			fmt.Fprintf(&lines, `{"channel": "sms", "message": {"from": "ACME", "to": "+639171234567", "text": "Hi", "referenceID": %q}}`+"\n", reference)
		}
		s.service.InjectRandomly(1, 0.5, messagingtest.Slow(20*time.Millisecond))
		s.run(0, "load", "--in-order", s.file("messages.jsonl", lines.String()))
		s.work("--in-order")
		var got []string
		for _, m := range s.service.Sent() {
			got = append(got, m.ReferenceID)
		}
		assert.Equal(s, want, got)
	})
}
