package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

// The environment variables of messaging.NewClientFromEnv.
const (
	envBaseURL   = "MESSAGING_BASE_URL"
	envToken     = "MESSAGING_TOKEN"
	envAPIKey    = "MESSAGING_API_KEY"
	envAPISecret = "MESSAGING_API_SECRET"
	envContract  = contract.EnvFile
)

// settings are the flags, and the variables that have none.
type settings struct {
	baseURL, contract  string
	plainHTTP          bool
	timeout            time.Duration
	rate               float64 // requests per second
	json               bool
	send, from         string
	yes                bool
	wait               time.Duration
	listen             string
	listenFor          time.Duration
	record, out        string
	force              bool
	token, key, secret string
	overlay            []byte // in the file of the contract
	names              contract.Contract
	console            cli.Console
}

// NewCommand returns the command. It ends with exit status 0 if nothing contradicts the contract, 1 if something does, and 2 if that could
// not be found out, or a flag, a variable or a file cannot be used.
func NewCommand(console cli.Console) *cobra.Command {
	const defaultTimeout, defaultWait, defaultRate = 15 * time.Second, time.Minute, 10
	s := &settings{console: console}
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Find where an account differs from the contract, and write the overlay",
		Long: "Examine an account, and report where it differs from the contract. Without --send nothing is sent.\n\n" +
			"Credentials come from $" + envToken + ", or $" + envAPIKey + " and $" + envAPISecret + ".",
		Example: `  messaging doctor -o contract.json
  messaging doctor --send +639171234567 --from ACME
  messaging doctor --listen :8080`,
		Args: cli.NoArgs,
	}
	flags := command.Flags()
	flags.StringVar(&s.baseURL, "base-url", "", "the `URL` of the service (default $"+envBaseURL+")")
	flags.StringVar(&s.contract, "contract", "", "the `file` with the overlay so far (default $"+envContract+")")
	flags.BoolVar(&s.plainHTTP, "plain-http", false, "allow http for a host that is not loopback")
	flags.DurationVar(&s.timeout, "timeout", defaultTimeout, "how long each step may take")
	flags.Float64Var(&s.rate, "rate", defaultRate, "how many requests there may be in a second")
	flags.BoolVar(&s.json, "json", false, "print the report as JSON")
	flags.StringVar(&s.send, "send", "", "send an SMS to this `number`, after asking; it may cost money and be sent twice")
	flags.StringVar(&s.from, "from", "", "the `sender` of the SMS")
	flags.BoolVarP(&s.yes, "yes", "y", false, "send without asking")
	flags.DurationVar(&s.wait, "wait", defaultWait, "how long to wait until the SMS is listed")
	flags.StringVar(&s.listen, "listen", "", "receive callbacks on this `address`, such as :8080; a path such as /sms or /delivery says which")
	flags.DurationVar(&s.listenFor, "for", 0, "how long to receive callbacks; 0 is until interrupted")
	flags.StringVar(&s.record, "record", "", "write the exchanges, without numbers, texts and secrets, to this `folder` for messagingtest.Replay")
	flags.StringVarP(&s.out, "out", "o", "", "write the overlay with what was found to this `file`")
	flags.BoolVar(&s.force, "force", false, "overwrite what -o and --record name")
	command.RunE = func(command *cobra.Command, _ []string) error {
		s.baseURL = cmp.Or(s.baseURL, console.Getenv(envBaseURL))
		s.contract = cmp.Or(s.contract, console.Getenv(envContract))
		s.token, s.key, s.secret = console.Getenv(envToken), console.Getenv(envAPIKey), console.Getenv(envAPISecret)
		if err := s.check(); err != nil {
			return err
		}
		report, err := s.run(command.Context())
		if err != nil {
			return err
		}
		if report.Status != cli.ExitOK {
			return &cli.ExitError{Status: report.Status}
		}
		return nil
	}
	return command
}

// say writes a line about what is going on.
func (s *settings) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.console.Err, "messaging doctor: "+format+"\n", args...)
}

