package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/sms"
)

// listing holds the flags of list.
type listing struct {
	settings

	options       sms.ListOptions
	after, before string
	format        string
	out           string
	resume        bool
	limit         int
}

func newList(console cli.Console) *cobra.Command {
	l := listing{settings: settings{console: console}}
	command := &cobra.Command{
		Use:   "list",
		Short: "List sent SMS as a table, CSV or JSON lines",
		Long: `List sent SMS. The flags --after and --before take a time such as 2026-11-28T00:00:00+08:00, a date such as 2026-11-28, which begins at
midnight in UTC, or a duration such as 24h, which means that long ago.

With --out the rows are written to a new file. If a listing as CSV or JSON lines is interrupted, the same command with --resume continues it,
and the file has each row once. Until the listing is complete, a second file with the ending .resume keeps its position. It stays if rows could
not be read.

The verdict of a row is accepted, refused or unknown. Leave out rows that are not accepted when you add up prices.

A row that cannot be read in full is listed with what could be read of it, and a line on standard error says what could not. The listing goes
on, and the last line counts these rows.

The exit status is 0 if the listing is complete, 1 if it is complete and some rows could not be read in full, 2 if the command line cannot be
used, and 4 if the listing ended early.` + "\n" + environment,
		Example: `  messaging list --after 24h
  messaging list --after 2026-11-28T00:00:00+08:00 --before 2026-11-29T00:00:00+08:00
  messaging list --after 2026-11-01 --before 2026-12-01 --format csv --out november.csv
  messaging list --after 2026-11-01 --before 2026-12-01 --format csv --out november.csv --resume`,
		Args: cli.NoArgs,
	}
	l.addFlags(command.Flags())
	_ = command.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"table", "csv", "jsonl"}, cobra.ShellCompDirectiveNoFileComp))
	command.RunE = func(command *cobra.Command, _ []string) error { return l.run(command.Context()) }
	return command
}

// addFlags adds the flags of list.
func (l *listing) addFlags(flags *pflag.FlagSet) {
	l.flags(flags)
	flags.StringVar(&l.after, "after", "", "created at or after this `time`")
	flags.StringVar(&l.before, "before", "", "created before this `time`")
	flags.StringVar(&l.options.ID, "id", "", "with this message `ID`")
	flags.StringVar(&l.options.ReferenceID, "reference", "", "with this reference `ID`")
	flags.StringVar(&l.options.RequestID, "request", "", "with this request `ID`")
	flags.StringVar(&l.options.CategoryID, "category", "", "with this category `ID`")
	flags.StringVar(&l.options.From, "from", "", "from this `sender`")
	flags.StringVar(&l.options.To, "to", "", "to this `number`")
	flags.StringVar(&l.options.Status, "status", "", "with this `status` of the service; the contract must have a name for it in sms.list.params.status")
	flags.StringVar(&l.options.SortBy, "sort", "", "sort by this `column`: created, sent, price, deliveryStatus or another key of sms.list.sorts in the contract; other text is sent as it is, "+
		"and the service may ignore it")
	flags.BoolVar(&l.options.Descending, "descending", false, "in descending order")
	flags.IntVar(&l.options.PageSize, "page-size", 0, "the number of rows to request at a time; 0 is the default of the service")
	flags.IntVar(&l.limit, "limit", 0, "end after this many rows; 0 is all")
	flags.StringVar(&l.format, "format", "table", "table, csv or jsonl; --json is jsonl")
	flags.StringVarP(&l.out, "out", "o", "", "write the rows into this `file`")
	flags.BoolVar(&l.resume, "resume", false, "continue an interrupted listing into the file of --out")
}

func (l *listing) run(ctx context.Context) error {
	if l.json {
		l.format = "jsonl"
	}
	if err := l.checkFlags(); err != nil {
		return err
	}
	if err := l.setBounds(time.Now()); err != nil {
		return err
	}
	client, err := l.client()
	if err != nil {
		return err
	}
	if l.out == "" {
		return l.print(ctx, client)
	}
	return l.writeFile(ctx, client)
}

// checkFlags validates the flags that the client does not know.
func (l *listing) checkFlags() error {
	switch {
	case l.format != "table" && l.format != "csv" && l.format != "jsonl":
		return fmt.Errorf("--format: want table, csv or jsonl, got %q", l.format)
	case l.limit < 0:
		return fmt.Errorf("--limit: must be 0 or more, got %d", l.limit)
	case l.resume && l.out == "":
		return errors.New("--resume: needs --out")
	case l.resume && !l.isResumable():
		return errors.New("--resume: needs --format csv or jsonl")
	}
	return nil
}

// isResumable reports whether the listing has a form that --resume continues. A table is for reading: it has some columns only, and fits their
// widths to the rows of each page.
func (l *listing) isResumable() bool { return l.format != "table" }

// setBounds sets the bounds of time of the options from --after and --before.
func (l *listing) setBounds(now time.Time) error {
	after, err := parseTime(l.after, now)
	if err != nil {
		return fmt.Errorf("--after: %w", err)
	}
	before, err := parseTime(l.before, now)
	if err != nil {
		return fmt.Errorf("--before: %w", err)
	}
	hasBounds := l.after != "" && l.before != ""
	if hasBounds && !before.After(after) {
		return errors.New("--before: must be later than --after")
	}
	l.options.CreatedAfter = after
	l.options.CreatedBefore = before
	return nil
}

// parseTime reads a time, a date, or a duration before now.
func parseTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago > 0 {
		return now.Add(-ago), nil
	}
	return time.Time{}, fmt.Errorf("want a time such as 2026-11-28T00:00:00+08:00, a date such as 2026-11-28, or a duration such as 24h, got %q", text)
}
