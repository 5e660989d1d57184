// Package cli is what the commands have in common: where they read and write, their exit statuses, how a line of the command
// line that cannot be used is reported, and how a contract is read.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"

	"github.com/messaging-service/messaging-go/contract"
)

// The exit statuses of every command. A send ends with its verdict.
const (
	ExitOK      = 0 // accepted, found, listed in full
	ExitRefused = 1 // refused, or not listed
	ExitUsage   = 2 // the command line, or what it names, cannot be used
	ExitNotSent = 3
	ExitUnknown = 4 // the outcome of a send is unknown, or a listing ended early
)

// maxContract is how long the file of a contract may be.
const maxContract = 1 << 20

// Console is where a command reads and writes.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
	// InTerminal, OutTerminal and ErrTerminal report whether a person is at the other end.
	InTerminal, OutTerminal, ErrTerminal bool
	Color                                bool // whether Out is a terminal that wants colors
	Getenv                               func(name string) string
}

// System returns the console of the process. Colors respect NO_COLOR, TERM=dumb and pipes.
func System() Console {
	isTerminal := func(f *os.File) bool { return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()) }
	return Console{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
		InTerminal: isTerminal(os.Stdin), OutTerminal: isTerminal(os.Stdout), ErrTerminal: isTerminal(os.Stderr), Color: !color.NoColor,
	}
}

// Paint returns text in a color, if the console wants colors.
func (c Console) Paint(attribute color.Attribute, text string) string {
	if !c.Color {
		return text
	}
	painted := color.New(attribute)
	painted.EnableColor()
	return painted.Sprint(text)
}

// ExitError is how a command ends that does not end well: its exit status, and what to say in one line, or nil if all has been said.
type ExitError struct {
	Status int
	Err    error
}

// Error returns what to say.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }

// Status returns the exit status of a command that ended with err, and reports err in one line on the console.
func (c Console) Status(command string, err error) int {
	if err == nil {
		return ExitOK
	}
	status := ExitUsage
	if exit, ok := errors.AsType[*ExitError](err); ok {
		if status, err = exit.Status, exit.Err; err == nil {
			return status
		}
	}
	// The library begins its errors with its own name, which is the command's.
	text := strings.TrimPrefix(err.Error(), "messaging: ")
	_, _ = fmt.Fprintf(c.Err, "%s: %s\n", command, Printable(strings.ReplaceAll(text, "\n", "; ")))
	return status
}

// ReadContract reads an overlay of the contract from the file that a flag names.
func ReadContract(name string) (names contract.Contract, err error) {
	file, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return names, fmt.Errorf("--contract: %w", err)
	}
	defer func() { _ = file.Close() }()
	overlay, err := io.ReadAll(io.LimitReader(file, maxContract+1))
	if err == nil && len(overlay) > maxContract {
		err = errors.New("longer than 1 MiB")
	}
	if err == nil {
		names, err = contract.Parse(overlay)
	}
	if err != nil {
		return names, fmt.Errorf("--contract %s: %w", name, err)
	}
	return names, nil
}
