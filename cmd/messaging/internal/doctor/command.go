package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

type settings struct {
	console   cli.Console
	plainHTTP bool
	timeout   time.Duration
	rate      float64 // requests per second
	send, yes bool
	from, to  string
	wait      time.Duration
	out       string
}

// NewCommand returns the command. Its exit status is 0 if rows were read and, with --send, sends are proven, 1 if not, and 2 if a flag, a
// variable or a file cannot be used.
func NewCommand(console cli.Console) *cobra.Command {
	const defaultTimeout, defaultWait, defaultRate = 15 * time.Second, time.Minute, 4
	s := &settings{console: console}
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Show what an account agrees with in the contract, and write an overlay of what is proven",
		Long: `Ask for the listing of an account, and show for each concept what the contract reads, the shape of what is there, and
whether that is proven, plausible or absent. This sends nothing and proves little. With --send, SMS go to the number of --to until two
are not refused: what comes back of them proves names and filters.

The overlay has what is proven. Candidates stand beside it under keys that end in //, which the library passes over: to choose one,
take the // away and leave the others out.

The account is that of the environment: MESSAGING_BASE_URL, MESSAGING_TOKEN or MESSAGING_API_KEY and MESSAGING_API_SECRET, and
MESSAGING_CONTRACT, the file of the overlay so far.

The exit status is 0 if rows were read and, with --send, sends are proven, 1 if not, and 2 if the command line cannot be used.`,
		Example: `  messaging doctor
  messaging doctor --send --from ACME --to +639171234567 -o contract.json`,
		Args: cli.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return s.run(command.Context()) },
	}
	flags := command.Flags()
	flags.BoolVar(&s.plainHTTP, "plain-http", false, "allow http for a host that is not loopback")
	flags.DurationVar(&s.timeout, "timeout", defaultTimeout, "how long each request may take")
	flags.Float64Var(&s.rate, "rate", defaultRate, "how many requests there may be in a second")
	flags.BoolVar(&s.send, "send", false, "send SMS until two are not refused, after asking; each may cost money")
	flags.StringVar(&s.from, "from", "", "the `sender` of the SMS")
	flags.StringVar(&s.to, "to", "", "the `number` that gets the SMS")
	flags.BoolVarP(&s.yes, "yes", "y", false, "send without asking")
	flags.DurationVar(&s.wait, "wait", defaultWait, "how long to wait until each SMS is listed")
	flags.StringVarP(&s.out, "out", "o", "", "write the overlay to this new `file`")
	return command
}

func (s *settings) newDoctor() (*doctor, error) {
	if s.send != (s.from != "") || s.send != (s.to != "") {
		return nil, errors.New("want --send, --from SENDER and --to NUMBER together, or none of them")
	}
	if _, err := os.Lstat(s.out); s.out != "" && err == nil {
		return nil, fmt.Errorf("--out %s: exists", s.out)
	}
	d := &doctor{
		timeout: s.timeout, overlay: overlay{}, proofs: map[string]map[string]string{partRecord: {}, partResponse: {}},
		say: func(what string) { _, _ = fmt.Fprintf(s.console.Err, "messaging doctor: %s\n", what) },
	}
	var err error
	d.client, err = cli.NewClient(s.timeout, s.plainHTTP, messaging.WithRateLimit(s.rate, 1), messaging.WithTransport(d.wrap),
		messaging.WithBreaker(messaging.BreakerPolicy{Off: true})) // it goes on asking after refusals
	if err != nil {
		return nil, err
	}
	d.table = d.client.Contract().Table()
	raw, _ := os.ReadFile(os.Getenv(contract.EnvFile)) //nolint:gosec // the client has read it, if there is one
	maps.Copy(d.overlay, document.Parse(raw).Object())
	return d, nil
}

func (s *settings) run(ctx context.Context) error {
	d, err := s.newDoctor()
	if err != nil {
		return err
	}
	if s.send && !s.yes {
		const what = "This sends SMS to the number of --to until two are not refused. Each may cost money. Send?"
		if err = s.console.Confirm(ctx, what, "--yes to send without asking"); err != nil {
			return fmt.Errorf("--send: %w", err)
		}
	}
	d.examine(ctx, s)
	text := d.adopted().text()
	if err = d.report.write(s.console.Out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.console.Out, "\nThe overlay, with candidates under keys that end in //\n%s\n", text)
	if err == nil && s.out != "" {
		err = os.WriteFile(s.out, []byte(text+"\n"), 0o644) //nolint:gosec // holds no secret, and the user names it
	}
	if err == nil && (ctx.Err() != nil || len(d.rows) == 0 || s.send && !d.sends) {
		return &cli.ExitError{Status: cli.ExitRefused}
	}
	return err
}
