package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/internal/table"
)

// settings are the flags.
type settings struct {
	listen, contract string
	quiet, open      bool
	webhooks         map[string]*string
	config           Config
}

// NewCommand returns the command.
func NewCommand(console cli.Console) *cobra.Command {
	s := &settings{config: Config{Webhooks: map[string]string{}}, webhooks: map[string]*string{}}
	command := &cobra.Command{
		Use:   "sandbox",
		Short: "Run the service on this machine, with a web page to see messages, reply to them and inject faults",
		Example: `  messaging sandbox
  messaging sandbox --listen 127.0.0.1:0 --webhook-sms localhost:8080/hooks/sms
  messaging sandbox --open --quiet
  messaging sandbox --contract contract.json --keep messages.jsonl`,
		Args: cli.NoArgs,
	}
	flags := command.Flags()
	flags.StringVar(&s.listen, "listen", "127.0.0.1:8026", "the `address` to listen on; one that is not loopback asks for a password, which is printed once")
	flags.StringVar(&s.contract, "contract", "", "the `file` with what the contract of the account says differently")
	flags.StringVar(&s.config.Token, "token", "", "the `token` that the service accepts (a random one by default)")
	flags.StringVar(&s.config.Keep, "keep", "", "the `file` that stores messages between runs (memory only by default)")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print no line for each message, reply, callback and fault")
	flags.BoolVar(&s.open, "open", false, "open the page in the browser")
	for _, c := range table.Channels() {
		s.webhooks[c.Name] = flags.String("webhook-"+c.Name, "", "the `URL` that replies by "+c.Title+" go to")
	}
	command.RunE = func(command *cobra.Command, _ []string) error {
		if err := s.check(); err != nil {
			return err
		}
		return s.run(command.Context(), console)
	}
	return command
}

// check finds flags that cannot be used, before anything is done.
func (s *settings) check() error {
	for channel, target := range s.webhooks {
		if *target == "" {
			continue
		}
		hook := webhookURL(*target)
		if hook == "" {
			return fmt.Errorf("--webhook-%s: want an address such as localhost:8080/hooks, or an http or https URL", channel)
		}
		s.config.Webhooks[channel] = hook
	}
	if strings.ContainsFunc(s.config.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("--token: must be printable ASCII without spaces")
	}
	var err error
	if s.contract != "" {
		s.config.Contract, err = cli.ReadContract(s.contract)
	}
	return err
}

// run serves until the context ends.
func (s *settings) run(ctx context.Context, console cli.Console) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.listen)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			err = fmt.Errorf("%s is taken: another program listens there; --listen 127.0.0.1:0 takes any free port", s.listen)
		}
		return fmt.Errorf("--listen: %w", err)
	}
	defer func() { _ = listener.Close() }()
	if bound, ok := listener.Addr().(*net.TCPAddr); !ok || !bound.IP.IsLoopback() {
		s.config.Password = rand.Text()
	}
	printing := newPrinter(console.Out)
	defer printing.close()
	if !s.quiet {
		s.config.Log = printing.print
	}
	box, err := New(s.config)
	if err != nil {
		return fmt.Errorf("--keep: %w", err)
	}
	base := baseURL(s.listen, listener.Addr())
	s.greet(console.Out, base, box.Sandbox())
	if s.open {
		if failed := openBrowser(ctx, base+Root); failed != nil {
			_, _ = fmt.Fprintf(console.Err, "messaging sandbox: --open: %v\n", failed)
		}
	}
	err = cli.Serve(ctx, listener, box.Handler(s.listen, listener.Addr()))
	if closed := box.Close(); closed != nil {
		err = errors.Join(err, fmt.Errorf("--keep: %w", closed))
	}
	printing.print("stopped")
	return err
}

// greet prints what a program needs.
func (s *settings) greet(out io.Writer, base string, main *Sandbox) {
	token := main.programToken()
	_, _ = fmt.Fprintf(out, "export MESSAGING_BASE_URL=%s\nexport MESSAGING_TOKEN=%s\n\nThe page is at %s%s\n", base, shellWord(token), base, Root)
	if s.config.Password != "" {
		_, _ = fmt.Fprintf(out, "It asks for this password, which is not shown again: %s\n", s.config.Password)
	}
	if request, body, err := main.firstRequest(token); err == nil {
		command := curlCommand(request.Method, base+request.URL.RequestURI(), linesOf(request.Header), body)
		_, _ = fmt.Fprintf(out, "\nSend a first message:\n\n%s\n\n", command)
	}
}

// openBrowser opens a page in the browser of the user.
func openBrowser(ctx context.Context, page string) error {
	name, args := "xdg-open", []string{page}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", page}
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), name, args...) //nolint:gosec // one of three
	if err := command.Start(); err != nil {
		return fmt.Errorf("no browser can be opened; the page is at %s", page)
	}
	go func() { _ = command.Wait() }() // the browser outlives the command that opens it
	return nil
}

// baseURL returns the address of the service as programs on this machine write it.
func baseURL(listen string, addr net.Addr) string {
	host, _, _ := net.SplitHostPort(listen)
	_, port, _ := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// shellWord quotes a text for a shell if it needs to be.
func shellWord(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~+/=:") == "" {
		return text
	}
	return shellQuote(text)
}
