// Command messaging has tools for programs that send messages through the service:
//
//	messaging sandbox   the service on this machine, with a web page: see every message, answer it, break the service
//	messaging doctor    what of the contract an account contradicts, and the overlay that makes it right
//
// A subcommand with -h prints its flags. An unknown one, or none, prints the usage and exits with status 2.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/doctor"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/sandbox"
)

const usage = `usage: messaging <command> [flags]

The commands are:

	sandbox   the service on this machine, with a web page: see every message, answer it, break the service
	doctor    what of the contract an account contradicts, and the overlay that makes it right

"messaging <command> -h" prints the flags of a command.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run runs a subcommand and returns the exit status.
func run(ctx context.Context, args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "sandbox":
			return sandbox.Command(ctx, args[1:], os.Stdout, os.Stderr)
		case "doctor":
			return doctor.Command(ctx, args[1:], doctor.Console{
				In: os.Stdin, Terminal: isTerminal(os.Stdin), Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
			})
		case "help", "-h", "-help", "--help":
			fmt.Print(usage)
			return 0
		}
		fmt.Fprintf(os.Stderr, "messaging: there is no command %q\n", args[0])
	}
	fmt.Fprint(os.Stderr, usage)
	return 2
}

// isTerminal reports whether somebody can answer on a file.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
