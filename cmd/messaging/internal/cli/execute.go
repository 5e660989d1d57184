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
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w; -h lists the flags", err) })
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.SetIn(c.In)
	root.SetArgs(withTwoDashes(root, args))
	ran, err := root.ExecuteContextC(ctx)
	return c.Status(ran.CommandPath(), err)
}

// withTwoDashes returns args in which each long flag has two dashes. The value of a flag is left alone.
func withTwoDashes(root *cobra.Command, args []string) []string {
	known := map[string]*pflag.Flag{"help": {NoOptDefVal: "true"}}
	var collect func(*cobra.Command)
	collect = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = f })
		for _, sub := range c.Commands() {
			collect(sub)
		}
	}
	collect(root)
	out := make([]string, 0, len(args))
	isValue := false
	for i, arg := range args {
		if arg == "--" {
			return append(out, args[i:]...)
		}
		if isValue {
			out, isValue = append(out, arg), false
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		flag := known[name]
		if flag != nil && len(name) > 1 && strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") {
			arg = "-" + arg
		}
		isValue = flag != nil && strings.HasPrefix(arg, "--") && !hasValue && flag.NoOptDefVal == ""
		out = append(out, arg)
	}
	return out
}

// Confirm asks a person to answer yes. what is the sentence in front of the question, and flag what to add to the command line to
// say yes beforehand.
func (c Console) Confirm(ctx context.Context, what, flag string) error {
	if !c.InTerminal {
		what = strings.TrimSuffix(what, " Send?")
		return fmt.Errorf("there is no terminal to ask on, as standard input is a file or a pipe. %s Add %s", what, flag)
	}
	_, _ = fmt.Fprintf(c.Err, "%s [y/N] ", what)
	line := make(chan string, 1)
	go func() { // ends with the process if nobody replies
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

// Words is for a command that takes these words, of which the last are optional. The error does not show what was given.
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

// Unknown returns the error of a word that names no subcommand of c, with those that it may have meant.
func Unknown(c *cobra.Command, word string) error {
	text := fmt.Sprintf("there is no command %q", word)
	if near := c.SuggestionsFor(word); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return errors.New(text)
}

// NoArgs is for a command of which everything is a flag. The error does not show the words, which may be a number or a secret.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unexpected argument: everything is a flag, and %d words follow the last", len(args))
}
