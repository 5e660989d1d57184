package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
)

// loaded is what load did.
type loaded struct {
	New   int `json:"new"`
	Known int `json:"known"`
	// Repeated are lines whose reference ID an earlier line of the file has. They are not enqueued.
	Repeated []repeated `json:"repeated,omitempty"`
}

type repeated struct {
	Line  int `json:"line"`
	First int `json:"first"`
}

// entry is a message of a file with the options of its line.
type entry struct {
	message messaging.Message
	options messagingriver.InsertOptions
	line    int
}

// terms are the options of a line, or of the flags, as text.
type terms struct {
	Campaign string `json:"campaign"`
	Priority string `json:"priority"`
	At       string `json:"at"`
	Expire   string `json:"expire"`
}

// over returns the options of a line whose terms win over those of the flags.
func (t terms) over(flags terms) (messagingriver.InsertOptions, error) {
	options := messagingriver.InsertOptions{Campaign: cmp.Or(t.Campaign, flags.Campaign)}
	priority, at, expire := cmp.Or(t.Priority, flags.Priority), cmp.Or(t.At, flags.At), cmp.Or(t.Expire, flags.Expire)
	words := []string{"urgent", "high", "normal", "bulk"}
	i := max(slices.Index(words, priority), slices.Index([]string{"1", "2", "3", "4"}, priority))
	if i < 0 {
		return options, fmt.Errorf("the priority is %q; want %s or 1 to 4", priority, strings.Join(words, ", "))
	}
	options.Priority = messagingriver.Priority(i + 1)
	var err error
	if at != "" {
		if options.At, err = time.Parse(time.RFC3339, at); err != nil {
			return options, fmt.Errorf("the time is %q; want one such as 2026-05-01T09:00:00+08:00", at)
		}
		options.At = options.At.UTC()
	}
	if expire != "" {
		if options.Expire, err = time.ParseDuration(expire); err != nil || options.Expire <= 0 {
			return options, fmt.Errorf("the expiry is %q; want a duration such as 10m", expire)
		}
	}
	return options, nil
}

