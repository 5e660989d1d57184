package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// The test binary is also the program that is killed.
func TestMain(m *testing.M) {
	if folder := os.Getenv("CAMPAIGN_FOLDER"); folder != "" {
		if err := runUntilResults(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// runUntilResults runs a campaign until it has results or, if CAMPAIGN_GOES_ON is set, until it is interrupted.
func runUntilResults(folder string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	in, err := settingsFromEnv(folder)
	if err != nil {
		return err
	}
	if os.Getenv("CAMPAIGN_REFRESH") != "" {
		return refresh(ctx, in)
	}
	in.outbox = messagingriver.Options{SendTimeout: time.Second, SettleFor: 2 * time.Second, Rate: 40, Workers: workers}
	if os.Getenv("CAMPAIGN_GOES_ON") == "" {
		in.hasResults = stop
	}
	listener, err := listen(ctx, in.address)
	if err != nil {
		return err
	}
	if folder == "receive" {
		return receive(ctx, listener, in)
	}
	return run(ctx, listener, in)
}

// program is a campaign in a process of its own.
type program struct {
	t               *testing.T
	service         *messagingtest.Server
	folder, address string
	zone            string
	database        string
	log             *processLog
}

// processLog is what the processes of a program write to standard error.
type processLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *processLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *processLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// awaitLoaded waits until processes have enqueued their messages a number of times.
func (p *program) awaitLoaded(times int) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return strings.Count(p.log.String(), "new lines: ") >= times }, time.Minute, 20*time.Millisecond)
}

// newProgram makes a program whose folder has a file of recipients. In its zone it is the given hour.
func newProgram(t *testing.T, hour int, recipients string) *program {
	t.Helper()
	free := httptest.NewServer(nil)
	address := free.Listener.Addr().String()
	free.Close()
	p := &program{t: t, service: messagingtest.NewServer(t), address: address, zone: zoneAt(hour), database: newDatabase(t), log: new(processLog)}
	p.begin("spring", recipients)
	return p
}

// begin gives the program the folder of a campaign.
func (p *program) begin(name, recipients string) {
	p.t.Helper()
	p.folder = filepath.Join(p.t.TempDir(), name)
	require.NoError(p.t, os.Mkdir(p.folder, 0o700))
	p.write(recipients)
}

// write replaces the file of recipients.
func (p *program) write(recipients string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.folder, "recipients.csv"), []byte(recipients), 0o600))
}

// newDatabase returns the URL of a database on the server OUTBOX_POSTGRES or, without one, the path of an SQLite file.
func newDatabase(t *testing.T) string {
	t.Helper()
	postgres := os.Getenv("OUTBOX_POSTGRES")
	if postgres == "" {
		return filepath.Join(t.TempDir(), "campaigns.db")
	}
	server, err := url.Parse(postgres)
	require.NoError(t, err)
	connection, err := pgx.Connect(t.Context(), postgres)
	require.NoError(t, err)
	defer connection.Close(t.Context())
	databaseName := "campaign" + strings.ToLower(rand.Text())
	_, err = connection.Exec(t.Context(), "CREATE DATABASE "+databaseName)
	require.NoError(t, err)
	server.Path = "/" + databaseName
	return server.String()
}

// zoneAt returns a time zone in which it is an hour now.
func zoneAt(hour int) string {
	ahead := hour - time.Now().UTC().Hour()
	if ahead < -12 {
		ahead += 24
	}
	return fmt.Sprintf("Etc/GMT%+d", -ahead) // the signs of these names are the other way round
}

func (p *program) start() *exec.Cmd {
	p.t.Helper()
	process := p.command()
	require.NoError(p.t, process.Start())
	return process
}

// command returns the program, which is not started yet.
func (p *program) command() *exec.Cmd {
	p.t.Helper()
	process := exec.CommandContext(p.t.Context(), os.Args[0])
	process.Stderr = p.log
	process.Env = append(os.Environ(), "CAMPAIGN_FOLDER="+p.folder, "CAMPAIGN_ADDRESS="+p.address, "CAMPAIGN_URL=http://"+p.address,
		"CAMPAIGN_ZONE="+p.zone, "CAMPAIGN_SENDER=ACME", "DATABASE_URL="+p.database, "MESSAGING_WEBHOOK_SECRET=key=secret-of-a-demo", "MESSAGING_BASE_URL="+p.service.URL, "MESSAGING_TOKEN="+p.service.Token)
	return process
}

// goOn starts the program, which does not end when it has results.
func (p *program) goOn() *exec.Cmd {
	p.t.Helper()
	process := p.command()
	process.Env = append(process.Env, "CAMPAIGN_GOES_ON=true")
	require.NoError(p.t, process.Start())
	return process
}

