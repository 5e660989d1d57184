// Command webhook-server receives inbound SMS, chat-app messages and delivery reports, and prints what came, as far as that is
// nobody's business but the log's.
//
//	webhook-server                         a stand-in for the service calls it, and it ends
//	webhook-server -listen 127.0.0.1:8080  it serves until it is interrupted
//
// WEBHOOK_SECRET is what the service has to bring in the parameter key; without it one is made up and printed.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

func main() {
	listen := flag.String("listen", "", "the address to serve on, such as 127.0.0.1:8080; none: play it through with a stand-in")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "webhook-server:", err)
		os.Exit(1) //nolint:gocritic // nothing that stop would release outlives the process
	}
}

func run(ctx context.Context, listen string) error {
	secret := os.Getenv("WEBHOOK_SECRET")
	if secret == "" {
		secret = rand.Text()
	}
	address := listen
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	base := "http://" + listener.Addr().String()
	fmt.Printf("Serving. Tell the service to call\n  %[1]s/hooks/sms?key=%[2]s\n  %[1]s/hooks/chatapp1?key=%[2]s\n  %[1]s/hooks/chatapp2?key=%[2]s\nand let sends name the callback\n  %[1]s/hooks/delivery?key=%[2]s&... (webhook.DeliveryURL)\n", base, secret)

	server := newServer(newInbox(), secret)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	if listen == "" {
		err = playThrough(ctx, base, secret)
	} else {
		select {
		case <-ctx.Done():
		case err = <-ended:
		}
	}
	// What is being handled ends, and is answered; what comes now is not taken, and the service calls again.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(ending))
}

// newServer mounts the four handlers. The limits are what a server in the open needs: none of them is set by default.
func newServer(in *inbox, secret string) *http.Server {
	options := []webhook.Option{
		webhook.WithSecret("key", secret),
		webhook.WithStore(webhook.NewMemoryStore(100_000, 24*time.Hour)), // each event once, however often the service calls
		webhook.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{ReplaceAttr: withoutTime}))),
	}
	mux := http.NewServeMux()
	mux.Handle("/hooks/sms", webhook.SMS(in.sms, options...))
	mux.Handle("/hooks/chatapp1", webhook.ChatApp1(in.chatApp1, options...))
	mux.Handle("/hooks/chatapp2", webhook.ChatApp2(in.chatApp2, options...))
	mux.Handle("/hooks/delivery", webhook.Delivery(in.delivery, options...))
	return &http.Server{
		Handler:           http.MaxBytesHandler(mux, 1<<16),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 17, // a long text stands in the query, six bytes for many a character
	}
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == "duration" {
		return slog.Attr{}
	}
	return a
}

// inbox stands for what a program does with a message: put it where it is safe, quickly, and say so by returning nil. Work
// that takes time comes after the answer.
type inbox struct {
	mu sync.Mutex
}

func newInbox() *inbox { return new(inbox) }

func (in *inbox) sms(_ context.Context, m webhook.SMSMessage) error {
	return in.put("SMS %q: %d characters, keyword %q", m.ID, len([]rune(m.Text)), m.Keyword)
}

func (in *inbox) chatApp1(_ context.Context, m webhook.ChatApp1Message) error {
	return in.put("chat app 1 %q: %T", m.ID, m.Content)
}

func (in *inbox) chatApp2(_ context.Context, m webhook.ChatApp2Message) error {
	switch c := m.Content.(type) {
	case webhook.Reply:
		return in.put("chat app 2 %q: %q chose %q", m.ID, c.Kind, c.ID)
	case webhook.Media:
		return in.put("chat app 2 %q: %q, %q", m.ID, c.Kind, c.MIMEType)
	case webhook.Text, webhook.Location, webhook.Contacts, webhook.Reaction, webhook.Order, webhook.System:
		return in.put("chat app 2 %q: %T", m.ID, c)
	case webhook.Unknown:
		return in.put("chat app 2 %q: %q, which this program does not know, is kept as it came", m.ID, c.Kind)
	default:
		return errors.New("a kind of content that came with a newer version of the library")
	}
}

func (in *inbox) delivery(_ context.Context, d webhook.DeliveryReport) error {
	return in.put("delivery of %q (%q): %v", d.ID, d.ReferenceID, d.Status)
}

func (in *inbox) put(format string, args ...any) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	_, err := fmt.Printf("  "+format+"\n", args...)
	return err
}

// playThrough is the service, as far as a stand-in can be it.
func playThrough(ctx context.Context, base, secret string) error {
	service := messagingtest.Start()
	defer service.Close()
	hook := func(name string) string { return base + "/hooks/" + name + "?key=" + secret }

	fmt.Println("\nAn SMS, which comes twice at once as some senders do, with characters that nobody escaped:")
	service.Receive(ctx, hook("sms"), messagingtest.InboundSMS{
		ID: "in-1", From: "+639171234567", To: "21581", Text: "STOP; 100% & more", Keyword: "STOP", ReceivedAt: time.Now(),
	}, messagingtest.TwiceAtOnce(), messagingtest.Unescaped())

	fmt.Println("\nOne with a wrong secret:")
	service.Receive(ctx, base+"/hooks/sms?key=guess", messagingtest.InboundSMS{From: "+639171234567", Text: "Hi"})

	fmt.Println("\nA text over chat app 1:")
	service.Receive(ctx, hook("chatapp1"), messagingtest.InboundChatApp{ID: "in-2", From: "+639171234567", Kind: "text", Text: "Hi"})

	fmt.Println("\nEvery kind of message over chat app 2:")
	for _, message := range messagingtest.InboundSamples() {
		service.Receive(ctx, hook("chatapp2"), message)
	}

	fmt.Println("\nAn SMS goes out, and its delivery is reported:")
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return err
	}
	callback, err := webhook.DeliveryURL(base+"/hooks/delivery", webhook.WithSecret("key", secret))
	if err != nil {
		return err
	}
	receipt, err := client.SMS.Send(ctx, sms.Message{
		From: "ACME", To: "+639171234567", Text: "Your order is ready", ReferenceID: "order-17", CallbackURL: callback,
	})
	if err != nil {
		return err
	}
	service.ReportDelivery(ctx, receipt.ID, "1")
	return nil
}
