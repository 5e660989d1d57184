package account

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/sms"
)

// maxMessage is the size limit for the JSON of a message.
const maxMessage = 1 << 20

// message holds the flags of a message.
type message struct {
	from, to, text, reference, callback string
	fallbackFrom, fallbackText          string
	ttl                                 time.Duration
	file                                string
}

// fallback returns the SMS that the flags describe, or nil.
func (m *message) fallback() *sms.Fallback {
	if m.fallbackFrom == "" && m.fallbackText == "" {
		return nil
	}
	return &sms.Fallback{From: m.fallbackFrom, Text: m.fallbackText}
}

// verdicts is the help about the exit status of a send.
const verdicts = `
The exit status is the verdict:

  0   accepted
  1   refused by the service
  2   the command line or the environment cannot be used, and nothing was sent
  3   not sent, such as a message with a wrong number
  4   unknown: it may have been sent. Look an SMS up with "messaging find REFERENCE" before you send it again
`

func newSend(console cli.Console) *cobra.Command {
	send := &cobra.Command{
		Use:     "send",
		Short:   "Send one message; the exit status is its verdict",
		Long:    "Send one message over a channel.\n" + verdicts + environment,
		Example: "  messaging send sms --from ACME --to +639171234567 --text 'Your order is ready' --reference order-17",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Unknown(command, args[0])
			}
			var names []string
			for _, channel := range command.Commands() {
				names = append(names, channel.Name())
			}
			return errors.New("which channel? want one of " + strings.Join(names, ", "))
		},
		SuggestionsMinimumDistance: 2,
	}
	send.AddCommand(senders(console)...)
	return send
}

// sendFlags holds the flags of send.
type sendFlags struct {
	settings
	message

	validate, verbose, yes bool
}

func newSender[M any](console cli.Console, s sender[M]) *cobra.Command {
	r := &sendFlags{settings: settings{console: console}}
	from := ""
	if s.from != "" {
		from = " --from " + s.example
	}
	command := &cobra.Command{
		Use:   s.channel,
		Short: "Send " + s.about,
		Long:  s.long + "\n" + verdicts + environment,
		Example: fmt.Sprintf(`  messaging send %[1]s%[2]s --to +639171234567 --text 'Your order is ready' --reference order-17
  messaging send %[1]s -f message.json -n    # validate only
  cat message.json | messaging send %[1]s -f - --json`, s.channel, from),
		Args: cli.NoArgs,
	}
	flags := command.Flags()
	addFlags(flags, r, s)
	command.RunE = func(command *cobra.Command, _ []string) error {
		if err := r.checkFlags(flags); err != nil {
			return err
		}
		return send(command.Context(), r, s)
	}
	return command
}

func addFlags[M any](flags *pflag.FlagSet, r *sendFlags, s sender[M]) {
	r.settings.flags(flags)
	if s.from != "" {
		flags.StringVar(&r.from, "from", "", s.from)
	}
	flags.StringVar(&r.to, "to", "", s.to)
	flags.StringVar(&r.text, "text", "", "the `text`")
	flags.StringVar(&r.reference, "reference", "", "your `ID` for the message, unique for each message, by which you can look it up")
	flags.StringVar(&r.callback, "callback", "", "the `URL` to which the service reports delivery")
	if s.fallback {
		flags.DurationVar(&r.ttl, "ttl", 0, "how long the service tries to deliver before it falls back to SMS")
		flags.StringVar(&r.fallbackFrom, "fallback-from", "", "the `sender` of the SMS to fall back to")
		flags.StringVar(&r.fallbackText, "fallback-text", "", "the `text` of the SMS to fall back to")
	}
	flags.StringVarP(&r.file, "file", "f", "", "read the message as JSON from this `file`; - is standard input")
	flags.BoolVarP(&r.validate, "validate", "n", false, "validate only, and send nothing")
	flags.BoolVarP(&r.verbose, "verbose", "v", false, "show each request line, status and response on standard error, with secrets masked")
	flags.BoolVarP(&r.yes, "yes", "y", false, "send to a real account without asking")
}

// checkFlags rejects flags for a message that comes from a file.
func (r *sendFlags) checkFlags(flags *pflag.FlagSet) error {
	if r.file == "" {
		return nil
	}
	for _, flag := range []string{"from", "to", "text", "reference", "callback", "ttl", "fallback-from", "fallback-text"} {
		if flags.Changed(flag) {
			return fmt.Errorf("--%s: want it in the file of --file, or no --file", flag)
		}
	}
	return nil
}

// send sends the message that the flags or the file describe.
func send[M any](ctx context.Context, r *sendFlags, s sender[M]) error {
	trace := &tracer{console: r.console}
	client, err := r.client(trace.options(r.verbose)...)
	if err != nil {
		return err
	}
	m := s.build(&r.message)
	if r.file != "" {
		if err = readMessage(r.console, r.file, &m); err != nil {
			return err
		}
		if err = s.checkFile(m); err != nil {
			return fmt.Errorf("--file: %w", err)
		}
	}
	trace.hide(m)
	if err = s.service(client).Validate(m); err != nil {
		return r.printVerdict(messaging.Receipt{}, err) // not sent
	}
	if r.validate {
		return r.printValid()
	}
	if err = r.confirm(ctx); err != nil {
		return err
	}
	receipt, err := s.service(client).Send(ctx, m)
	return r.printVerdict(receipt, err)
}

