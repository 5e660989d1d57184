// Command otp sends one-time codes to people who wait for them, by SMS, or over chat app 1 if no SMS went out. A send gets three seconds.
// An SMS whose response does not come in time is looked up in the background. A test server plays the service, so it needs no account.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// main asks for two codes: one as usual, and one whose response takes longer than anyone waits.
func main() {
	service := messagingtest.Start()
	server := httptest.NewUnstartedServer(nil) // a real program has an http.Server with limits, as in docs/webhooks.md
	c, err := newCodes(service, "http://"+server.Listener.Addr().String())
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
	c.background.Wait() // before the program ends, and before a real one does
	for _, message := range service.Sent() {
		fmt.Println(message.ReferenceID, "is", c.state(message.ReferenceID))
	}
}

// codes sends codes, and has the state of each by its reference ID. A real program keeps them in its database.
type codes struct {
	http.ServeMux

	client     *messaging.Client
	callback   string         // where the service reports delivery
	background sync.WaitGroup // lookups that go on after a response
	mu         sync.Mutex
	states     map[string]string
}

func newCodes(service *messagingtest.Server, base string) (*codes, error) {
	client, clientErr := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	hooks, hooksErr := webhook.NewReceiver(webhook.WithSecret("key", rand.Text()))
	if err := errors.Join(clientErr, hooksErr); err != nil {
		return nil, err
	}
	callback, err := hooks.DeliveryURL(base + "/hooks/delivery")
	c := &codes{client: client, callback: callback, states: map[string]string{}}
	c.HandleFunc("POST /codes", c.send)
	c.Handle("/hooks/delivery", hooks.Delivery(func(_ context.Context, report webhook.DeliveryReport) error {
		c.set(report.ReferenceID, report.Status.String())
		return nil
	}))
	return c, err
}

// send sends a code to the number in the form, and responds with the reference ID by which the page can ask for its state.
func (c *codes) send(w http.ResponseWriter, r *http.Request) {
	code, _ := rand.Int(rand.Reader, big.NewInt(1_000_000)) // crypto/rand.Reader never fails
	message := sms.Message{
		From: "ACME", To: r.PostFormValue("to"), Text: fmt.Sprintf("Your code is %06d", code),
		ReferenceID: "code-" + rand.Text(), CallbackURL: c.callback,
	}
	c.set(message.ReferenceID, "sending") // before Send, since the delivery report may arrive before Send returns
	// A caller who hangs up must not end the send: its outcome would be unknown.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 3*time.Second)
	defer cancel()
	_, err := messaging.FirstAccepted(ctx, func(ctx context.Context) (messaging.Receipt, error) {
		receipt, err := c.client.SMS.Send(ctx, message)
		if messaging.VerdictOf(err) == messaging.Unknown {
			c.background.Go(func() { c.settle(message) })
		}
		return receipt, err
	}, func(ctx context.Context) (messaging.Receipt, error) { // only if the SMS provably did not go out
		chat := chatapp1.New("channel-1", message.To).Text(message.Text)
		return c.client.ChatApp1.Send(ctx, chat.WithReference(message.ReferenceID).WithCallback(message.CallbackURL))
	})
	if err == nil {
		c.set(message.ReferenceID, "sent")
	} else if messaging.VerdictOf(err) != messaging.Unknown { // after that the code may be on its way, and the page waits for it
		c.set(message.ReferenceID, "failed")
		http.Error(w, "the code could not be sent; check the number, or try again", http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = fmt.Fprint(w, message.ReferenceID)
}

// settle looks up what became of a message. Its context is not the one of the request, which has ended.
func (c *codes) settle(message sms.Message) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if _, err := c.client.SMS.Settle(ctx, message, time.Now()); err == nil {
		c.set(message.ReferenceID, "sent")
	} else if messaging.VerdictOf(err) == messaging.Refused || errors.Is(err, messaging.ErrNotListed) {
		c.set(message.ReferenceID, "failed") // the page offers another code
	}
}

// set sets the state of a code. A final state stays: what comes after it is older, or says no more.
func (c *codes) set(reference, state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !webhook.Status(c.states[reference]).Final() {
		c.states[reference] = state
	}
}

func (c *codes) state(reference string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states[reference]
}
