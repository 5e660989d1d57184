package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

const (
	ana   = "+639171234567"
	never = time.Hour // for the SMS of a test that ends before
)

// The test binary is also the program that is killed.
func TestMain(m *testing.M) {
	if _, isKillable := os.LookupEnv("OTP_SCHEMA"); isKillable {
		if err := serveUntilKilled(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func serveUntilKilled() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	in, err := settingsFromEnv()
	if err != nil {
		return err
	}
	in.smsAfter = 4 * time.Second
	in.outbox = messagingriver.Options{Schema: os.Getenv("OTP_SCHEMA"), SendTimeout: time.Second, SettleFor: 3 * time.Second}
	return listenAndServe(ctx, in)
}

// database is where the codes are. The schema is empty on SQLite.
type database struct{ url, schema string }

// databases returns a database of each kind, with the tables. PostgreSQL is OUTBOX_POSTGRES, with a pool of four.
func databases(t *testing.T) map[string]database {
	t.Helper()
	all := map[string]database{"SQLite": {url: filepath.Join(t.TempDir(), "otp.db")}}
	if postgres := os.Getenv("OUTBOX_POSTGRES"); postgres != "" {
		schema := "otp" + strings.ToLower(rand.Text())[:12]
		connection, err := pgx.Connect(t.Context(), postgres)
		require.NoError(t, err)
		_, err = connection.Exec(t.Context(), "CREATE SCHEMA "+schema)
		require.NoError(t, err)
		require.NoError(t, connection.Close(t.Context()))
		all["PostgreSQL"] = database{url: postgres + "&pool_max_conns=4&search_path=" + schema, schema: schema}
	}
	for _, in := range all {
		require.NoError(t, migrate(t.Context(), in.settings(t, messagingtest.NewServer(t), never)))
	}
	return all
}

func (in database) settings(t *testing.T, service *messagingtest.Server, smsAfter time.Duration) settings {
	t.Helper()
	all, err := demoSettings(service, in.url)
	require.NoError(t, err)
	all.smsAfter = smsAfter
	all.outbox = messagingriver.Options{Schema: in.schema}
	return all
}

// open opens a program that does not serve.
func (in database) open(t *testing.T, service *messagingtest.Server, smsAfter time.Duration) *otp {
	t.Helper()
	o, err := open(t.Context(), in.settings(t, service, smsAfter))
	require.NoError(t, err)
	t.Cleanup(o.close)
	return o
}

// program is a program that serves.
type program struct {
	t       *testing.T
	service *messagingtest.Server
	base    string
	o       *otp // in the same database; it sends nothing
}

func startProgram(t *testing.T, in database, service *messagingtest.Server, smsAfter time.Duration) *program {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "localhost:0")
	require.NoError(t, err)
	all := in.settings(t, service, smsAfter)
	all.url = "http://" + listener.Addr().String()
	running, err := start(t.Context(), all)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- running.serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-served)
		running.close()
	})
	return &program{t: t, service: service, base: all.url, o: in.open(t, service, smsAfter)}
}

// call makes a request, and returns the status and the text of the response.
func call(t *testing.T, method, target string, form url.Values) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, strings.TrimSpace(string(text))
}

// ask asks for a code, with a request of its own, and returns its challenge.
func (p *program) ask(number string) string {
	p.t.Helper()
	status, challenge := call(p.t, http.MethodPost, p.base+"/codes", url.Values{"to": {number}, "request": {rand.Text()}})
	require.Equal(p.t, http.StatusAccepted, status)
	return challenge
}

func (p *program) verify(challenge, digits string) (int, string) {
	p.t.Helper()
	return call(p.t, http.MethodPost, p.base+"/codes/verify", url.Values{"challenge": {challenge}, "code": {digits}})
}

func (p *program) status(challenge string) (int, string) {
	p.t.Helper()
	return call(p.t, http.MethodPost, p.base+"/codes/status", url.Values{"challenge": {challenge}})
}

// waitForStatus waits until the page sees a status.
func (p *program) waitForStatus(challenge, status string) {
	p.t.Helper()
	require.EventuallyWithT(p.t, func(c *assert.CollectT) {
		_, shown := p.status(challenge)
		assert.Equal(c, status, shown)
	}, 30*time.Second, 20*time.Millisecond)
}

// next returns the next message to a number, which is to come over a channel.
func (p *program) next(number, channel string) messagingtest.Sent {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	message, err := p.service.WaitFor(ctx, number)
	require.NoError(p.t, err)
	require.Equal(p.t, channel, message.Channel)
	return message
}

// report has the service report on a message, and returns the statuses of the responses.
func (p *program) report(message messagingtest.Sent, status string, options ...messagingtest.CallOption) []int {
	p.t.Helper()
	var statuses []int
	for _, result := range p.service.ReportDelivery(p.t.Context(), message.ID, status, options...) {
		require.NoError(p.t, result.Err)
		statuses = append(statuses, result.StatusCode)
	}
	return statuses
}

// endWait ends the wait for a report, of all codes whose SMS may be needed.
func (p *program) endWait() {
	p.t.Helper()
	_, err := p.o.db.ExecContext(p.t.Context(), "UPDATE otp_code SET sms_due = 1 WHERE sms_due IS NOT NULL")
	require.NoError(p.t, err)
}

// countSMS returns how many SMS were enqueued, when none is due any more.
func (p *program) countSMS() int {
	p.t.Helper()
	require.NoError(p.t, p.o.enqueueDue(p.t.Context()))
	n := 0
	for record, err := range p.o.outbox.List(p.t.Context()) {
		require.NoError(p.t, err)
		if record.Channel == "sms" {
			n++
		}
	}
	return n
}

func TestDemo(t *testing.T) {
	t.Parallel()
	require.NoError(t, demo(t.Context()))
}

func TestRunNeedsAMigratedDatabase(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	in, err := demoSettings(service, filepath.Join(t.TempDir(), "otp.db"))
	require.NoError(t, err)
	require.ErrorContains(t, run(t.Context(), service, in), "run: otp migrate: messagingriver: the database has no outbox yet: run Migrate")
	require.NoError(t, migrate(t.Context(), in))
	require.NoError(t, migrate(t.Context(), in))
	require.NoError(t, run(t.Context(), service, in))
	var channels []string
	for _, message := range service.Sent() {
		channels = append(channels, message.Channel)
	}
	assert.Equal(t, []string{"chatapp2", "sms", "chatapp2", "sms"}, channels)
}

func TestSettingsFromEnvNameAllThatIsMissing(t *testing.T) {
	required := []string{"DATABASE_URL", "OTP_ADDRESS", "OTP_URL", "OTP_SENDER", "MESSAGING_BASE_URL", "MESSAGING_WEBHOOK_SECRET"}
	others := []string{"MESSAGING_TOKEN", "MESSAGING_API_KEY", "MESSAGING_API_SECRET", "MESSAGING_CONTRACT"}
	for _, name := range append(others, required...) {
		t.Setenv(name, "")
	}
	for _, name := range []string{"migrate", "serve"} {
		err := command(t.Context(), []string{name})
		for _, missing := range required {
			require.ErrorContains(t, err, missing)
		}
	}
}

