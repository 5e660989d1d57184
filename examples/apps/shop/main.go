// Command shop takes orders and confirms them over chat app 2, or by SMS if a customer cannot be reached there. It writes an order and its
// message in one transaction, so that neither exists without the other. A delivery report changes its order exactly once, even if the service
// calls again or the process is killed. A customer who texts the ID of their order gets one reply, which says if the confirmation is still on its
// way, and one who writes STOP, by SMS or over chat app 2, gets no more messages. The shop keeps no texts, answers no chat messages, and does
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
//	DATABASE_URL    a PostgreSQL URL such as postgres://user@localhost/shop, without the outbox of another program, or the path of an SQLite
//	                file, for one process
//	SHOP_ADDRESS    where the shop listens, such as :8080
//	SHOP_URL        where the service calls it, such as https://shop.example.com
//	SHOP_SENDER     the sender of SMS that the account has registered, such as ACME
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
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

// listenAndServe serves the shop until the context ends. It listens once the outbox has started, so that no one connects to a shop that cannot work.
func listenAndServe(ctx context.Context, in settings) error {
	s, err := start(ctx, in)
	if err != nil {
		return err
	}
	defer s.close()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", in.address)
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
	err = s.outbox.Start(ctx)
	if err == nil {
		return s, nil
	}
	s.close()
	if errors.Is(err, messagingriver.ErrNotMigrated) {
		return nil, fmt.Errorf("run: shop migrate: %w", err)
	}
	return nil, err
}

// serve serves the shop until the context ends.
func (s *shop) serve(ctx context.Context, listener net.Listener) error {
	stopTasks := startTasks(ctx, task{name: "prune", interval: time.Hour, do: s.prune})
	return serveOn(ctx, listener, &s.ServeMux, s.outbox.Stop, stopTasks)
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
	_, hooksErr := in.newReceiver() // for its error: serveHooks makes another one, with a store
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
