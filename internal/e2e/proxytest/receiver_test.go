package proxytest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"path"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"github.com/messaging-service/messaging-go/webhook"
)

// receiverVariable turns the test binary into a receiver of webhooks. Its value is the address to serve. The receiver prints the events that it
// handled.
const receiverVariable = "PROXYTEST_RECEIVER"

// serveReceiver is the main function of a receiver. It ends like a program that an operator stops.
func serveReceiver(address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	hooks, err := webhook.NewReceiver(
		webhook.WithSecret("key", secret),
		webhook.WithStore(webhook.NewMemoryStore(100_000, 24*time.Hour)),
	)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/hooks/sms", hooks.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		_, err := fmt.Printf("SMS %q\n", m.ID)
		return err
	}))
	mux.Handle("/hooks/delivery", hooks.Delivery(func(context.Context, webhook.DeliveryReport) error { return nil }))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return serve(ctx, listener, mux)
}

// serve serves webhooks until ctx ends, like examples/apps/bot.
func serve(ctx context.Context, listener net.Listener, mux *http.ServeMux) error {
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }) // without a body
	clean := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path { // the mux would redirect it, and repeat the query in a body
			w.WriteHeader(http.StatusNotFound)
			return
		}
		mux.ServeHTTP(w, r)
	})
	server := &http.Server{
		Handler:           http.MaxBytesHandler(clean, 4<<20), // a batch of the platform has up to 3 MiB
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      40 * time.Second, // more than webhook.WithHandlerTimeout
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 17,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(netutil.LimitListener(listener, 256)) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second) // for events that are being handled
	defer cancel()
	return server.Shutdown(stopping)
}
