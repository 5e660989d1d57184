// Command otp sends one-time codes and verifies them.
//
//	go run ./examples/otp          asks for two codes and enters them, on a test server
//	go run ./examples/otp serve    serves a page and its requests, for the account or the sandbox in the environment, until it is stopped
//
// A code goes out over chat app 2, and by SMS if the chat message provably did not go out. If its outcome is unknown and no delivery report comes
// within 20 seconds, or if a report says that it failed, the same code also goes out by SMS: the same code twice does no harm. A person waits, so
// an attempt takes three seconds at most, both channels take five, and an SMS with an unknown outcome is looked up in the background.
//
// A request for a code begins a challenge, whose ID only the response has: without it, a stranger can neither try the code nor use up its tries.
// A page whose response was lost repeats its request, which sends no second code. A code is valid once, for five minutes and five tries. A number
// gets three codes in that time, and a challenge no second one while the outcome of the first is unknown. Codes are kept in memory and lost when
// the program ends.
package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

const (
	validFor = 5 * time.Minute
	maxTries = 5
	maxCodes = 3 // for one number within validFor: strangers can ask for codes, and guess them

	attemptTimeout = 3 * time.Second
	callTimeout    = 4500 * time.Millisecond // of both channels: a page has its response within five seconds
	minRetryAfter  = 10 * time.Second
	reportWithin   = 20 * time.Second // before a code with an unknown outcome also goes out by SMS

	minRequestID = 20 // characters: whoever knows the ID of a request gets its challenge
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

func runDemo(ctx context.Context) error {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithTimeout(attemptTimeout))
	if err != nil {
		return err
	}
	hooks, err := newReceiver()
	if err != nil {
		return err
	}
	server := httptest.NewUnstartedServer(nil) // serve has an http.Server with limits
	c, err := newCodes(client, hooks, "http://"+server.Listener.Addr().String())
	if err != nil {
		return err
	}
	c.reportWithin = time.Second
	server.Config.Handler = c
	server.Start()
	err = demo(ctx, service, c, server.URL)
	server.Close()      // waits for the requests under way
	c.background.Wait() // and for their lookups
	return err
}

// demo asks for two codes, the second with a slow response, and enters each.
func demo(ctx context.Context, service *messagingtest.Server, c *codes, baseURL string) error {
	const number = "+639171234567"
	for _, fault := range []messagingtest.Fault{{}, messagingtest.FaultSlow(10 * time.Second)} {
		service.Inject(fault, 1)
		challenge, err := ask(ctx, baseURL, number)
		if err != nil {
			return err
		}
		if _, err := service.WaitFor(ctx, number); err != nil {
			return err
		}
		c.background.Wait()
		sent := service.Sent()
		last := sent[len(sent)-1]
		fmt.Println(last.Channel, c.status(last.ReferenceID), "and right:", c.use(challenge, last.Code()) == nil)
	}
	return nil
}

// ask asks for a code as a page does, and returns the ID of the challenge.
func ask(ctx context.Context, baseURL, number string) (string, error) {
	form := strings.NewReader(url.Values{"to": {number}}.Encode())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, baseURL+"/codes", form)
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	challenge, err := io.ReadAll(response.Body)
	return string(challenge), err
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
	to        string
	digits    string
	request   string // ID that the page made up for its request, or ""
	challenge string // ID that the page must know to try the code
	reference string // ID of the last message with the code, which the service and its delivery reports know
	expires   time.Time
	message   string // the service's ID, which a delivery report may have in place of the reference
	tries     int
	isBySMS   bool           // the last message is the SMS
	status    webhook.Status // of the last message: StatusUnknown until the send or a delivery report says more
	isUnsent  bool           // it provably did not go out
}

// codes sends and verifies codes. A real program keeps them in its database.
type codes struct {
	http.ServeMux

	client       *messaging.Client
	once         *messaging.Client // without retries, so that it falls back at once while chat app 2 is down
	callback     string            // where the service reports delivery
	background   sync.WaitGroup    // sends and lookups that continue after a response
	reportWithin time.Duration     // tests set it
	now          func() time.Time  // tests set it

	mu          sync.Mutex
	byChallenge map[string]*code
}

