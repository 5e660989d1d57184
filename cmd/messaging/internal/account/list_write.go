package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// print prints the rows on standard output.
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
	return unreadableError(to.state.Unreadable)
}

// writeFile writes the rows into the file of --out.
func (l *listing) writeFile(ctx context.Context, client *messaging.Client) error {
	stage, stored, err := l.inspectOutput()
	if err != nil {
		return err
	}
	if l.resume && stage == stageComplete {
		return l.endComplete(stored)
	}
	created := l.createdFrom(stage)
	file, state, err := l.openOutput(stage, stored)
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
	return l.endListing(to, created, err)
}

// endListing ends a listing into a file. err is nil if all rows are written. If the options are invalid, the created files are removed.
func (l *listing) endListing(to *output, created []string, err error) error {
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
	if err = to.sync(); err != nil {
		return err
	}
	return unreadableError(to.state.Unreadable)
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
