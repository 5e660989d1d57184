// Command otp sends one-time codes and verifies them. It is for a first try: it keeps codes in memory, and loses them when it ends.
// examples/apps/otp, with a database and the outbox, is the program for production.
//
//	go run ./examples/otp          asks for two codes and enters them, on a test server
//	go run ./examples/otp serve    serves a page and its requests, for the account or the sandbox in the environment, until it is stopped
//
// A code goes out over chat app 2, and by SMS if the chat message provably did not go out. If the outcome is unknown, the code may arrive: the page
// waits 30 seconds for a delivery report before it offers another code. Only examples/apps/otp sends an SMS by itself if no report comes within 20
// seconds, or if a report says that the chat message failed.
//
// A request for a code begins a challenge, whose ID only the response has: without it, a stranger can neither try the code nor use up its tries.
// A page whose response was lost repeats its request, which sends no second code. A code is valid once, for five minutes and five tries. A number
// gets three codes in that time, and ten attempts if codes do not go out.
package main

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

const (
	validFor = 5 * time.Minute
	maxTries = 5
	chatTTL  = validFor - 10*time.Second // the service tries to deliver for so long; the send takes up to callTimeout

	// For one number within validFor: strangers can ask for codes, and guess them.
	maxCodes    = 3
	maxAttempts = 10 // with codes that did not go out

	attemptTimeout = 3 * time.Second
	callTimeout    = 4500 * time.Millisecond // of both channels: a page has its response within five seconds
	minRetryAfter  = 10 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatalln("otp:", err)
	}
}

func run(ctx context.Context, args []string) error {
	switch strings.Join(args, " ") {
	case "":
		return runDemo(ctx)
	case "serve":
		return serve(ctx, os.Stdout)
	default:
		return errors.New("usage: otp [serve]")
	}
}

// otp sends one-time codes, and serves the requests of the page.
type otp struct {
	http.ServeMux

	client   *messaging.Client
	callback string // where the service reports delivery
	codes    *codes
	logger   *slog.Logger // tests set it

	// logIn responds to the right code of a number. A real program begins the session of the person who has the number.
	logIn func(w http.ResponseWriter, number string)
}

// newOTP returns an otp that sends with a client, and which the service reaches at a URL. It does not retry, so that it falls back at once while
// chat app 2 is down.
func newOTP(client *messaging.Client, baseURL string) (*otp, error) {
	client, err := client.With(messaging.WithTimeout(attemptTimeout), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	if err != nil {
		return nil, err
	}
	hooks, err := newReceiver()
	if err != nil {
		return nil, err
	}
	callback, err := hooks.DeliveryURL(baseURL + "/hooks/delivery")
	if err != nil {
		return nil, err
	}
	o := &otp{client: client, callback: callback, codes: newCodes(), logger: slog.Default()}
	o.logIn = func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusNoContent) }
	o.HandleFunc("POST /codes", o.send)
	o.HandleFunc("POST /codes/verify", o.verify)
	o.HandleFunc("POST /codes/status", o.showStatus)
	o.Handle("/hooks/delivery", hooks.Delivery(o.report))
	return o, nil
}

// deliver sends a code over chat app 2 and, only if the chat message provably did not go out, by SMS. Unlike with messaging.FirstAccepted, a person
// who stopped marketing gets the SMS, too.
func (o *otp) deliver(ctx context.Context, sent code) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := o.sendChat(ctx, sent)
	o.logFailure(err)
	if !messaging.MayHaveBeenSent(err) {
		sent.reference = o.codes.beginSMS(sent.challenge)
		err = o.sendSMS(ctx, sent)
		o.logFailure(err)
	}
	switch {
	case err == nil:
		o.codes.advance(sent.reference, webhook.StatusSent)
	case !messaging.MayHaveBeenSent(err):
		o.codes.advance(sent.reference, statusNotSent)
	}
	return err
}

func (o *otp) sendChat(ctx context.Context, sent code) error {
	_, err := o.client.ChatApp2.Send(ctx, chatapp2.Message{
		To:          sent.to,
		ReferenceID: sent.reference,
		CallbackURL: o.callback,
		TTL:         chatTTL,
		Content: chatapp2.Template{Name: "login_code", Language: "en_US", Components: []chatapp2.Component{
			chatapp2.Body(sent.digits),
			chatapp2.URLButton{Suffix: sent.digits, OneTimeCode: true},
		}},
	})
	return err
}

func (o *otp) sendSMS(ctx context.Context, sent code) error {
	_, err := o.client.SMS.Send(ctx, sms.Message{
		From:        "ACME",
		To:          sent.to,
		Text:        "Your code is " + sent.digits + ". It expires 5 minutes after you asked for it.",
		ReferenceID: sent.reference,
		CallbackURL: o.callback,
	})
	return err
}

// logFailure logs the error of a message, or nothing for nil. The text of an error holds neither the number nor the code.
func (o *otp) logFailure(err error) {
	switch {
	case err == nil:
	case messaging.IsAccountProblem(err): // let it alert you
		o.logger.Error("otp: the account must be fixed", "error", err)
	default:
		o.logger.Warn("otp: a message was not accepted", "error", err)
	}
}

// report notes a delivery report. It ignores reports without a reference ID: examples/apps/otp finds their codes by the message ID.
func (o *otp) report(_ context.Context, report webhook.DeliveryReport) error {
	if !report.Ambiguous { // the recipient of another message may have written it
		o.codes.advance(report.ReferenceID, report.Status)
	}
	return nil
}