func TestCodeArrivesOverTheChatAppAndIsUsedOnce(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			challenge := p.ask(ana)
			message := p.next(ana, "chatapp2")
			p.waitForStatus(challenge, "sent")
			require.Equal(t, []int{http.StatusOK}, p.report(message, "delivered"))
			p.waitForStatus(challenge, "delivered")
			status, number := p.verify(challenge, message.Code())
			assert.Equal(t, http.StatusOK, status)
			assert.Equal(t, ana, number)
			status, _ = p.verify(challenge, message.Code())
			assert.Equal(t, http.StatusGone, status)
			status, _ = p.status(challenge)
			assert.Equal(t, http.StatusGone, status)
			assert.Len(t, service.Sent(), 1)
		})
	}
}

func TestRefusedChatMessageIsFollowedByAnSMSAtOnce(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			for number, code := range map[string]string{"+639171234561": "131026", "+639171234562": "131050"} { // unreachable, no marketing
				service.SetFault("chatapp2", number, messagingtest.FaultCode(code))
				challenge := p.ask(number)
				message := p.next(number, "sms")
				assert.Equal(t, "ACME", message.From)
				p.waitForStatus(challenge, "sent")
				status, verified := p.verify(challenge, message.Code())
				assert.Equal(t, http.StatusOK, status)
				assert.Equal(t, number, verified)
			}
			assert.Len(t, service.Sent(), 2)
		})
	}
}

// The service accepted the chat message, or its response was lost, and no report comes. Then the same code goes out by SMS.
func TestSilentChatMessageIsFollowedByAnSMSAfterTheWait(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			const smsAfter = 2 * time.Second
			p := startProgram(t, in, service, smsAfter)
			faults := map[string]messagingtest.Fault{"+639171234561": {}, "+639171234562": messagingtest.FaultAcceptThenDrop()}
			for number, fault := range faults {
				service.SetFault("chatapp2", number, fault)
				asked := time.Now()
				p.ask(number)
				chat := p.next(number, "chatapp2")
				text := p.next(number, "sms")
				assert.GreaterOrEqual(t, time.Since(asked), smsAfter)
				assert.Equal(t, chat.Code(), text.Code())
				assert.Equal(t, chat.ReferenceID+"-sms", text.ReferenceID)
			}
			assert.Equal(t, len(faults), p.countSMS())
			assert.Len(t, service.Sent(), 2*len(faults))
		})
	}
}

// A refusal that names a message does not prove that the chat message did not go out.
func TestContradictoryRefusalIsFollowedByNoSMSAtOnce(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			service.SetFault("chatapp2", ana, messagingtest.FaultStatusAfter(http.StatusOK, `{"id": "m-1", "code": 40003}`))
			p := startProgram(t, in, service, never)
			p.ask(ana)
			p.next(ana, "chatapp2")
			isDropped := func() bool { return len(contents(t, p.o)) == 0 }
			require.Eventually(t, isDropped, 30*time.Second, 20*time.Millisecond)
			assert.Zero(t, p.countSMS())
		})
	}
}

func TestPausedChatAppIsFollowedByAnSMSAtOnce(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			o := in.open(t, service, never)
			require.NoError(t, o.outbox.PauseChannel(t.Context(), "chatapp2")) // before workers start, which notice a pause within 2 seconds
			p := startProgram(t, in, service, never)
			p.ask(ana)
			p.next(ana, "sms")
			assert.Equal(t, 1, p.countSMS())
		})
	}
}

// The chat message whose turn it is can end the pause, so its SMS waits.
func TestPauseThatIsAboutToEndHoldsNothingBack(t *testing.T) {
	t.Parallel()
	paused := messagingriver.ChannelStatus{Channel: "chatapp2", Paused: true, Cause: "HTTP 429", NextRequest: time.Now().Add(time.Minute)}
	assert.True(t, holdsBack(paused))
	paused.NextRequest = time.Now().Add(time.Second)
	assert.False(t, holdsBack(paused))
}

// While both channels are paused no code can go out, so the page is told so at once. A code that was added before keeps its challenge.
func TestNoCodeWhileBothChannelsArePaused(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			o := in.open(t, service, never)
			require.NoError(t, o.outbox.PauseChannel(t.Context(), "chatapp2"))
			p := startProgram(t, in, service, never)
			request := rand.Text()
			challenge, err := p.o.send(t.Context(), ana, request)
			require.NoError(t, err)
			require.NoError(t, o.outbox.PauseChannel(t.Context(), "sms"))
			statuses, _ := p.askAtOnce(ana, rand.Text())
			assert.Equal(t, map[int]int{http.StatusServiceUnavailable: 1}, statuses)
			assert.Equal(t, 1, p.countCodes())
			again, err := p.o.send(t.Context(), ana, request)
			require.NoError(t, err)
			assert.Equal(t, challenge, again)
			require.NoError(t, o.outbox.ResumeChannel(t.Context(), "sms"))
			p.ask(ana)
		})
	}
}

func TestNoSMSOnceThePersonHasTheCode(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			for i, status := range []string{"delivered", "read", "used"} {
				number := fmt.Sprint(ana, i)
				challenge := p.ask(number)
				message := p.next(number, "chatapp2")
				if status == "used" {
					p.verify(challenge, message.Code())
					continue
				}
				p.report(message, status)
				p.report(message, "failed", messagingtest.WithErrorCode("131026")) // after a delivery it is wrong
			}
			p.endWait()
			assert.Zero(t, p.countSMS())
			p.ask(ana)
			p.endWait()
			assert.Equal(t, 1, p.countSMS(), "of the person whose code may not have arrived")
		})
	}
}

// Reports about a chat message that failed are followed by one SMS, however often they come, and even after that SMS failed, too.
func TestOneSMSAfterFailedReports(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			challenge := p.ask(ana)
			chat := p.next(ana, "chatapp2")
			p.report(chat, "failed", messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
			p.report(chat, "expired", messagingtest.WithStatusTime(time.Now().Add(time.Second)))
			text := p.next(ana, "sms")
			p.waitForStatus(challenge, "sent")
			p.report(text, "failed")
			p.waitForStatus(challenge, "failed")
			p.report(chat, "failed", messagingtest.WithStatusTime(time.Now().Add(2*time.Second)))
			assert.Equal(t, 1, p.countSMS())
			assert.Len(t, service.Sent(), 2)
			p.report(chat, "delivered") // late
			p.waitForStatus(challenge, "delivered")
			p.report(text, "failed", messagingtest.WithStatusTime(time.Now().Add(3*time.Second)))
			p.waitForStatus(challenge, "delivered")
		})
	}
}

