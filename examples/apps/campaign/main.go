// Command campaign sends an SMS to each recipient of a CSV file, once, even if it is killed and started again. It sends nothing to people
// who wrote STOP, and nothing at night. When all messages are final, it writes results.csv. Then it goes on to receive STOP and delivery reports
// until Ctrl-C, and writes results.csv again, with the reports.
//
//	go run ./examples/apps/campaign           sends one SMS to a test server, and ends
//	go run ./examples/apps/campaign FOLDER    sends to the recipients in a folder
//	go run ./examples/apps/campaign receive   only receives STOP and delivery reports, until Ctrl-C
//
// The folder has recipients.csv, with the columns id, number and text. A line that cannot be sent does not stop the others. If a quoted text
// has a single quote in it or does not end, where the next line begins is not certain, and nothing is sent. The name of the folder is the name of
// the campaign: an ID is sent once under a name, and a folder with another name is another campaign. The environment has the account (see
// messaging.NewClientFromEnv), the secret of the webhook (see webhook.NewReceiverFromEnv), and
//
//	DATABASE_URL        a PostgreSQL URL such as postgres://user@localhost/shop, or the path of an SQLite file
//	CAMPAIGN_ADDRESS    where the campaign listens, such as :8080
//	CAMPAIGN_URL        where the service calls it, such as https://campaign.example.com
//	CAMPAIGN_SENDER     the sender of SMS that the account has registered, such as ACME
//	CAMPAIGN_ZONE       the time zone of the recipients, such as Asia/Manila
//
// All campaigns of a time zone use one database. Never delete it: it has the opt-outs, and what was sent to whom. A campaign of another zone needs
// another database and another sender, whose STOP the service sends to its CAMPAIGN_URL. On PostgreSQL, the first start, and the first of a new
// version, must be alone until it logs "new lines": it creates or updates the tables.
//
// A STOP that comes while no process receives may be lost. So let "receive" run all the time, at CAMPAIGN_URL, and give the campaigns another
// CAMPAIGN_ADDRESS, or let the last campaign run until the next one. Most delivery reports come within minutes, and the last ones after the
// days that the service tries to deliver.
//
// Ctrl-C lets the requests in flight end, and the next start goes on. After a kill -9 or a power failure, start
// it again, too. It then looks up each message that may have been sent: for up to 16 minutes, and for up to a day longer while the listing of the
// service is down. A message that the service neither lists nor reports is unknown in results.csv, and waits for a person. On PostgreSQL these are
// only messages whose requests had begun. On SQLite they are the messages that were in work, even if they still waited for the rate. Find out
// whether the message was sent, and decide with the command outbox (see docs/outbox.md):
//
//	export OUTBOX_SCHEMA=campaign      # on PostgreSQL
//	outbox resolve sent spring/17      # it was sent
//	outbox resolve resend spring/18    # it was not: the campaign sends it
//
// A message expires 48 hours after it was enqueued: then resend only stores that it was not sent. To send to that recipient nevertheless, give
// the line a new id.
//
// Keep results.csv. The outbox deletes a message 30 days after it became final. A later start sends nothing to its line again, and its verdict is
// "deleted" in the new results.csv.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // zones for machines that have none

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

const (
	// rate is how many messages a second the account may send.
	rate = 50
	// workers is how many messages are in work at once: the rate times the seconds that a response takes. On SQLite a kill can leave as many to a
	// person.
	workers = 5
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatalln("campaign:", err)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return demo(ctx)
	}
	folder := args[0]
	if len(args) > 1 || strings.HasPrefix(folder, "-") {
		return errors.New("usage: campaign [FOLDER | receive]")
	}
	in, err := settingsFromEnv(folder)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, in.address)
	if err != nil {
		return err
	}
	if folder == "receive" {
		return receive(ctx, listener, in)
	}
	return run(ctx, listener, in)
}

// demo sends one SMS to a test server, and prints the results.
func demo(ctx context.Context) error {
	parent, err := os.MkdirTemp("", "campaign")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parent) //nolint:errcheck // it is temporary
	folder := filepath.Join(parent, "spring")
	if err = os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	if err = os.WriteFile(folder+"/recipients.csv", []byte("id,number,text\n17,+639171234567,Spring sale\n"), 0o600); err != nil {
		return err
	}
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return err
	}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", rand.Text()))
	if err != nil {
		return err
	}
	listener, err := listen(ctx, "localhost:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err = run(ctx, listener, settings{
		folder: folder, databaseURL: parent + "/campaigns.db", url: "http://" + listener.Addr().String(), sender: "ACME", client: client, hooks: hooks,
		hasResults: func() {
			service.ReportDelivery(ctx, service.Sent()[0].ID, "delivered")
			stop()
		},
	})
	if err != nil {
		return err
	}
	results, err := os.ReadFile(folder + "/results.csv") //nolint:gosec // a path of this function
	fmt.Print(string(results))
	return err
}

