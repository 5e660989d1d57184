// Command bot replies to SMS and to messages of both chat apps. The event and the reply are one transaction, in PostgreSQL or SQLite, so each
// message gets at most one reply, even if the process is killed or the service calls again with the same time (see docs/webhooks.md). The bot
// confirms STOP and START, which count on every channel. If a reply comes too late for the 24-hour window of chat app 2, a template brings the
// answer.
//
//	go run ./examples/apps/bot            replies to three people on a test server, which calls it twice for each message, and ends
//	go run ./examples/apps/bot migrate    creates or updates the tables: on PostgreSQL, run it once before the processes of a new version start
//	go run ./examples/apps/bot serve      takes callbacks at /hooks/sms, /hooks/chatapp1, /hooks/chatapp2 and /hooks/delivery, and says at /healthz
//	                                      whether it is ready, until it is stopped
//	go run ./examples/apps/bot questions  lists the open questions, for a colleague: reference ID, time, channel, person, question
//	go run ./examples/apps/bot answer ID TEXT
//	                                      answers a question on its channel, drops its reply, and takes it off the list; the bot that serves sends the answer
//	go run ./examples/apps/bot done ID    takes a question off the list, by its reference ID, once a colleague has answered, such as by phone
//
// The commands questions and done need only BOT_DATABASE. The commands migrate, serve and answer need all variables below, the account (see
// messaging.NewClientFromEnv) and the secret of the webhook (see webhook.NewReceiverFromEnv). A process reads its environment when it starts: restart
// it after a change.
//
//	BOT_DATABASE    a PostgreSQL URL such as postgres://user@localhost/bot, of a database without the outbox of another program, or the path of
//	                an SQLite file, if only one process serves
//	BOT_ADDRESS     where the bot listens, such as :8080
//	BOT_URL         where the service calls it, such as https://bot.example.com
//	BOT_SENDER      the number from which the bot sends SMS, and to which people reply
//	BOT_CHANNEL     the ID of your channel on chat app 1
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
		log.Fatalln("bot:", err)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return demo(ctx)
	}
	operands := args[1:]
	commands := map[string]func(context.Context, settings) error{
		"migrate":   migrate,
		"serve":     listenAndServe,
		"questions": func(ctx context.Context, in settings) error { return printQuestions(ctx, in, os.Stdout) },
		"answer": func(ctx context.Context, in settings) error {
			return answerQuestion(ctx, in, operands[0], operands[1], os.Stdout)
		},
		"done": func(ctx context.Context, in settings) error { return closeQuestions(ctx, in, operands) },
	}
	run, isKnown := commands[args[0]]
	if !isKnown || !takes(args[0], len(operands)) {
		return errors.New("usage: bot [migrate | serve | questions | answer ID TEXT | done ID...]")
	}
	readSettings := settingsFromEnv
	if args[0] == "questions" || args[0] == "done" {
		readSettings = databaseFromEnv
	}
	in, err := readSettings()
	if err != nil {
		return err
	}
	return run(ctx, in)
}

// takes reports whether a command takes a number of operands.
func takes(name string, operands int) bool {
	switch name {
	case "answer":
		return operands == 2
	case "done":
		return operands > 0
	default:
		return operands == 0
	}
}

// listenAndServe serves the bot until the context ends. It listens once the outbox has started, so that no one connects to a bot that cannot work.
func listenAndServe(ctx context.Context, in settings) error {
	b, err := start(ctx, in)
	if err != nil {
		return err
	}
	defer b.close()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", in.address)
	if err != nil {
		return errors.Join(err, b.outbox.Stop(ctx))
	}
	return b.serve(ctx, listener)
}

// start opens the bot and starts its outbox. The caller must close the bot.
func start(ctx context.Context, in settings) (*bot, error) {
	b, err := open(ctx, in)
	if err != nil {
		return nil, err
	}
	err = b.startOutbox(ctx)
	if err == nil {
		return b, nil
	}
	b.close()
	if errors.Is(err, messagingriver.ErrNotMigrated) {
		return nil, fmt.Errorf("run: bot migrate: %w", err)
	}
	return nil, err
}

// serve serves the bot until the context ends.
func (b *bot) serve(ctx context.Context, listener net.Listener) error {
	stopTasks := startTasks(ctx, task{name: "prune", interval: time.Hour, do: b.prune})
	return serveOn(ctx, listener, &b.ServeMux, b.outbox.Stop, stopTasks)
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

// databaseFromEnv returns the settings of questions and done.
func databaseFromEnv() (settings, error) {
	in := settings{database: os.Getenv("BOT_DATABASE")}
	if in.database == "" {
		return in, errors.New("BOT_DATABASE is not set")
	}
	return in, nil
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
	_, hooksErr := in.newReceiver() // for its error: serveHooks makes another one, with a store
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