// The outbox may call noteOutcome again, also after a report.
func TestOutcomeThatComesAgainChangesNothing(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			service.SetFault("chatapp2", ana, messagingtest.FaultCode("131026"))
			p := startProgram(t, in, service, never)
			challenge := p.ask(ana)
			text := p.next(ana, "sms")
			p.waitForStatus(challenge, "sent")
			p.report(text, "delivered")
			refused := messagingriver.Outcome{Verdict: messaging.Refused, Err: messaging.ErrUnreachable}
			refused.Key = messagingriver.Key{Channel: "chatapp2", Reference: strings.TrimSuffix(text.ReferenceID, "-sms")}
			accepted := messagingriver.Outcome{Verdict: messaging.Accepted, Receipt: messaging.Receipt{ID: text.ID}}
			accepted.Key = messagingriver.Key{Channel: "sms", Reference: text.ReferenceID}
			for _, again := range []messagingriver.Outcome{refused, accepted} {
				require.NoError(t, p.o.noteOutcome(t.Context(), again))
			}
			assert.Equal(t, 1, p.countSMS())
			p.waitForStatus(challenge, "delivered")
		})
	}
}

// An ambiguous report may have been written by the recipient of another message.
func TestAmbiguousReportChangesNothing(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			challenge := p.ask(ana)
			message := p.next(ana, "chatapp2")
			p.waitForStatus(challenge, "sent")
			for _, status := range []string{"failed", "delivered"} {
				report := messagingtest.DeliveryReport{
					Status: status, ID: message.ID, ReferenceID: message.ReferenceID, At: time.Now(), Extra: url.Values{"status": {"sent"}},
				}
				for _, result := range service.CallWebhook(t.Context(), message.CallbackURL, report) {
					require.NoError(t, result.Err)
					assert.Equal(t, http.StatusOK, result.StatusCode)
				}
			}
			p.waitForStatus(challenge, "sent")
			assert.Zero(t, p.countSMS(), "after failed")
			p.endWait()
			assert.Equal(t, 1, p.countSMS(), "in spite of delivered")
		})
	}
}

// A report may have only the message ID, and come before the program knows it.
func TestReportWithoutAReferenceID(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			challenge := p.ask(ana)
			chat := p.next(ana, "chatapp2")
			p.waitForStatus(challenge, "sent")
			report := func(id, status string, at time.Time) int {
				report := messagingtest.DeliveryReport{Status: status, ID: id, At: at}
				results := service.CallWebhook(t.Context(), p.base+"/hooks/delivery?key=secret-of-a-demo", report)
				require.Len(t, results, 1)
				return results[0].StatusCode
			}
			assert.Equal(t, http.StatusOK, report("of a code that was deleted", "failed", time.Time{}))
			assert.Equal(t, http.StatusOK, report("of an old code", "failed", time.Now().Add(-2*time.Minute)))
			assert.Equal(t, http.StatusOK, report(strings.Repeat("long", 10_000), "failed", time.Now()))
			assert.Equal(t, http.StatusOK, report(chat.ID, "failed", time.Now()))
			text := p.next(ana, "sms")
			require.Equal(t, http.StatusOK, report(text.ID, "failed", time.Now()))
			p.waitForStatus(challenge, "failed")
		})
	}
}

// A report that has only the message ID can come before the program knows that ID, and even twice. It is kept, because the service may not repeat it.
func TestEarlyReportIsKept(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			o := in.open(t, service, never)
			server := httptest.NewServer(o)
			defer server.Close()
			for i, row := range []struct {
				reports []string
				want    string
				isDue   bool // the SMS
			}{
				{reports: []string{"queued"}, want: "sent"},
				{reports: []string{"delivered", "read"}, want: "delivered"},
				{reports: []string{"failed", "delivered"}, want: "delivered"},
				{reports: []string{"delivered", "failed"}, want: "delivered"},
				{reports: []string{"failed", "expired"}, want: "waiting", isDue: true},
			} {
				challenge, err := o.send(t.Context(), fmt.Sprint(ana, i), rand.Text())
				require.NoError(t, err)
				id := fmt.Sprint("m-", i)
				for _, status := range row.reports {
					report := messagingtest.DeliveryReport{Status: status, ID: id}
					for _, result := range service.CallWebhook(t.Context(), server.URL+"/hooks/delivery?key=secret-of-a-demo", report) {
						require.NoError(t, result.Err)
						assert.Equal(t, http.StatusOK, result.StatusCode)
					}
				}
				var reference string
				require.NoError(t, o.db.QueryRowContext(t.Context(), "SELECT reference FROM otp_code WHERE challenge = $1", challenge).Scan(&reference))
				require.NoError(t, o.noteAccepted(t.Context(), reference, id))
				require.NoError(t, o.noteAccepted(t.Context(), reference, id), "again")
				status, err := o.status(t.Context(), challenge)
				require.NoError(t, err)
				assert.Equal(t, row.want, status, row.reports)
				var isDue bool
				query := "SELECT COALESCE(sms_due = 0, FALSE) FROM otp_code WHERE reference = $1"
				require.NoError(t, o.db.QueryRowContext(t.Context(), query, reference).Scan(&isDue))
				assert.Equal(t, row.isDue, isDue, row.reports)
			}
		})
	}
}

// Reports about codes that were deleted, and about messages of other programs, do not come again, whatever codes there are. They are not kept for long.
func TestReportOnAnUnknownMessageDoesNotComeAgain(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			delivered := p.ask(ana)
			p.report(p.next(ana, "chatapp2"), "delivered")
			p.waitForStatus(delivered, "delivered")
			const bob = "+639181234567"
			service.SetFault("chatapp2", bob, messagingtest.FaultSlow(time.Second)) // a send under way
			p.ask(bob)
			for _, status := range []string{"read", "delivered", "failed"} {
				report := messagingtest.DeliveryReport{Status: status, ID: "of another program"}
				for _, result := range service.CallWebhook(t.Context(), p.base+"/hooks/delivery?key=secret-of-a-demo", report) {
					require.NoError(t, result.Err)
					assert.Equal(t, http.StatusOK, result.StatusCode, status)
				}
			}
			_, err := p.o.db.ExecContext(t.Context(), "UPDATE otp_message SET noted = 1") // as after five minutes
			require.NoError(t, err)
			require.NoError(t, p.o.prune(t.Context()))
			var left int
			require.NoError(t, p.o.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM otp_message WHERE noted = 1").Scan(&left))
			assert.Zero(t, left)
		})
	}
}

