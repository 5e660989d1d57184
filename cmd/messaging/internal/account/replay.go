package account

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

func newReplay(console cli.Console) *cobra.Command {
	var forward string
	command := &cobra.Command{
		Use:   "replay FILE [LINE]",
		Short: "Send a saved callback to a program again",
		Long: `Send callbacks that "messaging listen --save" kept to a program again, as they came: the one in a line of the file, counted from
1, or all in their order. The exit status is 1 if the program responds with anything but a success.`,
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

// replay sends the callbacks of a file, or only that of one line.
func replay(ctx context.Context, console cli.Console, name string, line int, forward string) error {
	to, err := target(forward)
	if err != nil {
		return err
	}
	file, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return fmt.Errorf("FILE: %w; messaging listen --save FILE writes one", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("FILE: %w", err)
	}
	lines := bufio.NewScanner(io.LimitReader(file, info.Size())) // the program may append to the file
	lines.Buffer(nil, 4*maxCallback)                             // a body in base64, and its header
	at, failed := 0, 0
	for lines.Scan() {
		if at++; line != 0 && at != line {
			continue
		}
		var c callback
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("%s: line %d is no callback: %w", name, at, err)
		}
		u := to.JoinPath(c.Path)
		u.RawQuery = c.Query
		status, err := resend(ctx, c, u.String())
		if err != nil {
			return &cli.ExitError{Status: cli.ExitRefused, Err: fmt.Errorf("line %d: %w", at, err)}
		}
		_, _ = fmt.Fprintf(console.Out, "%d  %s %s  %d\n", at, c.Method, printable(c.Path), status)
		if status >= http.StatusMultipleChoices {
			failed++
		}
	}
	switch {
	case lines.Err() != nil:
		return fmt.Errorf("%s: %w", name, lines.Err())
	case line > at:
		return fmt.Errorf("LINE: %s has %d lines", name, at)
	case failed > 0:
		return exitWith(cli.ExitRefused)
	}
	return nil
}

// resend sends a callback and returns the status of the response.
func resend(ctx context.Context, c callback, to string) (int, error) {
	const timeout = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, c.Method, to, bytes.NewReader(c.Body))
	if err != nil {
		return 0, err
	}
	for name, values := range c.Header {
		if name != "Content-Length" && name != "Connection" {
			request.Header[name] = values
		}
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return 0, fmt.Errorf("the program cannot be reached: %w", err)
	}
	_ = response.Body.Close()
	return response.StatusCode, nil
}