// requireFails runs the program, which ends with an error.
func (p *program) requireFails(want string) {
	p.t.Helper()
	process := p.command()
	var said strings.Builder
	process.Stderr = &said
	require.Error(p.t, process.Run())
	require.Contains(p.t, said.String(), want)
}

// awaitResults waits until the program has written results.
func (p *program) awaitResults() {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		_, err := os.Stat(filepath.Join(p.folder, "results.csv"))
		return err == nil
	}, time.Minute, 50*time.Millisecond)
}

// receive waits until the program serves its webhook, and has it receive an SMS.
func (p *program) receive(m messagingtest.InboundSMS) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		replies := p.service.CallWebhook(p.t.Context(), "http://"+p.address+"/hooks/sms?key=secret-of-a-demo", m)
		return len(replies) > 0 && replies[0].Err == nil && replies[0].StatusCode < 300
	}, time.Minute, 50*time.Millisecond)
}

func (p *program) results() string {
	p.t.Helper()
	results, err := os.ReadFile(filepath.Join(p.folder, "results.csv"))
	require.NoError(p.t, err)
	return string(results)
}

// isPostgres reports whether the database is on PostgreSQL.
func (p *program) isPostgres() bool { return strings.HasPrefix(p.database, "postgres") }

// exec runs a statement, in which SCHEMA is that of the messages, with a dot.
func (p *program) exec(statement string) {
	p.t.Helper()
	driver := "sqlite"
	source := "file:" + p.database + "?_pragma=busy_timeout(10000)"
	schema := ""
	if p.isPostgres() {
		driver = "pgx"
		source = p.database
		schema = "campaign."
	}
	db, err := sql.Open(driver, source)
	require.NoError(p.t, err)
	defer db.Close()
	_, err = db.ExecContext(p.t.Context(), strings.ReplaceAll(statement, "SCHEMA", schema))
	require.NoError(p.t, err)
}

// deleteMessages deletes what the outbox has, as it does in the end.
func (p *program) deleteMessages() {
	p.t.Helper()
	p.exec("DELETE FROM SCHEMAriver_job")
}

// TestEachRecipientOnce: the program is killed eleven times with kill -9. Who wrote STOP gets nothing.
func TestEachRecipientOnce(t *testing.T) {
	t.Parallel()
	const recipients = 300
	var lines strings.Builder
	lines.WriteString("id,number,text\n")
	for i := range recipients {
		fmt.Fprintf(&lines, "%03d,+63917%07d,\"Spring sale, number %d\"\n", i, i, i)
	}
	p := newProgram(t, 12, lines.String())
	service := p.service
	process := p.start()
	last := fmt.Sprintf("63917%07d", recipients-1)
	p.receive(messagingtest.InboundSMS{ID: "stop", From: last, To: "ACME", Text: "STOP"})
	const kills = 11
	for range kills {
		before := service.Requests()
		require.Eventually(t, func() bool { return service.Requests() > before+5 }, time.Minute, time.Millisecond)
		require.NoError(t, process.Process.Kill())
		_ = process.Wait()
		process = p.start()
	}
	require.NoError(t, process.Wait())
	times := map[string]int{}
	for _, m := range service.Sent() {
		times[m.To]++
	}
	assert.NotContains(t, times, "+"+last)
	for to, n := range times {
		assert.Equal(t, 1, n, to)
	}
	results := p.results()
	assert.Equal(t, len(times), strings.Count(results, ",accepted,"), "%s", results)
	assert.Equal(t, 1, strings.Count(results, ",not sent,"), "%s", results)
	assert.Contains(t, results, "opted out")
	unknown := strings.Count(results, ",unknown,")
	if p.isPostgres() {
		assert.LessOrEqual(t, unknown, kills, "those whose requests began and did not arrive")
	} else {
		assert.LessOrEqual(t, unknown, kills*5, "as many as are in work")
	}
	assert.Equal(t, 1+recipients, strings.Count(results, "\n"), "each is completed, cancelled or discarded")
}

// On PostgreSQL the campaign shares the database with other programs, but not their messages.
func TestMessagesOfAnotherProgram(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, "id,number,text\n17,+639171234567,Spring sale\n")
	if !p.isPostgres() {
		t.Skip("run it with .ci/with-postgres")
	}
	pool, err := pgxpool.New(t.Context(), p.database)
	require.NoError(t, err)
	defer pool.Close()
	client, err := messaging.NewClient(p.service.URL, messaging.WithToken(p.service.Token))
	require.NoError(t, err)
	other, err := messagingriver.NewPostgres(pool, client, messagingriver.Options{})
	require.NoError(t, err)
	require.NoError(t, other.Migrate(t.Context()))
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := other.Insert(t.Context(), tx, sms.Message{From: "ACME", To: "+639181234567", Text: "Your order 17", ReferenceID: "order-17"})
		return err
	}))
	require.NoError(t, p.start().Wait())
	require.Len(t, p.service.Sent(), 1)
	assert.Equal(t, "spring/17", p.service.Sent()[0].ReferenceID)
	assert.NotContains(t, p.results(), "order-17")
}

