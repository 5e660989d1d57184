package check

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

type settings struct {
	console   cli.Console
	plainHTTP bool
	timeout   time.Duration
	rate      float64 // requests per second
	send, yes bool
	from, to  string
	wait      time.Duration
}

// NewCommand returns the command. Its exit status is 0 if the listing was read and, with --send, the messages were found in it, and no line
// says wrong; 1 if not; and 2 if a flag, a variable or a file cannot be used.
func NewCommand(console cli.Console) *cobra.Command {
	const defaultTimeout, defaultWait, defaultRate = 15 * time.Second, time.Minute, 4
	s := &settings{console: console}
	command := &cobra.Command{
		Use:   "check",
		Short: "Check a contract against a real account",
		Long: `Compare a contract with a real account, for SMS only. Without --send it reads the listing and a second page, counts the rows that have an ID, a
reference ID, a time and so on, shows a price and the newest time, and tries each filter with a value that no message has. The filters by ID and
by time it also tries with the ID and the time of a row. It lists the rows by their times, ascending and descending. A row that was created
after now is wrong, and so is one on any of these pages that cannot be read in full.

With --send it sends two SMS to the number of --to, looks for their rows by the filter by reference ID and on the first ten pages, newest first
if the contract can say so, and tries the filters by ID with their IDs. Of these rows it compares the times with the clock, and says whether
a price, parts and a status are read.

A name of sms.list.record that your contract changes and no row has is wrong. If the service leaves out members without a value, send a
message that has the value, such as with --send for the reference ID. A name of sms.list.page that no response has is wrong too, if a second
page was read.

Each line names a path in the contract, says proven, plausible or wrong, and why. A line is proven only if a value of this run shows it. After a
message that was refused or not sent, no other is sent.

The environment names the account: MESSAGING_BASE_URL, MESSAGING_TOKEN or MESSAGING_API_KEY and MESSAGING_API_SECRET, and MESSAGING_CONTRACT,
the file of the overlay that "messaging contract learn" writes.

The exit status is 0 if the listing was read and, with --send, both messages were found in it, and no line says wrong. Otherwise it is 1, or 2
if the command line cannot be used.`,
		Example: `  messaging check
  messaging check --send --from ACME --to +639171234567`,
		Args: cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return s.run(command.Context()) },
	}
	flags := command.Flags()
	flags.BoolVar(&s.plainHTTP, "plain-http", false, "allow http for a host that is not loopback")
	flags.DurationVar(&s.timeout, "timeout", defaultTimeout, "how long each request may take")
	flags.Float64Var(&s.rate, "rate", defaultRate, "the most requests in a second")
	flags.BoolVar(&s.send, "send", false, "send two SMS, after asking; each may cost money")
	flags.StringVar(&s.from, "from", "", "the `sender` of the SMS")
	flags.StringVar(&s.to, "to", "", "the `number` that gets the SMS")
	flags.BoolVarP(&s.yes, "yes", "y", false, "send without asking")
	flags.DurationVar(&s.wait, "wait", defaultWait, "how long to keep looking for each SMS that is not listed yet; a look-up that has begun may take 30s more")
	return command
}

func (s *settings) newChecker() (*checker, error) {
	if s.send != (s.from != "") || s.send != (s.to != "") {
		return nil, errors.New("want --send, --from SENDER and --to NUMBER together, or none of them")
	}
	records := &recorder{}
	record := func(base http.RoundTripper) http.RoundTripper {
		records.base = base
		return records
	}
	client, err := cli.NewClient(s.timeout, s.plainHTTP, messaging.WithRateLimit(s.rate, 1), messaging.WithTransport(record),
		messaging.WithBreaker(messaging.BreakerPolicy{Off: true})) // to continue after failures
	if err != nil {
		return nil, err
	}
	wire, err := contract.FromEnv()
	if err != nil {
		return nil, err
	}
	const overrun = 30 * time.Second
	n := wireNames{table.Of(wire)}
	l := &lister{client: client, names: n, recorder: records, seen: newSeenRows()}
	return &checker{settings: s, client: client, names: n, lister: l, overrun: overrun}, nil
}

func (s *settings) run(ctx context.Context) error {
	c, err := s.newChecker()
	if err != nil {
		return err
	}
	if s.send && !s.yes {
		const what = "This sends two SMS to the number of --to. Each may cost money."
		if err = s.console.Confirm(ctx, what, "--yes to send without asking"); err != nil {
			return fmt.Errorf("--send: %w", err)
		}
	}
	c.check(ctx)
	if err := c.report.write(s.console.Out); err != nil {
		return err
	}
	isComplete := c.canList && (c.isFound() || !s.send)
	if !isComplete || c.report.hasWrong() || ctx.Err() != nil {
		return &cli.ExitError{Status: cli.ExitRefused}
	}
	return nil
}
