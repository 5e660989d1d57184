package account

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/sms"
)

// maxMessage is how long the JSON of a message may be.
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

func newSend(console cli.Console) *cobra.Command {
	send := &cobra.Command{
		Use:   "send",
		Short: "Send one message; the exit status is its verdict",
		Long: `Send one message over a channel.

The exit status is the verdict: 0 accepted, 1 refused, 3 not sent, such as a message with a wrong number, 4 unknown. It is 2 if the
command line cannot be used. An unknown message may have been sent: look it up with "messaging find REFERENCE" before you send it again.` + "\n" + environment,
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

func newSender[M any](console cli.Console, s sender[M]) *cobra.Command {
	var (
		shared        = settings{console: console}
		m             message
		validate, yes bool
		verbose       bool
	)
	from := ""
	if s.from != "" {
		from = " --from " + s.example
	}
	command := &cobra.Command{
		Use:   s.channel,
		Short: "Send " + s.about,
		Long: "Send " + s.about + `. Flags describe a text. For any other message, -f reads JSON from a file or standard input: ` + s.file + ".\n" +
			environment,
		Example: fmt.Sprintf(`  messaging send %[1]s%[2]s --to +639171234567 --text 'Your order is ready' --reference order-17
  messaging send %[1]s -f message.json -n    # validate only
  cat message.json | messaging send %[1]s -f - --json`, s.channel, from),
		Args: cli.NoArgs,
	}
	flags := command.Flags()
	shared.flags(flags)
	if s.from != "" {
		flags.StringVar(&m.from, "from", "", s.from)
	}
	flags.StringVar(&m.to, "to", "", s.to)
	flags.StringVar(&m.text, "text", "", "the `text`")
	flags.StringVar(&m.reference, "reference", "", "your own `ID` of the message, to look it up by; give each message its own")
	flags.StringVar(&m.callback, "callback", "", "the `URL` to which the service reports delivery")
	if s.fallback {
		flags.DurationVar(&m.ttl, "ttl", 0, "how long the service tries before it falls back to SMS")
		flags.StringVar(&m.fallbackFrom, "fallback-from", "", "the `sender` of the SMS to fall back to")
		flags.StringVar(&m.fallbackText, "fallback-text", "", "the `text` of the SMS to fall back to")
	}
	flags.StringVarP(&m.file, "file", "f", "", "read the message as JSON from this `file`; - is standard input")
	flags.BoolVarP(&validate, "validate", "n", false, "validate only, and send nothing")
	flags.BoolVarP(&verbose, "verbose", "v", false, "show each request line, status and response on standard error, with secrets masked")
	flags.BoolVarP(&yes, "yes", "y", false, "send to a real account without asking")
	command.RunE = func(command *cobra.Command, _ []string) error {
		for _, flag := range []string{"from", "to", "text", "reference", "callback", "ttl", "fallback-from", "fallback-text"} {
			if m.file != "" && flags.Changed(flag) {
				return fmt.Errorf("--%s: want it in the file of --file, or no --file", flag)
			}
		}
		trace := &tracer{console: console}
		client, err := shared.client(trace.options(verbose)...)
		if err != nil {
			return err
		}
		msg := s.build(&m)
		if m.file != "" {
			if err = readMessage(console, m.file, &msg); err != nil {
				return err
			}
		}
		trace.hide(msg)
		if err = s.service(client).Validate(msg); err != nil {
			return shared.printVerdict(messaging.Receipt{}, err) // not sent
		}
		if validate {
			text := "valid: nothing was sent"
			if shared.json {
				text = `{"valid":true}`
			}
			_, err = fmt.Fprintln(console.Out, text)
			return err
		}
		if !yes && shared.isReal() {
			err = console.Confirm(command.Context(), "This sends one message through "+console.Getenv("MESSAGING_BASE_URL")+
				". It reaches a person and may cost money. Send?", "--yes to send without asking")
			if err != nil {
				return err
			}
		}
		receipt, err := s.service(client).Send(command.Context(), msg)
		return shared.printVerdict(receipt, err)
	}
	return command
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
	RequestID   string            `json:"request,omitzero"`
	ReferenceID string            `json:"reference,omitzero"`
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

// printVerdict prints how a send ended, and returns the exit status that says the same.
func (s *settings) printVerdict(receipt messaging.Receipt, err error) error {
	verdict := messaging.VerdictOf(err)
	status := map[messaging.Verdict]int{
		messaging.Accepted: cli.ExitOK, messaging.Refused: cli.ExitRefused, messaging.NotSent: cli.ExitNotSent,
		messaging.Unknown: cli.ExitUnknown,
	}[verdict]
	r := result{
		Verdict: verdict, ID: receipt.ID, RequestID: receipt.RequestID, ReferenceID: receipt.ReferenceID, Parts: receipt.Parts,
		Cost: receipt.Cost, Balance: receipt.Balance, Currency: receipt.Currency, StatusCode: receipt.StatusCode, Attempts: receipt.Attempts,
	}
	if err != nil {
		r.Error = err.Error()
		if failed, ok := errors.AsType[*messaging.Error](err); ok {
			r.RequestID, r.ReferenceID, r.StatusCode, r.Code, r.Attempts =
				failed.RequestID, failed.ReferenceID, failed.StatusCode, failed.Code, failed.Attempts
			if failed.RetryAfter > 0 {
				r.RetryAfter = failed.RetryAfter.String()
			}
		}
	}
	if s.json {
		if writeErr := writeJSON(s.console.Out, r); writeErr != nil {
			return &cli.ExitError{Status: status, Err: writeErr}
		}
		return exitWith(status)
	}
	var paint color.Attribute
	switch verdict {
	case messaging.Accepted:
		paint = color.FgGreen
	case messaging.Unknown:
		paint = color.FgYellow
	case messaging.Refused, messaging.NotSent:
		paint = color.FgRed
	}
	_, _ = fmt.Fprintln(s.console.Out, s.console.Paint(paint, verdict.String())+r.details())
	if err != nil {
		s.console.Complain(err)
	}
	return exitWith(status)
}

// details returns what is known of a message besides its verdict, in one line.
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

// exitWith returns an error with an exit status about which all has been said, or nil.
func exitWith(status int) error {
	if status == cli.ExitOK {
		return nil
	}
	return &cli.ExitError{Status: status}
}
