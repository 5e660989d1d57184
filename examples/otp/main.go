// Command otp sends one-time codes and verifies them. A code goes out by SMS, or over chat app 1 if the SMS provably did not go out. A person
// waits, so an attempt takes three seconds at most, and an SMS with an unknown outcome is looked up in the background. A code is valid once, for
// five minutes and five tries, and a number gets three codes in that time, but no second one while the outcome of the first is unknown. Codes are
// kept in memory and lost when the program ends. It runs on a test server, so it needs no account.
package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log"
	"math"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strconv"
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
	maxCodes = 3 // for one number within validFor: strangers can ask for codes, and guess them

	attemptTimeout = 3 * time.Second
	callTimeout    = 5 * time.Second // of each channel
	minRetryAfter  = 10 * time.Second
)

func main() {
	service := messagingtest.Start() // with an account, use messaging.NewClientFromEnv
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithTimeout(attemptTimeout))
	if err != nil {
		log.Fatal("otp: ", err)
	}
	hooks, err := newReceiver()
	if err != nil {
		log.Fatal("otp: ", err)
	}
	server := httptest.NewUnstartedServer(nil) // a real program has an http.Server with limits, as in docs/webhooks.md
	c, err := newCodes(client, hooks, "http://"+server.Listener.Addr().String())
	if err != nil {
		log.Fatal("otp: ", err)
	}
	server.Config.Handler = c
	server.Start()
	if err := demo(service, c, server.URL); err != nil {
		log.Fatal("otp: ", err)
	}
}

// demo asks for two codes, the second with a slow response, and enters each.
func demo(service *messagingtest.Server, c *codes, baseURL string) error {
	for _, fault := range []messagingtest.Fault{{}, messagingtest.FaultSlow(10 * time.Second)} {
		service.Inject(fault, 1)
		if _, err := http.PostForm(baseURL+"/codes", url.Values{"to": {"+639171234567"}}); err != nil { //nolint:noctx,bodyclose // demo
			return err
		}
	}
	c.background.Wait() // a real program waits, too, before it ends
	for _, message := range service.Sent() {
		fmt.Println(c.status(message.ReferenceID), "and right:", c.use(message.ReferenceID, message.Code()) == nil)
	}
	return nil
}

// newReceiver returns a Receiver with the secret in MESSAGING_WEBHOOK_SECRET. The secret is part of each callback URL, so without the variable
// delivery reports on codes of an earlier run are refused.
func newReceiver() (*webhook.Receiver, error) {
	if _, isSet := os.LookupEnv("MESSAGING_WEBHOOK_SECRET"); isSet {
		return webhook.NewReceiverFromEnv()
	}
	log.Print("otp: MESSAGING_WEBHOOK_SECRET is not set: delivery reports that arrive after a restart will be refused")
	return webhook.NewReceiver(webhook.WithSecret("key", rand.Text()))
}

// code is a one-time code that was sent.
type code struct {
	to      string
	digits  string
	expires time.Time
	tries   int
	status  webhook.Status // StatusUnknown until the send or a delivery report says more
}

// codes sends and verifies codes. A real program keeps them in its database.
type codes struct {
	http.ServeMux

	client     *messaging.Client
	smsOnce    *messaging.Client // without retries, so that it falls back at once while the service refuses SMS
	callback   string            // where the service reports delivery
	background sync.WaitGroup    // lookups that continue after a response
	now        func() time.Time  // tests set it

	mu   sync.Mutex
	byID map[string]*code // by reference ID
}

