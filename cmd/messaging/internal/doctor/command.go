package doctor

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

// The environment variables of messaging.NewClientFromEnv.
const (
	envBaseURL   = "MESSAGING_BASE_URL"
	envToken     = "MESSAGING_TOKEN"
	envAPIKey    = "MESSAGING_API_KEY"
	envAPISecret = "MESSAGING_API_SECRET"
	envContract  = contract.EnvFile
)

// Console is where the command reads and writes.
type Console struct {
	In       io.Reader
	Terminal bool // whether somebody can answer on In
	Out, Err io.Writer
	Getenv   func(name string) string
}

// say writes a line about what is going on.
func (c Console) say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.Err, "messaging doctor: "+format+"\n", args...)
}

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
}

// Command examines an account and returns the exit status: 0 if nothing contradicts the contract, 1 if something does, and 2 if
// that could not be found out, or a flag, a variable or a file cannot be used, which is one line on Err.
func Command(ctx context.Context, args []string, console Console) int {
	s, err := parseFlags(args, console)
	var report *Report
	if err == nil {
		report, err = s.run(ctx, console)
	}
	if err != nil {
		return cli.Fail(console.Err, "messaging doctor", err)
	}
	return report.Status
}

func parseFlags(args []string, console Console) (s settings, err error) {
	const defaultTimeout, defaultWait, defaultRate = 15 * time.Second, time.Minute, 10
	flags := flag.NewFlagSet("messaging doctor", flag.ContinueOnError)
	flags.StringVar(&s.baseURL, "base-url", "", "the `URL` of the service (default $"+envBaseURL+")")
	flags.StringVar(&s.contract, "contract", "", "the `file` with the overlay so far (default $"+envContract+")")
	flags.BoolVar(&s.plainHTTP, "plain-http", false, "allow http for a host that is not loopback")
	flags.DurationVar(&s.timeout, "timeout", defaultTimeout, "how long each step may take")
	flags.Float64Var(&s.rate, "rate", defaultRate, "how many requests there may be in a second")
	flags.BoolVar(&s.json, "json", false, "print the report as JSON")
	flags.StringVar(&s.send, "send", "", "send an SMS to this `number`, after asking; it may cost money and be sent twice")
	flags.StringVar(&s.from, "from", "", "the `sender` of the SMS")
	flags.BoolVar(&s.yes, "yes", false, "send without asking")
	flags.DurationVar(&s.wait, "wait", defaultWait, "how long to wait until the SMS is listed")
	flags.StringVar(&s.listen, "listen", "", "receive callbacks on this `address`, such as :8080; a path such as /sms or /delivery says which")
	flags.DurationVar(&s.listenFor, "for", 0, "how long to receive callbacks; 0 is until interrupted")
	flags.StringVar(&s.record, "record", "", "write the exchanges, without numbers, texts and secrets, to this `folder` for messagingtest.Replay")
	flags.StringVar(&s.out, "o", "", "write the overlay with what was found to this `file`")
	flags.BoolVar(&s.force, "force", false, "overwrite what -o and -record name")
	about := fmt.Sprintf("\nCredentials come from $%s, or $%s and $%s.\n\n", envToken, envAPIKey, envAPISecret)
	if err := cli.Parse(flags, args, console.Err, about); err != nil {
		return s, err
	}
	s.baseURL = cmp.Or(s.baseURL, console.Getenv(envBaseURL))
	s.contract = cmp.Or(s.contract, console.Getenv(envContract))
	s.token, s.key, s.secret = console.Getenv(envToken), console.Getenv(envAPIKey), console.Getenv(envAPISecret)
	return s, s.check(console)
}

