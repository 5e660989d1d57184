// Command otp sends one-time codes and verifies them. A code goes out by SMS, or over chat app 1 if the SMS provably did not go out. A send
// gets three seconds, and an SMS with an unknown outcome is looked up in the background. A code is valid once, for five minutes and five
// tries. It runs on a test server, so it needs no account.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

const (
	validFor = 5 * time.Minute
	maxTries = 5
)

// main asks for two codes, the second with a slow response, and enters each.
func main() {
	service := messagingtest.Start()
	server := httptest.NewUnstartedServer(nil) // a real program has an http.Server with limits, as in docs/webhooks.md
	// The secret is part of the callback URL. It stays the same after a restart, so that reports on earlier codes are still accepted.
	secret := cmp.Or(os.Getenv("OTP_CALLBACK_SECRET"), "secret-of-a-demo")
	c, err := newCodes(service, "http://"+server.Listener.Addr().String(), secret)
	if err != nil {
		log.Fatal("otp: ", err)
	}
	server.Config.Handler = c
	server.Start()
	for _, fault := range []messagingtest.Fault{{}, messagingtest.FaultSlow(10 * time.Second)} {
		service.Inject(fault, 1)
		if _, err := http.PostForm(server.URL+"/codes", url.Values{"to": {"+639171234567"}}); err != nil { //nolint:noctx,bodyclose // demo
			log.Fatal("otp: ", err)
		}
	}
	c.background.Wait() // a real program waits, too, before it ends
	for _, message := range service.Sent() {
		digits := strings.TrimPrefix(message.Text, "Your code is ")[:6]
		fmt.Println(c.state(message.ReferenceID), "and right:", c.use(message.ReferenceID, digits) == nil)
	}
}

// code is a one-time code that was sent.
type code struct {
	digits  string
	expires time.Time
	tries   int
	state   string // sending, sent, failed, or the status of a delivery report
}

// codes sends and verifies codes. A real program keeps them in its database.
type codes struct {
	http.ServeMux

	client     *messaging.Client
	callback   string           // where the service reports delivery
	background sync.WaitGroup   // lookups that continue after a response
	now        func() time.Time // tests set it

	mu   sync.Mutex
	byID map[string]*code // by reference ID
}

func newCodes(service *messagingtest.Server, base, secret string) (*codes, error) {
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return nil, err
	}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", secret))
	if err != nil {
		return nil, err
	}
	callback, err := hooks.DeliveryURL(base + "/hooks/delivery")
	if err != nil {
		return nil, err
	}
	c := &codes{client: client, callback: callback, now: time.Now, byID: map[string]*code{}}
	c.HandleFunc("POST /codes", c.send)
	c.HandleFunc("POST /codes/verify", c.verify)
	c.Handle("/hooks/delivery", hooks.Delivery(func(_ context.Context, report webhook.DeliveryReport) error {
		c.setState(report.ReferenceID, report.Status.String())
		return nil
	}))
	return c, nil
}

// send sends a code to the number in the form. The response is the reference ID, with which the page verifies the code.
func (c *codes) send(w http.ResponseWriter, r *http.Request) {
	number, _ := rand.Int(rand.Reader, big.NewInt(1_000_000)) // crypto/rand.Reader never fails
	digits := fmt.Sprintf("%06d", number)
	message := sms.Message{
		From:        "ACME",
		To:          r.PostFormValue("to"),
		Text:        "Your code is " + digits + ". It is valid for 5 minutes.",
		ReferenceID: "code-" + rand.Text(),
		CallbackURL: c.callback,
	}
	c.add(message.ReferenceID, digits) // before Send, because the delivery report may arrive before Send returns
	// A caller who hangs up must not end the send: its outcome would be unknown.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 3*time.Second)
	defer cancel()
	err := c.deliver(ctx, message)
	switch {
	case err == nil:
		c.setState(message.ReferenceID, "sent")
	case messaging.VerdictOf(err) == messaging.Unknown: // the code may be on its way, and the page waits for it
	default:
		c.setState(message.ReferenceID, "failed")
		http.Error(w, "the code could not be sent; check the number, or try again", http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = fmt.Fprint(w, message.ReferenceID)
}

// deliver sends a code by SMS and, only if the SMS provably did not go out, over chat app 1.
func (c *codes) deliver(ctx context.Context, message sms.Message) error {
	bySMS := func(ctx context.Context) (messaging.Receipt, error) {
		receipt, err := c.client.SMS.Send(ctx, message)
		if messaging.VerdictOf(err) == messaging.Unknown {
			c.background.Go(func() { c.settle(message) })
		}
		return receipt, err
	}
	byChat := func(ctx context.Context) (messaging.Receipt, error) {
		chat := chatapp1.New("channel-1", message.To).Text(message.Text)
		return c.client.ChatApp1.Send(ctx, chat.WithReference(message.ReferenceID).WithCallback(message.CallbackURL))
	}
	_, err := messaging.FirstAccepted(ctx, bySMS, byChat)
	return err
}

// settle looks up the outcome of an SMS. Its context is not the context of the request, which has ended.
func (c *codes) settle(message sms.Message) {
	ctx, cancel := context.WithTimeout(context.Background(), validFor)
	defer cancel()
	_, err := c.client.SMS.Settle(ctx, message, time.Now())
	switch {
	case err == nil:
		c.setState(message.ReferenceID, "sent")
	case messaging.VerdictOf(err) == messaging.Refused, errors.Is(err, messaging.ErrNotListed):
		c.setState(message.ReferenceID, "failed") // the page offers another code
	}
}

// verify checks the code in the form.
func (c *codes) verify(w http.ResponseWriter, r *http.Request) {
	err := c.use(r.PostFormValue("reference"), r.PostFormValue("code"))
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case errors.Is(err, errWrong):
		http.Error(w, err.Error(), http.StatusForbidden)
	default:
		http.Error(w, err.Error(), http.StatusGone)
	}
}

var (
	errWrong   = errors.New("the code is wrong")
	errInvalid = errors.New("the code is no longer valid; ask for another one")
)

// use returns nil if the digits match a valid code, which is then used up.
func (c *codes) use(reference, digits string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, isKnown := c.byID[reference]
	if !isKnown || sent.tries >= maxTries || !c.now().Before(sent.expires) {
		return errInvalid
	}
	sent.tries++
	if subtle.ConstantTimeCompare([]byte(sent.digits), []byte(digits)) == 0 {
		return errWrong
	}
	sent.tries = maxTries
	return nil
}

func (c *codes) add(reference, digits string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byID[reference] = &code{digits: digits, expires: c.now().Add(validFor), state: "sending"}
}

// setState sets the state of a code. A final state does not change: what arrives after it is older.
func (c *codes) setState(reference, state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, isKnown := c.byID[reference]
	if isKnown && !webhook.Status(sent.state).Final() {
		sent.state = state
	}
}

func (c *codes) state(reference string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sent, isKnown := c.byID[reference]; isKnown {
		return sent.state
	}
	return ""
}