// Chat app 2's platform reports to the URL for messages, with the message ID alone. A message that comes there changes nothing.
func TestStatusOfThePlatform(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			challenge := p.ask(ana)
			chat := p.next(ana, "chatapp2")
			p.waitForStatus(challenge, "sent")
			id, err := json.Marshal(chat.ID)
			require.NoError(t, err)
			target := p.base + "/hooks/chatapp2?key=secret-of-a-demo"
			for _, event := range []messagingtest.InboundChatApp{
				{Channel: "chatapp2", ID: "in-1", From: ana, To: "sender-1", Text: "hi"},
				{Channel: "chatapp2", JSON: fmt.Sprintf(`{"id":%s,"status":"failed","timestamp":"%d","recipient_id":%q}`, id, time.Now().Unix(), ana)},
			} {
				results := service.CallWebhook(t.Context(), target, event)
				require.Len(t, results, 1)
				require.Equal(t, http.StatusOK, results[0].StatusCode)
			}
			p.next(ana, "sms")
		})
	}
}

// A report without an ID is about no code, even if the message ID of a code is not known yet.
func TestReportWithoutAnID(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := in.open(t, messagingtest.NewServer(t), never)
			_, err := o.send(t.Context(), ana, rand.Text())
			require.NoError(t, err)
			tx, err := o.db.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			defer tx.Rollback() //nolint:errcheck // it is only read
			reference, err := referenceOf(t.Context(), tx, webhook.DeliveryReport{Status: webhook.StatusDelivered})
			require.NoError(t, err)
			assert.Empty(t, reference)
		})
	}
}

// A report that PostgreSQL refuses does not keep others from being handled.
func TestReportWithAZeroByteBlocksNoOther(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			challenge := p.ask(ana)
			message := p.next(ana, "chatapp2")
			for _, bad := range []messagingtest.DeliveryReport{
				{ReferenceID: message.ReferenceID + "\x00", Status: "failed"},
				{ID: message.ID + "\x00", Status: "failed"},
			} {
				service.CallWebhook(t.Context(), p.base+"/hooks/delivery?key=secret-of-a-demo", bad)
			}
			p.report(message, "delivered")
			p.waitForStatus(challenge, "delivered")
			assert.Zero(t, p.countSMS())
		})
	}
}

// The page can tell a number that may be wrong from a failure. The outbox keeps neither code nor number.
func TestStatusOfAnSMSThatIsRefused(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			service.SetFault("chatapp2", ana, messagingtest.FaultCode("131026"))
			service.SetFault("sms", ana, messagingtest.FaultCode("131026"))
			p := startProgram(t, in, service, never)
			challenge := p.ask(ana)
			p.waitForStatus(challenge, "refused")
			assert.Empty(t, service.Sent())
			require.Eventually(t, func() bool { return len(contents(t, p.o)) == 0 }, 30*time.Second, 20*time.Millisecond)

			var reference string
			require.NoError(t, p.o.db.QueryRowContext(t.Context(), "SELECT reference FROM otp_code").Scan(&reference))
			expired := messagingriver.Outcome{Verdict: messaging.NotSent, Err: errors.New("expired")}
			expired.Key = messagingriver.Key{Channel: "sms", Reference: reference + suffixSMS}
			require.NoError(t, p.o.noteOutcome(t.Context(), expired))
			p.waitForStatus(challenge, "failed")
		})
	}
}

// An SMS whose outcome is unknown may arrive.
func TestUnknownSMSHasNotFailed(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := in.open(t, messagingtest.NewServer(t), never)
			challenge, err := o.send(t.Context(), ana, rand.Text())
			require.NoError(t, err)
			var reference string
			require.NoError(t, o.db.QueryRowContext(t.Context(), "SELECT reference FROM otp_code").Scan(&reference))
			notSent := messagingriver.Outcome{Verdict: messaging.NotSent, Err: messagingriver.ErrExpired}
			notSent.Key = messagingriver.Key{Channel: "chatapp2", Reference: reference}
			require.NoError(t, o.noteOutcome(t.Context(), notSent))
			unknown := messagingriver.Outcome{Verdict: messaging.Unknown, Err: context.DeadlineExceeded}
			unknown.Key = messagingriver.Key{Channel: "sms", Reference: reference + suffixSMS}
			require.NoError(t, o.noteOutcome(t.Context(), unknown))
			status, err := o.status(t.Context(), challenge)
			require.NoError(t, err)
			assert.Equal(t, "unknown", status)

			require.NoError(t, o.noteAccepted(t.Context(), reference+suffixSMS, "m-1"))
			status, err = o.status(t.Context(), challenge)
			require.NoError(t, err)
			assert.Equal(t, "sent", status)
		})
	}
}

// As long as the chat message may arrive, the page is not told that nothing will, whatever becomes of the SMS and in whatever order it is known.
func TestStatusIsThatOfTheBetterMessage(t *testing.T) {
	t.Parallel()
	accepted := messagingriver.Outcome{Verdict: messaging.Accepted, Receipt: messaging.Receipt{ID: "m-1"}}
	unknown := messagingriver.Outcome{Verdict: messaging.Unknown, Err: context.DeadlineExceeded}
	refused := messagingriver.Outcome{Verdict: messaging.Refused, Err: messaging.ErrUnreachable}
	failed := messagingriver.Outcome{Verdict: messaging.NotSent, Err: messagingriver.ErrExpired}
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := in.open(t, messagingtest.NewServer(t), never)
			for i, row := range []struct {
				chat, sms *messagingriver.Outcome
				reports   []string // on the chat message, at last
				want      string
			}{
				{chat: &accepted, sms: &refused, want: "sent"},
				{chat: &accepted, sms: &failed, want: "sent"},
				{chat: &accepted, sms: &unknown, want: "sent"},
				{chat: &unknown, sms: &refused, want: "unknown"},
				{chat: &unknown, sms: &failed, want: "unknown"},
				{chat: &unknown, sms: &unknown, want: "unknown"},
				{chat: &unknown, want: "waiting"}, // for the SMS
				{chat: &refused, want: "waiting"},
				{sms: &refused, want: "waiting"}, // for the chat message
				{chat: &failed, sms: &refused, want: "refused"},
				{chat: &refused, sms: &failed, want: "failed"},
				{chat: &accepted, reports: []string{"failed"}, want: "waiting"},
				{chat: &accepted, sms: &refused, reports: []string{"failed"}, want: "refused"},
				{chat: &accepted, sms: &accepted, reports: []string{"failed"}, want: "sent"},
				{chat: &unknown, sms: &refused, reports: []string{"failed", "delivered"}, want: "delivered"},
			} {
				challenge, err := o.send(t.Context(), fmt.Sprint(ana, i), rand.Text())
				require.NoError(t, err)
				var reference string
				query := "SELECT reference FROM otp_code WHERE challenge = $1"
				require.NoError(t, o.db.QueryRowContext(t.Context(), query, challenge).Scan(&reference))
				note := func(outcome *messagingriver.Outcome, channel, reference string) {
					if outcome != nil {
						noted := *outcome
						noted.Key = messagingriver.Key{Channel: channel, Reference: reference}
						require.NoError(t, o.noteOutcome(t.Context(), noted))
					}
				}
				note(row.sms, "sms", reference+suffixSMS)
				note(row.chat, "chatapp2", reference)
				note(row.sms, "sms", reference+suffixSMS)
				for _, status := range row.reports {
					tx, err := o.db.BeginTx(t.Context(), nil)
					require.NoError(t, err)
					require.NoError(t, o.noteReport(t.Context(), tx, reference, webhook.Status(status)))
					require.NoError(t, tx.Commit())
				}
				status, err := o.status(t.Context(), challenge)
				require.NoError(t, err)
				assert.Equal(t, row.want, status, i)
			}
		})
	}
}