// A line that cannot be sent is in the results with its reason, and the others are sent.
func TestInvalidLines(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, `id,number,text
1,+639171234567,"Spring sale, today"
2,12,Spring sale
1,+639181234567,the ID is that of line 2
3,+639191234567,Spring sale, today
,+639201234567,Spring sale
5,+639221234567,5" pizza
6",+639231234567,Spring sale
4,+639211234567,Spring sale
`)
	require.NoError(t, p.start().Wait())
	to := map[string]bool{}
	for _, m := range p.service.Sent() {
		to[m.To] = true
	}
	assert.Equal(t, map[string]bool{"+639171234567": true, "+639211234567": true}, to)
	results := p.results()
	assert.Equal(t, 2, strings.Count(results, ",accepted,"), "%s", results)
	for _, line := range []string{
		`spring/2,wrong number,invalid,,"line 3: `, `spring/1,repeated line,invalid,,line 4: repeated line: an earlier one has the same id,`,
		`spring/3,invalid line,invalid,,"line 5: `,
		`spring/,invalid line,invalid,,line 6: the id is absent,`,
		`spring/5,invalid line,invalid,,"line 7: `, `spring/,invalid line,invalid,,"line 8: `,
	} {
		assert.Contains(t, results, line)
	}
	assert.Equal(t, 1+8, strings.Count(results, "\n"), "the header, and each line")
	assert.NotContains(t, results, "63918")
}

// A file without the names of its columns would lose its first recipient.
func TestColumnsAreNamed(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, "1,+639171234567,Spring sale\n2,+639181234567,Spring sale\n")
	p.requireFails("recipients.csv: want the columns id,number,text in the first line")
	assert.Empty(t, p.service.Sent())
	p.write("\ufeffid,number,text\n1,+639171234567,Spring sale\n") // of a spreadsheet
	require.NoError(t, p.start().Wait())
	assert.Len(t, p.service.Sent(), 1)
	for _, first := range []string{"", "\n", "id,text,number\n", "id,number,text,\n"} {
		require.ErrorContains(t, readColumns(csv.NewReader(strings.NewReader(first))), "want the columns", first)
	}
}

// The outbox takes references of up to 255 bytes, and refuses a whole file for one that is longer.
func TestLongID(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", 255-len("spring/"))
	p := newProgram(t, 12, "id,number,text\n"+longest+",+639171234567,Spring sale\n"+longest+"x,+639181234567,Spring sale\n")
	require.NoError(t, p.start().Wait())
	require.Len(t, p.service.Sent(), 1)
	assert.Equal(t, "spring/"+longest, p.service.Sent()[0].ReferenceID)
	assert.Contains(t, p.results(), "spring/"+longest+"x,invalid line,invalid,,line 3: the id is too long,")
}

// A number that is on two lines gets one SMS. Only one spelling of a number is valid, so that no other is taken for another number.
func TestRepeatedNumber(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, `id,number,text
1,+639171234567,Spring sale
2,+639181234567,Spring sale
3,+639171234567,Spring sale
4,639171234567,Spring sale
5,00639181234567,Spring sale
6,09171234567,Spring sale
7,+63 917 123 4567,Spring sale
8,+09171234567,Spring sale
`)
	require.NoError(t, p.start().Wait())
	require.Len(t, p.service.Sent(), 2)
	results := p.results()
	for _, m := range p.service.Sent() {
		assert.Contains(t, results, m.ReferenceID+",sent,accepted,"+m.ID+",,0.50,XTS,"+m.To+",\n")
	}
	assert.Contains(t, results, "spring/3,repeated line,invalid,,line 4: repeated line: same number as line 2,,,,\n")
	for id := 4; id <= 8; id++ {
		assert.Contains(t, results, fmt.Sprintf("spring/%d,wrong number,invalid,,\"line %d: wrong number: want + and the country code,", id, id+1))
	}
}

// The results say whether an SMS was sent, and not only that nothing more follows.
func TestResultsHaveTheVerdict(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, "id,number,text\n1,+639171234567,Spring sale\n2,+639181234567,Spring sale\n")
	p.service.SetFault("sms", "+639171234567", messagingtest.FaultCode("1"))
	require.NoError(t, p.start().Wait())
	results := p.results()
	assert.True(t, strings.HasPrefix(results, "reference,result,verdict,message,reason,cost,currency,recipient,delivery\n"))
	assert.Contains(t, results, "spring/1,failed,refused,,")
	assert.Contains(t, results, "spring/2,sent,accepted,"+p.service.Sent()[0].ID+",")
}

