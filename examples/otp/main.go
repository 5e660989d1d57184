// Command otp sends one-time codes and verifies them. It keeps codes in memory, and loses them when it ends: examples/apps/otp, with a database and
// the outbox, is the program for production.
//
//	go run ./examples/otp          asks for two codes and enters them, on a test server
//	go run ./examples/otp serve    serves a page and its requests, for the account or the sandbox in the environment, until it is stopped
//
// A code goes out over chat app 2, and by SMS if the chat message provably did not go out. If its outcome is unknown and no delivery report comes
// within 20 seconds, or if a report says that it failed, the same code also goes out by SMS: the same code twice does no harm. A person waits, so
// an attempt takes three seconds at most, both channels take 4.5, and an SMS with an unknown outcome is looked up in the background.
//
// A request for a code begins a challenge, whose ID only the response has: without it, a stranger can neither try the code nor use up its tries.
// A page whose response was lost repeats its request, which sends no second code. A code is valid once, for five minutes and five tries. A number
// gets three codes in that time, and ten attempts if codes do not go out. A challenge gets no second code while the outcome of the first is
// unknown, unless its SMS is not listed within 30 seconds.
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
	"sync"
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

	// For one number within validFor: strangers can ask for codes, and guess them.
	maxCodes    = 3
	maxAttempts = 10 // with codes that did not go out

	attemptTimeout = 3 * time.Second
	callTimeout    = 4500 * time.Millisecond // of both channels: a page has its response within five seconds
	minRetryAfter  = 10 * time.Second
	reportWithin   = 20 * time.Second // before a code with an unknown outcome also goes out by SMS
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

	client     *messaging.Client
	once       *messaging.Client // without retries, so that it falls back at once while chat app 2 is down
	callback   string            // where the service reports delivery
	codes      *codes
	background sync.WaitGroup // sends and lookups that continue after a response

	// logIn responds to the right code of a number. A real program begins the session of the person who has the number.
	logIn func(w http.ResponseWriter, number string)

	// Tests set these.
	logger       *slog.Logger
	reportWithin time.Duration
}

// newOTP returns an otp that sends with a client, and whose callbacks the service reaches at a URL.
func newOTP(client *messaging.Client, hooks *webhook.Receiver, baseURL string) (*otp, error) {
	client, err := client.With(messaging.WithTimeout(attemptTimeout))
	if err != nil {
		return nil, err
	}
	once, err := client.With(messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	if err != nil {
		return nil, err
	}
	callback, err := hooks.DeliveryURL(baseURL + "/hooks/delivery")
	if err != nil {
		return nil, err
	}
	o := &otp{client: client, once: once, callback: callback, codes: newCodes(), logger: slog.Default(), reportWithin: reportWithin}
	o.logIn = func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusNoContent) }
	o.HandleFunc("POST /codes", o.send)
	o.HandleFunc("POST /codes/verify", o.verify)
	o.HandleFunc("POST /codes/status", o.showStatus)
	o.Handle("/hooks/delivery", hooks.Delivery(o.report))
	return o, nil
}

// deliver sends a code over chat app 2 and, only if the chat message provably did not go out, by SMS. It returns the error of the chat message,
// and the last error, which is nil if either channel took the code.
func (o *otp) deliver(ctx context.Context, sent code) (chatErr, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	byChat := func(ctx context.Context) (messaging.Receipt, error) {
		var receipt messaging.Receipt
		receipt, chatErr = o.sendChat(ctx, sent)
		return receipt, chatErr
	}
	bySMS := func(ctx context.Context) (messaging.Receipt, error) { return o.sendSMS(ctx, sent.challenge) }
	_, err = messaging.FirstAccepted(ctx, byChat, bySMS)
	if errors.Is(chatErr, messaging.ErrOptedOut) && !messaging.MayHaveBeenSent(chatErr) { // of marketing: a code goes out nevertheless
		_, err = bySMS(ctx)
	}
	return chatErr, err
}

// sendChat sends a code over chat app 2. If the message may have gone out, the code also goes out by SMS unless a delivery report comes in time.
func (o *otp) sendChat(ctx context.Context, sent code) (messaging.Receipt, error) {
	reference := sent.chat.reference
	receipt, err := o.once.ChatApp2.Send(ctx, chatapp2.Message{
		To: sent.to, ReferenceID: reference, CallbackURL: o.callback, TTL: validFor,
		Content: chatapp2.Template{Name: "login_code", Language: "en_US", Components: []chatapp2.Component{
			chatapp2.Body(sent.digits),
			chatapp2.URLButton{Suffix: sent.digits, OneTimeCode: true},
		}},
	})
	o.logFailure(err)
	switch {
	case err == nil:
		o.codes.setSent(reference, receipt.ID)
	case messaging.MayHaveBeenSent(err):
		o.background.Go(func() {
			time.Sleep(o.reportWithin)
			if o.codes.statusOf(reference) == webhook.StatusUnknown {
				o.sendSMSLater(sent.challenge)
			}
		})
	default:
		o.codes.setFailed(reference)
	}
	return receipt, err
}

// sendSMS sends the code of a challenge by SMS, unless its SMS has begun before.
func (o *otp) sendSMS(ctx context.Context, challenge string) (messaging.Receipt, error) {
	begun, isFirst := o.codes.beginSMS(challenge)
	if !isFirst {
		return messaging.Receipt{}, nil
	}
	message := sms.Message{
		From:        "ACME",
		To:          begun.to,
		Text:        "Your code is " + begun.digits + ". It is valid for 5 minutes.",
		ReferenceID: begun.sms.reference,
		CallbackURL: o.callback,
	}
	receipt, err := o.client.SMS.Send(ctx, message)
	o.logFailure(err)
	switch {
	case err == nil:
		o.codes.setSent(message.ReferenceID, receipt.ID)
	case messaging.MayHaveBeenSent(err):
		o.background.Go(func() { o.settle(message) })
	default:
		o.codes.setFailed(message.ReferenceID)
	}
	return receipt, err
}

// sendSMSLater is sendSMS after the response to the page.
func (o *otp) sendSMSLater(challenge string) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	_, _ = o.sendSMS(ctx, challenge) // it has logged the error, and the page has its response
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

// settle looks up the outcome of an SMS. Its context is not the context of the request, which has ended. If the SMS is not listed, the page may ask
// for another code.
func (o *otp) settle(message sms.Message) {
	ctx, cancel := context.WithTimeout(context.Background(), validFor)
	defer cancel()
	receipt, err := o.client.SMS.Settle(ctx, message, time.Now())
	switch messaging.VerdictOf(err) {
	case messaging.Accepted:
		o.codes.setSent(message.ReferenceID, receipt.ID)
	case messaging.Refused:
		o.codes.setFailed(message.ReferenceID)
	default:
		o.logger.Warn("otp: what became of an SMS is unknown", "error", err)
		if errors.Is(err, messaging.ErrNotListed) {
			o.codes.setMissing(message.ReferenceID)
		}
	}
}

// report notes a delivery report. If the chat message with a code failed, the code goes out by SMS.
func (o *otp) report(_ context.Context, report webhook.DeliveryReport) error {
	if report.Ambiguous { // the recipient of another message may have written it
		return nil
	}
	failed, err := o.codes.report(report)
	if failed != "" {
		o.background.Go(func() { o.sendSMSLater(failed) })
	}
	return err
}
