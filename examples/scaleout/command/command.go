// Package command holds the commands of cmd/campaign, for other programs to include.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Command is one command of a program.
type Command struct {
	// Name is the first argument. It is empty for what the program does without one.
	Name string
	// Usage is the other arguments, and what the command does.
	Usage, Help string
	Run         func(ctx context.Context, args []string) error
}

// All returns the commands of cmd/campaign.
func All() []Command {
	return []Command{
		{"prepare", "", "creates or updates streams, buckets and consumers; no other command does", runPrepare},
		{"enqueue", "[FILE...]", "takes messages in, one per line, from files or standard input", runEnqueue},
		{"send", "", "runs a worker; start as many as you like, on any machine", runSend},
		{"receive", "", "runs a receiver for webhooks; start as many as you like behind one address", runReceive},
		{"events", "", "prints the stored events, or tries those again that were parked", runEvents},
		{"rate", "N", "limits all workers together to N requests per second; 0 means no limit", runRate},
		{"status", "", "shows counts by state, rate, backlog, open breakers, and what has to be mended", runStatus},
		{"parked", "", "lists what an operator has to resolve", runParked},
		{"resolve", "sent|resend|drop [REFERENCE...]", "resolves parked or refused messages: by reference, or all with a reason", runResolve},
		{"reconcile", "", "compares the records with the stream, and mends what does not match", runReconcile},
		{"audit", "", "compares the records of SMS with what the service lists", runAudit},
	}
}

// Main runs one of the commands until it ends or the process is interrupted, and returns the exit status: 0 on success; 1 if there were
// problems, such as a bad line or a message that was sent twice; and 2 if the command could not start.
func Main(program string, commands []Command, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills the process
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	i := slices.IndexFunc(commands, func(c Command) bool { return c.Name == name })
	if i >= 0 && name != "" {
		args = args[1:]
	} else {
		i = slices.IndexFunc(commands, func(c Command) bool { return c.Name == "" })
	}
	if i < 0 {
		fmt.Fprintf(os.Stderr, "usage: %s COMMAND [flags]; each command explains its flags with -h\n", program)
		for _, c := range commands {
			fmt.Fprintf(os.Stderr, "  %-48s %s\n", c.Name+" "+c.Usage, c.Help)
		}
		return 2
	}
	return status(ctx, commands[i].Run(ctx, args), program+" "+commands[i].Name)
}

// ErrReported ends a command that has found problems and reported them.
var ErrReported = errors.New("problems were reported")

func status(ctx context.Context, err error, name string) int {
	var usage UsageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrReported):
		return 1
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 2
	case ctx.Err() != nil:
		fmt.Fprintf(os.Stderr, "%s: stopped: %v\n", name, err)
		return 1
	default:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 2
	}
}

// UsageError is a mistake in how a command was called.
type UsageError string

// Error returns the mistake.
func (e UsageError) Error() string { return string(e) }

// NewFlags returns the flag set of a command.
func NewFlags(name, arguments, description string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.Usage = func() {
		out := flags.Output()
		_, _ = fmt.Fprintf(out, "usage: %s [flags] %s\n%s\n", name, arguments, description)
		flags.PrintDefaults()
	}
	return flags
}

// Parse parses flags and checks the number of remaining arguments.
func Parse(flags *flag.FlagSet, args []string, minArgs, maxArgs int) error {
	flags.SetOutput(os.Stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		flags.SetOutput(io.Discard)
		return UsageError("see -h")
	}
	if n := flags.NArg(); n < minArgs || n > maxArgs {
		flags.Usage()
		return UsageError("wrong number of arguments")
	}
	return nil
}