func newCodes(client *messaging.Client, hooks *webhook.Receiver, baseURL string) (*codes, error) {
	once, err := client.With(messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	if err != nil {
		return nil, err
	}
	callback, err := hooks.DeliveryURL(baseURL + "/hooks/delivery")
	if err != nil {
		return nil, err
	}
	c := &codes{
		client: client, once: once, callback: callback, reportWithin: reportWithin, now: time.Now,
		byChallenge: map[string]*code{},
	}
	c.HandleFunc("POST /codes", c.send)
	c.HandleFunc("POST /codes/verify", c.verify)
	c.HandleFunc("POST /codes/status", c.showStatus)
	c.Handle("/hooks/delivery", hooks.Delivery(func(_ context.Context, report webhook.DeliveryReport) error {
		c.report(report)
		return nil
	}))
	return c, nil
}

// internationalNumber is the one spelling of a number that send takes. With others, such as 00639171234567, a number would get more codes than
// maxCodes. A real program may use a library of phone numbers, which also turns the national spelling of its users into this one.
var internationalNumber = regexp.MustCompile(`^\+[1-9][0-9]{7,14}$`)

// send sends a code to the number in the form. The response is the ID of the challenge, with which the page verifies the code. The page makes up
// a random ID for the request, such as crypto.randomUUID(): if it repeats the request, it gets the same challenge. A page that asks for another
// code sends the challenge, because the first code may be on its way.
func (c *codes) send(w http.ResponseWriter, r *http.Request) {
	to := r.PostFormValue("to")
	if !internationalNumber.MatchString(to) {
		http.Error(w, "the number must begin with + and the country code, and have digits only", http.StatusBadRequest)
		return
	}
	if challenge := r.PostFormValue("challenge"); c.isPending(challenge, to) {
		accept(w, challenge)
		return
	}
	request := r.PostFormValue("request")
	if request != "" && len(request) < minRequestID {
		http.Error(w, "the ID of the request must have 20 random characters or more", http.StatusBadRequest)
		return
	}
	number, _ := rand.Int(rand.Reader, big.NewInt(1_000_000)) // crypto/rand.Reader never fails
	added := code{to: to, digits: fmt.Sprintf("%06d", number), request: request, reference: newReference()}
	// Before Send, because the delivery report may arrive before Send returns.
	challenge, isNew, err := c.add(added)
	if err != nil {
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return
	}
	if !isNew { // the response to the first request was lost
		accept(w, challenge)
		return
	}
	// A caller who hangs up must not end the send: its outcome would be unknown.
	chatErr, err := c.deliver(context.WithoutCancel(r.Context()), added)
	isUnsent := err != nil && messaging.VerdictOf(err) != messaging.Unknown // otherwise it may be on its way, and the page waits for it
	if isUnsent {
		c.setUnsent(challenge)
		refuse(w, chatErr, err)
		return
	}
	accept(w, challenge)
}

func newReference() string { return "code-" + rand.Text() }

// accept responds with the challenge of a code that was sent or is pending.
func accept(w http.ResponseWriter, challenge string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, challenge) //nolint:gosec // add made it
}

// refuse responds to the errors of a code that did not go out: the error of the chat message, and the last error. The caller may try again when
// the first of the channels may take the code. Only the last error says whether the number is wrong: a chat app refuses numbers that get SMS.
func refuse(w http.ResponseWriter, chatErr, lastErr error) {
	chatWait, isChatTemporary := waitAfter(chatErr)
	wait, isTemporary := waitAfter(lastErr)
	if isChatTemporary && (!isTemporary || chatWait < wait) {
		wait = chatWait
	}
	isRefusedNumber := errors.Is(lastErr, messaging.ErrUnreachable) || errors.Is(lastErr, messaging.ErrOptedOut)
	switch {
	case isTemporary || isChatTemporary:
		seconds := math.Ceil(max(wait, minRetryAfter).Seconds())
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		http.Error(w, "the code could not be sent; try again later", http.StatusServiceUnavailable)
	case isRefusedNumber || errors.Is(lastErr, messaging.ErrInvalid):
		http.Error(w, "the code could not be sent; check the number", http.StatusUnprocessableEntity)
	default:
		http.Error(w, "the code could not be sent", http.StatusBadGateway)
	}
}

// waitAfter returns how long to wait before a channel may take a code that it did not take. An account may be fixed at any time.
func waitAfter(err error) (wait time.Duration, isTemporary bool) {
	if messaging.IsAccountProblem(err) {
		return 0, true
	}
	return messaging.Retryable(err)
}

