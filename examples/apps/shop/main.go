// Command shop takes orders and confirms them over chat app 2, or by SMS if a customer cannot be reached there. It writes an order and its
// message in one transaction, so that neither exists without the other. A delivery report changes its order exactly once, even if the service
// calls again or the process is killed. A customer who texts the ID of their order gets a reply, which is enqueued in the transaction of the
// event, and one who writes STOP, by SMS or over chat app 2, gets no more messages. The shop keeps no texts, answers no chat messages, and does
// not confirm a STOP: ../bot does.
//
//	go run ./examples/apps/shop            takes two orders on a test server, and ends
//	go run ./examples/apps/shop migrate    creates the tables, or updates those of the outbox: run it once, before the processes of a new version start
//	go run ./examples/apps/shop serve      takes orders at /orders, shows them at /orders/ID, takes callbacks at /hooks/…, and says at /healthz
//	                                       whether it is ready, until it is stopped
//
// The environment of migrate has DATABASE_URL. That of serve has the account (see messaging.NewClientFromEnv), the secret of the webhook (see
// webhook.NewReceiverFromEnv), and
//
//	DATABASE_URL    a PostgreSQL URL such as postgres://user@localhost/shop, or the path of an SQLite file, for one process
//	SHOP_ADDRESS    where the shop listens, such as :8080
//	SHOP_URL        where the service calls it, such as https://shop.example.com
//	SHOP_SENDER     the sender of SMS that the account has registered, such as ACME
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
		log.Fatalln("shop:", err)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return demo(ctx)
	}
	switch args[0] {
	case "migrate":
		in, err := databaseFromEnv()
		if err != nil {
			return err
		}
		return migrate(ctx, in)
	case "serve":
		in, err := settingsFromEnv()
		if err != nil {
			return err
		}
		return listenAndServe(ctx, in)
	default:
		return errors.New("usage: shop [migrate | serve]")
	}
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
}

// databaseFromEnv returns the settings of migrate. An outbox needs a client even if it sends nothing.
func databaseFromEnv() (settings, error) {
	in := settings{databaseURL: os.Getenv("DATABASE_URL")}
	if in.databaseURL == "" {
		return in, errors.New("DATABASE_URL is not set")
	}
	var err error
	in.client, err = messaging.NewClient("https://service.example", messaging.WithToken("none"))
	return in, err
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
		address:     required("SHOP_ADDRESS"),
		url:         strings.TrimSuffix(required("SHOP_URL"), "/"),
		sender:      required("SHOP_SENDER"),
		newReceiver: webhook.NewReceiverFromEnv,
	}
	_, hooksErr := in.newReceiver() // serveHooks makes another one, with a store
	var clientErr error
	in.client, clientErr = messaging.NewClientFromEnv()
	return in, errors.Join(append(missing, hooksErr, clientErr)...)
}

// migrate creates the tables of a database, or updates those of the outbox.
func migrate(ctx context.Context, in settings) error {
	s, err := openDatabase(ctx, in)
	if err != nil {
		return err
	}
	defer s.close()
	return s.createTables(ctx)
}

// listenAndServe serves the shop until the context ends. It listens once the outbox has started, so that no one connects to a shop that cannot work.
func listenAndServe(ctx context.Context, in settings) error {
	s, err := start(ctx, in)
	if err != nil {
		return err
	}
	defer s.close()
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", in.address)
	if err != nil {
		return errors.Join(err, s.outbox.Stop(ctx))
	}
	return s.serve(ctx, listener)
}

// start opens the shop and starts its outbox. The caller must close the shop.
func start(ctx context.Context, in settings) (*shop, error) {
	s, err := open(ctx, in)
	if err != nil {
		return nil, err
	}
	if err = s.outbox.Start(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// serve serves the shop until the context ends. Then requests in flight end, and the next process sends the other messages.
func (s *shop) serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{ // docs/webhooks.md also limits the connections
		Handler:           http.MaxBytesHandler(cleanPaths(s), 4<<20), // a batch of the platform has up to 3 MiB
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      40 * time.Second, // more than webhook.WithHandlerTimeout
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 17,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	working, stopTasks := context.WithCancel(ctx)
	defer stopTasks()
	var tasks sync.WaitGroup
	tasks.Go(func() { every(working, time.Hour, "prune", s.prune) })
	var err error
	select {
	case err = <-served: // it failed
	case <-ctx.Done():
	}
	stopTasks()
	shutDownErr := s.shutDown(ctx, server)
	tasks.Wait() // they use the database, which the caller closes
	return errors.Join(err, shutDownErr)
}

// shutDown ends the server and the outbox at the same time, so that neither uses up the time of the other. Kubernetes must allow more time, such as
// by terminationGracePeriodSeconds: 60.
func (s *shop) shutDown(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 55*time.Second) // Outbox.Stop takes up to SendTimeout and 20 seconds
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- s.outbox.Stop(ctx) }()
	return errors.Join(server.Shutdown(ctx), <-stopped)
}

// cleanPaths responds with 404 to a path such as //hooks/sms. A ServeMux would redirect it, and repeat the query with the secret in a body.
func cleanPaths(mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		mux.ServeHTTP(w, r)
	})
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
			log.Printf("shop: cannot %s: %v", name, err)
		}
	}
}