// If the chat message fails so late that no SMS is enqueued, the page does not wait for one.
func TestStatusIfItIsTooLateForAnSMS(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := in.open(t, messagingtest.NewServer(t), never)
			challenge, err := o.send(t.Context(), ana, rand.Text())
			require.NoError(t, err)
			update := func(statement string) {
				_, err := o.db.ExecContext(t.Context(), statement)
				require.NoError(t, err)
			}
			for _, row := range []struct{ chat, before, want string }{
				{"waiting", "waiting", "waiting"},
				{"failed", "waiting", "failed"},
				{"unknown", "waiting", "unknown"},
				{"sent", "sent", "sent"},
			} {
				update("UPDATE otp_code SET chat_status = '" + row.chat + "'")
				status, err := o.status(t.Context(), challenge)
				require.NoError(t, err)
				assert.Equal(t, row.before, status)
				update("UPDATE otp_code SET expires = expires - 271000") // 29 seconds before it expires
				status, err = o.status(t.Context(), challenge)
				require.NoError(t, err)
				assert.Equal(t, row.want, status)
				update("UPDATE otp_code SET expires = expires + 271000")
			}
			update("UPDATE otp_code SET chat_status = 'failed', sms_due = NULL, expires = expires - 271000") // the SMS was enqueued before
			status, err := o.status(t.Context(), challenge)
			require.NoError(t, err)
			assert.Equal(t, "waiting", status)
		})
	}
}

// A database may have tables of the copier, or of an earlier version, with short names.
func TestMigrateBesideOtherTables(t *testing.T) {
	t.Parallel()
	in := database{url: filepath.Join(t.TempDir(), "otp.db")}
	o := in.open(t, messagingtest.NewServer(t), never)
	const others = "CREATE TABLE code (id INT); CREATE TABLE message (text TEXT); CREATE TABLE code_count (n INT)"
	_, err := o.db.ExecContext(t.Context(), others)
	require.NoError(t, err)
	require.NoError(t, o.createTables(t.Context()))
	_, err = o.send(t.Context(), ana, rand.Text())
	require.NoError(t, err)
}

// An SMS that is not valid does not hold up those of other codes.
func TestInvalidSMSHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := in.open(t, messagingtest.NewServer(t), 0)
			invalid, err := o.send(t.Context(), ana, rand.Text())
			require.NoError(t, err)
			_, err = o.db.ExecContext(t.Context(), "UPDATE otp_code SET number = 'none', chat_status = 'failed'")
			require.NoError(t, err)
			_, err = o.send(t.Context(), ana, rand.Text())
			require.NoError(t, err)
			require.NoError(t, o.enqueueDue(t.Context()))
			enqueued := 0
			for record, err := range o.outbox.List(t.Context()) {
				require.NoError(t, err)
				if record.Channel == "sms" {
					enqueued++
				}
			}
			assert.Equal(t, 1, enqueued)
			status, err := o.status(t.Context(), invalid)
			require.NoError(t, err)
			assert.Equal(t, "refused", status)
		})
	}
}

// countCodes returns how many codes there are.
func (p *program) countCodes() int {
	p.t.Helper()
	n := 0
	require.NoError(p.t, p.o.db.QueryRowContext(p.t.Context(), "SELECT COUNT(*) FROM otp_code").Scan(&n))
	return n
}

// countSent returns how many messages the service has sent over a channel.
func (p *program) countSent(channel string) int {
	n := 0
	for _, message := range p.service.Sent() {
		if message.Channel == channel {
			n++
		}
	}
	return n
}

// contents returns the references of the messages whose content the outbox has.
func contents(t *testing.T, o *otp) []string {
	t.Helper()
	var found []string
	for record, err := range o.outbox.List(t.Context()) {
		require.NoError(t, err)
		if record.Message != nil {
			found = append(found, record.Reference)
		}
	}
	return found
}

// Messages that still wait when the person has used the code do not go out.
func TestWaitingMessagesAreDroppedWithTheCode(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			o := in.open(t, service, 0)
			challenge, err := o.send(t.Context(), ana, rand.Text())
			require.NoError(t, err)
			require.NoError(t, o.outbox.PauseChannel(t.Context(), "chatapp2"))
			require.NoError(t, o.outbox.PauseChannel(t.Context(), "sms"))
			p := startProgram(t, in, service, 0)
			require.Eventually(t, func() bool { return len(contents(t, o)) == 2 }, 30*time.Second, 20*time.Millisecond)
			var digits string
			require.NoError(t, p.o.db.QueryRowContext(t.Context(), "SELECT digits FROM otp_code").Scan(&digits))
			status, _ := p.verify(challenge, digits)
			require.Equal(t, http.StatusOK, status)
			assert.Empty(t, contents(t, o))
			for record, err := range o.outbox.List(t.Context()) {
				require.NoError(t, err)
				assert.Equal(t, rivertype.JobStateCancelled, record.State)
			}
		})
	}
}

func TestFiveWrongTries(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			challenge := p.ask(ana)
			message := p.next(ana, "chatapp2")
			var mu sync.Mutex
			responses := map[int]int{}
			var tries sync.WaitGroup
			for range 4 * maxTries { // at once, so that none slips through
				tries.Go(func() {
					status, _ := p.verify(challenge, "wrong")
					mu.Lock()
					defer mu.Unlock()
					responses[status]++
				})
			}
			tries.Wait()
			assert.Equal(t, map[int]int{http.StatusForbidden: maxTries, http.StatusGone: 3 * maxTries}, responses)
			status, _ := p.verify(challenge, message.Code())
			assert.Equal(t, http.StatusGone, status)
			var isSMSDue bool
			require.NoError(t, p.o.db.QueryRowContext(t.Context(), "SELECT sms_due IS NOT NULL FROM otp_code").Scan(&isSMSDue))
			assert.False(t, isSMSDue, "no one can use it")
		})
	}
}