// Another file with IDs that were enqueued before does not take the results of the earlier messages for its own.
func TestKnownIDWithAnotherNumberOrText(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, "id,number,text\n1,+639171234567,Spring sale\n")
	require.NoError(t, p.start().Wait())
	results := p.results()
	for _, line := range []string{"1,+639181234567,Spring sale\n", "1,+639171234567,Summer sale\n"} {
		p.write("id,number,text\n" + line + "2,+639191234567,Summer sale\n")
		process := p.command()
		var said strings.Builder
		process.Stderr = &said
		require.Error(t, process.Run())
		assert.Contains(t, said.String(), "spring/1 was enqueued with another number or text")
		assert.NotContains(t, said.String(), "639")
		assert.Len(t, p.service.Sent(), 1)
		assert.Equal(t, results, p.results())
	}
}

// Who wrote STOP during one campaign gets nothing from the next, and the IDs of one are not those of the other.
func TestStopCountsForTheNextCampaign(t *testing.T) {
	t.Parallel()
	recipients := "id,number,text\n1,+639171234567,Spring sale\n"
	p := newProgram(t, 12, recipients)
	process := p.goOn()
	p.awaitResults()
	p.receive(messagingtest.InboundSMS{ID: "stop", From: "639171234567", To: "ACME", Text: "STOP"})
	require.NoError(t, process.Process.Signal(os.Interrupt))
	require.NoError(t, process.Wait())
	p.begin("summer", recipients+"2,+639181234567,Summer sale\n")
	require.NoError(t, p.start().Wait())
	require.Len(t, p.service.Sent(), 2)
	assert.Equal(t, "summer/2", p.service.Sent()[1].ReferenceID)
	results := p.results()
	assert.Contains(t, results, "summer/1,opted out,not sent,")
	assert.Contains(t, results, "summer/2,sent,accepted,")
	assert.NotContains(t, results, "spring/")
}

// A STOP that comes while no campaign runs counts for the next one, if a process receives.
func TestReceive(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, "id,number,text\n1,+639171234567,Spring sale\n")
	process := p.command()
	process.Env = append(process.Env, "CAMPAIGN_FOLDER=receive")
	require.NoError(t, process.Start())
	p.receive(messagingtest.InboundSMS{ID: "stop", From: "639171234567", To: "ACME", Text: "STOP"})
	require.NoError(t, process.Process.Signal(os.Interrupt))
	require.NoError(t, process.Wait())
	require.NoError(t, p.start().Wait())
	assert.Empty(t, p.service.Sent())
	assert.Contains(t, p.results(), "spring/1,opted out,not sent,")
}

// The line 1 of the campaign spring-17 is not the line 17-1 of the campaign spring.
func TestReferencesOfCampaignsDiffer(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, "id,number,text\n17-1,+639171234567,Spring sale\n")
	require.NoError(t, p.start().Wait())
	p.begin("spring-17", "id,number,text\n1,+639171234567,Spring sale\n")
	require.NoError(t, p.start().Wait())
	assert.Len(t, p.service.Sent(), 2)
}

// A delivery report that comes after all messages are final is in the results, and completes a message whose response was lost.
func TestDeliveryReports(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, "id,number,text\n1,+639171234567,Spring sale\n2,+639181234567,Spring sale\n3,+639191234567,Spring sale\n")
	p.service.SetLag(time.Hour) // the listing does not show it
	p.service.SetFault("sms", "+639181234567", messagingtest.FaultAcceptThenDrop())
	process := p.goOn()
	p.awaitResults()
	assert.Contains(t, p.results(), "spring/2,unknown,unknown,")
	for _, m := range p.service.Sent() {
		status := "delivered"
		if m.ReferenceID == "spring/3" {
			status = "failed"
		}
		for _, reported := range []string{status, "sent"} { // the second is late
			for _, result := range p.service.ReportDelivery(t.Context(), m.ID, reported) {
				require.NoError(t, result.Err)
				require.Equal(t, http.StatusOK, result.StatusCode)
			}
		}
	}
	other := messagingtest.DeliveryReport{ID: "msg-9", ReferenceID: "order-9", Status: "delivered"}
	for _, result := range p.service.CallWebhook(t.Context(), "http://"+p.address+"/hooks/delivery?key=secret-of-a-demo", other) {
		require.NoError(t, result.Err)
		require.Equal(t, http.StatusOK, result.StatusCode)
	}
	require.NoError(t, process.Process.Signal(os.Interrupt))
	require.NoError(t, process.Wait())
	results := p.results()
	assert.Regexp(t, "spring/1,delivered,accepted,.*,delivered\n", results)
	assert.Regexp(t, "spring/2,delivered,accepted,.*,delivered\n", results)
	assert.Regexp(t, "spring/3,failed,accepted,.*,failed\n", results)
	assert.NotContains(t, results, "order-9")
}

