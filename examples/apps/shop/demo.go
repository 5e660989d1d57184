package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// demo runs a shop with a test server, in a temporary folder.
func demo(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "shop")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // it is temporary
	service := messagingtest.Start()
	defer service.Close()
	in, err := demoSettings(service, folder+"/shop.db")
	if err != nil {
		return err
	}
	if err = migrate(ctx, in); err != nil {
		return err
	}
	return run(ctx, service, in)
}

// demoSettings returns the settings of a shop with a test server.
func demoSettings(service *messagingtest.Server, databaseURL string) (settings, error) {
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	newReceiver := func(options ...webhook.Option) (*webhook.Receiver, error) {
		return webhook.NewReceiver(append(options, webhook.WithSecret("key", "secret-of-a-demo"))...)
	}
	return settings{databaseURL: databaseURL, sender: "ACME", client: client, newReceiver: newReceiver}, err
}

// run serves a shop while customers play.
func run(ctx context.Context, service *messagingtest.Server, in settings) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "localhost:0")
	if err != nil {
		return err
	}
	in.url = "http://" + listener.Addr().String()
	s, err := start(ctx, in)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer s.close()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	end := make(chan error, 1)
	go func() { end <- s.serve(serving, listener) }()
	err = play(ctx, service, in.url)
	stop()
	return errors.Join(<-end, err)
}

// play plays two customers and the service.
func play(ctx context.Context, service *messagingtest.Server, base string) error {
	if err := orderAndAsk(ctx, service, base); err != nil {
		return err
	}
	return orderWithoutChat(ctx, service, base)
}

// orderAndAsk plays a customer who orders and asks. The service reports twice that the message was delivered.
func orderAndAsk(ctx context.Context, service *messagingtest.Server, base string) error {
	const phone = "+639171234567"
	id := "order-" + rand.Text() // another one each time: the database keeps the orders
	if err := post(ctx, base+"/orders", url.Values{"id": {id}, "phone": {phone}}); err != nil {
		return err
	}
	sent, err := service.WaitFor(ctx, phone)
	if err != nil {
		return err
	}
	service.ReportDelivery(ctx, sent.ID, "delivered", messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
	question := messagingtest.InboundSMS{ID: "in-" + id, From: "639171234567", To: "ACME", Text: id}
	service.CallWebhook(ctx, base+"/hooks/sms?key=secret-of-a-demo", question, messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(10))
	reply, err := service.WaitFor(ctx, phone)
	if err != nil {
		return err
	}
	fmt.Println(sent.Channel, "then:", reply.Text)
	return nil
}

// orderWithoutChat plays a customer who cannot be reached over chat app 2.
func orderWithoutChat(ctx context.Context, service *messagingtest.Server, base string) error {
	const phone = "+639181234567"
	service.SetFault("chatapp2", phone, messagingtest.FaultCode("131026"))
	order := url.Values{"id": {"order-" + rand.Text()}, "phone": {phone}}
	if err := post(ctx, base+"/orders", order); err != nil {
		return err
	}
	sent, err := service.WaitFor(ctx, phone)
	if err != nil {
		return err
	}
	fmt.Println(sent.Channel+":", sent.Text)
	return nil
}

// post posts a form.
func post(ctx context.Context, target string, form url.Values) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return err
}