// A stranger verifies a code of his own, and names the number of another person.
func TestVerifiedNumberIsThatOfTheCode(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			const stranger = "+639181234567"
			challenge, challengeOfAna := p.ask(stranger), p.ask(ana)
			digits := p.next(stranger, "chatapp2").Code()
			for digits == p.next(ana, "chatapp2").Code() { // one in a million
				challengeOfAna = p.ask(ana)
			}
			status, _ := p.verify(challengeOfAna, digits)
			assert.Equal(t, http.StatusForbidden, status)
			form := url.Values{"challenge": {challenge}, "code": {digits}, "to": {ana}, "number": {ana}}
			status, number := call(t, http.MethodPost, p.base+"/codes/verify", form)
			assert.Equal(t, http.StatusOK, status)
			assert.Equal(t, stranger, number)
			status, _ = p.verify("unknown", digits)
			assert.Equal(t, http.StatusGone, status)
			status, _ = p.verify("", "")
			assert.Equal(t, http.StatusGone, status)
		})
	}
}

// askAtOnce asks for codes to one number at once, each with one of the requests, and returns the responses.
func (p *program) askAtOnce(number string, requests ...string) (statuses map[int]int, challenges map[string]bool) {
	p.t.Helper()
	var mu sync.Mutex
	statuses, challenges = map[int]int{}, map[string]bool{}
	var asked sync.WaitGroup
	for _, request := range requests {
		asked.Go(func() {
			status, text := call(p.t, http.MethodPost, p.base+"/codes", url.Values{"to": {number}, "request": {request}})
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
			if status == http.StatusAccepted {
				challenges[text] = true
			}
		})
	}
	asked.Wait()
	return statuses, challenges
}

// A page whose response was lost repeats its request.
func TestRepeatedRequestSendsOneCode(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			request := rand.Text()
			statuses, challenges := p.askAtOnce(ana, request, request, request, request, request, request)
			assert.Equal(t, map[int]int{http.StatusAccepted: 6}, statuses)
			assert.Len(t, challenges, 1)
			const bob = "+639181234567"
			_, others := p.askAtOnce(bob, request)
			assert.Len(t, others, 1)
			for challenge := range others {
				assert.NotContains(t, challenges, challenge, "of another number")
			}
			p.next(ana, "chatapp2")
			p.next(bob, "chatapp2")
			assert.Len(t, service.Sent(), 2)
			assert.Equal(t, 2, p.countCodes())
		})
	}
}

// A number gets three codes, even if many requests come at once, and none of the codes arrives.
func TestTooManyCodes(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			service.SetFault("chatapp2", ana, messagingtest.FaultCode("131026"))
			service.SetFault("sms", ana, messagingtest.FaultCode("131026"))
			p := startProgram(t, in, service, never)
			requests := make([]string, 20)
			for i := range requests {
				requests[i] = rand.Text()
			}
			statuses, challenges := p.askAtOnce(ana, requests...)
			assert.Equal(t, map[int]int{http.StatusAccepted: maxCodes, http.StatusTooManyRequests: len(requests) - maxCodes}, statuses)
			assert.Len(t, challenges, maxCodes)
			for challenge := range challenges {
				p.waitForStatus(challenge, "refused")
			}
			statuses, _ = p.askAtOnce(ana, rand.Text())
			assert.Equal(t, map[int]int{http.StatusTooManyRequests: 1}, statuses)
			p.ask("+639181234567")
			_, err := p.o.db.ExecContext(t.Context(), "UPDATE otp_code SET expires = 1 WHERE number = $1", ana) // as after five minutes
			require.NoError(t, err)
			p.ask(ana)
		})
	}
}

// A number gets ten codes in a day, and the requests that were accepted can be repeated.
func TestTooManyCodesToday(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := in.open(t, messagingtest.NewServer(t), never)
			update := func(statement string) {
				t.Helper()
				_, err := o.db.ExecContext(t.Context(), statement)
				require.NoError(t, err)
			}
			const expire = "UPDATE otp_code SET expires = 1"
			for range maxCodesPerDay - 1 {
				_, err := o.send(t.Context(), ana, rand.Text())
				require.NoError(t, err)
				update(expire)
			}
			request := rand.Text()
			last, err := o.send(t.Context(), ana, request)
			require.NoError(t, err)
			again, err := o.send(t.Context(), ana, request)
			require.NoError(t, err)
			assert.Equal(t, last, again)

			w := httptest.NewRecorder()
			form := strings.NewReader(url.Values{"to": {ana}, "request": {rand.Text()}}.Encode())
			asked := httptest.NewRequest(http.MethodPost, "/codes", form)
			asked.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			o.ServeHTTP(w, asked)
			assert.Equal(t, http.StatusTooManyRequests, w.Code)
			assert.Equal(t, errTooManyToday.Error(), strings.TrimSpace(w.Body.String()))
			status, err := o.status(t.Context(), last)
			require.NoError(t, err)
			assert.Equal(t, "waiting", status, "the last code is still valid")

			_, err = o.send(t.Context(), "+639181234567", rand.Text())
			require.NoError(t, err)
			update("UPDATE otp_count SET day = '2020-01-01' WHERE number = '" + ana + "'") // as on the next day
			_, err = o.send(t.Context(), ana, rand.Text())
			require.NoError(t, err)
			require.NoError(t, o.prune(t.Context()))
			var counts int
			require.NoError(t, o.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM otp_count").Scan(&counts))
			assert.Equal(t, 2, counts)
		})
	}
}

// Of many requests at once, none gets past the limit of a day.
func TestTooManyCodesTodayAtOnce(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startProgram(t, in, messagingtest.NewServer(t), never)
			const insert = "INSERT INTO otp_count (number, day, codes) VALUES ($1, $2, $3)"
			_, err := p.o.db.ExecContext(t.Context(), insert, ana, today(), maxCodesPerDay-1)
			require.NoError(t, err)
			statuses, challenges := p.askAtOnce(ana, rand.Text(), rand.Text(), rand.Text())
			assert.Equal(t, map[int]int{http.StatusAccepted: 1, http.StatusTooManyRequests: 2}, statuses)
			assert.Len(t, challenges, 1)
			assert.Equal(t, 1, p.countCodes())
		})
	}
}

// A code that has expired is neither valid nor sent, and is deleted.
func TestExpiredCode(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			p := startProgram(t, in, service, never)
			challenge := p.ask(ana)
			message := p.next(ana, "chatapp2")
			_, err := p.o.db.ExecContext(t.Context(), "UPDATE otp_code SET expires = 1")
			require.NoError(t, err)
			p.endWait()
			status, _ := p.verify(challenge, message.Code())
			assert.Equal(t, http.StatusGone, status)
			assert.Zero(t, p.countSMS())
			p.ask("+639181234567")
			require.NoError(t, p.o.prune(t.Context()))
			assert.Equal(t, 1, p.countCodes())
		})
	}
}