// deliver sends a code over chat app 2 and, only if the chat message provably did not go out, by SMS. It returns the error of the chat message,
// and the last error, which is nil if either channel took the code.
func (c *codes) deliver(ctx context.Context, sent code) (chatErr, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	byChat := func(ctx context.Context) (messaging.Receipt, error) {
		var receipt messaging.Receipt
		receipt, chatErr = c.sendChat(ctx, sent)
		return receipt, chatErr
	}
	bySMS := func(ctx context.Context) (messaging.Receipt, error) { return c.sendSMS(ctx, sent.reference) }
	_, err = messaging.FirstAccepted(ctx, byChat, bySMS)
	if errors.Is(chatErr, messaging.ErrOptedOut) { // of marketing: a code goes out nevertheless
		_, err = bySMS(ctx)
	}
	return chatErr, err
}

// sendChat sends a code over chat app 2. If the outcome is unknown, it has the code sent by SMS unless a delivery report comes in time.
func (c *codes) sendChat(ctx context.Context, sent code) (messaging.Receipt, error) {
	receipt, err := c.once.ChatApp2.Send(ctx, chatapp2.Message{
		To: sent.to, ReferenceID: sent.reference, CallbackURL: c.callback,
		Content: chatapp2.Template{Name: "login_code", Language: "en_US", Components: []chatapp2.Component{
			chatapp2.Body(sent.digits),
			chatapp2.URLButton{Suffix: sent.digits, OneTimeCode: true},
		}},
	})
	switch messaging.VerdictOf(err) {
	case messaging.Accepted:
		c.setSent(sent.reference, receipt.ID)
	case messaging.Unknown:
		c.background.Go(func() {
			time.Sleep(c.reportWithin)
			if c.status(sent.reference) == webhook.StatusUnknown {
				c.sendSMSLater(sent.reference)
			}
		})
	default:
	}
	return receipt, err
}

// sendSMS sends the code of a chat message by SMS, at most once: after that the code has another reference ID.
func (c *codes) sendSMS(ctx context.Context, chatReference string) (messaging.Receipt, error) {
	message, isFirst := c.beginSMS(chatReference)
	if !isFirst {
		return messaging.Receipt{}, nil // after a delivery report, or nothing to send
	}
	receipt, err := c.client.SMS.Send(ctx, message)
	switch messaging.VerdictOf(err) {
	case messaging.Accepted:
		c.setSent(message.ReferenceID, receipt.ID)
	case messaging.Unknown:
		c.background.Go(func() { c.settle(message) })
	default:
		c.setFailed(message.ReferenceID)
	}
	return receipt, err
}

// sendSMSLater is sendSMS after the response to the page.
func (c *codes) sendSMSLater(chatReference string) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	if _, err := c.sendSMS(ctx, chatReference); err != nil {
		log.Print("otp: ", err)
	}
}

// beginSMS returns the SMS with the code of a chat message, under a reference ID of its own. isFirst is false if the SMS has begun, or if the code
// is no longer valid.
func (c *codes) beginSMS(chatReference string) (message sms.Message, isFirst bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, isKnown := c.find(chatReference)
	if !isKnown || sent.isBySMS || !c.isValid(sent) {
		return sms.Message{}, false
	}
	sent.isBySMS = true
	sent.reference = newReference()
	sent.message = ""
	sent.status = webhook.StatusUnknown
	return sms.Message{
		From:        "ACME",
		To:          sent.to,
		Text:        "Your code is " + sent.digits + ". It is valid for 5 minutes.",
		ReferenceID: sent.reference,
		CallbackURL: c.callback,
	}, true
}

// settle looks up the outcome of an SMS. Its context is not the context of the request, which has ended. If the SMS is not listed, the status
// stays unknown, because a delivery report may still come.
func (c *codes) settle(message sms.Message) {
	ctx, cancel := context.WithTimeout(context.Background(), validFor)
	defer cancel()
	receipt, err := c.client.SMS.Settle(ctx, message, time.Now())
	switch messaging.VerdictOf(err) {
	case messaging.Accepted:
		c.setSent(message.ReferenceID, receipt.ID)
	case messaging.Refused:
		c.setFailed(message.ReferenceID) // the page offers another code
	default:
	}
}