// check finds flags and variables that cannot be used, before anything is done.
func (s *settings) check() error {
	switch {
	case s.timeout <= 0:
		return fmt.Errorf("--timeout: must be more than 0, got %v", s.timeout)
	case !(s.rate > 0) || math.IsInf(s.rate, 1):
		return fmt.Errorf("--rate: must be a number more than 0, got %v", s.rate)
	case s.wait <= 0:
		return fmt.Errorf("--wait: must be more than 0, got %v", s.wait)
	case s.listenFor < 0:
		return fmt.Errorf("--for: must be 0 or more, got %v", s.listenFor)
	case s.listenFor > 0 && s.listen == "":
		return errors.New("--for: needs --listen")
	case (s.send == "") != (s.from == ""):
		return errors.New("--send: needs --from, and --from needs --send")
	case s.send != "" && s.baseURL == "":
		return errors.New("--send: needs --base-url or " + envBaseURL)
	case s.send != "" && !s.yes && !s.console.InTerminal:
		return errors.New("--send: there is no terminal to ask on; add --yes to send without asking")
	case s.baseURL == "" && s.listen == "":
		return errors.New(envBaseURL + " or --base-url: required, but absent; want an absolute URL such as https://api.example.com")
	case s.token != "" && (s.key != "" || s.secret != ""):
		return errors.New(envToken + ": set beside " + envAPIKey + " or " + envAPISecret + "; want one kind of credentials")
	case s.key == "" && s.secret != "":
		return errors.New(envAPIKey + ": required beside " + envAPISecret)
	case s.baseURL != "" && s.token == "" && s.key == "":
		return errors.New(envToken + ": required, but absent; or set " + envAPIKey + " and " + envAPISecret)
	}
	if _, err := os.Lstat(s.out); s.out != "" && !s.force && err == nil {
		return fmt.Errorf("-o %s: exists; --force overwrites it", s.out)
	}
	if s.record != "" {
		old, err := filepath.Glob(filepath.Join(s.record, "*.json"))
		if err != nil || len(old) > 0 && !s.force {
			return fmt.Errorf("--record %s: holds fixtures; --force overwrites them", s.record)
		}
		if err := os.MkdirAll(s.record, 0o700); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
	}
	if s.contract == "" {
		return nil
	}
	var err error
	s.overlay, s.names, err = cli.ReadContract(s.contract)
	return err
}

// newDoctor returns a doctor, with a client if there is an account.
func (s *settings) newDoctor() (d *doctor, err error) {
	d = &doctor{
		table: s.names.Table(), overlay: parseOverlay(s.overlay), recorder: &recorder{}, report: &Report{Checks: []Check{}},
		timeout: s.timeout, say: s.say, sensitive: map[string]bool{}, base: &url.URL{},
	}
	if s.baseURL == "" {
		return d, nil
	}
	const attempts = 2
	options := []messaging.Option{
		messaging.WithContract(s.names), messaging.WithTimeout(s.timeout), messaging.WithRateLimit(s.rate, 1),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: attempts}), messaging.WithTransport(d.recorder.wrap),
		messaging.WithBreaker(messaging.BreakerPolicy{Off: true}), // it goes on to ask what is refused
	}
	if s.token != "" {
		options = append(options, messaging.WithToken(s.token))
	} else {
		options = append(options, messaging.WithAPIKey(s.key, s.secret))
	}
	if s.plainHTTP {
		options = append(options, messaging.WithPlainHTTP())
	}
	if d.client, err = messaging.NewClient(s.baseURL, options...); err != nil {
		return nil, err
	}
	if d.base, err = url.Parse(s.baseURL); err != nil {
		return nil, errors.New("--base-url: no URL")
	}
	d.report.Address = d.base.Scheme + "://" + d.base.Host
	d.secrets = slices.DeleteFunc([]string{s.token, s.key, s.secret}, func(secret string) bool { return secret == "" })
	return d, nil
}