// settings differ between campaigns and installations.
type settings struct {
	folder      string
	databaseURL string
	address     string
	url         string
	sender      string
	zone        string // that of all campaigns of the database
	client      *messaging.Client
	hooks       *webhook.Receiver
	outbox      messagingriver.Options
	hasResults  func() // is called once all messages are final and results.csv is written
}

// settingsFromEnv returns the settings of a folder in the environment, or an error that names all that is missing.
func settingsFromEnv(folder string) (settings, error) {
	var problems []error
	required := func(name string) string {
		value := os.Getenv(name)
		if value == "" {
			problems = append(problems, errors.New(name+" is not set"))
		}
		return value
	}
	in := settings{
		folder:      folder,
		databaseURL: required("DATABASE_URL"),
		address:     required("CAMPAIGN_ADDRESS"), // on a random port no STOP could arrive
		url:         strings.TrimSuffix(required("CAMPAIGN_URL"), "/"),
		sender:      required("CAMPAIGN_SENDER"),
		zone:        required("CAMPAIGN_ZONE"),
		outbox:      messagingriver.Options{Rate: rate, Workers: workers},
		hasResults:  func() {},
	}
	zone, zoneErr := time.LoadLocation(in.zone)
	var clientErr, hooksErr error
	in.client, clientErr = messaging.NewClientFromEnv(messaging.WithGuard(quietHours(zone)))
	in.hooks, hooksErr = webhook.NewReceiverFromEnv(webhook.WithHook(webhook.LogHook(slog.Default())))
	return in, errors.Join(append(problems, zoneErr, clientErr, hooksErr)...)
}

// quietHours returns a guard that postpones messages from 20:00 to 8:00. The outbox keeps them until then.
func quietHours(zone *time.Location) func(context.Context, messaging.Outgoing) error {
	return func(context.Context, messaging.Outgoing) error {
		if wait := untilMorning(time.Now().In(zone)); wait > 0 {
			return messaging.Postpone(wait)
		}
		return nil
	}
}

// untilMorning returns the time until 8:00, and 0 from 8:00 to the evening. The evening begins 10 seconds before 20:00, because the approval of
// a guard holds for 5 seconds.
func untilMorning(now time.Time) time.Duration {
	morning := time.Date(now.Year(), now.Month(), now.Day(), 8, 0, 0, 0, now.Location())
	evening := time.Date(now.Year(), now.Month(), now.Day(), 19, 59, 50, 0, now.Location())
	if !now.Before(evening) {
		morning = morning.AddDate(0, 0, 1)
	}
	return max(0, morning.Sub(now))
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", address)
}

// run sends a campaign until the context ends, or the webhook fails: without it no STOP is received, and nothing may be sent.
func run(ctx context.Context, listener net.Listener, in settings) error {
	defer listener.Close() //nolint:errcheck // the server has closed it, unless there was none
	c, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer c.close()
	lines, err := c.readRecipients(in.folder + "/recipients.csv")
	if err != nil {
		return err
	}
	added, err := c.enqueue(ctx, lines.messages)
	if err != nil {
		return err
	}
	log.Printf("new lines: %d; known: %d; invalid: %d", added, len(lines.messages)-added, len(lines.invalid)) //nolint:gosec // numbers
	serving, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	server := newServer(c, in.hooks)
	go func() { fail(server.Serve(listener)) }()
	sendErr := c.outbox.Start(ctx)
	if sendErr == nil {
		sendErr = c.send(serving, in, lines)
	}
	stopErr := c.stop(context.WithoutCancel(ctx), server)
	if sendErr != nil {
		return errors.Join(sendErr, stopErr)
	}
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return errors.Join(stopErr, c.writeResults(writing, in.folder+"/results.csv", lines)) // with the reports that came since
}

// receive receives STOP and delivery reports of all campaigns until the context ends, and sends nothing.
func receive(ctx context.Context, listener net.Listener, in settings) error {
	defer listener.Close() //nolint:errcheck // the server has closed it, unless there was none
	c, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer c.close()
	server := newServer(c, in.hooks)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err = <-served: // it failed
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second) // more than a request takes
	defer cancel()
	return server.Shutdown(stopping)
}

// stop stops sending and receiving, both at once. Outbox.Stop takes up to 50 seconds.
func (c *campaign) stop(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, 55*time.Second)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- c.outbox.Stop(ctx) }()
	shutdownErr := server.Shutdown(ctx)
	return errors.Join(<-stopped, shutdownErr)
}

// newServer returns a server of the webhook of a campaign.
func newServer(c *campaign, hooks *webhook.Receiver) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/hooks/sms", hooks.SMS(c.note))
	mux.Handle("/hooks/delivery", hooks.Delivery(c.report))
	return &http.Server{
		Handler:           http.MaxBytesHandler(mux, 1<<20),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      40 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 17,
	}
}
