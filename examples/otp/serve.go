package main

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed" // for the page
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/webhook"
)

// page asks for a number and then for the code.
//
//go:embed page.html
var page []byte

// serve serves codes and a page for the account in the environment until the context ends. OTP_ADDRESS is where it listens, and OTP_URL where
// the service calls it, such as https://login.example.com. Only a service on the same machine needs no OTP_URL.
func serve(ctx context.Context, out io.Writer) error {
	client, err := messaging.NewClientFromEnv()
	if err != nil {
		return err
	}
	publicURL := os.Getenv("OTP_URL")
	if publicURL == "" && !isOnThisMachine(os.Getenv("MESSAGING_BASE_URL")) {
		return errors.New("OTP_URL is not set; want the URL where the service calls this program, such as https://login.example.com")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cmp.Or(os.Getenv("OTP_ADDRESS"), "127.0.0.1:8090"))
	if err != nil {
		return err
	}
	home := "http://" + listener.Addr().String()
	o, err := newOTP(client, cmp.Or(publicURL, home))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	o.HandleFunc("GET /{$}", showPage)
	_, _ = fmt.Fprintln(out, "otp: open", home+"/")
	return serveUntilEnd(ctx, listener, o)
}

// isOnThisMachine reports whether the host of a URL is this machine.
func isOnThisMachine(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := parsed.Hostname()
	return host == "localhost" || net.ParseIP(host).IsLoopback()
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

func showPage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page)
}

// serveUntilEnd serves until the context ends, and then waits for the requests under way.
func serveUntilEnd(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{ // docs/webhooks.md has more limits
		Handler:           http.MaxBytesHandler(handler, 1<<20),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      20 * time.Second,
		IdleTimeout:       time.Minute,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*callTimeout)
	defer cancel()
	return server.Shutdown(ending)
}
