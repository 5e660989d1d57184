package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingriver/internal/reference"
)

// loadResult is what load did, as JSON.
type loadResult struct {
	New   int `json:"new"`
	Known int `json:"known"`
	// Different are the lines whose reference ID the outbox has for another message. They are not enqueued.
	Different []differentLine `json:"different,omitempty"`
	// SameRecipient are the lines of a campaign whose recipient an earlier line of the campaign has. They are enqueued.
	SameRecipient []repeatedLine `json:"sameRecipient,omitempty"`
	// Repeated are the lines whose reference ID an earlier line of the file has. They are not enqueued.
	Repeated []repeatedLine `json:"repeated,omitempty"`
	// Invalid are the lines whose messages are invalid, with --skip-invalid. They are not enqueued.
	Invalid []invalidLine `json:"invalid,omitempty"`
}

type repeatedLine struct {
	Line  int `json:"line"`
	First int `json:"first"` // the earlier line
}

type differentLine struct {
	Line int `json:"line"`
	// Known says which message the outbox has: one in another campaign, or for another recipient.
	Known string `json:"known"`
}

type invalidLine struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

func (r loadResult) text() string {
	return r.leftOut() + fmt.Sprintf("enqueued: %d; known: %d\n", r.New, r.Known)
}

// leftOut returns a text line for each line that is left out.
func (r loadResult) leftOut() string {
	var text strings.Builder
	for _, invalid := range r.Invalid {
		fmt.Fprintf(&text, "line %d is not enqueued: %s\n", invalid.Line, invalid.Reason)
	}
	for _, repeated := range r.Repeated {
		fmt.Fprintf(&text, "line %d repeats the reference ID of line %d, and is not enqueued\n", repeated.Line, repeated.First)
	}
	for _, different := range r.Different {
		fmt.Fprintf(&text, "line %d is not enqueued: its reference ID is known %s\n", different.Line, different.Known)
	}
	return text.String()
}

// lineOptions are the options of a line, or of the flags, as text.
type lineOptions struct {
	Campaign string `json:"campaign"`
	Priority string `json:"priority"`
	At       string `json:"at"`
	Expire   string `json:"expire"`
}

// or returns the options, with the values of the flags for empty ones.
func (o lineOptions) or(flags lineOptions) lineOptions {
	return lineOptions{
		Campaign: cmp.Or(o.Campaign, flags.Campaign),
		Priority: cmp.Or(o.Priority, flags.Priority),
		At:       cmp.Or(o.At, flags.At),
		Expire:   cmp.Or(o.Expire, flags.Expire),
	}
}

// parse returns the options for the outbox.
func (o lineOptions) parse() (messagingriver.InsertOptions, error) {
	options := messagingriver.InsertOptions{Campaign: o.Campaign}
	var err error
	options.Priority, err = parsePriority(o.Priority)
	if err != nil {
		return options, err
	}
	if o.At != "" {
		options.At, err = time.Parse(time.RFC3339, o.At)
		if err != nil {
			return options, fmt.Errorf("the time is %q; want one such as 2026-05-01T09:00:00+08:00", o.At)
		}
		options.At = options.At.UTC() // equal times are equal options
	}
	if o.Expire != "" {
		options.Expire, err = time.ParseDuration(o.Expire)
		if err != nil || options.Expire <= 0 {
			return options, fmt.Errorf("the expiry is %q; want a duration such as 10m", o.Expire)
		}
	}
	return options, nil
}

func parsePriority(text string) (messagingriver.Priority, error) {
	switch text {
	case "urgent", "1":
		return messagingriver.Urgent, nil
	case "2":
		return messagingriver.Priority(2), nil
	case "normal", "3":
		return messagingriver.Normal, nil
	case "bulk", "4":
		return messagingriver.Bulk, nil
	default:
		return 0, fmt.Errorf("the priority is %q; want urgent, normal, bulk or 1 to 4", text)
	}
}

