package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
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
)

// The test binary is also the program that is killed.
func TestMain(m *testing.M) {
	if _, isKillable := os.LookupEnv("SHOP_SCHEMA"); isKillable {
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
	// An attempt that a kill interrupted is looked up after two seconds, and not for long.
	in.outbox = messagingriver.Options{Schema: os.Getenv("SHOP_SCHEMA"), SendTimeout: time.Second, SettleFor: 3 * time.Second}
	return listenAndServe(ctx, in)
}

// database is where a shop is. The schema is empty on SQLite.
type database struct{ url, schema string }

// databases returns a database of each kind, with the tables. PostgreSQL is OUTBOX_POSTGRES, with a pool of four.
func databases(t *testing.T) map[string]database {
	t.Helper()
	all := map[string]database{"SQLite": {url: filepath.Join(t.TempDir(), "shop.db")}}
	if postgres := os.Getenv("OUTBOX_POSTGRES"); postgres != "" {
		schema := "shop" + strings.ToLower(rand.Text())[:12]
		connection, err := pgx.Connect(t.Context(), postgres)
		require.NoError(t, err)
		_, err = connection.Exec(t.Context(), "CREATE SCHEMA "+schema)
		require.NoError(t, err)
		require.NoError(t, connection.Close(t.Context()))
		address, err := url.Parse(postgres)
		require.NoError(t, err)
		query := address.Query()
		query.Set("pool_max_conns", "4")
		query.Set("search_path", schema)
		address.RawQuery = query.Encode()
		all["PostgreSQL"] = database{url: address.String(), schema: schema}
	}
	for _, in := range all {
		require.NoError(t, migrate(t.Context(), in.settings(t, messagingtest.NewServer(t))))
	}
	return all
}

// open opens the database with database/sql.
func (in database) open(t *testing.T) *sql.DB {
	t.Helper()
	s := new(shop)
	require.NoError(t, s.connect(t.Context(), in.url))
	t.Cleanup(s.close)
	return s.db
}

// settings returns the settings of a shop in the database, which the service cannot call.
func (in database) settings(t *testing.T, service *messagingtest.Server) settings {
	t.Helper()
	all, err := demoSettings(service, in.url)
	require.NoError(t, err)
	all.url = "http://127.0.0.1:1"
	all.outbox = messagingriver.Options{Schema: in.schema}
	return all
}

// newShop returns a shop in this process, which sends.
func newShop(t *testing.T, service *messagingtest.Server, in database) *shop {
	t.Helper()
	s, err := open(t.Context(), in.settings(t, service))
	require.NoError(t, err)
	require.NoError(t, s.outbox.Start(t.Context()))
	t.Cleanup(func() {
		assert.NoError(t, s.outbox.Stop(context.WithoutCancel(t.Context())))
		s.close()
	})
	return s
}

// killable is a shop in a process of its own, in a database that outlives it. Tests with one do not run in parallel with others, which could
// take its address.
type killable struct {
	t       *testing.T
	service *messagingtest.Server
	address string
	database
	process *exec.Cmd
}

func newKillable(t *testing.T, service *messagingtest.Server, in database) *killable {
	t.Helper()
	free := httptest.NewServer(nil)
	k := &killable{t: t, service: service, database: in, address: free.Listener.Addr().String()}
	free.Close()
	k.start()
	t.Cleanup(k.kill)
	return k
}

func (k *killable) start() {
	k.process = exec.Command(os.Args[0])
	k.process.Stderr = os.Stderr
	k.process.Env = append(os.Environ(), "MESSAGING_BASE_URL="+k.service.URL, "MESSAGING_TOKEN="+k.service.Token,
		"MESSAGING_WEBHOOK_SECRET=key=secret-of-a-demo", "DATABASE_URL="+k.url, "SHOP_SCHEMA="+k.schema, "SHOP_ADDRESS="+k.address,
		"SHOP_URL=http://"+k.address, "SHOP_SENDER=ACME")
	require.NoError(k.t, k.process.Start())
}

// kill is kill -9.
func (k *killable) kill() {
	_ = k.process.Process.Kill()
	_ = k.process.Wait()
}

// order orders as a customer does: until there is a response.
func (k *killable) order(id, phone string) {
	require.Eventually(k.t, func() bool {
		response, err := http.PostForm("http://"+k.address+"/orders", url.Values{"id": {id}, "phone": {phone}})
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
}

// ledger opens the database without a process that works in it, and returns the orders by delivery and reports, and the messages.
func (k *killable) ledger() (orders map[string]int, messages []messagingriver.Record) {
	s, err := open(k.t.Context(), k.settings(k.t, k.service))
	require.NoError(k.t, err)
	defer s.close()
	rows, err := s.db.QueryContext(k.t.Context(), "SELECT delivery || ' ' || reports, COUNT(*) FROM shop_order GROUP BY 1")
	require.NoError(k.t, err)
	defer rows.Close()
	orders = map[string]int{}
	for rows.Next() {
		var name string
		var n int
		require.NoError(k.t, rows.Scan(&name, &n))
		orders[name] = n
	}
	require.NoError(k.t, rows.Err())
	require.NoError(k.t, rows.Close())
	for record, err := range s.outbox.List(k.t.Context()) {
		require.NoError(k.t, err)
		messages = append(messages, record)
	}
	return orders, messages
}

func TestDemo(t *testing.T) {
	t.Parallel()
	require.NoError(t, demo(t.Context()))
}

func TestRunInAMigratedDatabase(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	in, err := demoSettings(service, filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	require.ErrorContains(t, run(t.Context(), service, in), "run: shop migrate: messagingriver: the database has no outbox yet: run Migrate")
	require.NoError(t, migrate(t.Context(), in))
	require.NoError(t, migrate(t.Context(), in))
	require.NoError(t, run(t.Context(), service, in))
	sent := service.Sent()
	require.Len(t, sent, 3)
	assert.Equal(t, "template", sent[0].Kind)
	assert.Equal(t, "sms", sent[2].Channel)
}

func TestSettingsFromEnvNameAllThatIsMissing(t *testing.T) {
	names := []string{
		"DATABASE_URL", "SHOP_ADDRESS", "SHOP_URL", "SHOP_SENDER", "MESSAGING_BASE_URL", "MESSAGING_TOKEN", "MESSAGING_API_KEY",
		"MESSAGING_API_SECRET", "MESSAGING_CONTRACT", "MESSAGING_WEBHOOK_SECRET",
	}
	for _, name := range names {
		t.Setenv(name, "")
	}
	err := command(t.Context(), []string{"serve"})
	for _, missing := range []string{"DATABASE_URL", "SHOP_ADDRESS", "SHOP_URL", "SHOP_SENDER", "MESSAGING_BASE_URL", "MESSAGING_WEBHOOK_SECRET"} {
		require.ErrorContains(t, err, missing)
	}
	require.EqualError(t, command(t.Context(), []string{"migrate"}), "DATABASE_URL is not set")
	t.Setenv("DATABASE_URL", filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, command(t.Context(), []string{"migrate"}))
}

// If the outbox cannot start, the shop does not listen. If the shop cannot listen, it stops the outbox.
func TestListenAndServeFails(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	in, err := demoSettings(service, filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	in.address = taken.Addr().String()
	in.url = "http://" + in.address
	require.ErrorContains(t, listenAndServe(t.Context(), in), "run: shop migrate: messagingriver: the database has no outbox yet: run Migrate")
	require.NoError(t, migrate(t.Context(), in))
	require.ErrorContains(t, listenAndServe(t.Context(), in), "listen")
}

// The readiness probe passes while the outbox works.
func TestHealth(t *testing.T) {
	t.Parallel()
	in := databases(t)["SQLite"].settings(t, messagingtest.NewServer(t))
	s, err := open(t.Context(), in)
	require.NoError(t, err)
	defer s.close()
	status := func() int {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		return w.Code
	}
	assert.Equal(t, http.StatusServiceUnavailable, status())
	require.NoError(t, s.outbox.Start(t.Context()))
	assert.Equal(t, http.StatusOK, status())
	require.NoError(t, s.outbox.Stop(t.Context()))
	assert.Equal(t, http.StatusServiceUnavailable, status())
}

// A slow request does not keep the outbox from stopping.
func TestShutdownEndsRequestsAndTheOutboxAtTheSameTime(t *testing.T) {
	t.Parallel()
	s, err := start(t.Context(), databases(t)["SQLite"].settings(t, messagingtest.NewServer(t)))
	require.NoError(t, err)
	defer s.close()
	began, goOn := make(chan struct{}), make(chan struct{})
	s.HandleFunc("GET /slow", func(http.ResponseWriter, *http.Request) {
		close(began)
		<-goOn
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- s.serve(ctx, listener) }()
	responded := make(chan error, 1)
	go func() {
		response, err := http.Get("http://" + listener.Addr().String() + "/slow")
		if err == nil {
			err = response.Body.Close()
		}
		responded <- err
	}()
	<-began
	stop()
	assert.Eventually(t, func() bool { return !s.outbox.Alive() }, 40*time.Second, 20*time.Millisecond)
	close(goOn)
	require.NoError(t, <-responded)
	require.NoError(t, <-served)
}

// If the server fails, no task goes on: the caller closes the database. The test does not run in parallel with others, whose goroutines go on.
func TestServeFails(t *testing.T) {
	before := goleak.IgnoreCurrent()
	service := messagingtest.Start()
	in, err := demoSettings(service, filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	in.url = "http://127.0.0.1:1"
	require.NoError(t, migrate(t.Context(), in))
	s, err := start(t.Context(), in)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	require.ErrorIs(t, s.serve(t.Context(), listener), net.ErrClosed)
	s.close()
	service.Close()
	http.DefaultClient.CloseIdleConnections()
	goleak.VerifyNone(t, before)
}

// A redirect would repeat the secret in a body.
func TestPathThatIsNotCleanIsNotRedirected(t *testing.T) {
	t.Parallel()
	s, err := open(t.Context(), databases(t)["SQLite"].settings(t, messagingtest.NewServer(t)))
	require.NoError(t, err)
	defer s.close()
	handler := newServer(&s.ServeMux).Handler
	for _, target := range []string{"//hooks/sms?key=secret-of-a-demo", "/hooks/other?key=secret-of-a-demo"} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://shop.example"+target, nil))
		assert.Equal(t, http.StatusNotFound, w.Code, target)
		assert.Empty(t, w.Body.String(), target)
	}
}

// After SIGTERM the shop ends with status 0, and the next process sends what it left.
func TestServeEndsOnSIGTERM(t *testing.T) {
	service := messagingtest.NewServer(t)
	k := newKillable(t, service, databases(t)["SQLite"])
	k.order("order-1", "+639171234567")
	require.NoError(t, k.process.Process.Signal(syscall.SIGTERM))
	require.NoError(t, k.process.Wait())
	k.start()
	require.Eventually(t, func() bool { return len(service.Sent()) == 1 }, time.Minute, 20*time.Millisecond)
}

// Events and windows are deleted when they are no longer needed.
func TestPrune(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, messagingtest.NewServer(t), in)
			ago := func(age time.Duration) int64 { return time.Now().Add(-age).UnixMilli() }
			const event = "INSERT INTO webhook_event (id, holder, until, handled_at) VALUES ($1, '', 0, $2)"
			const window = "INSERT INTO conversation (channel, peer, sender, last_at) VALUES ('sms', $1, 'ACME', $2)"
			for id, age := range map[string]time.Duration{"old": 8 * 24 * time.Hour, "recent": time.Minute} {
				for _, statement := range []string{event, window} {
					_, err := s.db.ExecContext(t.Context(), statement, id, ago(age))
					require.NoError(t, err)
				}
			}
			require.NoError(t, s.prune(t.Context()))
			for _, query := range []string{"SELECT id FROM webhook_event", "SELECT peer FROM conversation"} {
				var left string
				require.NoError(t, s.db.QueryRowContext(t.Context(), query+" ORDER BY 1").Scan(&left))
				assert.Equal(t, "recent", left)
			}
		})
	}
}

// Forty customers ask about their orders at once: each gets one reply.
func TestManyCustomersAskAtOnce(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const customers = 40
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			for i := range customers {
				s.addOrder(t, fmt.Sprint("order-", i), fmt.Sprintf("+6391712345%02d", i))
			}
			server := httptest.NewServer(s)
			defer server.Close()
			var calls sync.WaitGroup
			for i := range customers {
				calls.Go(func() {
					question := messagingtest.InboundSMS{ID: fmt.Sprint("in-", i), From: fmt.Sprintf("6391712345%02d", i), To: "ACME", Text: fmt.Sprint("order-", i)}
					replies := service.CallWebhook(t.Context(), server.URL+"/hooks/sms?key=secret-of-a-demo", question, messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(20))
					assert.NotEmpty(t, replies)
				})
			}
			calls.Wait()
			require.Eventually(t, func() bool { return len(service.Sent()) >= customers }, 30*time.Second, 20*time.Millisecond)
			time.Sleep(300 * time.Millisecond)
			assert.Len(t, service.Sent(), customers)
		})
	}
}

