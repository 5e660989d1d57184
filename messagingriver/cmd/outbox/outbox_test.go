package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// shell runs commands against a database and a service.
type shell struct {
	*testing.T

	environment map[string]string
	service     *messagingtest.Server
	schema      string // on PostgreSQL
}

// run runs a command and returns its standard output and standard error.
func (s shell) run(want int, args ...string) (out, said string) {
	s.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	if s.schema != "" {
		args = append([]string{"--schema", s.schema}, args...)
	}
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

// work sends as a program does, until no message waits or is looked up.
func (s shell) work() {
	s.Helper()
	s.workUntil(func() bool {
		counts := s.counts()
		return counts[rivertype.JobStateAvailable]+counts[rivertype.JobStateScheduled]+counts[rivertype.JobStateRetryable]+counts[rivertype.JobStateRunning] == 0
	})
}

// workUntil sends as a program does, until a condition holds.
func (s shell) workUntil(condition func() bool) {
	s.Helper()
	db, err := open(s.Context(), s.environment["DATABASE_URL"], false, testClient(s), messagingriver.Options{
		Schema: s.schema, Workers: 1, PollOnly: true, SendTimeout: 2 * time.Second, SettleFor: time.Second, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(s, err)
	defer db.close()
	program := db.(interface {
		Start(ctx context.Context) error
		Stop(ctx context.Context) error
	})
	require.NoError(s, program.Start(s.Context()))
	defer func() { assert.NoError(s, program.Stop(context.WithoutCancel(s.Context()))) }()
	require.Eventually(s, condition, time.Minute, 50*time.Millisecond)
}

func (s shell) counts() map[rivertype.JobState]int {
	s.Helper()
	out, _ := s.run(0, "status", "--json")
	var status struct {
		Channels []struct {
			States map[rivertype.JobState]int `json:"states"`
			Oldest float64                    `json:"oldest"` // seconds
		} `json:"channels"`
	}
	require.NoError(s, json.Unmarshal([]byte(out), &status))
	counts := map[rivertype.JobState]int{}
	for _, channel := range status.Channels {
		for state, n := range channel.States {
			if n > 0 {
				counts[state] += n
			}
		}
	}
	return counts
}

// exec runs statements, in which JOBS is River's table.
func (s shell) exec(statements ...string) {
	s.Helper()
	db, err := open(s.Context(), s.environment["DATABASE_URL"], false, testClient(s), messagingriver.Options{Schema: s.schema})
	require.NoError(s, err)
	defer db.close()
	pool, jobs := poolOf(db)
	for _, statement := range statements {
		_, err = pool.ExecContext(s.Context(), strings.ReplaceAll(statement, "JOBS", jobs))
		require.NoError(s, err)
	}
}

// merge changes members of the metadata of a message's job.
func (s shell) merge(reference, metadata string) {
	s.Helper()
	merged := "jsonb_patch(metadata, '" + metadata + "')"
	if s.schema != "" {
		merged = "metadata || '" + metadata + "'"
	}
	s.exec("UPDATE JOBS SET metadata = " + merged + " WHERE args->>'reference' = '" + reference + "'")
}

// poolOf returns the connections of a database and the name of River's table of jobs.
func poolOf(db database) (pool *sql.DB, jobs string) {
	switch o := db.(type) {
	case outbox[pgx.Tx]:
		return o.db, o.schema + "river_job"
	case outbox[*sql.Tx]:
		return o.db, o.schema + "river_job"
	default:
		panic("a database of another kind")
	}
}

// onBoth runs a test on SQLite, and on PostgreSQL if .ci/with-postgres runs it.
func onBoth(t *testing.T, test func(s shell)) {
	t.Helper()
	databases := map[string]string{"SQLite": filepath.Join(t.TempDir(), "outbox.db")}
	if url := os.Getenv("OUTBOX_POSTGRES"); url != "" {
		databases["PostgreSQL"] = url
	}
	for name, url := range databases {
		t.Run(name, func(t *testing.T) {
			service := messagingtest.NewServer(t)
			environment := map[string]string{"DATABASE_URL": url, "MESSAGING_BASE_URL": service.URL, "MESSAGING_TOKEN": service.Token}
			s := shell{T: t, environment: environment, service: service}
			if name == "PostgreSQL" {
				s.schema = "t" + strings.ToLower(rand.Text())
			}
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

func TestCSVLinesMayBeMarketing(t *testing.T) {
	lines, err := newCSVLines(strings.NewReader("from,to,text,referenceID,marketing\nACME,1,Hi,a,true\nACME,1,Hi,b,false\nACME,1,Hi,c,\nACME,1,Hi,d,yes\n"))
	require.NoError(t, err)
	for _, isMarketing := range []bool{true, false, false} {
		read, err := lines.next()
		require.NoError(t, err)
		assert.Equal(t, isMarketing, read.message.(sms.Message).Marketing)
	}
	_, err = lines.next()
	require.EqualError(t, err, `marketing is "yes"; want true or false`)
}

// Spreadsheets write a byte order mark before the first column.
func TestLoadSkipsByteOrderMark(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]string{
		"plain":  "from,to,text,referenceID\n",
		"quoted": `"from","to","text","referenceID"` + "\n",
	} {
		lines, err := newCSVLines(strings.NewReader("\ufeff" + header + "ACME,+639171234567,Hi,a\n"))
		require.NoError(t, err, name)
		read, err := lines.next()
		require.NoError(t, err, name)
		assert.Equal(t, 2, read.number, name)
		assert.Equal(t, sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "a"}, read.message, name)
	}
	_, err := newCSVLines(strings.NewReader("\ufeff"))
	assert.ErrorContains(t, err, "the file is empty")
}

func TestLoadAuditAndResolve(t *testing.T) {
	onBoth(t, func(s shell) {
		file := s.file("messages.jsonl", line("a")+"\n\n"+line("b")+"\n"+line("c")+"\n")
		out, _ := s.run(0, "load", file)
		assert.Equal(s, "enqueued: 3; known: 0\n", out)
		out, _ = s.run(0, "load", file, "--json")
		assert.JSONEq(s, `{"new": 0, "known": 3}`, out, "each line once")
		out, _ = s.run(0, "load", s.file("more.csv", "from,to,text,referenceID\nACME,+639171234567,Hi,d\nACME,+639171234567,Hi,e\n"))
		assert.Equal(s, "enqueued: 2; known: 0\n", out)
		out, _ = s.run(0, "resolve", "drop", "e")
		assert.Equal(s, "drop: 1 of 1\n", out)

		s.service.Inject(messagingtest.FaultStatus(422, 0), 1)
		s.service.Inject(messagingtest.FaultDropUnread(), 1)
		s.work()
		assert.Equal(s, map[rivertype.JobState]int{rivertype.JobStateCompleted: 2, rivertype.JobStateCancelled: 2, rivertype.JobStateDiscarded: 1}, s.counts())
		out, _ = s.run(0, "status")
		assert.Contains(s, out, "discarded")

		out, _ = s.run(0, "resolve", "resend", "--reason", "HTTP 422", "--state", "cancelled", "--channel", "sms")
		assert.Equal(s, "resend: 1 of 1\n", out)
		out, _ = s.run(1, "resolve", "resend", "--reason", "something else")
		assert.Equal(s, "resend: 0 of 0\n", out)
		out, _ = s.run(0, "resolve", "resend", "--reason", "is listed", "--channel", "sms", "--json")
		assert.JSONEq(s, `{"done": "resend", "messages": 1}`, out)
		s.work()
		assert.Equal(s, map[rivertype.JobState]int{rivertype.JobStateCompleted: 4, rivertype.JobStateCancelled: 1}, s.counts())
		refused := messagingtest.Sent{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "e", SendStatus: "rejected"}
		unreadable := refused
		unreadable.Row = map[string]json.RawMessage{"messageParts": json.RawMessage(`"two"`)}
		s.service.Seed(refused, unreadable)
		out, _ = s.run(0, "audit")
		assert.Equal(s, "SMS compared: 5; differences: 0\n", out, "a row of a refused message is no message")

		s.exec("UPDATE JOBS SET state = 'discarded' WHERE args->>'reference' = 'd'")
		out, said := s.run(1, "audit")
		assert.Equal(s, "d\tis discarded; times listed: 1\nSMS compared: 5; differences: 1\n", out)
		assert.Empty(s, said)
	})
}

// Messages that were sent after a backup are listed by the service, and wait or are absent in the restored outbox.
// The commands are those of docs/outbox.md.
func TestRestoredBackupIsComparedBeforeItIsSent(t *testing.T) {
	onBoth(t, func(s shell) {
		backup := "backup" + strings.ToLower(rand.Text())
		s.run(0, "load", s.file("a.jsonl", line("a-1")+"\n"+line("a-2")+"\n"+line("a-3")))
		s.exec("CREATE TABLE " + backup + " AS SELECT * FROM JOBS")
		later := s.file("b.jsonl", line("b-1"))
		s.run(0, "load", later)
		s.work()
		require.Len(s, s.service.Sent(), 4)
		s.service.Seed(messagingtest.Sent{From: "ACME", To: "+639171234567", Text: "of another program"},
			messagingtest.Sent{From: "ACME", To: "+639171234567", Text: "of another program", ReferenceID: "x"})
		s.exec("DELETE FROM JOBS", "INSERT INTO JOBS SELECT * FROM "+backup)

		out, _ := s.run(1, "audit")
		waiting := "a-1\tis available; times listed: 1\na-2\tis available; times listed: 1\na-3\tis available; times listed: 1\n"
		assert.Equal(s, waiting+"b-1\tis absent; times listed: 1\nx\tis absent; times listed: 1\nSMS compared: 5; differences: 5\nlisted SMS of other programs: 1\n", out)
		s.run(0, "load", later) // as the program does that enqueues again what the backup has not
		out, _ = s.run(1, "audit", "--json", "--prefix", "a-")
		assert.Contains(s, out, `{"referenceID":"b-1","state":"available","listed":1}`, "it has a job")
		assert.Contains(s, out, `{"compared":4,"differences":4,"others":2}`)
		out, _ = s.run(0, "resolve", "sent", "--channel", "sms", "--file", s.file("sent.txt", "a-1\na-2\na-3\nb-1\n"))
		assert.Equal(s, "sent: 4 of 4\n", out)
		s.run(0, "audit", "--prefix", "a-")
		s.run(0, "load", s.file("c.jsonl", line("a-4")))
		s.work()
		assert.Equal(s, map[rivertype.JobState]int{rivertype.JobStateCompleted: 5}, s.counts())
		sent := map[string]int{}
		for _, m := range s.service.Sent() {
			sent[m.ReferenceID]++
		}
		assert.Equal(s, map[string]int{"": 1, "x": 1, "a-1": 1, "a-2": 1, "a-3": 1, "a-4": 1, "b-1": 1}, sent, "nothing is sent twice")
	})
}

// A worker that waits for the rate limit, a guard or its mark has an SMS that was not sent before the backup, and is sent after it. Once River has
// rescued its job, it is sent a second time on PostgreSQL. On SQLite it is looked up.
func TestRestoredRunningSMSIsComparedBeforeItIsSent(t *testing.T) {
	onBoth(t, func(s shell) {
		backup := "backup" + strings.ToLower(rand.Text())
		attempt := ", attempted_at = datetime('now', '-20 minutes'), attempted_by = jsonb('[\"x\"]')"
		if s.schema != "" {
			attempt = ", attempted_at = now() - interval '20 minutes', attempted_by = '{x}'"
		}
		s.run(0, "load", s.file("a.jsonl", line("waits")+"\n"+line("earlier")+"\n"+line("begun")+"\n"+line("unknown")))
		s.exec("UPDATE JOBS SET state = 'running', attempt = 1"+attempt, "CREATE TABLE "+backup+" AS SELECT * FROM JOBS",
			"UPDATE JOBS SET state = 'available', attempted_at = NULL, attempted_by = NULL")
		s.work()
		require.Len(s, s.service.Sent(), 4)
		s.exec("DELETE FROM JOBS", "INSERT INTO JOBS SELECT * FROM "+backup)
		s.merge("earlier", `{"begun": "A", "ended": "A", "verdict": "not sent"}`)
		s.merge("begun", `{"begun": "B", "ended": "A", "verdict": "not sent"}`)
		s.merge("unknown", `{"verdict": "unknown"}`)

		if s.schema != "" {
			out, _ := s.run(1, "audit")
			assert.Equal(s, "earlier\tis running; times listed: 1\nwaits\tis running; times listed: 1\nSMS compared: 4; differences: 2\n", out)
			out, _ = s.run(0, "resolve", "sent", "--channel", "sms", "waits", "earlier")
			assert.Equal(s, "sent: 2 of 2\n", out)
		}
		out, _ := s.run(0, "audit")
		assert.Equal(s, "SMS compared: 4; differences: 0\n", out)
		s.work()
		assert.Equal(s, map[rivertype.JobState]int{rivertype.JobStateCompleted: 4}, s.counts())
		assert.Len(s, s.service.Sent(), 4, "nothing is sent twice")
	})
}

func TestComparisonDiffers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		of   comparison
		want bool
	}{
		{"sent once", comparison{State: rivertype.JobStateCompleted, Listed: 1}, false},
		{"sent twice", comparison{State: rivertype.JobStateCompleted, Listed: 2}, true},
		{"not listed", comparison{State: rivertype.JobStateCompleted}, true},
		{"waits", comparison{State: rivertype.JobStateAvailable}, false},
		{"waits, but was sent", comparison{State: rivertype.JobStateAvailable, Listed: 1}, true},
		{"is being sent", comparison{State: rivertype.JobStateRunning, Listed: 1}, false},
		{"a worker has it, but it was sent", comparison{State: rivertype.JobStateRunning, Listed: 1, isSentAgain: true}, true},
		{"a worker has it", comparison{State: rivertype.JobStateRunning, isSentAgain: true}, false},
		{"is looked up", comparison{State: rivertype.JobStateAvailable, Listed: 1, isLookedUp: true}, false},
		{"is looked up, but was sent twice", comparison{State: rivertype.JobStateAvailable, Listed: 2, isLookedUp: true}, true},
	} {
		assert.Equal(t, tt.want, tt.of.differs(), tt.name)
	}
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

func TestLoadSkipsInvalidMessages(t *testing.T) {
	onBoth(t, func(s shell) {
		bad := strings.Replace(line("b"), "+639171234567", "nobody", 1)
		file := s.file("messages.jsonl", line("a")+"\n"+bad+"\n"+line("c")+"\n")
		_, said := s.run(2, "load", file)
		assert.Contains(s, said, "line 2: ")
		assert.Contains(s, said, "(enqueued: 1; known: 0)")

		out, said := s.run(1, "load", "--skip-invalid", file)
		assert.Contains(s, out, `line 2 is not enqueued: reference "b": To: want 5 to 15 digits`)
		assert.Contains(s, out, "\nenqueued: 1; known: 1\n")
		assert.NotContains(s, out, "nobody")
		assert.Empty(s, said)
		out, _ = s.run(1, "load", "--skip-invalid", "--json", file)
		assert.Contains(s, out, `"invalid":[{"line":2,"reason":"reference \"b\": To: `)

		_, said = s.run(2, "load", "--skip-invalid", s.file("broken.jsonl", line("d")+"\n{\n"))
		assert.Contains(s, said, "line 2: ", "a line that is no JSON ends the load")
	})
}

// A later line that ends the load does not hide the lines that were left out.
func TestLoadNamesSkippedLinesBeforeAnError(t *testing.T) {
	onBoth(t, func(s shell) {
		const header = "from,to,text,referenceID,marketing,priority\n"
		file := s.file("a.csv", header+"ACME,+639171234567,Hi,l-1,true,\nACME,abc,Hi,l-2,true,\nACME,+639171234568,Hi,l-3\n")
		out, said := s.run(2, "load", "--skip-invalid", file)
		assert.True(s, strings.HasPrefix(out, `line 3 is not enqueued: reference "l-2": To: want 5 to 15 digits`), out)
		assert.Contains(s, said, "line 4: wrong number of fields (enqueued: 1; known: 0)")
		out, _ = s.run(2, "load", "--skip-invalid", "--json", file)
		assert.Contains(s, out, `"invalid":[{"line":3,`)
	})
}

// A cell that is wrong concerns its own line.
func TestLoadSkipsWrongCells(t *testing.T) {
	onBoth(t, func(s shell) {
		const header = "from,to,text,referenceID,marketing,priority,at\n"
		file := s.file("a.csv", header+"ACME,abc,Hi,l-1,,,\nACME,+639171234567,Hi,l-2,maybe,,\nACME,+639171234567,Hi,l-3,,soon,\n"+
			"ACME,+639171234567,Hi,l-4,,,noon\nACME,+639171234567,Hi,l-5,true,,\n")
		out, _ := s.run(1, "load", "--skip-invalid", file)
		lines := strings.Split(out, "\n")
		require.Len(s, lines, 6, out)
		assert.Contains(s, lines[0], "line 2 is not enqueued: ")
		assert.Equal(s, `line 3 is not enqueued: marketing is "maybe"; want true or false`, lines[1])
		assert.Contains(s, lines[2], `line 4 is not enqueued: the priority is "soon"`)
		assert.Contains(s, lines[3], `line 5 is not enqueued: the time is "noon"`)
		assert.Equal(s, "enqueued: 1; known: 0", lines[4])
	})
}

// A campaign that the outbox would reject concerns its own line.
func TestLoadSkipsWrongCampaigns(t *testing.T) {
	onBoth(t, func(s shell) {
		const header = "from,to,text,referenceID,marketing,campaign\n"
		long := strings.Repeat("x", 256)
		file := s.file("a.csv", header+"ACME,+639171234567,Hi,l-1,true,spring\nACME,+639171234568,Hi,l-2,true,"+long+"\n"+
			"ACME,+639171234569,Hi,l-3,true,fr\xfchling\nACME,+639171234570,Hi,l-4,true,spring\n")
		out, said := s.run(1, "load", "--skip-invalid", file)
		want := "is not enqueued: the campaign must be at most 255 bytes of UTF-8 without a zero byte\n"
		assert.Equal(s, "line 3 "+want+"line 4 "+want+"enqueued: 2; known: 0\n", out)
		assert.Empty(s, said)
		_, said = s.run(2, "load", file)
		assert.Contains(s, said, "line 3: the campaign must be ")
		_, said = s.run(2, "load", file, "--campaign", long)
		assert.Contains(s, said, "the flags: the campaign must be ")
	})
}

// An expiry after the year 9999 cannot be stored.
func TestLoadNamesTheLineThatExpiresTooLate(t *testing.T) {
	onBoth(t, func(s shell) {
		late := strings.Replace(line("b"), "{", `{"at": "9999-12-31T23:00:00Z", "expire": "2h", `, 1)
		out, _ := s.run(1, "load", "--skip-invalid", s.file("a.jsonl", line("a")+"\n"+late+"\n"+line("c")))
		assert.Equal(s, "line 2 is not enqueued: it expires after the year 9999\nenqueued: 2; known: 0\n", out)
	})
}

func TestCSVReadErrorsHaveTheNumberOfTheLine(t *testing.T) {
	t.Parallel()
	const records = "from,to,text,referenceID\nACME,+639171234567,\"Hi\nthere\",a\n"
	lines, err := newCSVLines(io.MultiReader(strings.NewReader(records), iotest.ErrReader(io.ErrUnexpectedEOF)))
	require.NoError(t, err)
	_, err = lines.next()
	require.NoError(t, err)
	read, err := lines.next()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, 4, read.number)
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
	for _, args := range [][]string{{"status"}, {"resolve", "drop", "a"}, {"campaign", "pause", "x"}, {"audit"}, {"load", os.DevNull}} {
		status, said := try(path, args...)
		assert.Equal(t, 2, status)
		assert.Contains(t, said, "outbox migrate creates a database")
		assert.NoFileExists(t, path)
	}
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	for _, args := range [][]string{{"status"}, {"audit"}} {
		status, said := try(path, args...)
		assert.Equal(t, 2, status)
		assert.Contains(t, said, "the database has no outbox yet: run outbox migrate")
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

// TestErrorsAreOneLine: with exit status 2.
func TestErrorsAreOneLine(t *testing.T) {
	onBoth(t, func(s shell) {
		for name, tt := range map[string]struct {
			args []string
			want string
		}{
			"unknown command":  {[]string{"sing"}, `unknown command "sing"`},
			"unknown flag":     {[]string{"status", "--loud"}, "unknown flag: --loud"},
			"unknown decision": {[]string{"resolve", "forget", "a"}, `outbox: resolve: want sent, resend, notsent or drop, got "forget"`},
			"no messages":      {[]string{"resolve", "forget", "--reason", "x"}, `outbox: resolve: want sent, resend, notsent or drop, got "forget"`},
			"no decision":      {[]string{"resolve"}, "outbox: resolve: want sent, resend, notsent or drop"},
			"extra argument":   {[]string{"status", "x"}, "unexpected argument: outbox status takes flags only"},
			"unlisted state":   {[]string{"list", "--state", "sent"}, `--state is "sent"; want one of waiting, all, available, cancelled, completed, `},
			"list channel":     {[]string{"list", "--channel", "chat"}, `--channel is "chat"; want one of sms, chatapp1, chatapp2`},
			"resolve channel":  {[]string{"resolve", "drop", "a", "--channel", "chat"}, `--channel is "chat"; want one of sms, chatapp1, chatapp2`},
			"no reference":     {[]string{"show"}, "outbox: show: want REFERENCE|MESSAGEID, got 0 arguments"},
			"nothing chosen":   {[]string{"resolve", "drop"}, "want reference IDs, --file or --reason"},
			"both chosen":      {[]string{"resolve", "drop", "a", "--reason", "x"}, "--reason cannot be combined with reference IDs or --file"},
			"unknown state":    {[]string{"resolve", "drop", "--reason", "x", "--state", "sent"}, "want discarded or cancelled"},
			"file and reason":  {[]string{"resolve", "drop", "--file", s.file("empty.txt", ""), "--reason", "x"}, "--reason cannot be combined with reference IDs or --file"},
			"useless state":    {[]string{"resolve", "drop", "a", "--state", "cancelled"}, "--state is for --reason"},
			"nonsense state":   {[]string{"resolve", "drop", "a", "--state", "nonsense"}, "--state is for --reason"},
			"unknown verb":     {[]string{"campaign", "sing", "x"}, `"sing" is not one of pause, resume and cancel`},
			"no file":          {[]string{"load", "/nowhere"}, "no such file"},
			"bad line":         {[]string{"load", s.file("a.jsonl", line("ok")+"\nnonsense\n")}, "line 2: want an object"},
			"two objects":      {[]string{"load", s.file("a2.jsonl", line("ok")+line("second"))}, "line 1: there is something after the object"},
			"bad channel":      {[]string{"load", s.file("b.jsonl", `{"channel": "pigeon", "message": {}}`)}, `line 1: the channel is "pigeon"; want one of `},
			"no message":       {[]string{"load", s.file("c.jsonl", `{"channel": "sms"}`)}, "line 1: message: required, but absent"},
			"invalid message":  {[]string{"load", s.file("d.jsonl", line("ok")+"\n"+line(""))}, `line 2: reference "": ReferenceID: want `},
			"unknown column":   {[]string{"load", s.file("e.csv", "from,colour\n")}, `line 1: there is no column "colour"`},
			"repeated column":  {[]string{"load", s.file("g.csv", "from,text,text\n")}, `line 1: the column "text" comes twice`},
			"ragged line":      {[]string{"load", s.file("f.csv", "from,to\na,b\nc\n")}, "line 3: wrong number of fields"},
		} {
			s.Run(name, func(t *testing.T) {
				inner := s
				inner.T = t
				_, said := inner.run(2, tt.args...)
				assert.Contains(t, said, tt.want)
				assert.Equal(t, 1, strings.Count(said, "\n"), said)
				assert.NotContains(t, said, "639171234567")
				assert.NotContains(t, said, "messagingriver", "a name of the library")
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

// A driver that tries a server with and without TLS has two equal errors.
func TestErrorsNameAServerOnce(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	getenv := func(name string) string {
		return map[string]string{"DATABASE_URL": "postgres://u@127.0.0.1:1/d?sslmode=prefer"}[name]
	}
	assert.Equal(t, 2, run(t.Context(), []string{"status"}, getenv, &out, &errs))
	assert.Equal(t, 1, strings.Count(errs.String(), "dial error"), errs.String())
	assert.Equal(t, "outbox: a; b; c", "outbox: "+errorText(errors.New("a\n\tb\n\tb\nc")))
}