// On PostgreSQL, prune leaves the rows that a request is deleting, too: each could wait for the other.
func TestPruneDoesNotWait(t *testing.T) {
	t.Parallel()
	in, hasPostgres := databases(t)["PostgreSQL"]
	if !hasPostgres {
		t.Skip("run it with .ci/with-postgres")
	}
	o := in.open(t, messagingtest.NewServer(t), never)
	for _, number := range []string{ana, "+639181234567"} {
		_, err := o.send(t.Context(), number, rand.Text())
		require.NoError(t, err)
	}
	_, err := o.db.ExecContext(t.Context(), "UPDATE otp_code SET expires = 1")
	require.NoError(t, err)
	tx, err := o.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback() //nolint:errcheck // it was rolled back
	_, err = tx.ExecContext(t.Context(), "DELETE FROM otp_code WHERE number = $1", ana)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(t, o.prune(ctx))
	require.NoError(t, tx.Rollback())
	var left string
	require.NoError(t, o.db.QueryRowContext(t.Context(), "SELECT number FROM otp_code").Scan(&left))
	assert.Equal(t, ana, left)
}

// The messages of a code are urgent, ask no guard, and arrive while it is valid: the service tries to deliver the chat message until then at most, and
// the SMS, which may be sent late, is not sent in the last seconds. Its text is true whenever it arrives.
func TestMessagesExpireWithTheCode(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := in.settings(t, messagingtest.NewServer(t), 0)
			var err error
			all.client, err = all.client.With(messaging.WithGuard(func(context.Context, messaging.Outgoing) error { return messaging.Deny(messaging.ErrOptedOut) }))
			require.NoError(t, err)
			o, err := open(t.Context(), all)
			require.NoError(t, err)
			t.Cleanup(o.close)
			_, err = o.send(t.Context(), ana, rand.Text())
			require.NoError(t, err)
			_, err = o.db.ExecContext(t.Context(), "UPDATE otp_code SET expires = expires - 240000") // as if four minutes had passed
			require.NoError(t, err)
			require.NoError(t, o.enqueueDue(t.Context()))
			var expires int64
			require.NoError(t, o.db.QueryRowContext(t.Context(), "SELECT expires FROM otp_code").Scan(&expires))
			end := time.UnixMilli(expires)
			found := map[string]bool{}
			for record, err := range o.outbox.List(t.Context()) {
				require.NoError(t, err)
				found[record.Channel] = true
				assert.Equal(t, messagingriver.Urgent, record.Priority)
				switch message := record.Message.(type) {
				case chatapp2.Message:
					assert.Positive(t, message.TTL)
					latest := record.Expires.Add(5*time.Second + message.TTL) // SendTimeout
					assert.False(t, latest.After(end.Add(4*time.Minute)), "the end at first")
				case sms.Message:
					assert.WithinDuration(t, end.Add(-typingTime), record.Expires, 5*time.Second)
					assert.Contains(t, message.Text, "It expires 5 minutes after you asked for it.")
				}
			}
			assert.Equal(t, map[string]bool{"chatapp2": true, "sms": true}, found)
			require.NoError(t, o.outbox.Start(t.Context()))
			require.Eventually(t, func() bool { return len(contents(t, o)) == 0 }, 30*time.Second, 20*time.Millisecond)
			for record, err := range o.outbox.List(t.Context()) {
				require.NoError(t, err)
				assert.Equal(t, rivertype.JobStateCompleted, record.State)
			}
			require.NoError(t, o.outbox.Stop(context.WithoutCancel(t.Context())))
		})
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	p := startProgram(t, databases(t)["SQLite"], messagingtest.NewServer(t), never)
	for _, form := range []url.Values{
		{"to": {"00639171234567"}, "request": {rand.Text()}},
		{"to": {"639171234567"}, "request": {rand.Text()}},
		{"to": {"+63 917 123 4567"}, "request": {rand.Text()}},
		{"to": {"US.13491208655302741918"}, "request": {rand.Text()}},
		{"request": {rand.Text()}},
		{"to": {ana}},
		{"to": {ana}, "request": {"short"}},
		{"to": {ana}, "request": {strings.Repeat("a", 65)}},
		{"to": {ana}, "request": {rand.Text() + "\x00"}},
		{"to": {ana}, "request": {rand.Text() + "\xff"}},
	} {
		status, _ := call(t, http.MethodPost, p.base+"/codes", form)
		assert.Equal(t, http.StatusBadRequest, status, form)
	}
	assert.Empty(t, p.service.Sent())
}

// PostgreSQL refuses some of these texts, and an index some others.
func TestChallengesThatAreNone(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startProgram(t, in, messagingtest.NewServer(t), never)
			for _, challenge := range []string{"", rand.Text() + "\x00", rand.Text() + "\xff", strings.Repeat("a", 1<<20)} {
				status, _ := p.status(challenge)
				assert.Equal(t, http.StatusGone, status)
				status, _ = p.verify(challenge, "1")
				assert.Equal(t, http.StatusGone, status)
			}
		})
	}
}

// The secret of the webhook is in the query.
func TestResponseDoesNotRepeatTheQuery(t *testing.T) {
	t.Parallel()
	p := startProgram(t, databases(t)["SQLite"], messagingtest.NewServer(t), never)
	for _, path := range []string{"//hooks/delivery", "/hooks/../hooks/delivery", "/hooks/delivery/", "/nothing"} {
		status, text := call(t, http.MethodGet, p.base+path+"?key=secret-of-a-demo", nil)
		assert.Equal(t, http.StatusNotFound, status, path)
		assert.Empty(t, text, path)
	}
}

// The readiness probe passes while the outbox works.
func TestHealth(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	in := databases(t)["SQLite"]
	p := startProgram(t, in, service, never)
	p.ask(ana) // once it serves
	status, _ := call(t, http.MethodGet, p.base+"/healthz", nil)
	assert.Equal(t, http.StatusOK, status)
	w := httptest.NewRecorder()
	p.o.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil)) // its outbox was not started
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
}

// The programs are copied one by one, so each has the files.
func TestServerIsTheSameInEachProgram(t *testing.T) {
	t.Parallel()
	for file, others := range map[string][]string{"server.go": {"bot", "campaign", "shop"}, "tasks.go": {"bot", "campaign", "shop"}} {
		own, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(own), "messagingriver", "programs without an outbox copy it, too")
		for _, name := range others {
			other, err := os.ReadFile(filepath.Join("..", name, file))
			require.NoError(t, err)
			assert.Equal(t, string(own), string(other), name)
		}
	}
}

// If the outbox cannot start, the program does not listen. If the program cannot listen, it stops the outbox.
func TestListenAndServeFails(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	in := database{url: filepath.Join(t.TempDir(), "otp.db")}.settings(t, messagingtest.NewServer(t), never)
	in.address = taken.Addr().String()
	require.ErrorContains(t, listenAndServe(t.Context(), in), "run: otp migrate: messagingriver: the database has no outbox yet: run Migrate")
	require.NoError(t, migrate(t.Context(), in))
	require.ErrorContains(t, listenAndServe(t.Context(), in), "listen")
}

