package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// The test binary is also the program that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("SHOP_DATABASE"); path != "" {
		fmt.Fprintln(os.Stderr, serveUntilKilled(path))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func serveUntilKilled(path string) error {
	service := &messagingtest.Server{URL: os.Getenv("SHOP_SERVICE"), Token: os.Getenv("SHOP_TOKEN")}
	address := os.Getenv("SHOP_ADDRESS")
	// An attempt that a kill interrupted is looked up after two seconds, and not for long.
	options := messagingriver.Options{SendTimeout: time.Second, SettleFor: 3 * time.Second}
	s, err := open(context.Background(), path, "http://"+address, service, options)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: address, Handler: s, ReadHeaderTimeout: time.Second}
	return server.ListenAndServe()
}

// killable is a shop in a process of its own, in a database that outlives it. Tests with one do not run in parallel with others, which could
// take its address.
type killable struct {
	t             *testing.T
	service       *messagingtest.Server
	path, address string
	process       *exec.Cmd
}

func newKillable(t *testing.T, service *messagingtest.Server) *killable {
	t.Helper()
	free := httptest.NewServer(nil)
	k := &killable{t: t, service: service, path: filepath.Join(t.TempDir(), "shop.db"), address: free.Listener.Addr().String()}
	free.Close()
	k.start()
	t.Cleanup(k.kill)
	return k
}

func (k *killable) start() {
	k.process = exec.Command(os.Args[0])
	k.process.Stderr = os.Stderr
	k.process.Env = append(os.Environ(), "SHOP_DATABASE="+k.path, "SHOP_SERVICE="+k.service.URL, "SHOP_TOKEN="+k.service.Token, "SHOP_ADDRESS="+k.address)
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

// ledger opens the database without a process that works in it, and returns the orders by state and reports, and the messages by state.
func (k *killable) ledger() (orders, messages map[string]int) {
	s, err := open(k.t.Context(), k.path, "http://"+k.address, k.service, messagingriver.Options{})
	require.NoError(k.t, err)
	defer func() { assert.NoError(k.t, s.stop()) }()
	count := func(query string) map[string]int {
		rows, err := s.db.QueryContext(k.t.Context(), query)
		require.NoError(k.t, err)
		defer rows.Close()
		counts := map[string]int{}
		for rows.Next() {
			var name string
			var n int
			require.NoError(k.t, rows.Scan(&name, &n))
			counts[name] = n
		}
		require.NoError(k.t, rows.Err())
		return counts
	}
	return count("SELECT state || ' ' || reports, COUNT(*) FROM shop_order GROUP BY 1"),
		count("SELECT state, COUNT(*) FROM river_job WHERE kind = 'messaging' GROUP BY 1")
}

func TestRun(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	require.NoError(t, run(t.Context(), filepath.Join(t.TempDir(), "shop.db"), service))
	assert.Len(t, service.Sent(), 2)
}

// Forty customers ask at once, on PostgreSQL with a pool of four: each gets one reply.
func TestManyCustomersAskAtOnce(t *testing.T) {
	t.Parallel()
	databases := map[string]string{"SQLite": filepath.Join(t.TempDir(), "shop.db")}
	if databaseURL := os.Getenv("OUTBOX_POSTGRES"); databaseURL != "" {
		databases["PostgreSQL"] = databaseURL + "&pool_max_conns=4"
	}
	for name, databaseURL := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const customers = 40
			service := messagingtest.NewServer(t)
			schema := "shop" + strings.ToLower(rand.Text())[:12]
			options := messagingriver.Options{}
			if name == "PostgreSQL" {
				options.Schema = schema
				databaseURL += "&search_path=" + schema
				connection, err := pgx.Connect(t.Context(), os.Getenv("OUTBOX_POSTGRES"))
				require.NoError(t, err)
				_, err = connection.Exec(t.Context(), "CREATE SCHEMA "+schema)
				require.NoError(t, err)
				require.NoError(t, connection.Close(t.Context()))
			}
			s, err := open(t.Context(), databaseURL, "http://127.0.0.1:1", service, options)
			require.NoError(t, err)
			defer func() { assert.NoError(t, s.stop()) }()
			server := httptest.NewServer(s)
			defer server.Close()
			var calls sync.WaitGroup
			for i := range customers {
				calls.Go(func() {
					question := messagingtest.InboundSMS{ID: fmt.Sprint("in-", i), From: fmt.Sprintf("6391712345%02d", i), To: "ACME", Text: "order-1"}
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

// A report that is repeated after a kill -9 is not counted again, and a report that is not final changes nothing.
func TestReportCountsOnceAcrossAKill(t *testing.T) {
	service := messagingtest.NewServer(t)
	k := newKillable(t, service)
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
	assert.Zero(t, messages["available"]+messages["discarded"], messages)
	assert.Len(t, service.Sent(), 1)
}

// However often the process is killed, each order has one SMS, which is sent once. One whose attempt was interrupted may be left to a person.
func TestOrderHasOneSMSAcrossKills(t *testing.T) {
	const orders = 60
	service := messagingtest.NewServer(t)
	k := newKillable(t, service)
	for i := range orders {
		id, phone := fmt.Sprint("order-", i), fmt.Sprintf("+6391712345%02d", i)
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
	assert.Equal(t, map[string]int{"placed 0": orders}, taken)
	total := 0
	for _, n := range messages {
		total += n
	}
	assert.Equal(t, orders, total, messages)
	sent := map[string]int{}
	for _, m := range service.Sent() {
		sent[m.ReferenceID]++
	}
	for reference, n := range sent {
		assert.Equal(t, 1, n, reference)
	}
}
