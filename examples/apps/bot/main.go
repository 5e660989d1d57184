// Command bot replies to SMS and to messages of both chat apps. The event and the reply are one transaction, in PostgreSQL or SQLite, so each
// message gets at most one reply, even if the service calls again or the process is killed. It confirms STOP and START, which count on every
// channel, and sends a template if a reply comes too late for the 24-hour window of chat app 2.
//
//	go run ./examples/apps/bot            replies to three people on a test server, which calls it twice for each message, and ends
//	go run ./examples/apps/bot migrate    creates or updates the tables: on PostgreSQL, run it once before the processes of a new version start
//	go run ./examples/apps/bot serve      takes callbacks at /hooks/sms, /hooks/chatapp1, /hooks/chatapp2 and /hooks/delivery, until it is stopped
//
// The environment of migrate and serve has the account (see messaging.NewClientFromEnv), the secret of the webhook (see webhook.NewReceiverFromEnv), and
//
//	BOT_DATABASE    a PostgreSQL URL such as postgres://user@localhost/bot, without the outbox of another program, or the path of an SQLite
//	                file, for one process
//	BOT_ADDRESS     where the bot listens, such as :8080
//	BOT_URL         where the service calls it, such as https://bot.example.com
//	BOT_SENDER      the number from which the bot sends SMS, and to which people reply
//	BOT_CHANNEL     the ID of your channel on chat app 1
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

	"golang.org/x/net/netutil"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/webhook"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatalln("bot:", err)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return demo(ctx)
	}
	tasks := map[string]func(context.Context, settings) error{"migrate": migrate, "serve": listenAndServe}
	task, isKnown := tasks[args[0]]
	if !isKnown {
		return errors.New("usage: bot [migrate | serve]")
	}
	in, err := settingsFromEnv()
	if err != nil {
		return err
	}
	return task(ctx, in)
}

// settings differ between installations.
type settings struct {
	database    string
	address     string
	url         string
	sender      string
	channelID   string
	client      *messaging.Client
	newReceiver func(...webhook.Option) (*webhook.Receiver, error)
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
		database:    required("BOT_DATABASE"),
		address:     required("BOT_ADDRESS"),
		url:         strings.TrimSuffix(required("BOT_URL"), "/"),
		sender:      required("BOT_SENDER"),
		channelID:   required("BOT_CHANNEL"),
		newReceiver: webhook.NewReceiverFromEnv,
	}
	_, hooksErr := in.newReceiver() // open makes another one, with a store
	var clientErr error
	in.client, clientErr = messaging.NewClientFromEnv()
	return in, errors.Join(append(missing, hooksErr, clientErr)...)
}

// migrate creates or updates the tables of the database.
func migrate(ctx context.Context, in settings) error {
	b, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer b.close()
	return b.createTables(ctx)
}

func listenAndServe(ctx context.Context, in settings) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", in.address)
	if err != nil {
		return err
	}
	return serve(ctx, listener, in)
}

// serve serves the bot until the context ends. Then requests in flight end, and the next process sends the other replies.
func serve(ctx context.Context, listener net.Listener, in settings) error {
	defer listener.Close() //nolint:errcheck // the server has closed it, unless there was none
	b, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer b.close()
	if err = b.outbox.Start(ctx); err != nil {
		return err
	}
	server := newServer(&b.ServeMux)
	served := make(chan error, 1)
	go func() { served <- server.Serve(netutil.LimitListener(listener, 256)) }()
	working, stopTasks := context.WithCancel(ctx)
	defer stopTasks()
	var tasks sync.WaitGroup
	tasks.Go(func() { b.prune(working) })
	select {
	case err = <-served: // it failed
	case <-ctx.Done():
	}
	stopTasks()
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 55*time.Second) // Outbox.Stop takes up to SendTimeout and 20 seconds
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- b.outbox.Stop(stopping) }() // meanwhile, so that both have the whole time
	err = errors.Join(err, server.Shutdown(stopping), <-stopped)
	tasks.Wait()
	return err
}

// newServer returns a server of webhooks, with limits.
func newServer(mux *http.ServeMux) *http.Server {
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }) // without a body
	clean := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path { // the mux would redirect it, and repeat the query in a body
			w.WriteHeader(http.StatusNotFound)
			return
		}
		mux.ServeHTTP(w, r)
	})
	return &http.Server{ // no BaseContext of signal.NotifyContext: it would cancel the handlers at SIGTERM
		Handler:           http.MaxBytesHandler(clean, 4<<20), // a batch of the platform has up to 3 MiB
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      40 * time.Second, // more than webhook.WithHandlerTimeout
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 17,
	}
}

// prune deletes old events, old replies and closed windows once an hour.
func (b *bot) prune(ctx context.Context) {
	hourly := time.NewTicker(time.Hour)
	defer hourly.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hourly.C:
		}
		const keep = 7 * 24 * time.Hour
		_, eventsErr := b.store.Prune(ctx, keep)
		_, windowsErr := b.book.Prune(ctx)
		repliesErr := pruneReplies(ctx, b.db, time.Now().Add(-keep))
		if err := errors.Join(eventsErr, windowsErr, repliesErr); err != nil && ctx.Err() == nil {
			b.logger.WarnContext(ctx, "bot: cannot prune", "error", err)
		}
	}
}