// check finds flags and variables that cannot be used, before anything is done.
func (s *settings) check(console Console) error {
	switch {
	case s.timeout <= 0:
		return fmt.Errorf("-timeout: must be more than 0, got %v", s.timeout)
	case !(s.rate > 0) || math.IsInf(s.rate, 1):
		return fmt.Errorf("-rate: must be a number more than 0, got %v", s.rate)
	case s.wait <= 0:
		return fmt.Errorf("-wait: must be more than 0, got %v", s.wait)
	case s.listenFor < 0:
		return fmt.Errorf("-for: must be 0 or more, got %v", s.listenFor)
	case s.listenFor > 0 && s.listen == "":
		return errors.New("-for: needs -listen")
	case (s.send == "") != (s.from == ""):
		return errors.New("-send: needs -from, and -from needs -send")
	case s.send != "" && s.baseURL == "":
		return errors.New("-send: needs -base-url or " + envBaseURL)
	case s.send != "" && !s.yes && !console.Terminal:
		return errors.New("-send: there is no terminal to ask on; add -yes to send without asking")
	case s.baseURL == "" && s.listen == "":
		return errors.New(envBaseURL + " or -base-url: required, but absent; want an absolute URL such as https://api.example.com")
	case s.token != "" && (s.key != "" || s.secret != ""):
		return errors.New(envToken + ": set beside " + envAPIKey + " or " + envAPISecret + "; want one kind of credentials")
	case s.key == "" && s.secret != "":
		return errors.New(envAPIKey + ": required beside " + envAPISecret)
	case s.baseURL != "" && s.token == "" && s.key == "":
		return errors.New(envToken + ": required, but absent; or set " + envAPIKey + " and " + envAPISecret)
	}
	if _, err := os.Lstat(s.out); s.out != "" && !s.force && err == nil {
		return fmt.Errorf("-o %s: exists; -force overwrites it", s.out)
	}
	if s.record != "" {
		old, err := filepath.Glob(filepath.Join(s.record, "*.json"))
		if err != nil || len(old) > 0 && !s.force {
			return fmt.Errorf("-record %s: holds fixtures; -force overwrites them", s.record)
		}
		if err := os.MkdirAll(s.record, 0o700); err != nil {
			return fmt.Errorf("-record: %w", err)
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
func (s *settings) newDoctor(console Console) (d *doctor, err error) {
	d = &doctor{
		table: s.names.Table(), overlay: parseOverlay(s.overlay), recorder: &recorder{}, report: &Report{Checks: []Check{}},
		timeout: s.timeout, say: console.say, sensitive: map[string]bool{}, base: &url.URL{},
	}
	if s.baseURL == "" {
		return d, nil
	}
	const attempts = 2
	options := []messaging.Option{
		messaging.WithContract(s.names), messaging.WithTimeout(s.timeout), messaging.WithRateLimit(s.rate, 1),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: attempts}), messaging.WithTransport(d.recorder.wrap),
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
		return nil, errors.New("-base-url: no URL")
	}
	d.report.Address = d.base.Scheme + "://" + d.base.Host
	d.secrets = slices.DeleteFunc([]string{s.token, s.key, s.secret}, func(secret string) bool { return secret == "" })
	return d, nil
}

func (s *settings) run(ctx context.Context, console Console) (*Report, error) {
	d, err := s.newDoctor(console)
	if err != nil {
		return nil, err
	}
	var listener net.Listener
	if s.listen != "" {
		if listener, err = new(net.ListenConfig).Listen(ctx, "tcp", s.listen); err != nil {
			return nil, fmt.Errorf("-listen: %w", err)
		}
		defer func() { _ = listener.Close() }()
	}
	if s.send != "" && !s.yes {
		if err := ask(ctx, console); err != nil {
			return nil, err
		}
	}
	if d.client != nil {
		s.examine(ctx, d)
	}
	if listener != nil {
		d.listen(ctx, listener, s.listenFor)
	}
	return d.report, s.finish(d, console)
}

// ask asks whether to send.
func ask(ctx context.Context, console Console) error {
	_, _ = fmt.Fprint(console.Err, "This sends one SMS to the number of -send, and then the same once more to see whether the service refuses a duplicate.\n"+
		"If it does not, two SMS go out. Each may cost money. Send? [y/N] ")
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(console.In).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return errors.New("-send: interrupted, and nothing was sent")
	case text := <-answer:
		_, _ = fmt.Fprintln(console.Err)
		if text != "y" && text != "yes" {
			return errors.New("-send: the answer was not yes, and nothing was sent")
		}
	}
	return nil
}

// examine looks at the account.
func (s *settings) examine(ctx context.Context, d *doctor) {
	isListed := d.examineListing(ctx)
	if s.send != "" && ctx.Err() == nil && d.takesCredentials() { // an account may send, although it does not list
		d.examineSend(ctx, s.from, s.send, s.wait)
		if _, known := find(d.rows, d.table.SMSList.Record["reference"]); isListed && len(known) == 0 { // now there is a row to go on with
			before := len(d.rows)
			l := d.fetch(ctx, "asking for the listing again", sms.ListOptions{PageSize: someRows})
			if d.rows = l.rows; before == 0 {
				d.examineRows(l)
			}
		}
	}
	if isListed && len(d.rows) == 0 {
		d.section = "listing"
		d.add("members", Unknown, "the account lists no message, so nothing shows what its rows look like; send one (-send), or use an account that has some")
	}
	for _, step := range []func(context.Context){d.examinePaging, d.examineReference, d.examineFilters} {
		if isListed && ctx.Err() == nil {
			step(ctx)
		}
	}
	if ctx.Err() != nil {
		d.section = "end"
		d.add("interrupted", Unknown, "what was not looked at by then is not here")
	}
}

// finish writes the report, the overlay and the exchanges.
func (s *settings) finish(d *doctor, console Console) error {
	overlay := d.overlay.pretty()
	d.report.Overlay = []byte(overlay)
	d.report.setStatus()
	if s.record != "" {
		n, err := d.newScrambler().write(s.record, d.recorder.exchanges)
		if err != nil {
			return fmt.Errorf("-record: %w", err)
		}
		console.say("%d exchanges are in %s", n, s.record)
	}
	if s.out != "" {
		if err := os.WriteFile(s.out, []byte(overlay+"\n"), 0o644); err != nil { //nolint:gosec // holds no secret, and the user names it
			return fmt.Errorf("-o: %w", err)
		}
	}
	if s.json {
		_, err := fmt.Fprintln(console.Out, document.Node{Value: d.report}.Indented())
		return err
	}
	return d.report.writeText(console.Out, s.out == "" && len(d.overlay) > 0)
}