// insertOrder inserts an order without a message.
const insertOrder = "INSERT INTO shop_order (id, phone, reference, enqueued) VALUES ($1, $2, $1, $3)"

// addOrder adds an order without a message.
func (s *shop) addOrder(t *testing.T, id, phone string) {
	t.Helper()
	_, err := s.db.ExecContext(t.Context(), insertOrder, id, phone, time.Now().Unix())
	require.NoError(t, err)
}

// orderBySMS takes an order of a customer who cannot be reached over chat app 2, and returns the shop and the SMS.
func orderBySMS(ctx context.Context, t *testing.T, service *messagingtest.Server, in database) (*shop, messagingtest.Sent) {
	t.Helper()
	const phone = "+639171234567"
	service.SetFault("chatapp2", phone, messagingtest.FaultCode("131026"))
	s := newShop(t, service, in)
	require.NoError(t, s.takeOrder(t.Context(), "order-1", phone))
	sent, err := service.WaitFor(ctx, phone)
	require.NoError(t, err)
	assert.Equal(t, "sms", sent.Channel)
	return s, sent
}

// A customer who cannot be reached over chat app 2 gets one SMS, whose report changes the order.
func TestSMSIfChatApp2CannotReachTheCustomer(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			service := messagingtest.NewServer(t)
			s, sent := orderBySMS(ctx, t, service, in)
			server := httptest.NewServer(s)
			defer server.Close()
			report := messagingtest.DeliveryReport{Status: "delivered", ID: sent.ID, ReferenceID: sent.ReferenceID, To: sent.To}
			service.CallWebhook(ctx, server.URL+"/hooks/delivery?key=secret-of-a-demo", report)
			assert.Equal(t, "delivered", s.columnOf(t, "delivery", "order-1"))
			assert.Len(t, service.Sent(), 1)
			for record, err := range s.outbox.List(ctx) {
				require.NoError(t, err)
				assert.Equal(t, confirmations, record.Campaign, "a pause holds back the SMS, too")
			}
		})
	}
}

// The 24-hour window is of chat app 2 alone: if the guard denies a message because the window is closed, an SMS replaces it.
func TestSMSIfTheWindowIsClosed(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			message := chatapp2.Message{To: "+639171234567", ReferenceID: "order-1", Content: chatapp2.Text{Body: "Thank you for order-1"}}
			s.orderWith(t, message, messagingriver.InsertOptions{})
			isBySMS := func() bool {
				return s.columnOf(t, "reference", "order-1") == "order-1"+suffixSMS && s.columnOf(t, "verdict", "order-1") == "accepted"
			}
			require.Eventually(t, isBySMS, time.Minute, 20*time.Millisecond)
			require.Len(t, service.Sent(), 1)
			assert.Equal(t, "sms", service.Sent()[0].Channel)
		})
	}
}