// Delivery and cost that no report and no response said are in the listing.
func TestRefresh(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, "id,number,text\n1,+639171234567,Spring sale\n2,+639181234567,Spring sale\n3,12,Spring sale\n")
	p.service.SetLag(time.Hour) // it does not show the second message yet
	p.service.SetFault("sms", "+639181234567", messagingtest.FaultAcceptThenDrop())
	require.NoError(t, p.start().Wait())
	assert.Contains(t, p.results(), "spring/2,unknown,unknown,,")
	p.service.SetLag(0)
	for _, m := range p.service.Sent() {
		p.service.SetMessageDelivery(m.ID, messagingtest.Delivery{})
	}
	p.service.Seed(messagingtest.Sent{ReferenceID: "spring-17/1", To: "+639171234567", At: time.Now()}) // of another campaign
	process := p.command()
	process.Env = append(process.Env, "CAMPAIGN_REFRESH=true")
	require.NoError(t, process.Run())
	results := p.results()
	assert.Regexp(t, `spring/1,delivered,accepted,msg-\d,,0.50,XTS,\+639171234567,delivered\n`, results)
	assert.Regexp(t, `spring/2,delivered,accepted,.*,0.50,XTS,\+639181234567,delivered\n`, results)
	assert.Contains(t, results, "spring/3,wrong number,invalid,")
	assert.NotContains(t, results, "spring-17")
}

// The column result says what became of a message in the words of the people who sent it.
func TestSummary(t *testing.T) {
	t.Parallel()
	final := time.Now()
	for want, record := range map[string]messagingriver.Record{
		"waits":        {Verdict: messaging.NotSent, Err: messaging.ErrPostponed},
		"sent":         {Verdict: messaging.Accepted},
		"unknown":      {Verdict: messaging.Unknown, Finalized: final},
		"opted out":    {Verdict: messaging.NotSent, Finalized: final, Err: messaging.ErrOptedOut},
		"too late":     {Verdict: messaging.NotSent, Finalized: final, Err: messagingriver.ErrExpired},
		"wrong number": {Verdict: messaging.Refused, Finalized: final, Err: messaging.ErrUnreachable},
		"failed":       {Verdict: messaging.Refused, Finalized: final, Err: messaging.ErrInvalid}, // perhaps the sender
	} {
		assert.Equal(t, want, resultOf(record).summary)
	}
	for status, want := range map[webhook.Status]string{
		webhook.StatusUnknown: "sent", webhook.StatusSent: "sent", webhook.StatusDelivered: "delivered", webhook.StatusExpired: "expired",
		webhook.StatusRejected: "failed",
	} {
		r := resultOf(messagingriver.Record{Verdict: messaging.Accepted})
		r.add(recipient{delivery: status})
		assert.Equal(t, want, r.summary, status)
	}
}

func TestNewAndKnownLinesAreCounted(t *testing.T) {
	t.Parallel()
	recipients := "id,number,text\n1,+639171234567,Spring sale\n"
	p := newProgram(t, 12, recipients)
	require.NoError(t, p.start().Wait())
	p.write(recipients + "2,+639181234567,Spring sale\n3,12,Spring sale\n")
	process := p.command()
	var said strings.Builder
	process.Stderr = &said
	require.NoError(t, process.Run())
	assert.Contains(t, said.String(), "new lines: 1; known: 1; invalid: 1")
}

// A STOP that comes while a large file is enqueued gets a response, and its sender gets nothing.
func TestStopWhileMessagesAreEnqueued(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, "id,number,text\n")
	if !p.isPostgres() {
		t.Skip("run it with .ci/with-postgres: the lock of an SQLite file is for all tables")
	}
	require.NoError(t, p.start().Wait())
	connection, err := pgx.Connect(t.Context(), p.database)
	require.NoError(t, err)
	defer connection.Close(t.Context())
	tx, err := connection.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE campaign.river_job IN SHARE MODE")
	require.NoError(t, err)
	p.write("id,number,text\n1,+639171234567,Spring sale\n2,+639181234567,Spring sale\n")
	process := p.start()
	p.receive(messagingtest.InboundSMS{ID: "stop", From: "639171234567", To: "ACME", Text: "STOP"})
	assert.Equal(t, 1, strings.Count(p.log.String(), "new lines: "), "of the first start")
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, process.Wait())
	require.Len(t, p.service.Sent(), 1)
	assert.Equal(t, "spring/2", p.service.Sent()[0].ReferenceID)
}

