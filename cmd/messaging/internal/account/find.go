package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// finder holds the flags of find.
type finder struct{ settings }

func newFind(console cli.Console) *cobra.Command {
	f := &finder{settings{console: console}}
	command := &cobra.Command{
		Use:   "find REFERENCE",
		Short: "Look an SMS up by its reference ID",
		Long: `Look an SMS up by its reference ID, and print the verdict with its row. The service does not list chat-app messages: their outcomes come in
delivery reports to their callback URLs, which "messaging listen" prints.

The exit status is 0 if it was accepted, 1 if it was refused, 4 if its row proves neither or the lookup failed, and 5 if it is not listed. Do
not send it again after 4 and 5: a service may list a message some time after it accepted it.` + "\n" + environment,
		Example: "  messaging find order-17 --json",
		Args:    cli.Words(1, "REFERENCE"),
	}
	f.flags(command.Flags())
	command.RunE = func(command *cobra.Command, args []string) error { return f.run(command.Context(), args[0]) }
	return command
}

func (f *finder) run(ctx context.Context, reference string) error {
	var counted rowCounter
	client, err := f.client(messaging.WithObserver(&counted))
	if err != nil {
		return err
	}
	tx, err := client.SMS.Find(ctx, reference)
	switch {
	case isUsage(err):
		return err
	case errors.Is(err, messaging.ErrNotListed):
		const reason = "not listed: no SMS has this reference ID; an SMS may be listed later, a chat-app message never: its outcome comes in a delivery report"
		return &cli.ExitError{Status: cli.ExitNotListed, Err: errors.New(reason)} // the error of Find says that the listing failed
	case err != nil:
		return &cli.ExitError{Status: cli.ExitUnknown, Err: err}
	}
	found := judge(client, tx)
	if err := f.print(found); err != nil {
		return &cli.ExitError{Status: exitStatus(found.verdict), Err: err}
	}
	if counted.rows > 1 {
		const text = "%d rows have this reference ID, and this is the first; messaging list --reference %s shows them"
		f.console.Note(fmt.Sprintf(text, counted.rows, cli.ShellWord(reference)))
	}
	return exitWith(exitStatus(found.verdict))
}

// print prints the row that was found.
func (f *finder) print(found row) error {
	format := "record"
	if f.json {
		format = "jsonl"
	}
	rows := newWriter(format, f.console.Out, true, f.console.OutTerminal)
	return errors.Join(rows.Write(found), rows.Flush())
}

// rowCounter counts the rows that a lookup found.
type rowCounter struct{ rows int }

// StartStep implements messaging.Observer.
func (*rowCounter) StartStep(ctx context.Context, _ messaging.Step) context.Context { return ctx }

// EndStep implements messaging.Observer.
func (c *rowCounter) EndStep(_ context.Context, _ messaging.Step, result messaging.StepResult) {
	c.rows = max(c.rows, result.Rows)
}
