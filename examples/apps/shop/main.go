// Command shop takes orders and confirms them over chat app 2, or by SMS if a customer cannot be reached there. It writes an order and its
// message in one transaction, so that neither exists without the other. A delivery report changes its order exactly once, even if the service
// calls again or the process is killed. A customer who texts the number of an order gets a reply, which is enqueued in the transaction of the
// event, and one who writes STOP, by SMS or over chat app 2, gets no more messages.
//
//	go run ./examples/apps/shop            takes two orders on a test server, and ends
//	go run ./examples/apps/shop migrate    creates the tables, or updates those of the outbox: run it once, before the processes of a new version start
//	go run ./examples/apps/shop serve      takes orders at /orders, shows them at /orders/ID, and takes callbacks at /hooks/… until it is stopped
//
// The environment of migrate and serve has the account (see messaging.NewClientFromEnv), the secret of the webhook (see
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
	"strings"
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
	in, err := settingsFromEnv()
	if err != nil {
		return err
	}
	switch args[0] {
	case "migrate":
		return migrate(ctx, in)
	case "serve":
		var config net.ListenConfig
		listener, err := config.Listen(ctx, "tcp", in.address)
		if err != nil {
			return err
		}
		return serve(ctx, listener, in)
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
	interval    time.Duration // between calls of refresh; refreshEnded is called after 60 of them
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
		interval:    time.Minute,
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

// serve serves the shop until the context ends. Then requests in flight end, and the next process sends the other messages.
func serve(ctx context.Context, listener net.Listener, in settings) error {
	defer listener.Close() //nolint:errcheck // the server has closed it, unless there was none
	s, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer s.close()
	if err = s.outbox.Start(ctx); err != nil {
		return err
	}
	server := &http.Server{ // docs/webhooks.md has more limits
		Handler:           http.MaxBytesHandler(s, 1<<20),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      40 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 17,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	go every(ctx, time.Hour, "prune", s.prune)
	go every(ctx, in.interval, "refresh", s.refresh)
	go every(ctx, 60*in.interval, "refresh", s.refreshEnded)
	select {
	case err = <-served: // it failed
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second) // more than a request of the outbox takes
	defer cancel()
	return errors.Join(err, server.Shutdown(stopping), s.outbox.Stop(stopping))
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