// A file is enqueued in several transactions. After a failure, the next call goes on with the messages that are left.
func TestEnqueueGoesOn(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	require.NoError(t, err)
	c, err := open(t.Context(), settings{
		folder:      "spring",
		databaseURL: newDatabase(t),
		url:         "http://localhost",
		sender:      "ACME",
		client:      client,
		newReceiver: newTestReceiver,
	})
	require.NoError(t, err)
	defer c.db.close()
	messages := make([]sms.Message, 2*linesPerTransaction+10)
	for i := range messages {
		messages[i], err = c.messageOf([]string{fmt.Sprint(i), fmt.Sprintf("+63917%07d", i), "Spring sale"})
		require.NoError(t, err)
	}
	const taken = "INSERT INTO campaign_recipient (reference, campaign, number, text_hash, enqueued) VALUES ('spring/2005', 'other', '', '', 0)"
	_, err = c.db.ExecContext(t.Context(), taken)
	require.NoError(t, err)
	added, err := c.enqueue(t.Context(), messages)
	require.Error(t, err)
	assert.Equal(t, 2*linesPerTransaction, added)
	_, err = c.db.ExecContext(t.Context(), "DELETE FROM campaign_recipient WHERE campaign = 'other'")
	require.NoError(t, err)
	added, err = c.enqueue(t.Context(), messages)
	require.NoError(t, err)
	assert.Equal(t, 10, added)
	campaigns, err := c.outbox.Campaigns(t.Context(), "spring")
	require.NoError(t, err)
	assert.Equal(t, len(messages), campaigns[0].Unfinished())
}

// The outbox deletes messages some time after they became final. Their lines are not sent again, and keep their results.
func TestDeletedMessagesAreNotSentAgain(t *testing.T) {
	t.Parallel()
	recipients := "id,number,text\n1,+639171234567,Spring sale\n"
	p := newProgram(t, 12, recipients)
	require.NoError(t, p.start().Wait())
	require.Len(t, p.service.Sent(), 1)
	p.deleteMessages()
	p.write(recipients + "2,+639181234567,Spring sale\n")
	require.NoError(t, p.start().Wait())
	require.Len(t, p.service.Sent(), 2)
	assert.Equal(t, "spring/2", p.service.Sent()[1].ReferenceID)
	results := p.results()
	assert.Contains(t, results, "spring/1,sent,accepted,"+p.service.Sent()[0].ID+",,0.50,XTS,+639171234567,\n")
	assert.Contains(t, results, "spring/2,sent,accepted,")

	require.NoError(t, os.Remove(filepath.Join(p.folder, "results.csv")))
	p.deleteMessages()
	require.NoError(t, p.start().Wait())
	require.Len(t, p.service.Sent(), 2)
	results = p.results()
	assert.Contains(t, results, "spring/1,unknown,deleted,,it became final long ago,,,+639171234567,\n")
	assert.Contains(t, results, "spring/2,unknown,deleted,")
}

// TestResultsAreReplaced by a new file. If they were written in place, a kill could leave half of them.
func TestResultsAreReplaced(t *testing.T) {
	t.Parallel()
	recipients := "id,number,text\n1,+639171234567,Spring sale\n"
	p := newProgram(t, 12, recipients)
	require.NoError(t, p.start().Wait())
	first := p.results()
	earlier := filepath.Join(p.folder, "earlier.csv")
	require.NoError(t, os.Link(filepath.Join(p.folder, "results.csv"), earlier))
	p.write(recipients + "2,12,Spring sale\n")
	require.NoError(t, p.start().Wait())
	assert.Contains(t, p.results(), "spring/2,wrong number,invalid,")
	kept, err := os.ReadFile(earlier)
	require.NoError(t, err)
	assert.Equal(t, first, string(kept))
}

// A quoted text that does not end takes lines of other recipients with it, so nothing is sent.
func TestTextThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, "id,number,text\n1,+639171234567,\"Spring sale\n2,+639181234567,Spring sale\n")
	require.Error(t, p.start().Wait())
	assert.Empty(t, p.service.Sent())
	assert.NoFileExists(t, filepath.Join(p.folder, "results.csv"))
}

// At night nothing is sent, and the program ends when it is asked to. Its results say that the message waits.
func TestNothingIsSentAtNight(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 3, "id,number,text\n17,+639171234567,Spring sale\n")
	process := p.start()
	p.awaitLoaded(1)
	time.Sleep(3 * time.Second) // in the day it is sent within one
	require.NoError(t, process.Process.Signal(os.Interrupt))
	require.Error(t, process.Wait())
	assert.Empty(t, p.service.Sent())
	assert.Regexp(t, `\nspring/17,waits,waits,,.*,\+639171234567,\n$`, p.results())
}

