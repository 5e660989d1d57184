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

// demo sends codes by a test server, with an SQLite file in a temporary folder.
func demo(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "otp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // it is temporary
	service := messagingtest.Start()
	defer service.Close()
	in, err := demoSettings(service, folder+"/otp.db")
	if err != nil {
		return err
	}
	if err = migrate(ctx, in); err != nil {
		return err
	}
	return run(ctx, service, in)
}

// demoSettings returns the settings for a test server.
func demoSettings(service *messagingtest.Server, databaseURL string) (settings, error) {
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	newReceiver := func(options ...webhook.Option) (*webhook.Receiver, error) {
		return webhook.NewReceiver(append(options, webhook.WithSecret("key", "secret-of-a-demo"))...)
	}
	return settings{
		databaseURL: databaseURL,
		url:         "http://localhost", // run sets another one
		sender:      "ACME",
		client:      client,
		newReceiver: newReceiver,
		smsAfter:    2 * time.Second,
	}, err
}

// run serves codes while people log in.
func run(ctx context.Context, service *messagingtest.Server, in settings) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "localhost:0")
	if err != nil {
		return err
	}
	in.url = "http://" + listener.Addr().String()
	o, err := start(ctx, in)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer o.close()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	end := make(chan error, 1)
	go func() { end <- o.serve(serving, listener) }()
	err = play(ctx, service, in.url)
	stop()
	return errors.Join(<-end, err)
}

// play plays three people and the service. The first one is reached over chat app 2, the second one is refused there, and the phone of the third
// one is off, so that no report comes.
func play(ctx context.Context, service *messagingtest.Server, base string) error {
	const unreachable = "+639181234567"
	service.SetFault("chatapp2", unreachable, messagingtest.FaultCode("131026"))
	if err := logIn(ctx, service, base, "+639171234567", 1); err != nil {
		return err
	}
	if err := logIn(ctx, service, base, unreachable, 1); err != nil {
		return err
	}
	return logIn(ctx, service, base, "+639191234567", 2)
}

// logIn asks for a code as a page does, waits for some messages to a number, and verifies the code of the last one.
func logIn(ctx context.Context, service *messagingtest.Server, base, number string, messages int) error {
	challenge, err := post(ctx, base+"/codes", url.Values{"to": {number}, "request": {rand.Text()}})
	if err != nil {
		return err
	}
	var last messagingtest.Sent
	for range messages {
		if last, err = service.WaitFor(ctx, number); err != nil {
			return err
		}
	}
	verifiedNumber, err := post(ctx, base+"/codes/verify", url.Values{"challenge": {challenge}, "code": {last.Code()}})
	if err != nil {
		return err
	}
	fmt.Println(verifiedNumber, "logs in with a code of", last.Channel)
	return nil
}

// post posts a form and returns the response.
func post(ctx context.Context, target string, form url.Values) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), err
}
