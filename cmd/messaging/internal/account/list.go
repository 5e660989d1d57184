package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	messaging "github.com/messaging-service/messaging-go"
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

// check validates the flags and completes the options.
func (l *listing) check(now time.Time) error {
	if l.json {
		l.format = "jsonl"
	}
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

// isResumable reports whether the listing has a form that --resume continues. A table is for reading: it has some columns only, and fits their
// widths to the rows of each page.
func (l *listing) isResumable() bool { return l.format != "table" }

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

func (l *listing) run(ctx context.Context) error {
	if err := l.check(time.Now()); err != nil {
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

// print prints the rows.
func (l *listing) print(ctx context.Context, client *messaging.Client) error {
	to := &output{
		client:   client,
		console:  l.console,
		limit:    l.limit,
		rows:     newWriter(l.format, l.console.Out, true, l.console.OutTerminal),
		progress: cli.NewProgress(l.console, !l.console.OutTerminal, 0),
		state:    &resumeState{},
	}
	defer to.progress.End()
	if err := l.writePages(ctx, to); err != nil {
		return listError(err, "")
	}
	if l.format == "table" && to.state.Rows == 0 {
		to.progress.End()
		_, _ = fmt.Fprintln(l.console.Err, "no rows")
	}
	return to.finish()
}

// writeFile writes the rows into the file of --out.
func (l *listing) writeFile(ctx context.Context, client *messaging.Client) error {
	status, state, err := l.outputFile()
	if err != nil {
		return err
	}
	if l.resume && status == statusComplete {
		return l.endComplete(state)
	}
	created := l.createdFrom(status)
	file, state, err := l.openOutput(status, state)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	to := &output{
		client:      client,
		console:     l.console,
		limit:       l.limit,
		rows:        newWriter(l.format, file, state.Bytes == 0, false),
		progress:    cli.NewProgress(l.console, true, state.Rows),
		state:       state,
		file:        file,
		name:        l.out,
		isResumable: l.isResumable(),
	}
	err = l.writePages(ctx, to)
	to.progress.End()
	return l.finishFile(to, created, err)
}

// finishFile ends a listing into a file. err is nil if all rows are written. If the options are invalid, the created files are removed.
func (l *listing) finishFile(to *output, created []string, err error) error {
	rows := rowsIn(to.name, to.state.Rows)
	switch {
	case isUsage(err):
		return errors.Join(listError(err, ""), to.file.Close(), removeAll(created))
	case err != nil && to.isResumable:
		return listError(err, "; "+rows+", and --resume continues")
	case err != nil:
		return listError(err, "; "+rows+", and a table cannot be continued: list into another file, with --format csv or jsonl to use --resume")
	}
	_, _ = fmt.Fprintln(l.console.Err, rows)
	return to.finish()
}

// removeAll removes the files that exist.
func removeAll(names []string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, remove(name))
	}
	return errors.Join(errs...)
}

// writePages writes the rows of the listing.
func (l *listing) writePages(ctx context.Context, to *output) error {
	for page, err := range to.client.SMS.Pages(ctx, l.options) {
		if err != nil && !errors.Is(err, messaging.ErrUnreadableRow) {
			return err
		}
		if err = to.writePage(page); err != nil {
			return err
		}
		if to.isFull() {
			return nil
		}
	}
	return nil
}

// isUsage reports whether the options of a listing are invalid. Then nothing was requested.
func isUsage(err error) bool {
	_, ok := errors.AsType[*messaging.ValidationError](err)
	return ok
}

// listError returns the error of a listing that ended early: err and the next step, with an exit status. If err is about invalid options, the
// text names their flags instead.
func listError(err error, nextStep string) error {
	invalid, ok := errors.AsType[*messaging.ValidationError](err)
	if !ok {
		return &cli.ExitError{Status: cli.ExitUnknown, Err: fmt.Errorf("%w%s", err, nextStep)}
	}
	flags := map[string]string{
		"ID": "--id", "ReferenceID": "--reference", "RequestID": "--request", "CategoryID": "--category", "From": "--from", "To": "--to",
		"Status": "--status", "CreatedAfter": "--after", "CreatedBefore": "--before", "SortBy": "--sort", "Descending": "--descending",
		"PageSize": "--page-size",
	}
	var problems []string
	for _, problem := range invalid.Problems {
		problems = append(problems, cmp.Or(flags[problem.Field], problem.Field)+": "+problem.Reason)
	}
	return errors.New(strings.Join(problems, "; "))
}

// finder holds the flags of find.
type finder struct{ settings }

func newFind(console cli.Console) *cobra.Command {
	f := &finder{settings{console: console}}
	command := &cobra.Command{
		Use:   "find REFERENCE",
		Short: "Look an SMS up by its reference ID",
		Long: `Look an SMS up by its reference ID, and print the verdict with its row. The service does not list chat-app messages: their outcomes come in
delivery reports to their callback URLs, which "messaging listen" prints.

The exit status is 0 if it was accepted, 1 if it was refused, 4 if its row proves neither or the lookup failed, and 5 if it is not listed. Do
not send it again after 4 and 5: a service may list a message some time after it accepted it.` + "\n" + environment,
		Example: "  messaging find order-17 --json",
		Args:    cli.Words(1, "REFERENCE"),
	}
	f.flags(command.Flags())
	command.RunE = func(command *cobra.Command, args []string) error { return f.run(command.Context(), args[0]) }
	return command
}

func (f *finder) run(ctx context.Context, reference string) error {
	var counted rowCounter
	client, err := f.client(messaging.WithObserver(&counted))
	if err != nil {
		return err
	}
	tx, err := client.SMS.Find(ctx, reference)
	switch {
	case isUsage(err):
		return err
	case errors.Is(err, messaging.ErrNotListed):
		const reason = "not listed: no SMS has this reference ID; an SMS may be listed later, a chat-app message never: its outcome comes in a delivery report"
		return &cli.ExitError{Status: cli.ExitNotListed, Err: errors.New(reason)} // the error of Find says that the listing failed
	case err != nil:
		return &cli.ExitError{Status: cli.ExitUnknown, Err: err}
	}
	found := judge(client, tx)
	if err := f.print(found); err != nil {
		return &cli.ExitError{Status: exitStatus(found.verdict), Err: err}
	}
	if counted.rows > 1 {
		const text = "%d rows have this reference ID, and this is the first; messaging list --reference %s shows them"
		f.console.Note(fmt.Sprintf(text, counted.rows, cli.ShellWord(reference)))
	}
	return exitWith(exitStatus(found.verdict))
}

// print prints the row that was found.
func (f *finder) print(found row) error {
	format := "record"
	if f.json {
		format = "jsonl"
	}
	rows := newWriter(format, f.console.Out, true, f.console.OutTerminal)
	return errors.Join(rows.Write(found), rows.Flush())
}

// rowCounter counts the rows that a lookup found.
type rowCounter struct{ rows int }

// StartStep implements messaging.Observer.
func (*rowCounter) StartStep(ctx context.Context, _ messaging.Step) context.Context { return ctx }

// EndStep implements messaging.Observer.
func (c *rowCounter) EndStep(_ context.Context, _ messaging.Step, result messaging.StepResult) {
	c.rows = max(c.rows, result.Rows)
}