// A customer known by a user ID alone gets no SMS. The order says that the message was refused.
func TestNoSMSToAUserID(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			service.SetFault("chatapp2", "US.13491208655302741918", messagingtest.FaultCode("131026"))
			s := newShop(t, service, in)
			require.NoError(t, s.takeOrder(t.Context(), "order-1", "US.13491208655302741918"))
			verdict := ""
			require.Eventually(t, func() bool {
				err := s.db.QueryRowContext(t.Context(), "SELECT verdict FROM shop_order WHERE id = 'order-1'").Scan(&verdict)
				return err == nil && verdict != ""
			}, time.Minute, 20*time.Millisecond)
			assert.Equal(t, "refused", verdict)
			assert.Empty(t, service.Sent())
		})
	}
}

// A report changes the order of its message alone, whatever IDs the orders have.
func TestReportChangesNoOtherOrder(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			service := messagingtest.NewServer(t)
			s, text := orderBySMS(ctx, t, service, in)
			server := httptest.NewServer(s)
			defer server.Close()
			const phone = "+639181234567"
			require.NoError(t, s.takeOrder(ctx, "sms-order-1", phone))
			chat, err := service.WaitFor(ctx, phone)
			require.NoError(t, err)
			report := func(sent messagingtest.Sent, status string) {
				report := messagingtest.DeliveryReport{Status: status, ID: sent.ID, ReferenceID: sent.ReferenceID, To: sent.To}
				for _, reply := range service.CallWebhook(ctx, server.URL+"/hooks/delivery?key=secret-of-a-demo", report) {
					require.Equal(t, http.StatusOK, reply.StatusCode)
				}
			}
			accepted := func() bool {
				return s.columnOf(t, "verdict", "order-1") == "accepted" && s.columnOf(t, "verdict", "sms-order-1") == "accepted"
			}
			require.Eventually(t, accepted, time.Minute, 20*time.Millisecond)
			report(chat, "read")
			assert.Empty(t, s.columnOf(t, "delivery", "order-1"))
			assert.Equal(t, "read", s.columnOf(t, "delivery", "sms-order-1"))
			report(text, "delivered")
			assert.Equal(t, "delivered", s.columnOf(t, "delivery", "order-1"))
			assert.Equal(t, "read", s.columnOf(t, "delivery", "sms-order-1"))
		})
	}
}

// columnOf returns a column of an order.
func (s *shop) columnOf(t *testing.T, column, id string) string {
	t.Helper()
	var value string
	require.NoError(t, s.db.QueryRowContext(t.Context(), "SELECT "+column+" FROM shop_order WHERE id = $1", id).Scan(&value))
	return value
}

// takeAccepted takes an order, and waits until the service has accepted its message.
func (s *shop) takeAccepted(t *testing.T, id, phone string) {
	t.Helper()
	require.NoError(t, s.takeOrder(t.Context(), id, phone))
	require.Eventually(t, func() bool { return s.columnOf(t, "verdict", id) == "accepted" }, time.Minute, 20*time.Millisecond)
}

// call has the service report on a message, and returns the statuses of the responses.
func (s *shop) call(t *testing.T, service *messagingtest.Server, report messagingtest.DeliveryReport, options ...messagingtest.CallOption) []int {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	var statuses []int
	for _, reply := range service.CallWebhook(t.Context(), server.URL+"/hooks/delivery?key=secret-of-a-demo", report, options...) {
		assert.NoError(t, reply.Err)
		statuses = append(statuses, reply.StatusCode)
	}
	return statuses
}

// A chat-app message that was accepted and then failed is followed by one SMS, however often and in whatever form the report is repeated, and
// even if the SMS fails, too.
func TestOneSMSAfterAFailedReport(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			const phone = "+639171234567"
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			require.NoError(t, s.takeOrder(ctx, "order-1", phone))
			chat, err := service.WaitFor(ctx, phone)
			require.NoError(t, err)
			require.Equal(t, "chatapp2", chat.Channel)
			require.Eventually(t, func() bool { return s.columnOf(t, "message_id", "order-1") == chat.ID }, time.Minute, 20*time.Millisecond)

			failed := messagingtest.DeliveryReport{Status: "failed", ID: chat.ID, ReferenceID: "order-1", To: phone, ErrorCode: "131026"}
			var calls sync.WaitGroup
			for i := range 5 { // events of their own
				report := failed
				report.At = time.Now().Add(-time.Duration(i) * time.Minute)
				calls.Go(func() { s.call(t, service, report, messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(20)) })
			}
			calls.Wait()
			text, err := service.WaitFor(ctx, phone)
			require.NoError(t, err)
			assert.Equal(t, "sms", text.Channel)
			assert.Equal(t, "order-1-sms", text.ReferenceID)
			require.Eventually(t, func() bool { return s.columnOf(t, "verdict", "order-1") == "accepted" }, time.Minute, 20*time.Millisecond)
			assert.Empty(t, s.columnOf(t, "delivery", "order-1"))

			again := failed
			again.At = time.Now().Add(-time.Hour) // another event about the same message
			s.call(t, service, again)
			again.ReferenceID = ""
			s.call(t, service, again)
			assert.Empty(t, s.columnOf(t, "delivery", "order-1"), "the SMS has no report yet")
			s.call(t, service, messagingtest.DeliveryReport{Status: "failed", ID: text.ID, ReferenceID: text.ReferenceID, To: phone})
			assert.Equal(t, "failed", s.columnOf(t, "delivery", "order-1"))
			time.Sleep(time.Second)
			assert.Len(t, service.Sent(), 2)
		})
	}
}

// A report that does not say that the message failed for good is followed by no SMS.
func TestNoSMSAfterOtherReports(t *testing.T) {
	t.Parallel()
	reports := map[string]messagingtest.DeliveryReport{
		"sent":      {Status: "sent"},
		"delivered": {Status: "delivered"},
		"ambiguous": {Status: "failed", Extra: url.Values{"messageId": {"another"}}},
	}
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			for id, report := range reports {
				s.takeAccepted(t, id, "+639171234567")
				report.ID = s.columnOf(t, "message_id", id)
				report.ReferenceID = id
				assert.Equal(t, []int{http.StatusOK}, s.call(t, service, report))
			}
			s.call(t, service, messagingtest.DeliveryReport{Status: "failed", ID: s.columnOf(t, "message_id", "delivered"), ReferenceID: "delivered"})
			for id := range reports {
				assert.Equal(t, id, s.columnOf(t, "reference", id))
			}
			assert.Empty(t, s.columnOf(t, "delivery", "ambiguous"))
			assert.Len(t, service.Sent(), len(reports))
		})
	}
}

// A customer who stopped marketing over chat app 2 gets an SMS: the confirmation of an order is none.
func TestSMSAfter131050(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const phone = "+639171234567"
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			s.takeAccepted(t, "reported", phone)
			s.call(t, service, messagingtest.DeliveryReport{Status: "failed", ReferenceID: "reported", ErrorCode: "131050"})
			service.SetFault("chatapp2", phone, messagingtest.FaultCode("131050"))
			require.NoError(t, s.takeOrder(t.Context(), "refused", phone))
			for _, id := range []string{"reported", "refused"} {
				isBySMS := func() bool {
					return s.columnOf(t, "reference", id) == id+suffixSMS && s.columnOf(t, "verdict", id) == "accepted"
				}
				require.Eventually(t, isBySMS, time.Minute, 20*time.Millisecond, id)
			}
			assert.Len(t, service.Sent(), 3)
		})
	}
}

// The service may have the message although it refused it, in a response that names a message: an SMS could be the second one.
func TestNoSMSAfterARefusalThatNamesAMessage(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			service.Inject(messagingtest.FaultStatusAfter(http.StatusOK, `{"id":"m-1","code":"200101"}`), 1)
			require.NoError(t, s.takeOrder(t.Context(), "order-1", "+639171234567"))
			require.Eventually(t, func() bool { return s.columnOf(t, "verdict", "order-1") == "refused" }, time.Minute, 20*time.Millisecond)
			assert.Equal(t, "order-1", s.columnOf(t, "reference", "order-1"))
			assert.Len(t, service.Sent(), 1)
		})
	}
}

