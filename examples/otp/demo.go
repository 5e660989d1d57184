package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

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
	server := httptest.NewUnstartedServer(nil) // serve has an http.Server with limits
	o, err := newOTP(client, "http://"+server.Listener.Addr().String())
	if err != nil {
		return err
	}
	server.Config.Handler = o
	server.Start()
	defer server.Close()
	return demo(ctx, service, o)
}

// demo asks for two codes, and enters each. The second goes to a number without the chat app.
func demo(ctx context.Context, service *messagingtest.Server, o *otp) error {
	const number = "+639171234567"
	for _, fault := range []messagingtest.Fault{{}, messagingtest.FaultCode("131026")} {
		service.Inject(fault, 1)
		form := url.Values{"to": {number}, "request": {rand.Text()}}
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/codes", strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response := httptest.NewRecorder()
		o.ServeHTTP(response, request)
		if response.Code != http.StatusAccepted {
			return errors.New(response.Body.String())
		}
		challenge := response.Body.String()
		message, err := service.WaitFor(ctx, number)
		if err != nil {
			return err
		}
		service.ReportDelivery(ctx, message.ID, "delivered")
		status, err := o.codes.status(challenge)
		if err != nil {
			return err
		}
		_, useErr := o.codes.use(challenge, message.Code())
		fmt.Println(message.Channel, status, "and right:", useErr == nil)
	}
	return nil
}