const loadHelp = `Enqueue the messages of a file, or of standard input if FILE is -, each once: messages whose reference ID is known are skipped. Run
it again to resume. Only reference IDs are compared: a person who is on two lines gets two messages. Within a campaign,
load warns about such lines.

Each line of the file is a JSON object:

  {"channel": "sms", "message": {"from": "ACME", "to": "+639171234567", "text": "Hi", "referenceID": "order-1"}}

The channels are sms, chatapp1 and chatapp2. The message is the JSON encoding of the channel's Go type, such as sms.Message:
"messaging send sms --help" and its siblings show an example of each. It must have a referenceID. The line may also have campaign,
priority, at and expire, which take precedence over the flags. The platform of chatapp2 gets any unknown member of its message as it is.

A file whose name ends in .csv has SMS, separated by commas. Its first line names the columns: from, to, text, referenceID, callback,
marketing (true or false), campaign, priority, at and expire.

A line that cannot be sent ends the load with the number of the line; the lines before it are enqueued. With --skip-invalid, a line
whose message or options are invalid, for example because of its recipient, is left out. A line that cannot be read still ends the
load. A line that repeats the reference ID of an earlier line is always left out, and so is one whose reference ID is known in another
campaign or, as long as the outbox has its content, for another recipient. The load names the lines that it leaves out, and the exit
status is 1.`