// Without a database the page may try again, and nothing is sent.
func TestDatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	o, err := open(t.Context(), databases(t)["SQLite"].settings(t, messagingtest.NewServer(t), never))
	require.NoError(t, err)
	o.close()
	server := httptest.NewServer(o)
	defer server.Close()
	status, text := call(t, http.MethodPost, server.URL+"/codes", url.Values{"to": {ana}, "request": {rand.Text()}})
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, "try again", text)
	status, _ = call(t, http.MethodPost, server.URL+"/codes/verify", url.Values{"challenge": {rand.Text()}, "code": {"1"}})
	assert.Equal(t, http.StatusServiceUnavailable, status)
	status, _ = call(t, http.MethodPost, server.URL+"/codes/status", url.Values{"challenge": {rand.Text()}})
	assert.Equal(t, http.StatusServiceUnavailable, status)
}

// The log says what was not sent and which report was not handled, without numbers and codes. Not parallel, because it sets the log.
func TestLogHasNoNumbersAndNoCodes(t *testing.T) {
	var log lockedBuffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	service := messagingtest.NewServer(t)
	service.SetFault("sms", ana, messagingtest.FaultCode("131026"))
	service.SetFault("chatapp2", ana, messagingtest.FaultAcceptThenDrop())
	p := startProgram(t, databases(t)["SQLite"], service, time.Second)
	challenge := p.ask(ana)
	message := p.next(ana, "chatapp2")
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "is refused: ") }, 30*time.Second, 20*time.Millisecond)
	p.waitForStatus(challenge, "unknown") // the chat message may have gone out
	p.verify(challenge, "wrong")
	_, err := p.o.db.ExecContext(t.Context(), "ALTER TABLE otp_code RENAME TO hidden")
	require.NoError(t, err)
	assert.Equal(t, []int{http.StatusInternalServerError}, p.report(message, "delivered"))
	_, err = p.o.db.ExecContext(t.Context(), "ALTER TABLE hidden RENAME TO otp_code")
	require.NoError(t, err)
	text := log.String()
	assert.Contains(t, text, "is unknown: ")
	assert.Contains(t, text, "is refused: ")
	assert.Contains(t, text, `msg="an event was not handled" id=`)
	assert.Contains(t, text, "no such table: otp_code")
	assert.NotContains(t, text, strings.TrimPrefix(ana, "+"))
	assert.NotContains(t, text, message.Code())
	assert.NotContains(t, text, challenge)
	assert.NotContains(t, text, "secret-of-a-demo")
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// killable is the program in a process of its own, in a database that outlives it. Tests with one do not run in parallel with others, which could
// take its address.
type killable struct {
	*program

	database

	address string
	process *exec.Cmd
}

func startKillable(t *testing.T, in database, service *messagingtest.Server) *killable {
	t.Helper()
	free := httptest.NewServer(nil)
	address := free.Listener.Addr().String()
	free.Close()
	k := &killable{program: &program{t: t, service: service, base: "http://" + address, o: in.open(t, service, never)}, database: in, address: address}
	k.start()
	t.Cleanup(k.kill)
	return k
}

func (k *killable) start() {
	k.process = exec.Command(os.Args[0])
	k.process.Stderr = os.Stderr
	k.process.Env = append(os.Environ(), "MESSAGING_BASE_URL="+k.service.URL, "MESSAGING_TOKEN="+k.service.Token,
		"MESSAGING_WEBHOOK_SECRET=key=secret-of-a-demo", "DATABASE_URL="+k.url, "OTP_SCHEMA="+k.schema, "OTP_ADDRESS="+k.address,
		"OTP_URL="+k.base, "OTP_SENDER=ACME")
	require.NoError(k.t, k.process.Start())
}

// kill is kill -9.
func (k *killable) kill() {
	_ = k.process.Process.Kill()
	_ = k.process.Wait()
}

// askUntilAccepted asks as a page does: with the same request, until there is a response.
func (k *killable) askUntilAccepted(number, request string) (challenge string) {
	form := url.Values{"to": {number}, "request": {request}}
	require.Eventually(k.t, func() bool {
		response, err := http.PostForm(k.base+"/codes", form)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		challenge = string(text)
		return err == nil && response.StatusCode == http.StatusAccepted
	}, time.Minute, 20*time.Millisecond)
	return challenge
}

// The process is killed while pages ask and chat messages are being sent. The next one sends what it left: each person gets a code that is valid,
// and no message twice.
func TestKillLosesAndRepeatsNothing(t *testing.T) {
	const people = 30
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			service := messagingtest.NewServer(t)
			k := startKillable(t, in, service)
			request := rand.Text()
			challenges := make([]string, people)
			numbers := make([]string, people)
			for i := range people {
				numbers[i] = fmt.Sprintf("+6391712345%02d", i)
				if i == 1 {
					service.InjectFor(700*time.Millisecond, messagingtest.FaultSlow(500*time.Millisecond)) // so that messages are under way
				}
				challenges[i] = k.askUntilAccepted(numbers[i], request)
				if i%10 == 9 {
					k.kill()
					k.start()
				}
				assert.Equal(t, challenges[i], k.askUntilAccepted(numbers[i], request), "as if the response had been lost")
			}
			for i, number := range numbers {
				message, err := service.WaitFor(t.Context(), number)
				require.NoError(t, err)
				if i%2 == 0 {
					continue
				}
				status, verified := k.verify(challenges[i], message.Code())
				assert.Equal(t, http.StatusOK, status)
				assert.Equal(t, number, verified)
			}
			hasSMS := func() bool { return k.countSent("sms") >= people/2 } // of those who have not used their codes
			require.Eventually(t, hasSMS, time.Minute, 50*time.Millisecond)
			counts := map[string]int{}
			for _, message := range service.Sent() {
				counts[message.Channel+" "+message.To]++
			}
			for message, n := range counts {
				assert.Equal(t, 1, n, message)
			}
			assert.Equal(t, people, k.countCodes())
		})
	}
}

// After SIGTERM the program ends with status 0, and the codes are valid in the next process.
func TestServeEndsOnSIGTERM(t *testing.T) {
	service := messagingtest.NewServer(t)
	k := startKillable(t, databases(t)["SQLite"], service)
	request := rand.Text()
	challenge := k.askUntilAccepted(ana, request)
	require.NoError(t, k.process.Process.Signal(syscall.SIGTERM))
	require.NoError(t, k.process.Wait())
	k.start()
	k.askUntilAccepted(ana, request) // until it listens
	status, number := k.verify(challenge, k.next(ana, "chatapp2").Code())
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, ana, number)
}

// TestMain would find the goroutines of a database that stays open.
func TestFailedOpenClosesTheDatabase(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	for _, databaseURL := range []string{":memory:", "postgres://localhost:1/none"} {
		in := database{url: databaseURL}.settings(t, service, never)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := open(ctx, in)
		require.Error(t, err, "of the store")
		in.outbox.Rate = -1
		_, err = open(t.Context(), in)
		require.Error(t, err, "of the outbox")
	}
}