// A campaign that is interrupted before all messages are final writes what is known of each, and keeps what an earlier start wrote.
func TestInterruptedCampaignHasResults(t *testing.T) {
	t.Parallel()
	recipients := "id,number,text\n1,+639171234567,Spring sale\n"
	p := newProgram(t, 12, recipients)
	require.NoError(t, p.start().Wait())
	first := p.service.Sent()[0]
	p.deleteMessages()
	p.write(recipients + "2,+639181234567,Spring sale\n3,12,Spring sale\n")
	process := p.command()
	process.Env = append(process.Env, "CAMPAIGN_OPENS=00:00", "CAMPAIGN_CLOSES=00:01") // it is noon
	require.NoError(t, process.Start())
	p.awaitLoaded(2)
	require.NoError(t, process.Process.Signal(os.Interrupt))
	require.Error(t, process.Wait())
	results := p.results()
	assert.Contains(t, results, "spring/1,sent,accepted,"+first.ID+",,0.50,XTS,+639171234567,\n")
	assert.Regexp(t, `\nspring/2,waits,waits,,.*,\+639181234567,\n`, results)
	assert.Contains(t, results, "spring/3,wrong number,invalid,,")
}

// A campaign of another zone would send the messages of the first in its night.
func TestAnotherZone(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 3, "id,number,text\n17,+639171234567,Spring sale\n")
	process := p.start()
	p.receive(messagingtest.InboundSMS{ID: "hello", From: "639171234567", To: "ACME", Text: "Hi"})
	require.NoError(t, process.Process.Signal(os.Interrupt))
	require.Error(t, process.Wait())
	first := p.zone
	p.zone = zoneAt(12)
	p.begin("summer", "id,number,text\n17,+639181234567,Summer sale\n")
	p.requireFails("this database is for " + first + ": use one database for each zone")
	assert.Empty(t, p.service.Sent())
}

// A database that fails for some seconds does not end the campaign.
func TestDatabaseThatFailsForAWhile(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 3, "id,number,text\n17,+639171234567,Spring sale\n")
	process := p.start()
	p.awaitLoaded(1)
	p.exec("ALTER TABLE SCHEMAriver_job RENAME TO away")
	time.Sleep(7 * time.Second) // the messages are counted every 5 seconds
	p.exec("ALTER TABLE SCHEMAaway RENAME TO river_job")
	require.NoError(t, process.Process.Signal(os.Interrupt))
	require.Error(t, process.Wait())
	assert.Contains(t, p.log.String(), "the messages cannot be counted yet: ")
	assert.Contains(t, p.log.String(), "stopped; start it again to go on")
	assert.Empty(t, p.service.Sent())
}

// The service does not call again for an SMS of a sender with letters.
func TestMessageFromNoPerson(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 3, "id,number,text\n17,+639171234567,Spring sale\n")
	process := p.start()
	p.receive(messagingtest.InboundSMS{ID: "in-1", From: "BANK", To: "ACME", Text: "Hello"})
	require.NoError(t, process.Process.Signal(os.Interrupt))
	require.Error(t, process.Wait())
}

func TestNothingIsSentWithoutTheWebhook(t *testing.T) {
	t.Parallel()
	p := newProgram(t, 12, "id,number,text\n17,+639171234567,Spring sale\n")
	taken := httptest.NewServer(nil)
	defer taken.Close()
	p.address = taken.Listener.Addr().String()
	process := p.command()
	var said strings.Builder
	process.Stderr = &said
	require.Error(t, process.Run())
	assert.Contains(t, said.String(), "address already in use")
	assert.Empty(t, p.service.Sent())
}

// failingListener accepts no connection.
type failingListener struct{ net.Listener }

func (failingListener) Accept() (net.Conn, error) { return nil, errors.New("no more files") }

// If the webhook fails, the campaign ends in order, and the next start goes on.
func TestWebhookThatFails(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "recipients.csv"), []byte("id,number,text\n17,+639171234567,Spring sale\n"), 0o600))
	service := messagingtest.NewServer(t)
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithGuard(postponeAll))
	require.NoError(t, err)
	listener, err := listen(t.Context(), "localhost:0")
	require.NoError(t, err)
	err = run(t.Context(), failingListener{listener}, settings{
		folder: folder, databaseURL: filepath.Join(t.TempDir(), "campaigns.db"), url: "http://localhost", sender: "ACME", client: client,
		newReceiver: newTestReceiver,
	})
	require.ErrorContains(t, err, "start it again to go on: the webhook failed: no more files")
	assert.Empty(t, service.Sent())
}

