package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// Command runs the sandbox until the context ends and returns the exit status. A flag that cannot be used is one line on
// stderr and status 2.
func Command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	settings, err := parseFlags(args, stderr)
	if err == nil {
		err = settings.run(ctx, stdout)
	}
	if err != nil {
		return cli.Fail(stderr, "messaging sandbox", err)
	}
	return cli.ExitOK
}

// settings are the flags.
type settings struct {
	listen string
	config Config
}

func parseFlags(args []string, stderr io.Writer) (settings, error) {
	s := settings{config: Config{Webhooks: map[messagingtest.Channel]string{}}}
	flags := flag.NewFlagSet("messaging sandbox", flag.ContinueOnError)
	flags.StringVar(&s.listen, "listen", "127.0.0.1:8026", "the `address` to listen on; one that is not loopback asks for a password, which is printed once")
	file := flags.String("contract", "", "the `file` with what the contract of the account says differently")
	flags.StringVar(&s.config.Token, "token", "", "the `token` that the service accepts (a random one by default)")
	flags.StringVar(&s.config.Keep, "keep", "", "the `file` that stores messages between runs (memory only by default)")
	webhooks := map[messagingtest.Channel]*string{}
	for _, c := range table.Channels() {
		webhooks[messagingtest.Channel(c.Name)] = flags.String("webhook-"+c.Name, "", "the `URL` that answers by "+c.Title+" go to")
	}
	if err := cli.Parse(flags, args, stderr, ""); err != nil {
		return s, err
	}
	for channel, target := range webhooks {
		if *target == "" {
			continue
		}
		if webURL(*target) == "" {
			return s, fmt.Errorf("-webhook-%s: must be an absolute http or https URL, such as http://127.0.0.1:8080/hooks", channel)
		}
		s.config.Webhooks[channel] = *target
	}
	if strings.ContainsFunc(s.config.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return s, errors.New("-token: must be printable ASCII without spaces")
	}
	var err error
	if *file != "" {
		_, s.config.Contract, err = cli.ReadContract(*file)
	}
	return s, err
}

// run serves until the context ends.
func (s *settings) run(ctx context.Context, stdout io.Writer) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.listen)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("%s is taken: another program listens there", s.listen)
		}
		return fmt.Errorf("-listen: %w", err)
	}
	defer func() { _ = listener.Close() }()
	if bound, ok := listener.Addr().(*net.TCPAddr); !ok || !bound.IP.IsLoopback() {
		s.config.Password = rand.Text()
	}
	box, err := New(s.config)
	if err != nil {
		return fmt.Errorf("-keep: %w", err)
	}
	base := baseURL(s.listen, listener.Addr())
	_, _ = fmt.Fprintf(stdout, "export MESSAGING_BASE_URL=%s\nexport MESSAGING_TOKEN=%s\n\nThe page is at %s%s\n",
		base, shellWord(box.service.Token), base, Root)
	if s.config.Password != "" {
		_, _ = fmt.Fprintf(stdout, "It asks for this password, which is not shown again: %s\n", s.config.Password)
	}
	err = serve(ctx, listener, box.Handler(s.listen, listener.Addr()))
	if closed := box.Close(); closed != nil {
		err = errors.Join(err, fmt.Errorf("-keep: %w", closed))
	}
	return err
}

// baseURL returns the address of the service as programs on this machine write it.
func baseURL(listen string, addr net.Addr) string {
	host, _, _ := net.SplitHostPort(listen)
	bound, _ := addr.(*net.TCPAddr)
	if bound == nil {
		return "http://" + addr.String()
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, itoa(bound.Port))
}

// shellWord quotes a text for a shell if it needs to be.
func shellWord(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~+/=") == "" {
		return text
	}
	return shellQuote(text)
}

// serve serves until the context ends, and lets requests under way finish for a moment.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	const (
		headerTimeout = 30 * time.Second
		idleTimeout   = 2 * time.Minute
		grace         = time.Second
	)
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(last) != nil {
		_ = server.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
