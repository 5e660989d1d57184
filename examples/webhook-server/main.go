// Command webhook-server receives inbound SMS, chat-app messages and delivery reports, and prints what arrived without
// personal data.
//
//	webhook-server                         a test server calls it, and it ends
//	webhook-server -listen 127.0.0.1:8080  it serves until it is interrupted
//
// WEBHOOK_SECRET is the secret that callbacks carry in the parameter key. Without it the program makes one up and prints it.
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
	"path"
	"sync"
	"syscall"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

func main() {
	listen := flag.String("listen", "", "the address to serve on, such as 127.0.0.1:8080; by default a test server calls the program")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "webhook-server:", err)
		os.Exit(1) //nolint:gocritic // nothing that stop would release outlives the process
	}
}

func run(ctx context.Context, listen string) error {
	secret, shown := os.Getenv("WEBHOOK_SECRET"), "SECRET" // one that was supplied is not printed
	if secret == "" {
		secret = rand.Text()
		shown = secret
	}
	address := listen
	if address == "" {
		address = "127.0.0.1:0"
	}
	hooks, err := newReceiver(secret)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	base := "http://" + listener.Addr().String()
	fmt.Printf("Serving. Callback URLs, where SECRET stands for WEBHOOK_SECRET:\n"+
		"  %[1]s/hooks/sms?key=%[2]s\n  %[1]s/hooks/chatapp1?key=%[2]s\n  %[1]s/hooks/chatapp2?key=%[2]s\n"+
		"  %[1]s/hooks/delivery?key=%[2]s&... (DeliveryURL)\n", base, shown)

	server := newServer(hooks)
	served := make(chan error, 1)
	go func() { served <- server.Serve(limit(listener, 256)) }()
	if listen == "" {
		err = playThrough(ctx, hooks, base, secret)
	} else {
		select {
		case <-ctx.Done():
		case err = <-served:
		}
	}
	// Events that are being handled are finished and get their responses. The service calls again with the others.
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(shutdown))
}

func newReceiver(secret string) (*webhook.Receiver, error) {
	return webhook.NewReceiver(
		webhook.WithSecret("key", secret),
		webhook.WithStore(webhook.NewMemoryStore(100_000, 24*time.Hour)), // each event once, however often the service calls
		webhook.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{ReplaceAttr: withoutTime}))),
	)
}

// newServer mounts the four handlers. An http.Server has no limits by default.
func newServer(hooks *webhook.Receiver) *http.Server {
	in := new(inbox)
	mux := http.NewServeMux()
	mux.Handle("/hooks/sms", hooks.SMS(in.sms))
	mux.Handle("/hooks/chatapp1", hooks.ChatApp1(in.chatMessage))
	mux.Handle("/hooks/chatapp2", hooks.ChatApp2(in.chatMessage))
	mux.Handle("/hooks/delivery", hooks.Delivery(in.delivery))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }) // without a body, as every response
	return &http.Server{
		Handler:           http.MaxBytesHandler(refuseUncleanPaths(mux), 1<<16),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      40 * time.Second, // more than webhook.WithHandlerTimeout
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 17, // a long text takes up to twelve bytes a character in the query
	}
}

// limit accepts at most n connections at a time. The others wait in the queue of the system, while ReadHeaderTimeout ends those
// that say nothing. golang.org/x/net/netutil has the same as LimitListener.
func limit(l net.Listener, n int) net.Listener { return &limited{l, make(chan struct{}, n)} }

type limited struct {
	net.Listener

	open chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	l.open <- struct{}{}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.open
		return nil, err
	}
	return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { <-l.open })}, nil
}

type limitedConn struct {
	net.Conn

	release func()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// refuseUncleanPaths responds with 404 to a path such as //hooks/sms. http.ServeMux would redirect it, and the body of the redirect
// repeats the query with its secret and number.
func refuseUncleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == "duration" {
		return slog.Attr{}
	}
	return a
}

// inbox prints the events. A real program stores an event safely and quickly, and returns nil. Slow work comes
// after the response.
type inbox struct{ mu sync.Mutex }

func (in *inbox) sms(_ context.Context, m webhook.SMSMessage) error {
	return in.put("SMS %q: %d characters, keyword %q", m.ID, len([]rune(m.Text)), m.Keyword)
}

func (in *inbox) chatMessage(_ context.Context, m webhook.ChatMessage) error {
	switch c := m.Content.(type) {
	case webhook.Reply:
		return in.put("%s %q: %q chose %q", m.Callback, m.ID, c.Kind, c.ID)
	case webhook.Media:
		return in.put("%s %q: %q, %q", m.Callback, m.ID, c.Kind, c.MIMEType)
	case webhook.Text, webhook.Location, webhook.Contacts, webhook.Reaction, webhook.Order, webhook.System, webhook.Edit, webhook.Revoke,
		webhook.RequestWelcome, webhook.PaymentNotification:
		return in.put("%s %q: %T", m.Callback, m.ID, c)
	case webhook.Unknown:
		return in.put("%s %q: %q, which this program does not know, is kept as it arrived", m.Callback, m.ID, c.Kind)
	default:
		return errors.New("a kind of content from a newer version of the library")
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

// playThrough has a test server play the service.
func playThrough(ctx context.Context, hooks *webhook.Receiver, base, secret string) error {
	service := messagingtest.Start()
	defer service.Close()
	hook := func(name string) string { return base + "/hooks/" + name + "?key=" + secret }

	fmt.Println("\nAn SMS that arrives twice at once, with characters that nobody escaped:")
	service.Receive(ctx, hook("sms"), messagingtest.InboundSMS{
		ID: "in-1", From: "+639171234567", To: "21581", Text: "STOP; 100% & more", Keyword: "STOP", ReceivedAt: time.Now(),
	}, messagingtest.TwiceAtOnce(), messagingtest.Unescaped())

	fmt.Println("\nAn SMS with a wrong secret:")
	service.Receive(ctx, base+"/hooks/sms?key=guess", messagingtest.InboundSMS{From: "+639171234567", Text: "Hi"})

	fmt.Println("\nA text over chat app 1:")
	service.Receive(ctx, hook("chatapp1"), messagingtest.InboundChatApp{ID: "in-2", From: "+639171234567", Kind: "text", Text: "Hi"})

	fmt.Println("\nEvery kind of message over chat app 2:")
	for _, message := range messagingtest.InboundSamples() {
		service.Receive(ctx, hook("chatapp2"), message)
	}

	fmt.Println("\nAn SMS is sent, and its delivery reported:")
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return err
	}
	callback, err := hooks.DeliveryURL(base + "/hooks/delivery")
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