// An ambiguous report may be about another message. It completes none.
func TestAmbiguousReportResolvesNothing(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			service.Inject(messagingtest.FaultDropUnread(), 1)
			require.NoError(t, s.takeOrder(t.Context(), "order-1", "+639171234567"))
			require.Eventually(t, func() bool { return s.columnOf(t, "verdict", "order-1") == "unknown" }, time.Minute, 20*time.Millisecond)
			ambiguous := messagingtest.DeliveryReport{Status: "delivered", ReferenceID: "order-1", Extra: url.Values{"messageId": {"m-1", "m-2"}}}
			assert.Equal(t, []int{http.StatusOK}, s.call(t, service, ambiguous))
			assert.Equal(t, "unknown", s.columnOf(t, "verdict", "order-1"))
			assert.Empty(t, s.columnOf(t, "delivery", "order-1"))
			records, err := s.outbox.Get(t.Context(), "order-1")
			require.NoError(t, err)
			assert.Equal(t, rivertype.JobStateDiscarded, records[0].State)
		})
	}
}

// A customer who opted out after the order gets no SMS in place of a message that failed.
func TestNoSMSAfterAFailedReportAndSTOP(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			s.takeAccepted(t, "order-1", "+639171234567")
			inbounds("STOP")["chatapp2"].receive(t, service, s)
			s.call(t, service, messagingtest.DeliveryReport{Status: "failed", ReferenceID: "order-1", ErrorCode: "131026"})
			require.Eventually(t, func() bool { return s.columnOf(t, "verdict", "order-1") == "not sent" }, time.Minute, 20*time.Millisecond)
			assert.Equal(t, "order-1-sms", s.columnOf(t, "reference", "order-1"))
			assert.Len(t, service.Sent(), 1)
		})
	}
}

// A customer known by a user ID alone gets no SMS after a report either, and the service need not call again.
func TestFailedReportOfAUserID(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			s.takeAccepted(t, "order-1", "US.13491208655302741918")
			failed := messagingtest.DeliveryReport{Status: "failed", ReferenceID: "order-1", ErrorCode: "131026"}
			assert.Equal(t, []int{http.StatusOK}, s.call(t, service, failed))
			assert.Equal(t, "failed", s.columnOf(t, "delivery", "order-1"))
			assert.Len(t, service.Sent(), 1)
		})
	}
}

// No order has the reference ID of the SMS of another.
func TestOrderWithTheReferenceOfAnSMS(t *testing.T) {
	t.Parallel()
	s, err := open(t.Context(), databases(t)["SQLite"].settings(t, messagingtest.NewServer(t)))
	require.NoError(t, err)
	defer s.close()
	server := httptest.NewServer(s)
	defer server.Close()
	response, err := http.PostForm(server.URL+"/orders", url.Values{"id": {"order-1-sms"}, "phone": {"+639171234567"}})
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
}

// What a person decides about a message shows, although the outbox calls noteOutcome for no decision.
func TestShowOrderHasTheDecisionOfAPerson(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const user = "US.13491208655302741918" // gets no SMS
			service := messagingtest.NewServer(t)
			service.SetFault("chatapp2", user, messagingtest.FaultCode("131026"))
			s := newShop(t, service, in)
			for _, id := range []string{"sent", "dropped"} {
				require.NoError(t, s.takeOrder(t.Context(), id, user))
				require.Eventually(t, func() bool { return s.columnOf(t, "verdict", id) == "refused" }, time.Minute, 20*time.Millisecond)
				assert.Equal(t, "refused", s.show(t, id).Message)
				assert.Contains(t, s.show(t, id).Reason, "131026")
			}
			require.NoError(t, s.outbox.PauseChannel(t.Context(), "chatapp2"))
			time.Sleep(2500 * time.Millisecond) // until the process has heard of it
			decide := func(decision messagingriver.Decision, id string) {
				t.Helper()
				n, err := s.outbox.Resolve(t.Context(), decision, messagingriver.Key{Channel: "chatapp2", Reference: id})
				require.NoError(t, err)
				require.Equal(t, 1, n)
			}
			decide(messagingriver.Resend, "sent")
			assert.Equal(t, shownOrder{ID: "sent", Channel: "chatapp2", Message: "waiting"}, s.show(t, "sent"))
			decide(messagingriver.Sent, "sent")
			assert.Equal(t, "accepted", s.show(t, "sent").Message)
			decide(messagingriver.Drop, "dropped")
			assert.Equal(t, "refused", s.show(t, "dropped").Message)
			assert.Contains(t, s.show(t, "dropped").Reason, "dropped: ")

			_, err := s.db.ExecContext(t.Context(), "UPDATE shop_order SET reference = 'old' WHERE id = 'dropped'") // the outbox has no such message
			require.NoError(t, err)
			assert.Equal(t, "refused", s.show(t, "dropped").Message)
		})
	}
}

// show returns what the shop shows about an order.
func (s *shop) show(t *testing.T, id string) shownOrder {
	t.Helper()
	var order shownOrder
	require.NoError(t, json.Unmarshal([]byte(s.get(t, id)), &order))
	return order
}

// A message whose response was lost is neither repeated nor followed by an SMS, and its report completes it.
func TestReportResolvesAMessageWhoseResponseWasLost(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const phone = "+639171234567"
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			server := httptest.NewServer(s)
			defer server.Close()
			service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
			require.NoError(t, s.takeOrder(t.Context(), "order-1", phone))
			hasState := func(state rivertype.JobState) func() bool {
				return func() bool {
					records, err := s.outbox.Get(t.Context(), "order-1")
					return err == nil && len(records) == 1 && records[0].State == state
				}
			}
			require.Eventually(t, hasState(rivertype.JobStateDiscarded), time.Minute, 20*time.Millisecond)
			require.Eventually(t, func() bool { return s.columnOf(t, "verdict", "order-1") == "unknown" }, time.Minute, 20*time.Millisecond)
			report := messagingtest.DeliveryReport{Status: "sent", ID: service.Sent()[0].ID, ReferenceID: "order-1", To: phone}
			service.CallWebhook(t.Context(), server.URL+"/hooks/delivery?key=secret-of-a-demo", report, messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
			require.Eventually(t, hasState(rivertype.JobStateCompleted), time.Minute, 20*time.Millisecond)
			assert.Equal(t, "accepted", s.columnOf(t, "verdict", "order-1"))
			assert.Empty(t, s.columnOf(t, "delivery", "order-1"), "the report is not final")
			assert.Len(t, service.Sent(), 1)

			// No receipt comes, and the next report has only the message ID.
			outcome := messagingriver.Outcome{Verdict: messaging.Accepted}
			outcome.Key = messagingriver.Key{Channel: "chatapp2", Reference: "order-1"}
			require.NoError(t, s.noteOutcome(t.Context(), outcome))
			require.Equal(t, report.ID, s.columnOf(t, "message_id", "order-1"))
			s.call(t, service, messagingtest.DeliveryReport{Status: "delivered", ID: report.ID, To: phone})
			assert.Equal(t, "delivered", s.columnOf(t, "delivery", "order-1"))
		})
	}
}

// A person cannot resend a chat-app message in whose place an SMS was enqueued: both would arrive.
func TestChatMessageCannotBeResentAfterTheSMS(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			service := messagingtest.NewServer(t)
			s, _ := orderBySMS(ctx, t, service, in)
			service.ClearFaults()
			resent, err := s.outbox.Resolve(ctx, messagingriver.Resend, messagingriver.Key{Channel: "chatapp2", Reference: "order-1"})
			require.NoError(t, err)
			assert.Zero(t, resent)
			time.Sleep(time.Second)
			assert.Len(t, service.Sent(), 1)
		})
	}
}

// The service is not asked for an SMS of its own, which could arrive in addition to the shop's.
func TestOrderHasNoFallbackOfTheService(t *testing.T) {
	t.Parallel()
	s, err := open(t.Context(), databases(t)["SQLite"].settings(t, messagingtest.NewServer(t)))
	require.NoError(t, err)
	defer s.close()
	require.NoError(t, s.takeOrder(t.Context(), "order-1", "+639171234567"))
	records, err := s.outbox.Get(t.Context(), "order-1")
	require.NoError(t, err)
	require.Len(t, records, 1)
	message, isChat := records[0].Message.(chatapp2.Message)
	require.True(t, isChat)
	assert.Nil(t, message.Fallback)
}

