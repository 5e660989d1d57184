package learn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

type settings struct {
	console cli.Console
	out     string
	keep    string
	force   bool
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

const learnHelp = `Write an overlay of the contract from the examples of a provider's documentation. The examples come from files, from standard
input, or, on a terminal, one by one.

A file has a section for each example. A section begins with its kind. Lines such as "id: h-1" name values in the example; an empty
line and the example follow, copied from the documentation:

  === request
  from: ACME
  to: 639171234567
  text: Hi
  callback: https://shop.example.com/dlr
  reference: order-17

  curl https://api.example.com/v3/messages -H 'Authorization: Bearer TOKEN' -d '{"sender": "ACME", "recipient": "639171234567",
    "text": "Hi", "notify": "https://shop.example.com/dlr", "ref": "order-17"}'

  === accepted
  http: 202
  id: h-1

  {"handle": "h-1", "state": "queued"}

  === refused
  http: 400
  class: invalid

  {"fault": {"code": "E101", "text": "Unknown sender"}}

The kinds are:

  request    a curl command, an HTTP request, or the JSON or the form of its body with the line "path:": from, to, text, callback,
             reference, token, key and secret. Of other values, those that look like credentials by their names, or because they look
             random, are never written
  accepted   a response to the request: http, id, status, request, reference, parts, unitCost, cost, currency, balance, operator, and to
             if it is about another number
  refused    http, class, request, status, and code, which is needed if its name is unusual. The classes are unauthorized, forbidden,
             rateLimited, insufficientBalance, duplicate, windowClosed, optedOut, unreachable (a number that cannot get the message),
             notFound, unavailable and invalid
  row        a response of the listing: path, id, request, reference, category, from, to, text, parts, price, currency, created, sent,
             operator, country, description, the status of the delivery with its meaning in means (see delivery), and sendStatus: whether
             the service took the message, in the words of the status of accepted and refused responses. A curl command above the response
             shows the path, the filters by these values, and page, offset, pageSize, createdAfter, createdBefore, sortBy and order. An offset
             counts rows; as in start=0&count=100, it needs no line. The line next is the next page in the response, and layout is for
             unusual times: how they write 2 January 2006, 15:04:05
  inbound    a callback with an inbound message: id, from, to, text, time, reference, operator, keyword
  delivery   a callback with a delivery report: id, reference, from, to, time, errorCode, status, and means: one of delivered, read, queued, sent,
             failed, expired and rejected. The default contract knows the meanings of usual words. A GET with the parameters of the
             callback URL shows what its placeholders mean

A file has one request and at most one row, and any number of the others. If only the listing of your account differs, a row is enough.
Give a refusal of each class, and a report of each status.

A value that is not in its example, or that a contract cannot use, is an error: nothing is written, and the exit status is 1.

Each example is then replayed through the overlay. If a result is wrong, nothing is written, and the exit status is 1. Keys that end in //,
which the library ignores, list what the examples do not show. For scales, time zones, and the pages, totals, prices, orders, send statuses and
texts of errors that it is not sure of, the command also prints the lines to write by hand.`

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
	switch {
	case s.force && s.out == "":
		return errors.New("--force: needs --out")
	case !s.force && exists(s.out):
		return fmt.Errorf("--out %s: the file exists; --force replaces it", s.out)
	case exists(s.keep):
		return fmt.Errorf("--keep %s: the file exists", s.keep)
	}
	examples, err := s.read(ctx, files)
	if err != nil {
		return err
	}
	result, status, err := learn(examples)
	if err != nil {
		s.console.Complain(err)
		s.keepTyped(examples, files)
		return &cli.ExitError{Status: status, Err: errors.New("nothing was written")}
	}
	for _, warning := range result.Warnings {
		_, _ = fmt.Fprintln(s.console.Err, warning)
	}
	if s.out == "" {
		_, err = fmt.Fprintln(s.console.Out, result.Overlay)
		return err
	}
	write := create
	if s.force {
		write = replace
	}
	if err = write(s.out, result.Overlay+"\n"); err != nil {
		s.keepTyped(examples, files)
		return fmt.Errorf("--out: %w", err)
	}
	_, err = fmt.Fprintf(s.console.Err, "%s: each example has the right result. Complete the values whose keys end in //, and add chat apps by hand\n", s.out)
	return err
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

// isTyped reports whether a person types the examples.
func (s *settings) isTyped(files []string) bool { return len(files) == 0 && s.console.InTerminal }

// keepTyped stores typed examples in a temporary file, unless the file of --keep has them.
func (s *settings) keepTyped(examples []source, files []string) {
	if s.isTyped(files) && s.keep == "" {
		s.store(examples[0].text)
	}
}

// store stores typed examples in a temporary file, so that they can be corrected and are not typed again.
func (s *settings) store(text string) {
	file, err := os.CreateTemp("", "examples-*.txt")
	if err == nil {
		_, err = file.WriteString(text)
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		_, _ = fmt.Fprintf(s.console.Err, "The examples are in %s. Correct them there if necessary, and learn from that file.\n", file.Name())
	}
}

// exists reports whether there is a file with a name.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return name != "" && err == nil
}

// create writes a new file.
func create(name, text string) error {
	const readable = 0o644                                                      // it holds no secret
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, readable) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// replace writes a file that may exist. If that fails, the file stays as it was.
func replace(name, text string) error {
	written, err := os.CreateTemp(filepath.Dir(name), ".contract-*")
	if err != nil {
		return err
	}
	const readable = 0o644 // it holds no secret
	_, writeErr := written.WriteString(text)
	err = errors.Join(writeErr, written.Chmod(readable), written.Close())
	if err == nil {
		err = os.Rename(written.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(written.Name()))
	}
	return nil
}

// read returns the examples, which are typed or in files.
func (s *settings) read(ctx context.Context, files []string) ([]source, error) {
	if s.isTyped(files) {
		text, err := s.readTyped(ctx)
		return []source{{text: text}}, err
	}
	if s.keep != "" {
		return nil, errors.New("--keep: is only for examples that are typed on a terminal")
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	var all []source
	for _, name := range files {
		text, err := s.readFile(name)
		if err != nil {
			return nil, err
		}
		one := source{text: text}
		if len(files) > 1 {
			one.file = name
		}
		all = append(all, one)
	}
	return all, nil
}

// readTyped asks for the examples, and writes them into the file of --keep.
func (s *settings) readTyped(ctx context.Context) (string, error) {
	text, err := ask(ctx, s.console)
	if err != nil || s.keep == "" {
		return text, err
	}
	if err := create(s.keep, text); err != nil {
		s.store(text)
		return "", fmt.Errorf("--keep: %w", err)
	}
	return text, nil
}

func (s *settings) readFile(name string) (string, error) {
	in := s.console.In
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the user names it
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxText+1))
	return string(text), err
}