func (r *sendFlags) printValid() error {
	text := "valid: nothing was sent"
	if r.json {
		text = `{"valid":true}`
	}
	_, err := fmt.Fprintln(r.console.Out, text)
	return err
}

// confirm asks before a message goes to a real account.
func (r *sendFlags) confirm(ctx context.Context) error {
	if r.yes || !r.isReal() {
		return nil
	}
	what := "This sends one message through " + os.Getenv("MESSAGING_BASE_URL") + ". It reaches a person and may cost money."
	return r.console.Confirm(ctx, what, "--yes to send without asking")
}

// readMessage reads a message as JSON.
func readMessage(console cli.Console, name string, into any) error {
	in := console.In
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the user names it
		if err != nil {
			return fmt.Errorf("--file: %w; - reads standard input", err)
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxMessage+1))
	switch {
	case err != nil:
		return fmt.Errorf("--file: %w", err)
	case len(data) > maxMessage:
		return errors.New("--file: longer than 1 MiB")
	case len(bytes.TrimSpace(data)) == 0:
		return errors.New("--file: empty; want a message as JSON (see -h)")
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	return nil
}

// result is what a send prints as JSON.
type result struct {
	Verdict     messaging.Verdict `json:"verdict"`
	ID          string            `json:"id,omitzero"`
	RequestID   string            `json:"requestID,omitzero"`
	ReferenceID string            `json:"referenceID,omitzero"`
	Parts       int               `json:"parts,omitzero"`
	Cost        string            `json:"cost,omitzero"`
	Balance     string            `json:"balance,omitzero"`
	Currency    string            `json:"currency,omitzero"`
	StatusCode  int               `json:"statusCode,omitzero"`
	Code        string            `json:"code,omitzero"`
	Attempts    int               `json:"attempts,omitzero"`
	RetryAfter  string            `json:"retryAfter,omitzero"`
	Error       string            `json:"error,omitzero"`
}

// exitStatus returns the exit status for a verdict.
func exitStatus(verdict messaging.Verdict) int {
	switch verdict {
	case messaging.Accepted:
		return cli.ExitOK
	case messaging.Refused:
		return cli.ExitRefused
	case messaging.NotSent:
		return cli.ExitNotSent
	case messaging.Unknown:
	}
	return cli.ExitUnknown
}

// verdictColor returns the color of a verdict on a terminal.
func verdictColor(verdict messaging.Verdict) color.Attribute {
	switch verdict {
	case messaging.Accepted:
		return color.FgGreen
	case messaging.Unknown:
		return color.FgYellow
	case messaging.Refused, messaging.NotSent:
	}
	return color.FgRed
}

// newResult returns the result of a send.
func newResult(receipt messaging.Receipt, err error) result {
	r := result{
		Verdict:     messaging.VerdictOf(err),
		ID:          receipt.ID,
		RequestID:   receipt.RequestID,
		ReferenceID: receipt.ReferenceID,
		Parts:       receipt.Parts,
		Cost:        receipt.Cost,
		Balance:     receipt.Balance,
		Currency:    receipt.Currency,
		StatusCode:  receipt.StatusCode,
		Attempts:    receipt.Attempts,
	}
	if err == nil {
		return r
	}
	r.Error = err.Error()
	if failed, ok := errors.AsType[*messaging.Error](err); ok {
		r.RequestID = failed.RequestID
		r.ReferenceID = failed.ReferenceID
		r.StatusCode = failed.StatusCode
		r.Code = failed.Code
		r.Attempts = failed.Attempts
		if failed.RetryAfter > 0 {
			r.RetryAfter = failed.RetryAfter.String()
		}
	}
	return r
}

// printVerdict prints the result of a send, and returns its exit status as an error.
func (s *settings) printVerdict(receipt messaging.Receipt, err error) error {
	r := newResult(receipt, err)
	status := exitStatus(r.Verdict)
	if s.json {
		if writeErr := writeJSON(s.console.Out, r); writeErr != nil {
			return &cli.ExitError{Status: status, Err: writeErr}
		}
		return exitWith(status)
	}
	_, _ = fmt.Fprintln(s.console.Out, s.console.Paint(verdictColor(r.Verdict), r.Verdict.String())+r.details())
	if err != nil {
		s.console.Complain(err)
	}
	return exitWith(status)
}

// details returns the other fields of a result in one line.
func (r *result) details() string {
	var text strings.Builder
	for _, detail := range []struct{ name, value string }{
		{"id", r.ID},
		{"reference", r.ReferenceID},
		{"request", r.RequestID},
		{"cost", r.Cost},
		{"balance", r.Balance},
		{"currency", r.Currency},
		{"code", r.Code},
		{"retry after", r.RetryAfter},
	} {
		if detail.value != "" {
			text.WriteString("  " + detail.name + " " + printable(detail.value))
		}
	}
	return text.String()
}

// exitWith returns an error with an exit status and no message, or nil for status 0.
func exitWith(status int) error {
	if status == cli.ExitOK {
		return nil
	}
	return &cli.ExitError{Status: status}
}