// A report may have only the message ID of the receipt.
func TestReportWithoutAReferenceID(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const phone = "+639171234567"
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			server := httptest.NewServer(s)
			defer server.Close()
			status := func(id string, at time.Time) int {
				report := messagingtest.DeliveryReport{Status: "delivered", ID: id, To: phone, At: at}
				results := service.CallWebhook(t.Context(), server.URL+"/hooks/delivery?key=secret-of-a-demo", report)
				require.Len(t, results, 1)
				require.NoError(t, results[0].Err)
				return results[0].StatusCode
			}
			require.NoError(t, s.takeOrder(t.Context(), "order-1", phone))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			sent, err := service.WaitFor(ctx, phone)
			require.NoError(t, err)
			at := time.Now()
			require.Eventually(t, func() bool { return status(sent.ID, at) == http.StatusOK }, 30*time.Second, 50*time.Millisecond)
			assert.Equal(t, "delivered", s.columnOf(t, "delivery", "order-1"))
			assert.Equal(t, http.StatusServiceUnavailable, status("another", time.Now()), "its ID may be stored in a moment")
			assert.Equal(t, http.StatusOK, status("yet another", time.Now().Add(-time.Hour)))
		})
	}
}

// Chat app 2's platform reports to the URL for messages, with the message ID alone.
func TestSMSAfterAStatusOfThePlatform(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			const phone = "+639171234567"
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			server := httptest.NewServer(s)
			defer server.Close()
			require.NoError(t, s.takeOrder(ctx, "order-1", phone))
			chat, err := service.WaitFor(ctx, phone)
			require.NoError(t, err)
			id, err := json.Marshal(chat.ID)
			require.NoError(t, err)
			status := messagingtest.InboundChatApp{Channel: "chatapp2", JSON: fmt.Sprintf(
				`{"id":%s,"status":"failed","timestamp":"%d","recipient_id":%q,"errors":[{"code":131026}]}`, id, time.Now().Unix(), phone)}
			target := server.URL + "/hooks/chatapp2?key=secret-of-a-demo"
			service.CallWebhook(ctx, target, status, messagingtest.RetryFailures(1000))
			text, err := service.WaitFor(ctx, phone)
			require.NoError(t, err)
			assert.Equal(t, "sms", text.Channel)
		})
	}
}

// A report that a message failed may have no reference ID, and arrive before the shop has stored the message ID. After a kill that takes minutes.
func TestEarlyReportWithOnlyTheMessageID(t *testing.T) {
	t.Parallel()
	times := map[string]time.Time{
		"no-time":          {},
		"some-minutes-old": time.Now().Add(-10 * time.Minute),
	}
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			for id, at := range times {
				require.NoError(t, s.takeOrder(t.Context(), id, "+639171234567"))
				isAccepted := func() bool { return s.columnOf(t, "verdict", id) == "accepted" }
				require.Eventually(t, isAccepted, time.Minute, 20*time.Millisecond)
				failed := messagingtest.DeliveryReport{Status: "failed", ID: s.columnOf(t, "message_id", id), At: at, ErrorCode: "131026"}
				const revert = "UPDATE shop_order SET verdict = '', message_id = '' WHERE id = $1" // as before the outcome
				_, err := s.db.ExecContext(t.Context(), revert, id)
				require.NoError(t, err)
				queued := messagingtest.DeliveryReport{Status: "queued", ID: "not of " + id, At: at}
				assert.Equal(t, []int{http.StatusOK}, s.call(t, service, queued), "it changes nothing, even if it is early")
				assert.Equal(t, []int{http.StatusServiceUnavailable}, s.call(t, service, failed), id)

				outcome := messagingriver.Outcome{Verdict: messaging.Accepted, Receipt: messaging.Receipt{ID: failed.ID}}
				outcome.Reference = id
				require.NoError(t, s.noteOutcome(t.Context(), outcome))
				assert.Equal(t, []int{http.StatusOK}, s.call(t, service, failed), id)
				assert.Equal(t, id+suffixSMS, s.columnOf(t, "reference", id))
				require.Eventually(t, isAccepted, time.Minute, 20*time.Millisecond)

				foreign := messagingtest.DeliveryReport{Status: "failed", ID: "not of " + id, At: at}
				assert.Equal(t, []int{http.StatusOK}, s.call(t, service, foreign), "all message IDs are known")
			}
			assert.Len(t, service.Sent(), 2*len(times))

			require.NoError(t, s.outbox.PauseChannel(t.Context(), "chatapp2"))
			require.NoError(t, s.takeOrder(t.Context(), "waiting", "+639171234567"))
			ancient := messagingtest.DeliveryReport{Status: "failed", ID: "another", At: time.Now().Add(-2 * time.Hour)}
			assert.Equal(t, []int{http.StatusOK}, s.call(t, service, ancient))
		})
	}
}

// The message ID of an order that a person resolved never comes. The service need not call again for reports of other messages because of it.
func TestNoReportIsEarlyForAnOldOrder(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			s.addOrder(t, "order-1", "+639171234567")
			foreign := messagingtest.DeliveryReport{Status: "delivered", ID: "another", At: time.Now().Add(-10 * time.Minute)}
			assert.Equal(t, []int{http.StatusServiceUnavailable}, s.call(t, service, foreign))
			setAge := func(age time.Duration) {
				_, err := s.db.ExecContext(t.Context(), "UPDATE shop_order SET enqueued = $1", time.Now().Add(-age).Unix())
				require.NoError(t, err)
			}
			setAge(47 * time.Hour)
			assert.Equal(t, []int{http.StatusServiceUnavailable}, s.call(t, service, foreign))
			setAge(49 * time.Hour)
			assert.Equal(t, []int{http.StatusOK}, s.call(t, service, foreign))

			require.NoError(t, s.outbox.PauseChannel(t.Context(), "sms"))
			failed := messagingtest.DeliveryReport{Status: "failed", ReferenceID: "order-1", ErrorCode: "131026"}
			assert.Equal(t, []int{http.StatusOK}, s.call(t, service, failed))
			foreign.ID = "yet another"
			assert.Equal(t, []int{http.StatusServiceUnavailable}, s.call(t, service, foreign), "the SMS is new")
		})
	}
}

// A customer who texts the ID of their order gets a reply, which a report can resolve.
func TestReplyToACustomer(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	s := newShop(t, service, databases(t)["SQLite"])
	s.addOrder(t, "order-1", "+639171234567")
	inbounds(" order-1 ")["sms"].receive(t, service, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sent, err := service.WaitFor(ctx, "+639171234567")
	require.NoError(t, err)
	assert.Equal(t, "We have your order-1", sent.Text)
	assert.Equal(t, s.callback, sent.CallbackURL)
}

// The reply says that the confirmation is still to come. It reads the outbox in the transaction of the event: SQLite has no other connection.
func TestReplyWhileTheConfirmationWaits(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s, err := open(t.Context(), in.settings(t, service)) // which sends nothing
			require.NoError(t, err)
			defer s.close()
			require.NoError(t, s.takeOrder(t.Context(), "order-1", "+639171234567"))
			inbounds("order-1")["sms"].receive(t, service, s)
			var replies []string
			for record, err := range s.outbox.List(t.Context()) {
				require.NoError(t, err)
				if reply, isSMS := record.Message.(sms.Message); isSMS {
					replies = append(replies, reply.Text)
				}
			}
			assert.Equal(t, []string{"We have your order-1. The confirmation is on its way."}, replies)
		})
	}
}

// The order of another customer is none of theirs. The service need not call again.
func TestNoReplyToAnotherCustomer(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	s := newShop(t, service, databases(t)["SQLite"])
	s.addOrder(t, "order-1", "+639171234567")
	for _, from := range []string{"639181234567", "+63 917 123 4567", "ACME"} {
		question := inbound{"/hooks/sms", messagingtest.InboundSMS{ID: "in-" + from, From: from, To: "ACME", Text: "order-1"}}
		question.receive(t, service, s)
	}
	s.requireNoMessages(t)
}

