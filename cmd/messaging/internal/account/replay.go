package account

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

func newReplay(console cli.Console) *cobra.Command {
	var forward string
	command := &cobra.Command{
		Use:   "replay FILE [LINE]",
		Short: "Send saved callbacks to a program again",
		Long: `Send callbacks from a file of "messaging listen --save" to a program, unchanged: the callback in one line, counted from 1, or all of
them in order. The exit status is 1 if the program gives no response, or one that is not a success.`,
		Example: "  messaging replay callbacks.jsonl 3 --forward 127.0.0.1:8080/hooks",
		Args:    cli.Words(1, "FILE", "LINE"),
	}
	command.Flags().StringVar(&forward, "forward", "", "the `URL` of the program; required")
	command.RunE = func(command *cobra.Command, args []string) error {
		line := 0
		if len(args) > 1 {
			var err error
			if line, err = strconv.Atoi(args[1]); err != nil || line < 1 {
				return fmt.Errorf("LINE: want a number from 1, got %q", args[1])
			}
		}
		return replay(command.Context(), console, args[0], line, forward)
	}
	return command
}

// replay sends the callbacks of a file to a program, or, if only is not zero, just that line.
func replay(ctx context.Context, console cli.Console, name string, only int, forward string) error {
	to, err := newProgram(forward)
	if err != nil {
		return err
	}
	file, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return fmt.Errorf("FILE: %w; messaging listen --save FILE writes one", err)
	}
	defer func() { _ = file.Close() }()
	lines, err := savedLines(file)
	if err != nil {
		return fmt.Errorf("FILE: %w", err)
	}
	line := 0
	failures := 0
	for lines.Scan() {
		line++
		if only != 0 && line != only {
			continue
		}
		isSuccess, err := replayLine(ctx, console, to, line, lines.Bytes())
		if err != nil {
			return err
		}
		if !isSuccess {
			failures++
		}
	}
	switch {
	case lines.Err() != nil:
		return fmt.Errorf("%s: %w", name, lines.Err())
	case line == 0:
		return fmt.Errorf("FILE: %s has no callbacks; messaging listen --save FILE appends those that it accepts", name)
	case only > line:
		return fmt.Errorf("LINE: %s has %d lines", name, line)
	case failures > 0:
		return exitWith(cli.ExitRefused)
	}
	return nil
}

// savedLines returns the lines of a file, up to its present end: the program may append to it.
func savedLines(file *os.File) (*bufio.Scanner, error) {
	const maxLine = 8 << 20 // a body in base64, and its header
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(io.LimitReader(file, info.Size()))
	lines.Buffer(nil, maxLine)
	return lines, nil
}

// replayLine sends the callback in a line, prints the status of the response, and reports whether it is a success.
func replayLine(ctx context.Context, console cli.Console, to *program, line int, text []byte) (isSuccess bool, err error) {
	var c callback
	if err = json.Unmarshal(text, &c); err != nil {
		return false, fmt.Errorf("line %d is not a saved callback: %w", line, err)
	}
	response, err := to.send(ctx, &c)
	if err != nil {
		return false, &cli.ExitError{Status: cli.ExitRefused, Err: fmt.Errorf("line %d: the program gave no response: %w", line, err)}
	}
	_, _ = fmt.Fprintf(console.Out, "%d  %s %s  %d\n", line, c.Method, printable(c.Path), response.status)
	return response.status < http.StatusMultipleChoices, nil
}
