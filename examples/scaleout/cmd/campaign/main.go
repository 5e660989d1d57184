// Command campaign sends messages from any number of processes, each once, over NATS JetStream.
//
//	campaign [flags] [FILE]        plays a whole campaign through, with a worker that is killed in the middle
//	campaign engine                an engine for the other commands, where no NATS server is at hand
//	campaign service               a stand-in for the messaging service, which can be faulty
//	campaign enqueue [FILE...]     takes messages in, one a line, from files or standard input
//	campaign send                  a worker; start as many as you like
//	campaign receive               takes in what the service tells; start as many as you like
//	campaign events                prints what was taken in
//	campaign rate N                lets all workers together begin N requests a second; 0 is no limit
//	campaign status [-watch]       counts by verdict, rate and lag
//	campaign parked [-refused]     what a person has to decide on
//	campaign resolve CHANNEL REFERENCE sent|again|drop
//	campaign measure               messages a second with 1, 2 and 4 workers
//
// Each command knows -h. NATS_URL says where the engine is; a whole campaign and measure bring one where it is empty.
// MESSAGING_BASE_URL and credentials (see messaging.NewClientFromEnv) say where the service is and as whom to send; a whole campaign
// brings a stand-in, and measure always does.
//
// The exit status is 0 where everything is well; 1 where it is not: a line was bad, a message went out twice or has no verdict; 2
// where nothing could be begun.
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
	context.AfterFunc(ctx, stop) // the second signal ends the process
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// errReported ends a command that did its work and found that not everything is well, and has said so.
var errReported = errors.New("not everything is well")

// run carries out one command and gives the exit status.
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

// usageError is about how a command was called.
type usageError string

// Error gives what was wrong.
func (e usageError) Error() string { return string(e) }

// newFlags makes the flags of a command.
func newFlags(name, arguments, what string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.Usage = func() {
		out := flags.Output()
		_, _ = fmt.Fprintf(out, "usage: campaign %s %s\n%s\n", name, arguments, what)
		flags.PrintDefaults()
	}
	return flags
}

// parse reads flags and checks how many arguments are left.
func parse(flags *flag.FlagSet, args []string, fewest, most int) error {
	flags.SetOutput(os.Stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		flags.SetOutput(io.Discard)
		return usageError("see -h")
	}
	if n := flags.NArg(); n < fewest || n > most {
		flags.Usage()
		return usageError("the number of arguments is wrong")
	}
	return nil
}
