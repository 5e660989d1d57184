package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// command holds the flags.
type command struct {
	listen, contract string
	quiet, open      bool
	webhooks         map[string]*string
	faults           []string
	config           Config
}

// NewCommand returns the command.
func NewCommand(console cli.Console) *cobra.Command {
	c := &command{config: Config{Webhooks: map[string]string{}}, webhooks: map[string]*string{}}
	cobraCommand := &cobra.Command{
		Use:   "sandbox",
		Short: "Run the service on this machine, with a web page to see messages, reply to them and inject faults",
		Long: `Run the service on this machine, with a web page to see messages, reply to them and inject faults.

It prints the variables that name it as an account, then the address of the page. Run its "export" lines in another shell, and
the other commands and your program send to the sandbox. It sends nothing to real phones, keeps messages in memory, and runs
until it is interrupted.

Tests in any language use its API, which /_sandbox/openapi.json describes: it waits for messages, adds messages of earlier days,
replies, decides deliveries and when they are reported, and advances the clock.

A fault has the same name and parameters in the flag --fault, on the page and in a POST to /_sandbox/faults:

` + faultHelp() + `
Each fault needs n (the next requests, up to 100000), duration (up to 24h) or share (above 0, up to 1), and can have skip (requests that
pass first, up to 100000), to (a recipient) and operation (` + strings.Join(operationNames(), ", ") + `). If several faults
apply to a request, one with n comes first, and an older one before a newer one.`,
		Example: `  messaging sandbox
  messaging sandbox --listen 127.0.0.1:0 --webhook-sms 'localhost:8080/hooks/sms?key=SECRET'
  messaging sandbox --open --quiet
  messaging sandbox --fault status,status=429,retryAfter=2s,skip=10,duration=30s
  messaging sandbox --contract contract.json --token my-token`,
		Args: cli.NoArgs,
	}
	flags := cobraCommand.Flags()
	flags.StringVar(&c.listen, "listen", "127.0.0.1:8026", "the `address` to listen on; one that is not loopback asks for a password, which is printed at startup")
	flags.StringVar(&c.contract, "contract", "", "the `file` of an overlay: what your account names differently")
	flags.StringVar(&c.config.Token, "token", "", "the `token` of the service, or its API key if the contract has a key pair (random by default)")
	flags.BoolVarP(&c.quiet, "quiet", "q", false, "do not print a line for each message, reply, callback and fault")
	flags.BoolVar(&c.open, "open", false, "open the page in the browser")
	flags.StringArrayVar(&c.faults, "fault", nil, "a `fault` from the start, such as accept-then-drop,n=1; can be repeated")
	for _, channel := range table.Channels() {
		c.webhooks[channel.Name] = flags.String("webhook-"+channel.Name, "", "the `URL` that gets replies by "+channel.Title)
	}
	cobraCommand.RunE = func(run *cobra.Command, _ []string) error {
		if err := c.check(); err != nil {
			return err
		}
		return c.run(run.Context(), console)
	}
	return cobraCommand
}

// faultHelp lists the faults with their own parameters.
func faultHelp() string {
	var help strings.Builder
	for _, kind := range faultKinds() {
		var parameters []string
		for _, name := range kind.Parameters {
			parameters = append(parameters, name+kind.rangeOf(name))
		}
		_, _ = fmt.Fprintln(&help, strings.TrimRight(fmt.Sprintf("  %-18s %s", kind.Name, strings.Join(parameters, ", ")), " "))
	}
	return help.String()
}

// check validates the flags and reads the contract.
func (c *command) check() error {
	for channel, target := range c.webhooks {
		if *target == "" {
			continue
		}
		hook := webhookURL(*target)
		if hook == "" {
			return fmt.Errorf("--webhook-%s: want an address such as localhost:8080/hooks, or an http or https URL", channel)
		}
		c.config.Webhooks[channel] = hook
	}
	for _, text := range c.faults {
		rule, err := parseFault(text)
		if err != nil {
			return fmt.Errorf("--fault %s: %w", text, err)
		}
		c.config.faults = append(c.config.faults, rule)
	}
	if len(c.config.faults) > maxFaultRules {
		return fmt.Errorf("--fault: more than %d", maxFaultRules)
	}
	if strings.ContainsFunc(c.config.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("--token: must be printable ASCII without spaces")
	}
	var err error
	if c.contract != "" {
		c.config.Contract, err = readContract(c.contract)
	}
	if err == nil && c.contract != "" {
		c.config.ContractFile, err = filepath.Abs(c.contract)
	}
	return err
}

// run serves until the context ends.
func (c *command) run(ctx context.Context, console cli.Console) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.listen)
	if err != nil {
		return cli.ListenError(c.listen, err)
	}
	defer func() { _ = listener.Close() }()
	if bound, ok := listener.Addr().(*net.TCPAddr); !ok || !bound.IP.IsLoopback() {
		c.config.Password = rand.Text()
	}
	printer := newPrinter(console.Out)
	defer printer.close()
	if !c.quiet {
		c.config.Log = printer.print
	}
	box := New(c.config)
	base := baseURL(c.listen, listener.Addr())
	c.greet(console.Out, base, box.Sandbox())
	if c.open {
		if failed := openBrowser(ctx, base+Root); failed != nil {
			_, _ = fmt.Fprintf(console.Err, "messaging sandbox: --open: %v\n", failed)
		}
	}
	err = cli.Serve(ctx, listener, box.Handler(c.listen, listener.Addr()))
	box.Close()
	printer.print("stopped")
	return err
}

// greet prints the environment for a program, the address of the page, and a command that sends a message.
func (c *command) greet(out io.Writer, base string, main *Sandbox) {
	for _, variable := range main.environment(base) {
		_, _ = fmt.Fprintln(out, "export "+variable.Assignment())
	}
	_, _ = fmt.Fprintf(out, "\nThe page is at %s%s\n", base, Root)
	if c.config.Password != "" {
		_, _ = fmt.Fprintf(out, "It asks for this password, which is not shown again: %s\n", c.config.Password)
	}
	if request, body, err := main.firstRequest(); err == nil {
		command := curlCommand(request.Method, base+request.URL.RequestURI(), linesOf(request.Header), body, main.variableIn)
		_, _ = fmt.Fprintf(out, "\nSend a first message:\n\n%s\n\n", command)
	}
}

// openBrowser opens a page in the browser of the user.
func openBrowser(ctx context.Context, page string) error {
	line := []string{"xdg-open", page}
	switch runtime.GOOS {
	case "darwin":
		line = []string{"open", page}
	case "windows":
		line = []string{"rundll32", "url.dll,FileProtocolHandler", page}
	}
	opener := exec.CommandContext(context.WithoutCancel(ctx), line[0], line[1:]...) //nolint:gosec // one of three
	if err := opener.Start(); err != nil {
		return fmt.Errorf("no browser can be opened; the page is at %s", page)
	}
	go func() { _ = opener.Wait() }() // the browser outlives the command that opens it
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

// readContract reads an overlay of the contract from the file that a flag names.
func readContract(name string) (names contract.Contract, err error) {
	const maxContract = 1 << 20
	file, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return names, fmt.Errorf("--contract: %w", err)
	}
	defer func() { _ = file.Close() }()
	overlay, err := io.ReadAll(io.LimitReader(file, maxContract+1))
	if err == nil && len(overlay) > maxContract {
		err = errors.New("longer than 1 MiB")
	}
	if err == nil {
		names, err = contract.Parse(overlay)
	}
	if err != nil {
		return names, fmt.Errorf("--contract %s: %w", name, err)
	}
	return names, nil
}
