// Command otp sends one-time codes and verifies them. A code and its chat message are one transaction, in PostgreSQL or SQLite: codes survive a
// restart, and a kill loses none. The same code goes out by SMS, once, as soon as the chat message was refused or not sent, or a report says that
// it failed. Otherwise the SMS goes out 20 seconds after the request, unless a report says by then that the chat message was delivered, or the
// person has used the code.
//
//	go run ./examples/apps/otp            sends three codes on a test server, and ends
//	go run ./examples/apps/otp migrate    creates the tables, or updates those of the outbox: run it once, before the processes of a new version start
//	go run ./examples/apps/otp serve      sends codes at /codes, verifies them at /codes/verify, shows their status at /codes/status, and takes delivery
//	                                      reports at /hooks/delivery, until it is stopped
//
// The environment of migrate and serve has the account (see messaging.NewClientFromEnv), the secret of the webhook (see
// webhook.NewReceiverFromEnv), and
//
//	DATABASE_URL    a PostgreSQL URL such as postgres://user@localhost/login?pool_max_conns=16, without the outbox of another program, or the
//	                path of an SQLite file, for one process
//	OTP_ADDRESS     where the program listens, such as :8080
//	OTP_URL         where the service calls it, such as https://login.example.com
//	OTP_SENDER      the sender of SMS that the account has registered, such as ACME
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatalln("otp:", err)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return demo(ctx)
	}
	tasks := map[string]func(context.Context, settings) error{"migrate": migrate, "serve": listenAndServe}
	task, isKnown := tasks[args[0]]
	if !isKnown {
		return errors.New("usage: otp [migrate | serve]")
	}
	in, err := settingsFromEnv()
	if err != nil {
		return err
	}
	return task(ctx, in)
}

// settings differ between installations.
type settings struct {
	databaseURL string
	address     string
	url         string
	sender      string
	client      *messaging.Client
	newReceiver func(...webhook.Option) (*webhook.Receiver, error)
	outbox      messagingriver.Options
	smsAfter    time.Duration // after a request, unless its chat message was delivered
}

// settingsFromEnv returns the settings in the environment, or an error that names all that is missing.
func settingsFromEnv() (settings, error) {
	var missing []error
	required := func(name string) string {
		value := os.Getenv(name)
		if value == "" {
			missing = append(missing, errors.New(name+" is not set"))
		}
		return value
	}
	in := settings{
		databaseURL: required("DATABASE_URL"),
		address:     required("OTP_ADDRESS"),
		url:         strings.TrimSuffix(required("OTP_URL"), "/"),
		sender:      required("OTP_SENDER"),
		newReceiver: webhook.NewReceiverFromEnv,
		smsAfter:    20 * time.Second,
	}
	_, hooksErr := in.newReceiver() // open makes another one, with a store
	var clientErr error
	in.client, clientErr = messaging.NewClientFromEnv()
	return in, errors.Join(append(missing, hooksErr, clientErr)...)
}

// migrate creates the tables of a database, or updates those of the outbox.
func migrate(ctx context.Context, in settings) error {
	o, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer o.close()
	return o.createTables(ctx)
}

func listenAndServe(ctx context.Context, in settings) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", in.address)
	if err != nil {
		return err
	}
	return serve(ctx, listener, in)
}

// serve serves codes until the context ends. Then requests in flight end, and the next process sends the other messages.
func serve(ctx context.Context, listener net.Listener, in settings) error {
	defer listener.Close() //nolint:errcheck // the server has closed it, unless there was none
	o, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer o.close()
	if err = o.outbox.Start(ctx); err != nil {
		return err
	}
	server := newServer(&o.ServeMux)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	working, stopTasks := context.WithCancel(ctx)
	defer stopTasks()
	var tasks sync.WaitGroup
	tasks.Go(func() { every(working, time.Second, "enqueue SMS", o.enqueueDue) })
	tasks.Go(func() { every(working, 10*time.Minute, "prune", o.prune) })
	select {
	case err = <-served: // it failed
	case <-ctx.Done():
	}
	stopTasks()
	outboxErr := make(chan error, 1)
	go func() { outboxErr <- end(ctx, o.outbox.Stop) }()
	serverErr := end(ctx, server.Shutdown)
	tasks.Wait()
	return errors.Join(err, serverErr, <-outboxErr)
}

// newServer returns a server with limits. docs/webhooks.md has more of them.
func newServer(mux *http.ServeMux) *http.Server {
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }) // without a body
	clean := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path { // the mux would redirect it, and repeat the query, with the secret, in the response
			w.WriteHeader(http.StatusNotFound)
			return
		}
		mux.ServeHTTP(w, r)
	})
	return &http.Server{
		Handler:           http.MaxBytesHandler(clean, 4<<20),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      40 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 17,
	}
}

// end calls a function that waits for what is in flight. The outbox needs the most time: up to SendTimeout, which is 30 seconds, and 20 more.
func end(ctx context.Context, stop func(context.Context) error) error {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 55*time.Second)
	defer cancel()
	return stop(stopping)
}

// every calls a task at an interval, until the context ends.
func every(ctx context.Context, interval time.Duration, name string, task func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := task(ctx); err != nil && ctx.Err() == nil {
			log.Printf("otp: cannot %s: %v", name, err)
		}
	}
}