// An unescaped text can hold parameters of its own, such as another sender.
func TestNoReplyToAnAmbiguousText(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	s := newShop(t, service, databases(t)["SQLite"])
	s.addOrder(t, "order-1", "+639171234567")
	typed := url.Values{"from": {"639181234567"}}
	question := messagingtest.InboundSMS{ID: "in-1", From: "639171234567", To: "ACME", Text: "order-1", Extra: typed}
	inbound{"/hooks/sms", question}.receive(t, service, s)
	s.requireNoMessages(t)
}

// requireNoMessages requires that no message was enqueued.
func (s *shop) requireNoMessages(t *testing.T) {
	t.Helper()
	for record, err := range s.outbox.List(t.Context()) {
		require.NoError(t, err)
		require.Fail(t, "a message was enqueued", record.Reference)
	}
}

// A text that is not about an order, such as STOP, gets no reply.
func TestNoReplyToOtherTexts(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	s := newShop(t, service, databases(t)["SQLite"])
	server := httptest.NewServer(s)
	defer server.Close()
	stop := messagingtest.InboundSMS{ID: "in-1", From: "639171234567", To: "ACME", Text: "STOP"}
	for _, reply := range service.CallWebhook(t.Context(), server.URL+"/hooks/sms?key=secret-of-a-demo", stop) {
		assert.Equal(t, http.StatusOK, reply.StatusCode)
	}
	s.requireNoMessages(t)
}

// inbound is a text of a customer, with the path of its webhook.
type inbound struct {
	hook string
	text messagingtest.Callback
}

// inbounds returns a text for each channel.
func inbounds(text string) map[string]inbound {
	const customer = "639171234567"
	return map[string]inbound{
		"sms":      {"/hooks/sms", messagingtest.InboundSMS{ID: "sms-" + text, From: customer, To: "ACME", Text: text}},
		"chatapp2": {"/hooks/chatapp2", messagingtest.InboundChatApp{Channel: "chatapp2", ID: "chat-" + text, From: customer, To: "sender-1", Text: text}},
	}
}

// receive calls the webhook of a shop.
func (in inbound) receive(t *testing.T, service *messagingtest.Server, s *shop) {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	replies := service.CallWebhook(t.Context(), server.URL+in.hook+"?key=secret-of-a-demo", in.text)
	require.Len(t, replies, 1)
	require.NoError(t, replies[0].Err)
	require.Equal(t, http.StatusOK, replies[0].StatusCode)
}

// A customer who writes STOP on one channel gets no more messages on either, until START on either.
func TestNoMessageAfterSTOP(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			for stop, start := range map[string]string{"sms": "chatapp2", "chatapp2": "sms"} {
				inbounds("STOP")[stop].receive(t, service, s)
				stopped := stop + "-stopped"
				require.NoError(t, s.takeOrder(t.Context(), stopped, "+639171234567"))
				require.Eventually(t, func() bool { return s.columnOf(t, "verdict", stopped) == "not sent" }, time.Minute, 20*time.Millisecond)
				assert.Equal(t, stopped, s.columnOf(t, "reference", stopped), "no SMS is enqueued")
				before := len(service.Sent())

				inbounds("START")[start].receive(t, service, s)
				started := stop + "-started"
				s.takeAccepted(t, started, "+639171234567")
				assert.Len(t, service.Sent(), before+1)
			}
		})
	}
}

// A STOP counts even if its text can be no order, or no reply to it can be sent.
func TestSTOPIsNotLostIfNoReplyCanBeSent(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{"no order": "STOP\x00", "no reply": "STOP"} {
		for name, in := range databases(t) {
			t.Run(what+" "+name, func(t *testing.T) {
				t.Parallel()
				service := messagingtest.NewServer(t)
				s := newShop(t, service, in)
				s.sender = "" // of no valid SMS
				s.addOrder(t, "STOP", "+639171234567")
				inbounds(text)["sms"].receive(t, service, s)
				message := messaging.Outgoing{Channel: messaging.ChannelSMS, To: "+639171234567"}
				require.ErrorIs(t, s.book.Guard(t.Context(), message), messaging.ErrOptedOut)
			})
		}
	}
}

// No SMS replaces the chat-app message of a customer who opted out before the SMS goes, even if the message expired before a guard was asked,
// or was refused before STOP.
func TestNoSMSInPlaceOfAChatMessageAfterSTOP(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			require.NoError(t, s.outbox.PauseChannel(t.Context(), "sms"))
			service.SetFault("chatapp2", "+639171234567", messagingtest.FaultCode("131026"))
			require.NoError(t, s.takeOrder(t.Context(), "refused", "+639171234567"))
			s.orderExpired(t, "expired", "+639171234567")
			for _, id := range []string{"refused", "expired"} {
				require.Eventually(t, func() bool { return s.columnOf(t, "reference", id) != id }, time.Minute, 20*time.Millisecond, "an SMS waits")
			}
			inbounds("STOP")["chatapp2"].receive(t, service, s)
			require.NoError(t, s.outbox.ResumeChannel(t.Context(), "sms"))
			for _, id := range []string{"refused", "expired"} {
				require.Eventually(t, func() bool { return s.columnOf(t, "verdict", id) == "not sent" }, time.Minute, 20*time.Millisecond)
				records, err := s.outbox.Get(t.Context(), s.columnOf(t, "reference", id))
				require.NoError(t, err)
				require.Len(t, records, 1)
				assert.Equal(t, "sms", records[0].Channel)
				assert.ErrorIs(t, records[0].Err, messaging.ErrOptedOut)
			}
			assert.Empty(t, service.Sent())
		})
	}
}

// A wrong text is stopped by its campaign: what is cancelled is not replaced by an SMS, even after the time of the chat message.
func TestCancelledConfirmationsGetNoSMS(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s, err := open(t.Context(), in.settings(t, service)) // which sends nothing yet
			require.NoError(t, err)
			defer s.close()
			require.NoError(t, s.takeOrder(t.Context(), "order-1", "+639171234567"))
			paused, err := s.outbox.PauseCampaign(t.Context(), confirmations)
			require.NoError(t, err)
			require.Equal(t, 1, paused)
			require.NoError(t, s.outbox.Start(t.Context()))
			cancelled, err := s.outbox.CancelCampaign(t.Context(), confirmations)
			require.NoError(t, err)
			require.Equal(t, 1, cancelled)
			require.NoError(t, s.takeOrder(t.Context(), "order-2", "+639181234567")) // of a process that was not stopped: it goes out
			_, err = service.WaitFor(t.Context(), "+639181234567")
			require.NoError(t, err)
			require.NoError(t, s.outbox.Stop(t.Context()))
			assert.Len(t, service.Sent(), 1)
			assert.Equal(t, shownOrder{ID: "order-1", Channel: "chatapp2", Message: "not sent", Reason: "its campaign was cancelled"}, s.show(t, "order-1"))
		})
	}
}

// orderExpired takes an order whose message expires before it is sent.
func (s *shop) orderExpired(t *testing.T, id, phone string) {
	t.Helper()
	message := chatapp2.Message{To: phone, ReferenceID: id, Content: chatapp2.Template{Name: "order_placed", Language: "en_US"}}
	s.orderWith(t, message, messagingriver.InsertOptions{Expire: time.Millisecond})
}

// orderWith takes an order with a message, whose reference ID is that of the order.
func (s *shop) orderWith(t *testing.T, message chatapp2.Message, options messagingriver.InsertOptions) {
	t.Helper()
	tx, err := s.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), insertOrder, message.ReferenceID, message.To, time.Now().Unix())
	require.NoError(t, err)
	_, err = s.outbox.InsertMany(t.Context(), tx, []messaging.Message{message}, options)
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
}