// Ctrl-C after the results is no error, whatever the cause of the context is: it differs between releases of Go.
func TestCtrlCAfterTheResults(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "recipients.csv"), []byte("id,number,text\n"), 0o600))
	service := messagingtest.NewServer(t)
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	require.NoError(t, err)
	listener, err := listen(t.Context(), "localhost:0")
	require.NoError(t, err)
	ctx, interrupt := context.WithCancelCause(t.Context())
	require.NoError(t, run(ctx, listener, settings{
		folder: folder, databaseURL: filepath.Join(t.TempDir(), "campaigns.db"), url: "http://localhost", sender: "ACME", client: client,
		newReceiver: newTestReceiver,
		hasResults:  func() { interrupt(errors.New("interrupt signal received")) },
	}))
}

// A redirect would repeat the secret of the webhook.
func TestWebhookDoesNotRedirect(t *testing.T) {
	t.Parallel()
	hooks, err := newTestReceiver()
	require.NoError(t, err)
	server := newServer(newMux(new(campaign), hooks))
	w := httptest.NewRecorder()
	server.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "//hooks/sms?key=secret-of-a-demo", nil))
	assert.Equal(t, http.StatusNotFound, w.Code)
	assert.Empty(t, w.Body.String())
	assert.Empty(t, w.Header())
}

func newTestReceiver(options ...webhook.Option) (*webhook.Receiver, error) {
	return webhook.NewReceiver(append(options, webhook.WithSecret("key", "secret-of-a-demo"))...)
}

// A START whose response was lost comes again after a STOP. It must not opt the person in.
func TestRepeatedStartDoesNotEndAStop(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	require.NoError(t, err)
	c, err := open(t.Context(), settings{
		folder: t.TempDir(), databaseURL: newDatabase(t), url: "http://localhost", sender: "ACME", client: client, newReceiver: newTestReceiver,
	})
	require.NoError(t, err)
	defer c.db.close()
	mux := newMux(c, c.hooks)
	for _, query := range []string{"id=a&message=START", "id=b&message=STOP", "id=a&message=START"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/hooks/sms?key=secret-of-a-demo&from=639171234567&to=21581&"+query, nil))
		require.Equal(t, http.StatusOK, w.Code)
	}
	sale := messaging.Outgoing{Channel: messaging.ChannelSMS, From: "ACME", To: "+639171234567", Marketing: true}
	require.ErrorIs(t, c.book.Allow(t.Context(), nil, sale), messaging.ErrOptedOut)
	require.NoError(t, c.prune(t.Context()))
}

func postponeAll(context.Context, messaging.Outgoing) error { return messaging.Postpone(time.Hour) }

func TestSettingsNameWhatIsWrong(t *testing.T) {
	for name, value := range map[string]string{"CAMPAIGN_OPENS": "8", "CAMPAIGN_CLOSES": "25:00", "CAMPAIGN_SETTLE_FOR": "15"} {
		t.Setenv(name, value)
	}
	t.Setenv("CAMPAIGN_ZONE", "Asia/Nowhere")
	_, err := settingsFromEnv(t.TempDir())
	for _, name := range []string{"CAMPAIGN_OPENS: ", "CAMPAIGN_CLOSES: ", "CAMPAIGN_SETTLE_FOR: ", "CAMPAIGN_ZONE"} {
		require.ErrorContains(t, err, name)
	}
}

func TestCommandNamesAllThatIsMissing(t *testing.T) {
	for _, name := range []string{
		"DATABASE_URL", "CAMPAIGN_ADDRESS", "CAMPAIGN_URL", "CAMPAIGN_SENDER", "CAMPAIGN_ZONE", "MESSAGING_BASE_URL", "MESSAGING_WEBHOOK_SECRET",
	} {
		t.Setenv(name, "")
	}
	err := command(t.Context(), []string{t.TempDir()})
	for _, name := range []string{
		"DATABASE_URL", "CAMPAIGN_ADDRESS", "CAMPAIGN_URL", "CAMPAIGN_SENDER", "CAMPAIGN_ZONE", "MESSAGING_BASE_URL", "MESSAGING_WEBHOOK_SECRET",
	} {
		require.ErrorContains(t, err, name)
	}
	for _, args := range [][]string{{"--help"}, {"-h"}, {"spring", "summer"}, {"refresh"}, {"refresh", "-h"}, {"refresh", "spring", "summer"}} {
		require.EqualError(t, command(t.Context(), args), "usage: campaign [FOLDER | receive | refresh FOLDER]")
	}
}
