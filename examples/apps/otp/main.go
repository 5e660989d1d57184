// Command otp sends one-time codes and verifies them. A code and its chat message are one transaction, in PostgreSQL or SQLite: codes survive a
// restart, and a kill loses none. If the chat message was refused or not sent, or a report says that it failed, the same code goes out by SMS at
// once. Otherwise the SMS goes out 20 seconds after the request, unless a report says by then that the chat message was delivered, or the person has
// used the code. A code has at most one SMS.
//
//	go run ./examples/apps/otp            sends three codes on a test server, and ends
//	go run ./examples/apps/otp migrate    creates the tables, or updates those of the outbox: run it once, before the processes of a new version start
//	go run ./examples/apps/otp serve      sends codes at /codes, verifies them at /codes/verify, shows their status at /codes/status, takes delivery
//	                                      reports at /hooks/delivery and /hooks/chatapp2, and says at /healthz whether it is ready, until it is
//	                                      stopped
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
		log.Fatalln("otp:", err)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return demo(ctx)
	}
	commands := map[string]func(context.Context, settings) error{"migrate": migrate, "serve": listenAndServe}
	run, isKnown := commands[args[0]]
	if !isKnown {
		return errors.New("usage: otp [migrate | serve]")
	}
	in, err := settingsFromEnv()
	if err != nil {
		return err
	}
	return run(ctx, in)
}

// listenAndServe serves codes until the context ends. It listens once the outbox has started, so that no one connects to a program that cannot work.
func listenAndServe(ctx context.Context, in settings) error {
	o, err := start(ctx, in)
	if err != nil {
		return err
	}
	defer o.close()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", in.address)
	if err != nil {
		return errors.Join(err, o.outbox.Stop(ctx))
	}
	return o.serve(ctx, listener)
}

// start opens the program and starts its outbox. The caller must close the program.
func start(ctx context.Context, in settings) (*otp, error) {
	o, err := open(ctx, in)
	if err != nil {
		return nil, err
	}
	err = o.outbox.Start(ctx)
	if err == nil {
		return o, nil
	}
	o.close()
	if errors.Is(err, messagingriver.ErrNotMigrated) {
		return nil, fmt.Errorf("run: otp migrate: %w", err)
	}
	return nil, err
}

// serve serves codes until the context ends.
func (o *otp) serve(ctx context.Context, listener net.Listener) error {
	enqueue := task{name: "enqueue SMS", interval: time.Second, do: o.enqueueDue}
	prune := task{name: "prune", interval: 10 * time.Minute, do: o.prune}
	stopTasks := startTasks(ctx, enqueue, prune)
	return serveOn(ctx, listener, &o.ServeMux, o.outbox.Stop, stopTasks)
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
		outbox:      messagingriver.Options{SendTimeout: 5 * time.Second, SettleFor: 30 * time.Second}, // a person waits
		smsAfter:    20 * time.Second,
	}
	_, hooksErr := in.newReceiver() // for its error: serveHooks makes another one, with a store
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
