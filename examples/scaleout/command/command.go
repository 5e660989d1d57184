// Package command holds the commands of cmd/campaign, for other programs to include.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Command is one command of a program.
type Command struct {
	// Name is the first argument. It is empty for what the program does without one.
	Name string
	// Arguments are those after the flags, of which the command takes MinArgs to MaxArgs.
	Arguments        string
	MinArgs, MaxArgs int
	// Help says what the command does, in one line.
	Help string
	// Flags adds the command's flags, and returns what runs the command once they are parsed.
	Flags func(flags *flag.FlagSet) RunFunc
}

// RunFunc runs a command with its arguments after the flags.
type RunFunc func(ctx context.Context, args []string) error

// All returns the commands of cmd/campaign.
func All() []Command {
	return []Command{
		{"prepare", "", 0, 0, "creates or updates streams, buckets and consumers; no other command does", prepare},
		{"enqueue", "[FILE...]", 0, math.MaxInt, "takes messages in, one per line, from files or standard input; skips known messages", enqueue},
		{"send", "", 0, 0, "runs a worker; start as many as you like, on any machine", send},
		{"receive", "", 0, 0, "runs a receiver for webhooks; start as many as you like behind one address that terminates TLS", receive},
		{"events", "", 0, 0, "prints sequence, kind and key of the stored events; programs that process events call inbox.Read", events},
		{"rate", "N", 1, 1, "limits all workers together to N requests per second; 0 means no limit", rate},
		{"status", "", 0, 0, "shows counts by state, rate, backlog, open breakers, and what reconcile would mend", status},
		{"parked", "", 0, 0, "lists what an operator has to resolve: channel, reference ID, state and reason", parked},
		{"resolve", "sent|resend|drop [REFERENCE...]", 1, math.MaxInt, "resolves parked or refused messages: by reference, or all with a -reason", resolve},
		{"reconcile", "", 0, 0, "compares the records with the stream, and mends what does not match", reconcile},
		{"audit", "", 0, 0, "compares the records of SMS with what the service lists; run it while no worker sends", audit},
	}
}

// Main runs one of the commands until it ends or the process is interrupted, and returns the exit status: 0 on success; 1 if there were
// problems, such as a bad line or a message that was sent twice; and 2 if the command could not start.
func Main(program string, commands []Command, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills the process
	i := -1
	if len(args) > 0 && args[0] != "" {
		i = slices.IndexFunc(commands, func(c Command) bool { return c.Name == args[0] })
	}
	if i >= 0 {
		program, args = program+" "+args[0], args[1:]
	} else {
		i = slices.IndexFunc(commands, func(c Command) bool { return c.Name == "" })
	}
	if i < 0 {
		fmt.Fprintf(os.Stderr, "usage: %s COMMAND [flags]; each command explains its flags with -h\n", program)
		for _, c := range commands {
			fmt.Fprintf(os.Stderr, "  %-48s %s\n", c.Name+" "+c.Arguments, c.Help)
		}
		return 2
	}
	err := commands[i].run(ctx, program, args)
	var usage UsageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrReported):
		return 1
	case ctx.Err() != nil && !errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "%s: stopped: %v\n", program, err)
		return 1
	default:
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		return 2
	}
}

// run parses the flags and runs the command.
func (c Command) run(ctx context.Context, name string, args []string) error {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(os.Stderr, "usage: %s [flags] %s\n%s %s\n", name, c.Arguments, name, c.Help)
		flags.PrintDefaults()
	}
	run := c.Flags(flags)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return UsageError("see -h")
	}
	if n := flags.NArg(); n < c.MinArgs || n > c.MaxArgs {
		flags.Usage()
		return UsageError("wrong number of arguments")
	}
	return run(ctx, flags.Args())
}

// ErrReported ends a command that has found problems and reported them.
var ErrReported = errors.New("problems were reported")

// UsageError is a mistake in how a command was called.
type UsageError string

// Error returns the mistake.
func (e UsageError) Error() string { return string(e) }
