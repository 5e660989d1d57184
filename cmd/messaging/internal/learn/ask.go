package learn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// interview asks for examples on a terminal, and writes them in the form of a file.
type interview struct {
	console cli.Console
	lines   chan string // the typed lines; closed at the end of the input
	text    strings.Builder
}

// errInterrupted ends an interview.
var errInterrupted = errors.New("interrupted, and nothing was written")

// ask asks for examples one by one, and returns them as the text of a file.
func ask(ctx context.Context, console cli.Console) (string, error) {
	in := &interview{console: console, lines: make(chan string)}
	go func() { // ends with the process if no line comes
		defer close(in.lines)
		typed := bufio.NewScanner(console.In)
		typed.Buffer(nil, maxText)
		for typed.Scan() {
			select {
			case in.lines <- typed.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	in.say("Open the provider's documentation. An empty line skips a value that it does not show.")
	for _, part := range []func(context.Context) error{in.request, in.accepted, in.refused, in.row, in.inbound, in.delivery} {
		if err := part(ctx); err != nil {
			return "", err
		}
	}
	return in.text.String(), nil
}

func (in *interview) say(text string) { _, _ = fmt.Fprintln(in.console.Err, text) }

// line reads one line.
func (in *interview) line(ctx context.Context) (string, error) {
	select {
	case <-ctx.Done():
		return "", errInterrupted
	case line, ok := <-in.lines:
		if !ok {
			return "", errors.New("the input ended, and nothing was written")
		}
		return line, nil
	}
}

// values asks for the values of an example. It reports false if the first value is empty: then there is no such example.
func (in *interview) values(ctx context.Context, kind string, keys ...string) (exists bool, err error) {
	for i, key := range keys {
		_, _ = fmt.Fprintf(in.console.Err, "  %s: ", key)
		value, err := in.line(ctx)
		if err != nil {
			return false, err
		}
		value = strings.TrimSpace(value)
		if i == 0 && value == "" {
			return false, nil
		}
		if i == 0 {
			_, _ = fmt.Fprintf(&in.text, "=== %s\n", kind)
		}
		if value != "" {
			_, _ = fmt.Fprintf(&in.text, "%s: %s\n", key, value)
		}
	}
	return true, nil
}

// body asks for the text of an example.
func (in *interview) body(ctx context.Context) error {
	in.say("  Paste the example. End it with a line that has only a dot.")
	in.text.WriteString("\n")
	for {
		line, err := in.line(ctx)
		if err != nil {
			return err
		}
		if strings.TrimSpace(line) == "." {
			in.text.WriteString("\n")
			return nil
		}
		in.text.WriteString(line + "\n")
	}
}

// once asks for one example, and reports whether there is one.
func (in *interview) once(ctx context.Context, kind string, keys ...string) (exists bool, err error) {
	exists, err = in.values(ctx, kind, keys...)
	if err != nil || !exists {
		return false, err
	}
	return true, in.body(ctx)
}

// several asks for examples until the first value is empty.
func (in *interview) several(ctx context.Context, kind, what string, keys ...string) error {
	for {
		in.say(what)
		exists, err := in.once(ctx, kind, keys...)
		if err != nil || !exists {
			return err
		}
	}
}

func (in *interview) request(ctx context.Context) error {
	in.say("\nA request that sends an SMS, as a curl command, an HTTP request, or a body with its path, and the values in it.")
	exists, err := in.once(ctx, kindRequest, "to", "text", "from", "callback", "reference", "path")
	if err == nil && !exists {
		err = errors.New("want an example of a request, and nothing was written")
	}
	return err
}

func (in *interview) accepted(ctx context.Context) error {
	in.say("\nThe response to an accepted message: its HTTP status, and the ID of the message in it.")
	exists, err := in.once(ctx, kindAccepted, "http", "id")
	if err == nil && !exists {
		err = errors.New("want an example of an accepted response, and nothing was written")
	}
	return err
}

func (in *interview) refused(ctx context.Context) error {
	const what = "\nA response that refuses a message: unauthorized, forbidden, rateLimited, insufficientBalance, " +
		"duplicate, windowClosed, optedOut,\nunreachable, notFound, unavailable or invalid. An empty line continues with the next part."
	return in.several(ctx, kindRefused, what, "class", "http", "code")
}

func (in *interview) row(ctx context.Context) error {
	in.say("\nA response of the listing: the ID of a row in it, and the other values of the row.")
	_, err := in.once(ctx, kindRow, "id", "path", "reference", "from", "to", "text", "status", "means", "sendStatus", "created")
	return err
}

func (in *interview) inbound(ctx context.Context) error {
	in.say("\nA callback with an inbound message, and the values in it.")
	_, err := in.once(ctx, kindInbound, "from", "to", "text", "id", "time")
	return err
}

func (in *interview) delivery(ctx context.Context) error {
	const what = "\nA callback with a delivery report: the ID of the message in it, its status, and the meaning of the status: delivered, " +
		"read, queued, sent,\nfailed, expired or rejected. An empty line continues with the next part."
	return in.several(ctx, kindDelivery, what, "id", "status", "means", "reference", "time")
}
