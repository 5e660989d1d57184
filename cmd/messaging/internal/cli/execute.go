package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Execute runs a command line and returns the exit status. A flag may be written with one dash or two: -listen is --listen.
func (c Console) Execute(ctx context.Context, root *cobra.Command, args []string) int {
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w; -h lists the flags", err) })
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.SetIn(c.In)
	root.SetArgs(withTwoDashes(root, args))
	ran, err := root.ExecuteContextC(ctx)
	return c.Status(ran.CommandPath(), err)
}

// withTwoDashes returns args with two dashes before each long flag. Values of flags stay as they are.
func withTwoDashes(root *cobra.Command, args []string) []string {
	flags := map[string]*pflag.Flag{"help": {NoOptDefVal: "true"}}
	collectFlags(root, flags)
	out := make([]string, 0, len(args))
	isValue := false
	for i, arg := range args {
		if arg == "--" {
			return append(out, args[i:]...)
		}
		if isValue {
			isValue = false
			out = append(out, arg)
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		flag := flags[name]
		isShort := len(name) == 1
		if flag == nil || isShort || !strings.HasPrefix(arg, "-") {
			out = append(out, arg)
			continue
		}
		out = append(out, "--"+strings.TrimLeft(arg, "-"))
		isValue = !hasValue && flag.NoOptDefVal == ""
	}
	return out
}

// collectFlags adds the flags of a command and its subcommands by name.
func collectFlags(c *cobra.Command, flags map[string]*pflag.Flag) {
	c.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = f })
	for _, sub := range c.Commands() {
		collectFlags(sub, flags)
	}
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
			return errors.New("the reply was not yes, and nothing was sent")
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
		return fmt.Errorf("want %s, got %d words; -h shows an example", want, len(args))
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
	return fmt.Errorf("unexpected argument: everything is a flag, and %d words follow the last", len(args))
}
