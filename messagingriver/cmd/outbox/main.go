// Command outbox operates an outbox of package messagingriver from a shell:
//
//	outbox migrate                     creates or updates the tables
//	outbox load FILE                   enqueues the messages of a file, each once: run it again to resume
//	outbox status                      counts messages by channel, state and campaign, and shows pauses and whether a process runs
//	outbox list                        lists the messages in a state, such as discarded or waiting, and why
//	outbox show REFERENCE              shows what the outbox knows about a message
//	outbox resolve sent|resend|notsent|drop
//	                                   decides by reference IDs, --reason or --file
//	outbox campaign pause|resume|cancel NAME
//	outbox pause|resume CHANNEL        pauses or resumes a channel in all processes
//	outbox audit                       compares the outbox with what the service lists
//
// Messages are sent by a program that calls Outbox.Start, with its own client and guards. River UI shows and pauses the queues.
//
// The environment:
//
//	DATABASE_URL          postgres://… or the path of an SQLite file. Required
//	OUTBOX_SCHEMA         the schema of the outbox on PostgreSQL; the default is messaging
//	MESSAGING_BASE_URL    the service, its token, the file of the contract, and the variables of its paths, for audit; load uses the
//	MESSAGING_TOKEN       contract, too
//	MESSAGING_CONTRACT
//	MESSAGING_VAR_…
//
// The exit status is 0 if it is done, 1 if audit found a difference, load left out a line, show found no message, resolve changed nothing or
// campaign pause paused nothing, and 2 after an error. It asks nothing. "outbox COMMAND --help" explains each command.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// errFindings ends a command that has printed findings.
var errFindings = errors.New("there are findings")

// run runs the command line and returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, out, diagnostics io.Writer) int {
	root := command(getenv)
	root.SetArgs(withTwoDashes(root, args))
	root.SetOut(out)
	root.SetErr(diagnostics)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFindings):
		return 1
	default:
		_, _ = fmt.Fprintln(diagnostics, "outbox:", errorText(err))
		return 2
	}
}

// errorText returns an error in one line, with commands and flags where the library names methods and options. A driver that tries a server
// with and without TLS repeats a line.
func errorText(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSuffix(line, "\n")
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	replacer := strings.NewReplacer(
		":\n\t", ": ",
		"\n\t", "; ",
		"\n", "; ",
		"messagingriver: ", "",
		"run Migrate", "run outbox migrate",
		"Options.Schema", "--schema",
	)
	return replacer.Replace(strings.Join(lines, "\n"))
}