// showStatus responds with the status of the code of a challenge. If it is failed, the page offers another code.
func (c *codes) showStatus(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, isKnown := c.byChallenge[r.PostFormValue("challenge")]
	if !isKnown {
		http.Error(w, errInvalid.Error(), http.StatusGone)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	_, _ = fmt.Fprintln(w, sent.status)
}

// verify checks the code in the form.
func (c *codes) verify(w http.ResponseWriter, r *http.Request) {
	err := c.use(r.PostFormValue("challenge"), r.PostFormValue("code"))
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

// use returns nil if the digits match the valid code of a challenge, which is then used up.
func (c *codes) use(challenge, digits string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, isKnown := c.byChallenge[challenge]
	if !isKnown || !c.isValid(sent) {
		return errInvalid
	}
	sent.tries++
	if subtle.ConstantTimeCompare([]byte(sent.digits), []byte(digits)) == 0 {
		return errWrong
	}
	sent.tries = maxTries
	return nil
}

// isPending reports whether the code of a challenge may be on its way to a number.
func (c *codes) isPending(challenge, to string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, isKnown := c.byChallenge[challenge]
	if !isKnown || sent.to != to {
		return false
	}
	return c.isValid(sent) && sent.status == webhook.StatusUnknown
}

// isValid reports whether a code may be tried.
func (c *codes) isValid(sent *code) bool {
	return sent.tries < maxTries && c.now().Before(sent.expires)
}

// find finds a code by the reference ID of its last message.
func (c *codes) find(reference string) (sent *code, isKnown bool) {
	for _, sent := range c.byChallenge {
		if sent.reference == reference {
			return sent, true
		}
	}
	return nil, false
}

// add adds a code and returns the ID of its challenge, unless there is a code of the same request that may have gone out: then it returns that
// challenge. If the number has had too many codes, add returns errTooMany. It forgets expired codes.
func (c *codes) add(added code) (challenge string, isNew bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	earlier := 0
	for _, sent := range c.byChallenge {
		if !c.now().Before(sent.expires) {
			delete(c.byChallenge, sent.challenge)
			continue
		}
		if sent.to != added.to || sent.isUnsent { // a report of a failure may be wrong, and the code costs
			continue
		}
		if added.request != "" && sent.request == added.request {
			return sent.challenge, false, nil
		}
		earlier++
	}
	if earlier >= maxCodes {
		return "", false, errTooMany
	}
	added.challenge = rand.Text()
	added.expires = c.now().Add(validFor)
	c.byChallenge[added.challenge] = &added
	return added.challenge, true, nil
}

// setSent notes that the service took a code, and its ID of the message.
func (c *codes) setSent(reference, message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sent, isKnown := c.find(reference); isKnown {
		sent.message = message
		sent.setStatus(webhook.StatusSent)
	}
}

// setFailed notes that the last message with a code did not go out. An earlier one may have.
func (c *codes) setFailed(reference string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sent, isKnown := c.find(reference); isKnown {
		sent.setStatus(webhook.StatusFailed)
	}
}

// setUnsent notes that a code provably did not go out over any channel.
func (c *codes) setUnsent(challenge string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sent, isKnown := c.byChallenge[challenge]; isKnown {
		sent.isUnsent = true
		sent.setStatus(webhook.StatusFailed)
	}
}

// report notes what a delivery report says of a code. It may have only one of the two IDs. If the chat message failed, the code goes out by SMS.
func (c *codes) report(report webhook.DeliveryReport) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sent := range c.byChallenge {
		isSameMessage := report.ID != "" && report.ID == sent.message
		if sent.reference != report.ReferenceID && !isSameMessage {
			continue
		}
		sent.setStatus(report.Status)
		if chatReference := sent.reference; sent.status.Failed() && !sent.isBySMS {
			c.background.Go(func() { c.sendSMSLater(chatReference) })
		}
	}
}

// setStatus sets the status, unless there is a later one: the result of a send and delivery reports come in any order.
func (sent *code) setStatus(status webhook.Status) {
	if status.Supersedes(sent.status) {
		sent.status = status
	}
}

func (c *codes) status(reference string) webhook.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sent, isKnown := c.find(reference); isKnown {
		return sent.status
	}
	return webhook.StatusUnknown
}
