package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

// secretParameter is the query parameter with the secret that the service sends.
const secretParameter = "key"

// NewHandler returns the handler of a receiver: the webhooks, and /healthz, which responds with 503 if events cannot be stored, so
// that a load balancer sends them elsewhere.
func NewHandler(stream *Stream, secret string) (http.Handler, error) {
	if strings.TrimSpace(secret) == "" {
		return nil, errors.New("inbox: the secret is empty, so anyone could send events")
	}
	sms := func(ctx context.Context, m webhook.SMSMessage) error {
		return stream.Publish(ctx, newEvent(webhook.CallbackSMS, m))
	}
	chat := func(ctx context.Context, m webhook.ChatMessage) error {
		return stream.Publish(ctx, newEvent(m.Callback, m))
	}
	delivery := func(ctx context.Context, d webhook.DeliveryReport) error {
		return stream.Publish(ctx, newEvent(webhook.CallbackDelivery, d))
	}
	receiver, err := webhook.NewReceiver(
		webhook.WithSecret(secretParameter, secret), webhook.WithLogger(stream.log), webhook.WithStatuses(delivery))
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/hooks/sms", receiver.SMS(sms))
	mux.Handle("/hooks/chatapp1", receiver.ChatApp1(chat))
	mux.Handle("/hooks/chatapp2", receiver.ChatApp2(chat))
	mux.Handle("/hooks/delivery", receiver.Delivery(delivery))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		if stream.Healthy(ctx) != nil {
			http.Error(w, "events cannot be stored", http.StatusServiceUnavailable)
		}
	})
	return mux, nil
}

// Receive serves a receiver until ctx ends, and completes the events under way. It closes the listener.
func Receive(ctx context.Context, listener net.Listener, stream *Stream, secret string) error {
	handler, err := NewHandler(stream, secret)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler: http.MaxBytesHandler(handler, 1<<16), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 10*time.Second + publishTimeout, IdleTimeout: time.Minute,
		MaxHeaderBytes: 1 << 17, // the query can hold a long text, with six bytes for a character
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*publishTimeout)
	defer cancel()
	return errors.Join(err, server.Shutdown(stopping))
}
