package check

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// grade is the verdict of a line of the report.
type grade string

const (
	proven    grade = "proven"    // a value of this run shows it
	plausible grade = "plausible" // nothing contradicts it
	wrong     grade = "wrong"     // a value of this run contradicts it
)

// finding is a grade and its reason.
type finding struct {
	grade grade
	why   string
}

// line is a line of the report.
type line struct {
	subject string // what was checked
	path    string // of the subject in the contract, such as sms.list.params.to
	finding
}

type report []line

func (r *report) add(subject, path string, f finding) {
	*r = append(*r, line{subject, path, f})
}

// dropPlausible removes the plausible lines of a path, about which another line says more.
func (r *report) dropPlausible(path string) {
	*r = slices.DeleteFunc(*r, func(l line) bool { return l.path == path && l.grade == plausible })
}

// has reports whether a line of a path has a grade.
func (r report) has(path string, wanted grade) bool {
	return slices.ContainsFunc(r, func(l line) bool { return l.path == path && l.grade == wanted })
}

// hasWrong reports whether a line says wrong.
func (r report) hasWrong() bool {
	isWrong := func(l line) bool { return l.grade == wrong }
	return slices.ContainsFunc(r, isWrong)
}

// write writes the report as a table, without control characters.
func (r report) write(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range r {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", l.subject, orDash(l.path), l.grade, cli.Printable(l.why))
	}
	return table.Flush()
}

func orDash(text string) string {
	if strings.TrimSpace(text) == "" {
		return "-"
	}
	return text
}
