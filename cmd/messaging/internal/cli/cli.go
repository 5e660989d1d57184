// Package cli has what all commands share: the console, exit statuses, the checks of the command line, and reading a contract.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
)

// The exit statuses of every command. A send ends with its verdict.
const (
	ExitOK      = 0 // accepted, found, listed in full
	ExitRefused = 1 // refused, or listed with rows that could not be read in full
	ExitUsage   = 2 // the command line, or what it names, cannot be used
	ExitNotSent = 3
	ExitUnknown = 4 // the outcome of a send is unknown, or a listing ended early

	// ExitNotListed is apart from ExitRefused, after which a script may send again: a listing can lag.
	ExitNotListed = 5
)

// Console is the input and output of a command.
type Console struct {
	In          io.Reader
	Out         io.Writer
	Err         io.Writer
	InTerminal  bool // whether In is a terminal
	OutTerminal bool
	ErrTerminal bool
	Color       bool // whether Out is a terminal that shows colors
}

// System returns the console of the process. Colors respect NO_COLOR, TERM=dumb and pipes.
func System() Console {
	isTerminal := func(f *os.File) bool { return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()) }
	return Console{
		In:          os.Stdin,
		Out:         os.Stdout,
		Err:         os.Stderr,
		InTerminal:  isTerminal(os.Stdin),
		OutTerminal: isTerminal(os.Stdout),
		ErrTerminal: isTerminal(os.Stderr),
		Color:       !color.NoColor,
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

// ExitError is the error of a command with an exit status of its own.
type ExitError struct {
	Status int
	Err    error // for the user; nil if everything was printed already
}

// Error returns the text of Err.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }

// Status returns the exit status for the error of a command, and prints the error: in one line, or with a line for each problem of a contract.
func (c Console) Status(command string, err error) int {
	if err == nil {
		return ExitOK
	}
	status := ExitUsage
	if exit, ok := errors.AsType[*ExitError](err); ok {
		if exit.Err == nil {
			return exit.Status
		}
		status = exit.Status
		err = exit.Err
	}
	// The library's errors begin with its name, which is also the name of the command.
	text := strings.TrimPrefix(err.Error(), "messaging: ")
	if hint := advice(err); hint != "" {
		text += "; " + hint
	}
	c.Note(command + ": " + joinLines(text))
	return status
}

// joinLines joins the lines of an error with semicolons, but leaves each problem of a contract after the first on a line of its own. Problems are
// separated by line breaks, or by semicolons if the error is about the variable that names the contract.
func joinLines(text string) string {
	const problem = "contract: " // begins each error of package contract
	text = strings.ReplaceAll(text, "; "+problem, "\n"+problem)
	lines := strings.Split(text, "\n")
	var joined strings.Builder
	joined.WriteString(lines[0])
	for _, line := range lines[1:] {
		separator := "; "
		if strings.HasPrefix(line, problem) {
			separator = "\n"
		}
		joined.WriteString(separator)
		joined.WriteString(line)
	}
	return joined.String()
}