func (op *operator) load() *cobra.Command {
	var flags lineOptions
	skipInvalid := false
	cmd := &cobra.Command{
		Use: "load FILE", Short: "Enqueue the messages of a file, each once", Args: exactArgs("FILE"),
		Long: loadHelp,
		Example: `  outbox load messages.jsonl
  outbox load spring.csv --campaign spring --at 2026-05-01T09:00:00+08:00 --expire 2h
  outbox load spring.csv --campaign spring --skip-invalid`,
		RunE: op.withDatabase(requiresContract, func(cmd *cobra.Command, args []string, db database) error {
			if _, err := flags.parse(); err != nil {
				return fmt.Errorf("the flags: %w", err)
			}
			l := newLoader(db, flags, skipInvalid)
			result, err := l.loadFile(cmd, args[0])
			_, _ = io.WriteString(cmd.ErrOrStderr(), result.sameRecipientText())
			leftOut := len(result.Repeated) + len(result.Invalid) + len(result.Different)
			if err != nil {
				if leftOut > 0 {
					_ = op.print(cmd.OutOrStdout(), result, result.leftOut()) // the error of the load matters more
				}
				return fmt.Errorf("%s: %w (enqueued: %d; known: %d)", args[0], err, result.New, result.Known)
			}
			if err := op.print(cmd.OutOrStdout(), result, result.text()); err != nil {
				return err
			}
			if leftOut > 0 {
				return errFindings
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&flags.Campaign, "campaign", "", "the `name` by which the messages are counted, paused and cancelled")
	cmd.Flags().StringVar(&flags.Priority, "priority", "bulk", "the `priority`: urgent, normal, bulk, or 1 (first) to 4")
	cmd.Flags().StringVar(&flags.At, "at", "", "the `time` to send them, such as 2026-05-01T09:00:00+08:00 (default at once)")
	cmd.Flags().StringVar(&flags.Expire, "expire", "", "how long after that time they may still be sent, a `duration` such as 10m (default no limit)")
	cmd.Flags().BoolVar(&skipInvalid, "skip-invalid", false, "leave out invalid messages, and go on")
	return cmd
}

// loadFile enqueues the messages of a file and shows its progress on a terminal.
func (l *loader) loadFile(cmd *cobra.Command, name string) (result loadResult, err error) {
	file := os.Stdin
	if name != "-" {
		file, err = os.Open(name) //nolint:gosec // the user names it
		if err != nil {
			return result, err
		}
		defer func() { _ = file.Close() }()
	}
	info, err := file.Stat()
	if err != nil {
		return result, err
	}
	bar := progressbar.NewOptions64(progressSize(info),
		progressbar.OptionSetWriter(cmd.ErrOrStderr()),
		progressbar.OptionSetVisibility(isTerminal(cmd.ErrOrStderr())),
		progressbar.OptionSetDescription("loading"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionClearOnFinish())
	in := io.TeeReader(file, bar)
	var lines lineReader = newJSONLines(l.db, in)
	if strings.HasSuffix(strings.ToLower(name), ".csv") {
		lines, err = newCSVLines(in)
		if err != nil {
			return result, err
		}
	}
	err = l.load(cmd.Context(), lines)
	slices.SortFunc(l.result.Invalid, func(a, b invalidLine) int { return cmp.Compare(a.Line, b.Line) })
	return l.result, errors.Join(err, bar.Finish())
}

// progressSize returns the size of a file for a progress bar: -1 for a pipe, whose size is unknown.
func progressSize(info os.FileInfo) int64 {
	if !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// entry is a message of a file with its options.
type entry struct {
	key     messagingriver.Key
	message messaging.Message
	options messagingriver.InsertOptions
	line    int
}

// wrong returns the error of InsertMany for an invalid message, without its index there, which is not that of the line, and without prefixes.
func (e entry) wrong(err error) error {
	name := fmt.Sprintf("reference %q: ", reference.Of(e.message))
	reason := strings.TrimPrefix(err.Error(), "messagingriver: messages[0], "+name)
	if invalid, isInvalid := errors.AsType[*messaging.ValidationError](err); isInvalid {
		fields := *invalid
		fields.Operation = "" // it adds that nothing was sent
		reason = strings.TrimPrefix(fields.Error(), "messaging: ")
	}
	return wrongLineError{name + reason}
}

// loader enqueues the messages of a file.
type loader struct {
	db          database
	flags       lineOptions
	skipInvalid bool
	firstLines  map[messagingriver.Key]loadedLine // the first line of each message
	recipients  map[uint64]int                    // the first line of each recipient of a campaign, by a hash
	hash        func(string) uint64
	batch       []entry // is not enqueued yet
	result      loadResult
}

func newLoader(db database, flags lineOptions, skipInvalid bool) *loader {
	seed := maphash.MakeSeed()
	return &loader{
		db:          db,
		flags:       flags,
		skipInvalid: skipInvalid,
		firstLines:  map[messagingriver.Key]loadedLine{},
		recipients:  map[uint64]int{},
		hash:        func(text string) uint64 { return maphash.String(seed, text) },
	}
}

// load enqueues all lines. If a line is wrong, the lines before it are enqueued.
func (l *loader) load(ctx context.Context, lines lineReader) error {
	const batchSize = 1000
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return l.end(ctx)
		}
		if err == nil {
			err = l.add(line)
		}
		if l.skipInvalid && errors.Is(err, messaging.ErrInvalid) {
			l.result.Invalid = append(l.result.Invalid, invalidLine{line.number, err.Error()})
			continue
		}
		if err != nil {
			return errors.Join(l.flush(ctx), fmt.Errorf("line %d: %w", line.number, err))
		}
		if len(l.batch) < batchSize {
			continue
		}
		if err := l.flush(ctx); err != nil {
			return err
		}
	}
}

// end enqueues the last batch, and finds out which of the known lines are other messages.
func (l *loader) end(ctx context.Context) error {
	if err := l.flush(ctx); err != nil || l.result.Known == 0 {
		return err
	}
	return l.noteDifferences(ctx)
}

// add adds a line to the batch, unless it repeats the reference ID of an earlier line.
func (l *loader) add(line fileLine) error {
	options, err := line.options.or(l.flags).parse()
	if err != nil {
		return wrongLineError{err.Error()}
	}
	first, isRepeated := l.firstLines[line.key]
	if isRepeated && line.key.Reference != "" { // without a reference ID the message is invalid
		l.result.Repeated = append(l.result.Repeated, repeatedLine{Line: line.number, First: first.number})
		return nil
	}
	l.firstLines[line.key] = loadedLine{
		number: line.number, campaign: options.Campaign, recipient: l.hash(recipientOf(line.message)),
	}
	added := entry{line.key, line.message, options, line.number}
	l.noteRecipient(added)
	l.batch = append(l.batch, added)
	return nil
}

// flush enqueues the batch in one transaction. If one of its messages is invalid, flush enqueues them one by one, to name the line. The lines
// before it are kept, and with skipInvalid those after it, too.
func (l *loader) flush(ctx context.Context) error {
	batch := l.batch
	l.batch = nil
	err := l.insert(ctx, batch)
	if !errors.Is(err, messaging.ErrInvalid) {
		return err
	}
	for _, one := range batch {
		err := l.insert(ctx, []entry{one})
		if errors.Is(err, messaging.ErrInvalid) {
			err = one.wrong(err)
		}
		if l.skipInvalid && errors.Is(err, messaging.ErrInvalid) {
			l.result.Invalid = append(l.result.Invalid, invalidLine{one.line, err.Error()})
			l.firstLines[one.key] = loadedLine{number: one.line, isInvalid: true}
			continue
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", one.line, err)
		}
	}
	return nil
}

// insert enqueues messages in one transaction and counts them.
func (l *loader) insert(ctx context.Context, entries []entry) error {
	added, err := l.db.insert(ctx, entries)
	if err != nil {
		return err
	}
	l.result.New += added
	l.result.Known += len(entries) - added
	return nil
}