func (op *operator) load() *cobra.Command {
	var flags terms
	cmd := &cobra.Command{
		Use: "load FILE", Short: "Enqueue the messages of a file, each once", Args: cobra.ExactArgs(1),
		Long: `Enqueue the messages of a file, each once: its reference ID says if it is known. Run it again to resume.

A line is {"channel": "sms", "message": {"from": "ACME", "to": "+639171234567", "text": "Hi", "referenceID": "order-1"}},
where the message is as encoding/json writes it. A file that ends in .csv has SMS: its first line names the columns, which
are from, to, text, reference and callback. A line may also have campaign, priority, at and expire, which win over the
flags. A line that cannot be sent ends the load with its number; those before it are enqueued. A line with the reference ID
of an earlier one is not enqueued: the load names it, and ends with status 1.`,
		RunE: op.on(tables, func(cmd *cobra.Command, args []string, db database) error {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer func() { _ = file.Close() }()
			info, err := file.Stat()
			if err != nil {
				return err
			}
			bar := progressbar.NewOptions64(info.Size(), progressbar.OptionSetWriter(cmd.ErrOrStderr()), progressbar.OptionShowBytes(true),
				progressbar.OptionSetDescription("loading"), progressbar.OptionClearOnFinish(),
				progressbar.OptionSetVisibility(isTerminal(cmd.ErrOrStderr())))
			count, err := enqueue(cmd, db, args[0], io.TeeReader(file, bar), flags)
			if err = errors.Join(err, bar.Finish()); err != nil {
				return fmt.Errorf("%s: %w (enqueued: %d; known: %d)", args[0], err, count.New, count.Known)
			}
			var text strings.Builder
			for _, r := range count.Repeated {
				fmt.Fprintf(&text, "line %d repeats the reference ID of line %d, and is not enqueued\n", r.Line, r.First)
			}
			fmt.Fprintf(&text, "enqueued: %d; known: %d\n", count.New, count.Known)
			if err = op.print(cmd.OutOrStdout(), count, text.String()); err != nil || len(count.Repeated) == 0 {
				return err
			}
			return errFindings
		}),
	}
	cmd.Flags().StringVar(&flags.Campaign, "campaign", "", "name by which the messages are counted, paused and cancelled")
	cmd.Flags().StringVar(&flags.Priority, "priority", "bulk", "urgent, high, normal or bulk")
	cmd.Flags().StringVar(&flags.At, "at", "", "when they are sent, such as 2026-05-01T09:00:00+08:00 (default at once)")
	cmd.Flags().StringVar(&flags.Expire, "expire", "", "how long after that they may still be sent, such as 10m (default for ever)")
	return cmd
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// enqueue enqueues the messages of a file, a thousand in a transaction.
func enqueue(cmd *cobra.Command, db database, name string, in io.Reader, flags terms) (count loaded, err error) {
	next := readLines(db, in)
	if strings.HasSuffix(strings.ToLower(name), ".csv") {
		if next, err = readCSV(in); err != nil {
			return count, err
		}
	}
	const atOnce = 1000
	first := map[messagingriver.Key]int{} // the line of each message
	var some []entry
	for {
		message, its, line, err := next()
		var options messagingriver.InsertOptions
		if err == nil {
			options, err = its.over(flags)
		}
		if err != nil {
			added := count.add(cmd.Context(), db, some)
			if errors.Is(err, io.EOF) {
				return count, added
			}
			return count, errors.Join(added, fmt.Errorf("line %d: %w", line, err))
		}
		key := messagingriver.Key{Channel: fmt.Sprintf("%T", message), Reference: referenceOf(message)}
		if before, ok := first[key]; ok && key.Reference != "" { // one without is invalid
			count.Repeated = append(count.Repeated, repeated{line, before})
			continue
		}
		first[key] = line
		if some = append(some, entry{message, options, line}); len(some) == atOnce {
			if err = count.add(cmd.Context(), db, some); err != nil {
				return count, err
			}
			some = nil
		}
	}
}

// add enqueues messages in one transaction, or one by one if one of them is invalid, to name its line and keep those before it.
func (l *loaded) add(ctx context.Context, db database, some []entry) error {
	added, err := db.insert(ctx, some)
	switch {
	case err == nil:
		l.New += added
		l.Known += len(some) - added
		return nil
	case !errors.Is(err, messaging.ErrInvalid):
		return err
	case len(some) == 1:
		return fmt.Errorf("line %d: %w", some[0].line, err)
	}
	for i := range some {
		if err := l.add(ctx, db, some[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// reader returns the next message with its terms and the number of its line, or io.EOF.
type reader func() (messaging.Message, terms, int, error)

func readLines(db database, in io.Reader) reader {
	const maxLine = 1 << 20
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	n := 0
	return func() (messaging.Message, terms, int, error) {
		for lines.Scan() {
			n++
			if strings.TrimSpace(lines.Text()) == "" {
				continue
			}
			message, its, err := decode(db, lines.Bytes())
			return message, its, n, err
		}
		if lines.Err() != nil {
			return nil, terms{}, n + 1, lines.Err()
		}
		return nil, terms{}, n, io.EOF
	}
}

func referenceOf(message messaging.Message) string {
	switch m := message.(type) {
	case sms.Message:
		return m.ReferenceID
	case chatapp1.Message:
		return m.ReferenceID
	case chatapp2.Message:
		return m.ReferenceID
	default:
		return ""
	}
}

func decode(db database, data []byte) (messaging.Message, terms, error) {
	var line struct {
		terms

		Channel string          `json:"channel"`
		Message json.RawMessage `json:"message"`
	}
	from := json.NewDecoder(bytes.NewReader(data))
	from.DisallowUnknownFields() // an older command would drop what it does not know
	if err := from.Decode(&line); err != nil {
		if _, name, unknown := strings.Cut(err.Error(), "unknown field "); unknown {
			return nil, terms{}, fmt.Errorf("there is no member %s; want channel, message, campaign, priority, at or expire", name)
		}
		return nil, terms{}, errors.New(`want an object such as {"channel": "sms", "message": {…}}`) // its error may repeat content
	}
	message, err := db.Decode(line.Channel, line.Message)
	return message, line.terms, err
}

func readCSV(in io.Reader) (reader, error) {
	records := csv.NewReader(in)
	header, err := records.Read()
	if err != nil {
		return nil, fmt.Errorf("line 1: the names of the columns: %w", err)
	}
	columns := []string{"from", "to", "text", "reference", "callback", "campaign", "priority", "at", "expire"}
	for i, name := range header {
		header[i] = strings.TrimPrefix(name, "\ufeff")
		if !slices.Contains(columns, header[i]) {
			return nil, fmt.Errorf("line 1: there is no column %q; want %s", name, strings.Join(columns, ", "))
		}
	}
	return func() (messaging.Message, terms, int, error) {
		record, err := records.Read()
		line, _ := records.FieldPos(0)
		if err != nil {
			if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
				return nil, terms{}, wrong.Line, wrong.Err
			}
			return nil, terms{}, line, err
		}
		value := func(name string) string {
			if i := slices.Index(header, name); i >= 0 {
				return record[i]
			}
			return ""
		}
		return sms.Message{
			From: value("from"), To: value("to"), Text: value("text"), ReferenceID: value("reference"), CallbackURL: value("callback"),
		}, terms{value("campaign"), value("priority"), value("at"), value("expire")}, line, nil
	}, nil
}
