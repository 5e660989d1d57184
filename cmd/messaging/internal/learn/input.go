package learn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// input is where the examples come from: files, standard input, or a person on a terminal.
type input struct {
	console cli.Console
	files   []string // the arguments of the command
	keep    string   // the file for typed examples, or ""
}

// isTyped reports whether a person types the examples.
func (in input) isTyped() bool { return len(in.files) == 0 && in.console.InTerminal }

// read returns the examples.
func (in input) read(ctx context.Context) ([]source, error) {
	if in.isTyped() {
		text, err := in.readTyped(ctx)
		return []source{{text: text}}, err
	}
	if in.keep != "" {
		return nil, errors.New("--keep: is only for examples that are typed on a terminal")
	}
	return in.readFiles()
}

// readTyped asks for the examples, and writes them into the file of --keep.
func (in input) readTyped(ctx context.Context) (string, error) {
	text, err := ask(ctx, in.console)
	if err != nil || in.keep == "" {
		return text, err
	}
	if err := create(in.keep, text, ownerOnly); err != nil {
		in.store(text)
		return "", fmt.Errorf("--keep: %w", err)
	}
	return text, nil
}

// keepTyped stores typed examples in a temporary file, unless the file of --keep has them.
func (in input) keepTyped(examples []source) {
	if in.isTyped() && in.keep == "" {
		in.store(examples[0].text)
	}
}

// store stores typed examples in a temporary file, so that they can be corrected and are not typed again.
func (in input) store(text string) {
	file, err := os.CreateTemp("", "examples-*.txt")
	if err == nil {
		_, err = file.WriteString(text)
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		_, _ = fmt.Fprintf(in.console.Err, "The examples are in %s. Correct them there if necessary, and learn from that file.\n", file.Name())
	}
}

// readFiles reads the files, or standard input if there are none.
func (in input) readFiles() ([]source, error) {
	files := in.files
	if len(files) == 0 {
		files = []string{"-"}
	}
	var all []source
	for _, name := range files {
		text, err := in.readFile(name)
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

// readFile reads a file, or standard input for -. Of a text that is too long it reads enough to see that.
func (in input) readFile(name string) (string, error) {
	from := in.console.In
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the user names it
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, maxText+1))
	return string(text), err
}
