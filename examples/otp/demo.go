package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func runDemo(ctx context.Context) error {
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return err
	}
	hooks, err := newReceiver()
	if err != nil {
		return err
	}
	server := httptest.NewUnstartedServer(nil) // serve has an http.Server with limits
	o, err := newOTP(client, hooks, "http://"+server.Listener.Addr().String())
	if err != nil {
		return err
	}
	o.reportWithin = time.Second
	server.Config.Handler = o
	server.Start()
	err = demo(ctx, service, o, server.URL)
	server.Close()      // waits for the requests under way
	o.background.Wait() // and for their lookups
	return err
}

// demo asks for two codes, the second with a slow response, and enters each.
func demo(ctx context.Context, service *messagingtest.Server, o *otp, baseURL string) error {
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
		o.background.Wait()
		sent := service.Sent()
		last := sent[len(sent)-1]
		_, useErr := o.codes.use(challenge, last.Code())
		fmt.Println(last.Channel, o.codes.statusOf(last.ReferenceID), "and right:", useErr == nil)
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
