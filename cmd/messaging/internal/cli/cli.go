// Package cli is what the commands have in common: how flags are parsed and a contract is read.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
)

// The exit statuses of every command. ExitUsage is for a flag, or what it names, that cannot be used.
const (
	ExitOK    = 0
	ExitUsage = 2
)

// maxContract is how long the file of a contract may be.
const maxContract = 1 << 20

// Parse parses the flags of a command that takes no other arguments. With -h it prints the usage, which begins with
// a sentence about the command, and returns flag.ErrHelp.
func Parse(flags *flag.FlagSet, args []string, stderr io.Writer, about string) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(stderr)
		_, _ = fmt.Fprintf(stderr, "usage: %s [flags]\n%s", flags.Name(), about)
		flags.PrintDefaults()
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument: everything is a flag, and %d words follow the last", flags.NArg())
	}
	return err
}

// Fail prints an error of a command in one line and returns its exit status. The usage that was asked for is no error.
func Fail(stderr io.Writer, command string, err error) int {
	if errors.Is(err, flag.ErrHelp) {
		return ExitOK
	}
	_, _ = fmt.Fprintf(stderr, "%s: %s\n", command, strings.ReplaceAll(err.Error(), "\n", "; "))
	return ExitUsage
}

// ReadContract reads an overlay of the contract from the file that a flag names.
func ReadContract(name string) (overlay []byte, names contract.Contract, err error) {
	file, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return nil, names, fmt.Errorf("-contract: %w", err)
	}
	defer func() { _ = file.Close() }()
	overlay, err = io.ReadAll(io.LimitReader(file, maxContract+1))
	if err == nil && len(overlay) > maxContract {
		err = errors.New("longer than 1 MiB")
	}
	if err == nil {
		names, err = contract.Parse(overlay)
	}
	if err != nil {
		return nil, names, fmt.Errorf("-contract %s: %w", name, err)
	}
	return overlay, names, nil
}
