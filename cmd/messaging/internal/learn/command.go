package learn

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// settings are the flags of the command learn.
type settings struct {
	console cli.Console
	out     string // the file for the overlay
	keep    string // the file for typed examples
	force   bool   // replace out
}

// NewCommand returns the command contract, with learn below it.
func NewCommand(console cli.Console) *cobra.Command {
	command := &cobra.Command{
		Use:     "contract",
		Short:   "Write the wire names of an account",
		Example: "  messaging contract learn examples.txt -o contract.json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Unknown(command, args[0])
			}
			return errors.New("want a command: learn")
		},
		SuggestionsMinimumDistance: 2,
	}
	command.AddCommand(newLearn(console))
	return command
}

func newLearn(console cli.Console) *cobra.Command {
	s := &settings{console: console}
	command := &cobra.Command{
		Use:   "learn [FILE]...",
		Short: "Write an overlay of the contract from the examples of a provider's documentation",
		Long:  learnHelp,
		Example: `  messaging contract learn
  messaging contract learn examples.txt -o contract.json
  messaging contract learn examples.txt -o contract.json --force
  cat examples.txt | messaging contract learn - > contract.json`,
		RunE: func(command *cobra.Command, files []string) error { return s.run(command.Context(), files) },
	}
	command.Flags().StringVarP(&s.out, "out", "o", "", "write the overlay to this new `file`")
	command.Flags().BoolVar(&s.force, "force", false, "replace the file of --out")
	command.Flags().StringVar(&s.keep, "keep", "", "write the typed examples to this new `file`, for another run")
	return command
}

func (s *settings) run(ctx context.Context, files []string) error {
	if err := s.checkFlags(); err != nil {
		return err
	}
	in := input{console: s.console, keep: s.keep, files: files}
	examples, err := in.read(ctx)
	if err != nil {
		return err
	}
	result, status, err := learn(examples)
	if err != nil {
		s.console.Complain(err)
		in.keepTyped(examples)
		return &cli.ExitError{Status: status, Err: errors.New("nothing was written")}
	}
	for _, warning := range result.Warnings {
		_, _ = fmt.Fprintln(s.console.Err, warning)
	}
	if s.out == "" {
		_, err = fmt.Fprintln(s.console.Out, result.Overlay)
		return err
	}
	if err = s.write(result.Overlay + "\n"); err != nil {
		in.keepTyped(examples)
		return fmt.Errorf("--out: %w", err)
	}
	_, err = fmt.Fprintf(s.console.Err, "%s: each example has the right result. Complete the values whose keys end in //, and add chat apps by hand\n", s.out)
	return err
}

// checkFlags returns an error if a file of a flag exists, or --force has none to replace.
func (s *settings) checkFlags() error {
	switch {
	case s.force && s.out == "":
		return errors.New("--force: needs --out")
	case !s.force && exists(s.out):
		return fmt.Errorf("--out %s: the file exists; --force replaces it", s.out)
	case exists(s.keep):
		return fmt.Errorf("--keep %s: the file exists", s.keep)
	}
	return nil
}

// learn returns the overlay for files of examples, or an error and its exit status.
func learn(files []source) (result Result, status int, err error) {
	examples, err := parseFiles(files)
	if err != nil {
		return Result{}, cli.ExitUsage, err
	}
	result, err = Learn(examples)
	return result, cli.ExitRefused, err
}

// write writes the file of --out.
func (s *settings) write(text string) error {
	if s.force {
		return replace(s.out, text)
	}
	return create(s.out, text, readable)
}