func newCodes(client *messaging.Client, hooks *webhook.Receiver, baseURL string) (*codes, error) {
	smsOnce, err := client.With(messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	if err != nil {
		return nil, err
	}
	callback, err := hooks.DeliveryURL(baseURL + "/hooks/delivery")
	if err != nil {
		return nil, err
	}
	c := &codes{client: client, smsOnce: smsOnce, callback: callback, now: time.Now, byID: map[string]*code{}}
	c.HandleFunc("POST /codes", c.send)
	c.HandleFunc("POST /codes/verify", c.verify)
	c.Handle("/hooks/delivery", hooks.Delivery(func(_ context.Context, report webhook.DeliveryReport) error {
		c.setStatus(report.ReferenceID, report.Status)
		return nil
	}))
	return c, nil
}

// internationalNumber is the one spelling of a number that send takes. With others, such as 00639171234567, a number would get more codes than
// maxCodes. A real program may use a library of phone numbers, which also turns the national spelling of its users into this one.
var internationalNumber = regexp.MustCompile(`^\+[1-9][0-9]{7,14}$`)

// send sends a code to the number in the form. The response is the reference ID, with which the page verifies the code.
func (c *codes) send(w http.ResponseWriter, r *http.Request) {
	to := r.PostFormValue("to")
	if !internationalNumber.MatchString(to) {
		http.Error(w, "the number must begin with + and the country code, and have digits only", http.StatusBadRequest)
		return
	}
	number, _ := rand.Int(rand.Reader, big.NewInt(1_000_000)) // crypto/rand.Reader never fails
	digits := fmt.Sprintf("%06d", number)
	message := sms.Message{
		From:        "ACME",
		To:          to,
		Text:        "Your code is " + digits + ". It is valid for 5 minutes.",
		ReferenceID: "code-" + rand.Text(),
		CallbackURL: c.callback,
	}
	reference, err := c.add(message.ReferenceID, message.To, digits) // before Send, because the delivery report may arrive before Send returns
	if err != nil {
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return
	}
	if reference != message.ReferenceID { // an earlier code is pending
		accept(w, reference)
		return
	}
	// A caller who hangs up must not end the send: its outcome would be unknown.
	err = c.deliver(context.WithoutCancel(r.Context()), message, digits)
	switch {
	case err == nil:
		c.setStatus(message.ReferenceID, webhook.StatusSent)
	case messaging.VerdictOf(err) == messaging.Unknown: // the code may be on its way, and the page waits for it
	default:
		c.setStatus(message.ReferenceID, webhook.StatusFailed)
		refuse(w, err)
		return
	}
	accept(w, message.ReferenceID)
}

// accept responds with the reference ID of a code that was sent or is pending.
func accept(w http.ResponseWriter, reference string) {
	w.WriteHeader(http.StatusAccepted)
	_, _ = fmt.Fprint(w, reference)
}

// refuse responds to the error of a code that did not go out. It tells a number that is wrong from a service that is in trouble.
func refuse(w http.ResponseWriter, err error) {
	after, isRetryable := messaging.Retryable(err)
	switch {
	case isRetryable || messaging.IsAccountProblem(err):
		seconds := math.Ceil(max(after, minRetryAfter).Seconds())
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		http.Error(w, "the code could not be sent; try again later", http.StatusServiceUnavailable)
	case errors.Is(err, messaging.ErrInvalid):
		http.Error(w, "the code could not be sent; check the number", http.StatusUnprocessableEntity)
	default:
		http.Error(w, "the code could not be sent", http.StatusBadGateway)
	}
}

// deliver sends a code by SMS and, only if the SMS provably did not go out, over chat app 1.
func (c *codes) deliver(ctx context.Context, message sms.Message, digits string) error {
	bySMS := func(ctx context.Context) (messaging.Receipt, error) {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		receipt, err := c.smsOnce.SMS.Send(ctx, message)
		if messaging.VerdictOf(err) == messaging.Unknown {
			c.background.Go(func() { c.settle(message) })
		}
		return receipt, err
	}
	byChat := func(ctx context.Context) (messaging.Receipt, error) {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		template := chatapp1.Template{ID: "login_code", Language: "en", Params: map[string]string{"code": digits}}
		chat := chatapp1.New("channel-1", message.To).Template(template).WithTTL(validFor)
		return c.client.ChatApp1.Send(ctx, chat.WithReference(message.ReferenceID).WithCallback(message.CallbackURL))
	}
	_, err := messaging.FirstAccepted(ctx, bySMS, byChat)
	return err
}

// settle looks up the outcome of an SMS. Its context is not the context of the request, which has ended. If the SMS is not listed, the status
// stays unknown, because a delivery report may still come.
func (c *codes) settle(message sms.Message) {
	ctx, cancel := context.WithTimeout(context.Background(), validFor)
	defer cancel()
	_, err := c.client.SMS.Settle(ctx, message, time.Now())
	switch messaging.VerdictOf(err) {
	case messaging.Accepted:
		c.setStatus(message.ReferenceID, webhook.StatusSent)
	case messaging.Refused:
		c.setStatus(message.ReferenceID, webhook.StatusFailed) // the page offers another code
	default:
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
	errTooMany = errors.New("too many codes; try again in five minutes")
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

// add adds a code and returns its reference ID. If the number has a pending code, add returns the reference ID of that one instead: it may be
// on its way, and a second code would make it wrong. If the number has had too many codes, add returns errTooMany. It forgets expired codes.
func (c *codes) add(reference, to, digits string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	earlier := 0
	pending := ""
	for id, sent := range c.byID {
		if !c.now().Before(sent.expires) {
			delete(c.byID, id)
		} else if sent.to == to && sent.status != webhook.StatusFailed {
			earlier++
			if sent.status == webhook.StatusUnknown && sent.tries < maxTries {
				pending = id
			}
		}
	}
	if pending != "" {
		return pending, nil
	}
	if earlier >= maxCodes {
		return "", errTooMany
	}
	c.byID[reference] = &code{to: to, digits: digits, expires: c.now().Add(validFor)}
	return reference, nil
}

// setStatus sets the status of a code, unless the code has a later one: the result of a send and delivery reports come in any order.
func (c *codes) setStatus(reference string, status webhook.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, isKnown := c.byID[reference]
	if isKnown && status.Supersedes(sent.status) {
		sent.status = status
	}
}

func (c *codes) status(reference string) webhook.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sent, isKnown := c.byID[reference]; isKnown {
		return sent.status
	}
	return webhook.StatusUnknown
}
