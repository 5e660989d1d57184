package main

import (
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

const loadHelp = `Enqueue the messages of a file, or of standard input if FILE is -, each once: messages whose reference ID is known are skipped. Run
it again to resume. Only reference IDs are compared: a person who is on two lines gets two messages. Within a campaign, load warns about
such lines, unless they are left out. It also warns about lines of a campaign that do not say whether they are marketing: they are not.

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
		Use:   "load FILE",
		Short: "Enqueue the messages of a file, each once",
		Args:  exactArgs("FILE"),
		Long:  loadHelp,
		Example: `  outbox load messages.jsonl
  outbox load spring.csv --campaign spring --at 2026-05-01T09:00:00+08:00 --expire 2h
  outbox load spring.csv --campaign spring --skip-invalid`,
		RunE: op.withDatabase(requiresContract, func(cmd *cobra.Command, args []string, db database) error {
			if _, err := flags.parse(); err != nil {
				return fmt.Errorf("the flags: %w", err)
			}
			l := newLoader(db, flags, skipInvalid)
			err := l.loadFile(cmd, args[0])
			return op.reportLoad(cmd, args[0], l.result, err)
		}),
	}
	cmd.Flags().StringVar(&flags.Campaign, "campaign", "", "the `name` by which the messages are counted, paused and cancelled")
	cmd.Flags().StringVar(&flags.Priority, "priority", "bulk", "the `priority`: urgent, normal, bulk, or 1 (first) to 4")
	cmd.Flags().StringVar(&flags.At, "at", "", "the `time` to send them, such as 2026-05-01T09:00:00+08:00 (default at once)")
	cmd.Flags().StringVar(&flags.Expire, "expire", "", "how long after that time they may still be sent, a `duration` such as 10m (default no limit)")
	cmd.Flags().BoolVar(&skipInvalid, "skip-invalid", false, "leave out invalid messages, and go on")
	return cmd
}

// reportLoad prints what a load of a file did. If it ended with an error, reportLoad prints the lines that it left out before.
func (op *operator) reportLoad(cmd *cobra.Command, name string, result loadResult, loadErr error) error {
	cmd.PrintErr(result.sameRecipientText())
	cmd.PrintErr(result.notMarketingText())
	if loadErr != nil {
		if result.hasLeftOut() {
			_ = op.print(cmd.OutOrStdout(), result, result.leftOut()) // the error of the load matters more
		}
		return fmt.Errorf("%s: %w (enqueued: %d; known: %d)", name, loadErr, result.New, result.Known)
	}
	if err := op.print(cmd.OutOrStdout(), result, result.text()); err != nil {
		return err
	}
	if result.hasLeftOut() {
		return errFindings
	}
	return nil
}

// loadFile enqueues the messages of a file and shows its progress on a terminal.
func (l *loader) loadFile(cmd *cobra.Command, name string) error {
	file := os.Stdin
	if name != "-" {
		var err error
		file, err = os.Open(name) //nolint:gosec // the user names it
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	bar := newProgress(progressSize(info), cmd.ErrOrStderr(), isTerminal(cmd.ErrOrStderr()))
	defer bar.finish()
	lines, err := newLines(l.db, name, io.TeeReader(file, bar))
	if err != nil {
		return err
	}
	err = l.load(cmd.Context(), lines)
	l.result.sort()
	return err
}

// progress shows on a terminal how much of a file was read. It has no errors, so that it cannot fail the load: the bar rejects an empty file and
// one that grows.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(size int64, out io.Writer, isVisible bool) progress {
	return progress{progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetVisibility(isVisible),
		progressbar.OptionSetDescription("loading"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionClearOnFinish())}
}

// Write implements io.Writer.
func (p progress) Write(read []byte) (int, error) {
	_, _ = p.bar.Write(read)
	return len(read), nil
}

func (p progress) finish() { _ = p.bar.Finish() }

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
