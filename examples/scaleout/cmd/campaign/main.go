// Command campaign sends messages from any number of processes, each message once, over NATS JetStream.
//
//	campaign [flags] [FILE]        runs a whole campaign and kills a worker in the middle
//	campaign engine                runs an engine for the other commands, if no NATS server is available
//	campaign service               runs a test server in place of the messaging service, with faults if you like
//	campaign enqueue [FILE...]     takes messages in, one per line, from files or standard input
//	campaign send                  runs a worker; start as many as you like
//	campaign receive               runs a receiver for webhooks; start as many as you like
//	campaign events                prints the stored events
//	campaign rate N                limits all workers together to N requests per second; 0 means no limit
//	campaign status [-watch]       shows counts by state, rate and backlog
//	campaign parked [-refused]     lists what an operator has to resolve
//	campaign resolve CHANNEL REFERENCE sent|resend|drop
//	campaign measure               measures messages per second with 1, 2 and 4 workers
//
// Each command explains its flags with -h. NATS_URL is the address of the engine; without it, a whole campaign and measure start their own.
// MESSAGING_BASE_URL and credentials (see messaging.NewClientFromEnv) select the service and the account; without them, a whole campaign
// starts a test server. The measure command always does.
//
// The exit status is 0 on success; 1 if there were problems, such as a bad line, a message that was sent twice, or one without a verdict; and
// 2 if the command could not start.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills the process
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// errReported ends a command that has found problems and reported them.
var errReported = errors.New("problems were reported")

// run runs one command and returns the exit status.
func run(ctx context.Context, args []string) int {
	commands := map[string]func(context.Context, []string) error{
		"engine": runEngine, "service": runService, "enqueue": runEnqueue, "send": runSend, "rate": runRate,
		"status": runStatus, "parked": runParked, "resolve": runResolve, "measure": runMeasure,
		"receive": runReceive, "events": runEvents,
	}
	command := runFull
	name := "campaign"
	if len(args) > 0 {
		if known, ok := commands[args[0]]; ok {
			name, command, args = "campaign "+args[0], known, args[1:]
		}
	}
	var usage usageError
	switch err := command(ctx, args); {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errReported):
		return 1
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 2
	case ctx.Err() != nil:
		fmt.Fprintf(os.Stderr, "%s: stopped\n", name)
		return 1
	default:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 2
	}
}

// usageError is a mistake in how a command was called.
type usageError string

// Error returns the mistake.
func (e usageError) Error() string { return string(e) }

// newFlags returns the flag set of a command.
func newFlags(name, arguments, description string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.Usage = func() {
		out := flags.Output()
		_, _ = fmt.Fprintf(out, "usage: campaign %s %s\n%s\n", name, arguments, description)
		flags.PrintDefaults()
	}
	return flags
}

// parse parses flags and checks the number of remaining arguments.
func parse(flags *flag.FlagSet, args []string, minArgs, maxArgs int) error {
	flags.SetOutput(os.Stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		flags.SetOutput(io.Discard)
		return usageError("see -h")
	}
	if n := flags.NArg(); n < minArgs || n > maxArgs {
		flags.Usage()
		return usageError("wrong number of arguments")
	}
	return nil
}