// An order with the ID of another order is a conflict. The same order may be submitted again.
func TestOrderWithTheIDOfAnother(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := open(t.Context(), in.settings(t, messagingtest.NewServer(t)))
			require.NoError(t, err)
			defer s.close()
			server := httptest.NewServer(s)
			defer server.Close()
			status := func(phone string) int {
				response, err := http.PostForm(server.URL+"/orders", url.Values{"id": {"order-1"}, "phone": {phone}})
				require.NoError(t, err)
				defer response.Body.Close()
				return response.StatusCode
			}
			assert.Equal(t, http.StatusOK, status("+639171234567"))
			assert.Equal(t, http.StatusConflict, status("+639181234567"))
			assert.Equal(t, http.StatusOK, status("+639171234567"))
			assert.Equal(t, "+639171234567", s.columnOf(t, "phone", "order-1"))

			_, err = s.db.ExecContext(t.Context(), "DELETE FROM shop_order") // the outbox keeps the message
			require.NoError(t, err)
			assert.Equal(t, http.StatusConflict, status("+639181234567"))
		})
	}
}

// The response says what is wrong with an order.
func TestInvalidOrder(t *testing.T) {
	t.Parallel()
	const phone = "+639171234567"
	tests := []struct{ id, phone, want string }{
		{"order-1", "", "check the phone number"},
		{"order-1", "+63 917 123 4567", "check the phone number"},
		{"order-1", phone + "\x00", "check the phone number"},
		{"order-1", phone + "\xff", "check the phone number"},
		{"", phone, errInvalidID.Error()},
		{"order 1", phone, errInvalidID.Error()},
		{"order-1\n", phone, errInvalidID.Error()},
		{"order-1\x00", phone, errInvalidID.Error()},
		{"order-1\xff", phone, errInvalidID.Error()},
		{strings.Repeat("1", 65), phone, errInvalidID.Error()},
		{strings.Repeat("1", 300), phone, errInvalidID.Error()},
	}
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := open(t.Context(), in.settings(t, messagingtest.NewServer(t)))
			require.NoError(t, err)
			defer s.close()
			for _, test := range tests {
				form := strings.NewReader(url.Values{"id": {test.id}, "phone": {test.phone}}.Encode())
				request := httptest.NewRequest(http.MethodPost, "/orders", form)
				request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				w := httptest.NewRecorder()
				s.ServeHTTP(w, request)
				assert.Equal(t, http.StatusBadRequest, w.Code, "%q %q", test.id, test.phone)
				assert.Equal(t, test.want, strings.TrimSpace(w.Body.String()), "%q %q", test.id, test.phone)
			}
			s.requireNoMessages(t)
		})
	}
}

// An order with the longest ID gets an SMS, too.
func TestSMSForTheLongestID(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			id := strings.Repeat("1", 64)
			s.takeAccepted(t, id, "+639171234567")
			failed := messagingtest.DeliveryReport{Status: "failed", ReferenceID: id, ErrorCode: "131026"}
			assert.Equal(t, []int{http.StatusOK}, s.call(t, service, failed))
			assert.Equal(t, id+suffixSMS, s.columnOf(t, "reference", id))
		})
	}
}

// A person says that a chat-app message with an unknown outcome did not go out, after it has expired. The customer gets an SMS.
func TestSMSForAMessageInDoubtThatHasExpired(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			service.Inject(messagingtest.FaultDropUnread(), 1)
			require.NoError(t, s.takeOrder(t.Context(), "order-1", "+639171234567"))
			require.Eventually(t, func() bool { return s.columnOf(t, "verdict", "order-1") == "unknown" }, time.Minute, 20*time.Millisecond)
			assert.Equal(t, "undecided", s.show(t, "order-1").Message)
			expire := `UPDATE river_job SET metadata = jsonb_patch(metadata, '{"expires": "2020-01-01T00:00:00Z"}') WHERE kind = 'messaging'`
			if in.schema != "" {
				expire = `UPDATE river_job SET metadata = metadata || '{"expires": "2020-01-01T00:00:00Z"}' WHERE kind = 'messaging'`
			}
			_, err := s.db.ExecContext(t.Context(), expire)
			require.NoError(t, err)
			key := messagingriver.Key{Channel: "chatapp2", Reference: "order-1"}
			for _, want := range []int{1, 0} {
				n, err := s.outbox.Resolve(t.Context(), messagingriver.Resend, key)
				require.NoError(t, err)
				require.Equal(t, want, n)
				require.Eventually(t, func() bool { return s.columnOf(t, "verdict", "order-1") == "accepted" }, time.Minute, 20*time.Millisecond)
			}
			assert.Equal(t, `{"id":"order-1","channel":"sms","message":"accepted"}`, s.get(t, "order-1"))
			require.Len(t, service.Sent(), 1)
			assert.Equal(t, "order-1"+suffixSMS, service.Sent()[0].ReferenceID)
		})
	}
}

// A person says that a chat-app message with an unknown outcome did not go out. The customer gets an SMS, and no one can resend the message.
func TestSMSForAMessageThatDidNotGoOut(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			service.Inject(messagingtest.FaultDropUnread(), 1)
			require.NoError(t, s.takeOrder(t.Context(), "order-1", "+639171234567"))
			require.Eventually(t, func() bool { return s.columnOf(t, "verdict", "order-1") == "unknown" }, time.Minute, 20*time.Millisecond)
			key := messagingriver.Key{Channel: "chatapp2", Reference: "order-1"}
			n, err := s.outbox.Resolve(t.Context(), messagingriver.NotSent, key)
			require.NoError(t, err)
			require.Equal(t, 1, n)
			require.Eventually(t, func() bool { return s.columnOf(t, "verdict", "order-1") == "accepted" }, time.Minute, 20*time.Millisecond)
			for _, decision := range []messagingriver.Decision{messagingriver.NotSent, messagingriver.Resend} {
				n, err = s.outbox.Resolve(t.Context(), decision, key)
				require.NoError(t, err)
				require.Zero(t, n, decision)
			}
			assert.Equal(t, `{"id":"order-1","channel":"sms","message":"accepted"}`, s.get(t, "order-1"))
			require.Len(t, service.Sent(), 1)
			assert.Equal(t, "order-1"+suffixSMS, service.Sent()[0].ReferenceID)
		})
	}
}

// get returns what the shop shows about an order.
func (s *shop) get(t *testing.T, id string) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/orders/"+url.PathEscape(id), nil))
	return strings.TrimSpace(w.Body.String())
}

// A reported status counts more than a verdict, and what may be out does not wait.
func TestShowOrder(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := open(t.Context(), in.settings(t, messagingtest.NewServer(t))) // which sends nothing
			require.NoError(t, err)
			defer s.close()
			assert.Equal(t, "there is no such order", s.get(t, "order-1"))
			require.NoError(t, s.takeOrder(t.Context(), "order-1", "+639171234567"))
			assert.Equal(t, `{"id":"order-1","channel":"chatapp2","message":"waiting"}`, s.get(t, "order-1"))

			kill := `UPDATE river_job SET state = 'retryable', attempted_at = created_at, metadata = jsonb_patch(metadata, '{"river:rescue_count": 1}')`
			if in.schema != "" {
				kill = `UPDATE river_job SET state = 'retryable', attempted_at = created_at, metadata = metadata || '{"river:rescue_count": 1, "begun": "A"}'`
			}
			_, err = s.db.ExecContext(t.Context(), kill)
			require.NoError(t, err)
			assert.Equal(t, `{"id":"order-1","channel":"chatapp2","message":"looked up"}`, s.get(t, "order-1"))

			_, err = s.db.ExecContext(t.Context(), "UPDATE shop_order SET delivery = 'delivered', verdict = 'accepted', reference = 'order-1-sms'")
			require.NoError(t, err)
			assert.Equal(t, `{"id":"order-1","channel":"sms","message":"delivered"}`, s.get(t, "order-1"))
		})
	}
}

// PostgreSQL refuses a text with a zero byte.
func TestShowOrderWithAnIDThatNoOrderHas(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, messagingtest.NewServer(t), in)
			for _, path := range []string{"/orders/%00", "/orders/order-1%00", "/orders/%ff", "/orders/order-1"} {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
				assert.Equal(t, http.StatusNotFound, w.Code, path)
			}
		})
	}
}