func (s *settings) run(ctx context.Context) (*Report, error) {
	d, err := s.newDoctor()
	if err != nil {
		return nil, err
	}
	var listener net.Listener
	if s.listen != "" {
		if listener, err = new(net.ListenConfig).Listen(ctx, "tcp", s.listen); err != nil {
			return nil, fmt.Errorf("--listen: %w", err)
		}
		defer func() { _ = listener.Close() }()
	}
	if s.send != "" && !s.yes {
		if err := s.ask(ctx); err != nil {
			return nil, err
		}
	}
	if d.client != nil {
		s.examine(ctx, d)
	}
	if listener != nil {
		d.listen(ctx, listener, s.listenFor)
	}
	return d.report, s.finish(d)
}

// ask asks whether to send.
func (s *settings) ask(ctx context.Context) error {
	err := s.console.Confirm(ctx, "This sends one SMS to the number of --send, and then the same once more to see whether the service refuses a duplicate.\n"+
		"If it does not, two SMS go out. Each may cost money. Send?", "--yes to send without asking")
	if err != nil {
		return fmt.Errorf("--send: %w", err)
	}
	return nil
}

// examine looks at the account.
func (s *settings) examine(ctx context.Context, d *doctor) {
	isListed := d.examineListing(ctx)
	if isListed {
		d.examinePaging(ctx)
	}
	isSent := false
	if s.send != "" && ctx.Err() == nil && d.takesCredentials() { // an account may send, although it does not list
		isSent = d.sendFirst(ctx, s.from, s.send, s.wait)
	}
	if isListed && len(d.rows) == 0 {
		d.section = "listing"
		d.add("members", Unknown, "the account lists no message, so nothing shows what its rows look like; send one (--send), or use an account that has some")
	}
	steps := []func(context.Context){d.examineRecord, d.examinePage, d.examineFilters}
	if isSent {
		steps = []func(context.Context){d.examineRecord, d.examineResponse, d.examinePage, d.examineFilters, d.sendAgain}
	}
	for _, step := range append(steps, d.useOverlay) {
		if (isListed || isSent) && ctx.Err() == nil {
			step(ctx)
		}
	}
	if ctx.Err() != nil {
		d.section = "end"
		d.add("interrupted", Unknown, "what was not looked at by then is not here")
	}
}

// finish writes the report, the overlay and the exchanges.
func (s *settings) finish(d *doctor) error {
	overlay := d.overlay.pretty()
	d.report.Overlay = []byte(overlay)
	s.summarize(d)
	d.report.sort()
	d.report.setStatus()
	if s.record != "" {
		n, err := d.newScrambler().write(s.record, d.recorder.exchanges)
		if err != nil {
			return fmt.Errorf("--record: %w", err)
		}
		s.say("%d exchanges are in %s", n, s.record)
	}
	fault := s.fault(d)
	isSaved := false
	if s.out != "" {
		var err error
		if isSaved, err = s.save(overlay, fault); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
	}
	if s.json {
		_, err := fmt.Fprintln(s.console.Out, document.Node{Value: d.report}.Indented())
		return err
	}
	if isSaved || len(d.overlay) == 0 {
		return d.report.writeText(s.console.Out, "")
	}
	title := "The overlay, which -o FILE saves"
	if fault != "" {
		title = "The overlay so far, not to be used as it is: " + fault
	}
	return d.report.writeText(s.console.Out, title)
}

// save writes the overlay to FILE if it was seen to work, and otherwise to FILE.partial, of which it overwrites none without --force: the
// user may have completed it. It reports whether it wrote a file.
func (s *settings) save(overlay, fault string) (bool, error) {
	file, flags := s.out, os.O_WRONLY|os.O_CREATE|os.O_TRUNC
	if fault != "" {
		if file += ".partial"; !s.force {
			flags |= os.O_EXCL
		}
	}
	f, err := os.OpenFile(file, flags, 0o644) //nolint:gosec // holds no secret, and the user names it
	if fault != "" && errors.Is(err, os.ErrExist) {
		s.say("%s is not written: %s; and %s exists, so the overlay stands below the report (--force overwrites)", s.out, fault, file)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, err := f.WriteString(overlay + "\n"); err != nil {
		return false, errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return false, err
	}
	if fault != "" {
		s.say("%s is not written: %s; what was found is in %s, for completion by hand", s.out, fault, file)
		return true, nil
	}
	s.say("the overlay is written to %s", file)
	return true, nil
}
