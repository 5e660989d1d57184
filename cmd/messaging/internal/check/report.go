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

// finding is a line of the report.
type finding struct {
	subject string // what was checked
	name    string // its name in the contract
	grade   grade
	why     string
}

type report []finding

func (r *report) add(subject, name string, g grade, format string, args ...any) {
	*r = append(*r, finding{subject, name, g, fmt.Sprintf(format, args...)})
}

// hasWrong reports whether a line says wrong.
func (r report) hasWrong() bool {
	isWrong := func(f finding) bool { return f.grade == wrong }
	return slices.ContainsFunc(r, isWrong)
}

// write writes the report as a table, without control characters.
func (r report) write(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", f.subject, cli.Printable(orDash(f.name)), f.grade, cli.Printable(f.why))
	}
	return table.Flush()
}

func orDash(text string) string {
	if strings.TrimSpace(text) == "" {
		return "-"
	}
	return text
}