func TestShowOrderHasTheErrorCodeOfAFailedReport(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const user = "US.13491208655302741918" // gets no SMS
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			s.takeAccepted(t, "order-1", user)
			failed := messagingtest.DeliveryReport{ReferenceID: "order-1", Status: "failed", ErrorCode: "131026\x00"} // PostgreSQL stores no zero byte
			require.Equal(t, []int{http.StatusOK}, s.call(t, service, failed))
			assert.Equal(t, shownOrder{ID: "order-1", Channel: "chatapp2", Message: "failed", Reason: "131026"}, s.show(t, "order-1"))
			delivered := messagingtest.DeliveryReport{ReferenceID: "order-1", Status: "delivered"}
			require.Equal(t, []int{http.StatusOK}, s.call(t, service, delivered))
			assert.Equal(t, shownOrder{ID: "order-1", Channel: "chatapp2", Message: "delivered"}, s.show(t, "order-1"))
		})
	}
}

// A message with an unknown outcome is kept until a person has decided. When it is deleted, the shop knows that, but not the decision.
func TestShowOrderThatAPersonMustDecide(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
			s := newShop(t, service, in)
			require.NoError(t, s.takeOrder(t.Context(), "order-1", "+639171234567"))
			require.Eventually(t, func() bool { return s.columnOf(t, "verdict", "order-1") == "unknown" }, time.Minute, 20*time.Millisecond)
			order := s.show(t, "order-1")
			assert.Equal(t, "undecided", order.Message)
			assert.NotEmpty(t, order.Reason)
			_, err := s.outbox.Resolve(t.Context(), messagingriver.Drop, messagingriver.Key{Channel: "chatapp2", Reference: "order-1"})
			require.NoError(t, err)
			assert.Equal(t, "dropped", s.show(t, "order-1").Message)

			_, err = s.db.ExecContext(t.Context(), "UPDATE shop_order SET reference = 'old'") // the outbox has no such message
			require.NoError(t, err)
			assert.Equal(t, "decided", s.show(t, "order-1").Message)
		})
	}
}

func TestShowOrderThatAPersonResolvedAsSent(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
			s := newShop(t, service, in)
			require.NoError(t, s.takeOrder(t.Context(), "order-1", "+639171234567"))
			require.Eventually(t, func() bool { return s.show(t, "order-1").Message == "undecided" }, time.Minute, 20*time.Millisecond)
			_, err := s.outbox.Resolve(t.Context(), messagingriver.Sent, messagingriver.Key{Channel: "chatapp2", Reference: "order-1"})
			require.NoError(t, err)
			order := s.show(t, "order-1")
			assert.Equal(t, "accepted", order.Message)
			assert.Empty(t, order.Reason)
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
			s := newShop(t, service, in)
			s.takeAccepted(t, "order-1", "+639171234567")
			for _, bad := range []messagingtest.DeliveryReport{
				{ReferenceID: "order-1\x00", Status: "delivered"},
				{ID: "id\x00", Status: "delivered"},
			} {
				s.call(t, service, bad)
			}
			good := messagingtest.DeliveryReport{ReferenceID: "order-1", Status: "delivered"}
			require.Equal(t, []int{http.StatusOK}, s.call(t, service, good))
			assert.Equal(t, "delivered", s.columnOf(t, "delivery", "order-1"))
		})
	}
}

// An order whose message has an unknown outcome, is resent and then refused waits for its SMS.
func TestOrderWaitsForItsSMS(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const phone = "+639171234567"
			service := messagingtest.NewServer(t)
			s := newShop(t, service, in)
			require.NoError(t, s.outbox.PauseChannel(t.Context(), "sms"))
			service.Inject(messagingtest.FaultAcceptThenDrop(), 1)
			require.NoError(t, s.takeOrder(t.Context(), "order-1", phone))
			require.Eventually(t, func() bool { return s.columnOf(t, "verdict", "order-1") == "unknown" }, time.Minute, 20*time.Millisecond)
			service.SetFault("chatapp2", phone, messagingtest.FaultCode("131026"))
			_, err := s.outbox.Resolve(t.Context(), messagingriver.Resend, messagingriver.Key{Channel: "chatapp2", Reference: "order-1"})
			require.NoError(t, err)
			require.Eventually(t, func() bool { return s.columnOf(t, "reference", "order-1") != "order-1" }, time.Minute, 20*time.Millisecond)
			assert.Empty(t, s.columnOf(t, "verdict", "order-1"))
			assert.Equal(t, shownOrder{ID: "order-1", Channel: "sms", Message: "waiting"}, s.show(t, "order-1"))
		})
	}
}

// serve creates no table: migrate has created all.
func TestMigrateCreatesAllTables(t *testing.T) {
	t.Parallel()
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := in.open(t)
			for _, table := range []string{"shop_order", "webhook_event", "conversation", "conversation_decision", "conversation_person"} {
				var n int
				require.NoError(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n), table)
			}
		})
	}
}

// A report that is repeated after a kill -9 is not counted again, and a report that is not final changes nothing.
func TestReportCountsOnceAcrossAKill(t *testing.T) {
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			service := messagingtest.NewServer(t)
			k := newKillable(t, service, in)
			k.order("order-1", "+639171234567")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			sent, err := service.WaitFor(ctx, "+639171234567")
			require.NoError(t, err)
			at := time.Now()
			report := func(status string) { // again with the same time: a call that is repeated, not another report
				again := messagingtest.DeliveryReport{Status: status, ID: sent.ID, ReferenceID: sent.ReferenceID, To: sent.To, At: at}
				for _, reply := range service.CallWebhook(t.Context(), "http://"+k.address+"/hooks/delivery?key=secret-of-a-demo", again) {
					require.NoError(t, reply.Err)
					require.Equal(t, http.StatusOK, reply.StatusCode)
				}
			}
			report("delivered")
			k.kill()
			k.start()
			k.order("order-1", "+639171234567") // until the new process is there; the order is an old one
			report("delivered")
			report("sent")
			k.kill()
			orders, messages := k.ledger()
			assert.Equal(t, map[string]int{"delivered 1": 1}, orders)
			for _, message := range messages {
				assert.NotContains(t, []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStateDiscarded}, message.State)
			}
			assert.Len(t, service.Sent(), 1)
		})
	}
}

// However often the process is killed, each order has one message, which is sent once. One whose attempt was interrupted may be left to a
// person. Every tenth customer cannot be reached over chat app 2, and gets an SMS.
func TestOrderHasOneMessageAcrossKills(t *testing.T) {
	const orders = 60
	for name, in := range databases(t) {
		t.Run(name, func(t *testing.T) {
			service := messagingtest.NewServer(t)
			k := newKillable(t, service, in)
			for i := range orders {
				id, phone := fmt.Sprint("order-", i), fmt.Sprintf("+6391712345%02d", i)
				if i%10 == 0 {
					service.SetFault("chatapp2", phone, messagingtest.FaultCode("131026"))
				}
				k.order(id, phone)
				k.order(id, phone) // as if the first response had been lost
				if i%15 == 14 {
					k.kill()
					k.start()
				}
			}
			require.Eventually(t, func() bool { return len(service.Sent()) >= orders/2 }, time.Minute, 50*time.Millisecond)
			k.kill()
			taken, messages := k.ledger()
			assert.Equal(t, map[string]int{" 0": orders}, taken)
			byChannel := map[string]int{}
			for _, message := range messages {
				byChannel[message.Channel]++
			}
			assert.Equal(t, orders, byChannel["chatapp2"])
			assert.LessOrEqual(t, byChannel["sms"], orders/10)
			sent := map[string]int{}
			for _, m := range service.Sent() {
				sent[m.To]++
			}
			for to, n := range sent {
				assert.Equal(t, 1, n, to)
			}
		})
	}
}

// TestMain would find the goroutines of a database that stays open.
func TestFailedOpenClosesTheDatabase(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	for _, databaseURL := range []string{":memory:", "postgres://localhost:1/none"} {
		in := database{url: databaseURL}.settings(t, service)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := open(ctx, in)
		require.Error(t, err, "of the store")
		in.outbox.Rate = -1
		_, err = openDatabase(t.Context(), in)
		require.Error(t, err, "of the outbox")
	}
}
