package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/internal/longflag"
)

// Execute runs a command line and returns the exit status. A flag may be written with one dash or two: -listen is --listen.
func (c Console) Execute(ctx context.Context, root *cobra.Command, args []string) int {
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.SetFlagErrorFunc(explainFlag)
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.SetIn(c.In)
	root.SetArgs(withTwoDashes(root, args))
	ran, err := root.ExecuteContextC(ctx)
	return c.Status(ran.CommandPath(), err)
}

// explainFlag returns the error for a flag that a command does not have. A command with subcommands has flags only after their names.
func explainFlag(command *cobra.Command, err error) error {
	if !command.HasAvailableSubCommands() {
		return fmt.Errorf("%w; -h lists the flags", err)
	}
	var names []string
	for _, sub := range command.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return fmt.Errorf("%w; the flags follow one of %s; -h shows an example", err, strings.Join(names, ", "))
}

// withTwoDashes returns args with two dashes before each long flag of the command that they name.
func withTwoDashes(root *cobra.Command, args []string) []string {
	command, _, _ := root.Find(args) // an unknown command is an error later
	command.InitDefaultHelpFlag()
	return longflag.WithTwoDashes(args, func(name string) (isFlag, needsValue bool) {
		flag := command.Flag(name)
		return flag != nil, flag != nil && flag.NoOptDefVal == ""
	})
}

// Confirm asks the user on a terminal whether to send. action describes in sentences what is sent, and flag is the flag that confirms it
// in advance.
func (c Console) Confirm(ctx context.Context, action, flag string) error {
	if !c.InTerminal {
		return fmt.Errorf("there is no terminal to ask on, because standard input is a file or a pipe. %s Add %s", action, flag)
	}
	_, _ = fmt.Fprintf(c.Err, "%s Send? [y/N] ", action)
	line := make(chan string, 1)
	go func() { // ends with the process if there is no reply
		text, _ := bufio.NewReader(c.In).ReadString('\n')
		line <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case <-ctx.Done():
		return errors.New("interrupted, and nothing was sent")
	case text := <-line:
		if text != "y" && text != "yes" {
			return errors.New("not confirmed, and nothing was sent")
		}
		return nil
	}
}

// Words returns a check for the arguments of a command, of which only the first are required. Its error does not show the arguments.
func Words(required int, names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) >= required && len(args) <= len(names) {
			return nil
		}
		want := strings.Join(names[:required], " ")
		if required < len(names) {
			want += " [" + strings.Join(names[required:], " ") + "]"
		}
		got := fmt.Sprintf("%d arguments", len(args))
		if len(args) == 1 {
			got = "1 argument"
		}
		return fmt.Errorf("want %s, got %s; -h shows an example", want, got)
	}
}

// Unknown returns the error for an unknown subcommand of c, with suggestions.
func Unknown(c *cobra.Command, word string) error {
	text := fmt.Sprintf("there is no command %q", word)
	if near := c.SuggestionsFor(word); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return errors.New(text)
}

// NoArgs rejects arguments. Its error does not show them, because they may be phone numbers or secrets.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return errors.New("unexpected argument: this command takes flags only")
}
