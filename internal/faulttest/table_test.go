package faulttest_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
)

// moduleRoot is the module's folder, seen from this package.
const moduleRoot = "../.."

var (
	matrixFile = filepath.Join("testdata", "matrix.md")
	update     = flag.Bool("update", false, "write the golden file of TestFaultMatrix")
)

// A resultTable holds what was measured in each cell of the matrix.
type resultTable struct {
	reruns atomic.Int32

	mu       sync.Mutex
	rows     []tableRow
	expected int
	measured map[tableCell]measurement
}

// A tableRow is a row of the table. Several faults may share one.
type tableRow struct {
	number int
	name   string
}

type tableCell struct {
	row    tableRow
	on     connection
	call   string
	clears bool
}

// A measurement is what came of one call.
type measurement struct {
	arrived int
	words   string
	endless bool // net/http replays the request as often as it is allowed
}

func (m measurement) String() string {
	if m.endless {
		return fmt.Sprintf("%d+ · %s", maxAttempts, m.words)
	}
	return fmt.Sprintf("%d · %s", m.arrived, m.words)
}

func (c cell) row() tableRow { return tableRow{c.number, c.name} }

// expect announces the cells of one fault.
func (table *resultTable) expect(cells []cell) {
	table.mu.Lock()
	defer table.mu.Unlock()
	table.expected += len(cells)
	if row := cells[0].row(); !slices.Contains(table.rows, row) {
		table.rows = append(table.rows, row)
	}
}

func (table *resultTable) enter(c cell, arrived int, r result) {
	m := measurement{arrived: arrived, endless: c.want().endless}
	switch possible := c.want().verdict; {
	case c.channel != nil && len(possible) > 1: // timing decides, and may decide otherwise the next time
		m.words = fmt.Sprintf("%v or %v", possible[0], possible[1])
	case c.channel != nil && len(r.errs) > 0:
		m.words = messaging.VerdictOf(r.errs[0]).String()
	case c.channel != nil:
		m.words = messaging.VerdictOf(nil).String()
	case len(r.errs) > 0:
		m.words = "failed"
	default:
		m.words = "complete"
	}
	table.mu.Lock()
	defer table.mu.Unlock()
	if table.measured == nil {
		table.measured = map[tableCell]measurement{}
	}
	table.measured[tableCell{c.row(), c.on, c.call, c.clears}] = m
}

// finish compares the table with the golden file, or writes it. If not every cell was measured, it does neither.
func (table *resultTable) finish(t *testing.T) {
	t.Helper()
	table.mu.Lock()
	defer table.mu.Unlock()
	if len(table.measured) < table.expected {
		assert.False(t, *update, "not every cell was measured: no table")
		return
	}
	measured := table.markdown(t)
	if *update {
		require.NoError(t, os.WriteFile(matrixFile, []byte(measured), 0o600))
		return
	}
	golden, err := os.ReadFile(matrixFile)
	require.NoError(t, err)
	if diff := diffLines(string(golden), measured); diff != "" {
		t.Errorf("%s differs; if the change is meant, write it with -update:\n%s", matrixFile, diff)
	}
}

// diffLines returns the lines that only one of two texts has, marked with - for the first and + for the second.
func diffLines(first, second string) string {
	var diff strings.Builder
	a, b := slices.Collect(strings.Lines(first)), slices.Collect(strings.Lines(second))
	for _, line := range a {
		if !slices.Contains(b, line) {
			diff.WriteString("-" + line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			diff.WriteString("+" + line)
		}
	}
	return diff.String()
}

func (table *resultTable) markdown(t *testing.T) string {
	t.Helper()
	slices.SortStableFunc(table.rows, func(a, b tableRow) int { return cmp.Compare(a.number, b.number) })
	var sends, reads []string
	for _, target := range targets() {
		if target.channel != nil {
			sends = append(sends, target.call)
		} else {
			reads = append(reads, target.call)
		}
	}
	return fmt.Sprintf(matrixTemplate, table.section(t, sends), table.section(t, reads))
}

// section is the table of calls that must agree. Statuses with the same cells share a row.
func (table *resultTable) section(t *testing.T, calls []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| # | fault |")
	for on := http1Fresh; on <= http2Reused; on <<= 1 {
		fmt.Fprintf(&b, " %v |", on)
	}
	b.WriteString("\n|--|--|--|--|--|--|\n")
	var pending tableRow // not yet written
	var pendingCells string
	flush := func() {
		if pending.name != "" {
			fmt.Fprintf(&b, "| %d | %s |%s\n", pending.number, pending.name, pendingCells)
		}
	}
	for _, row := range table.rows {
		cells, empty := "", true
		for on := http1Fresh; on <= http2Reused; on <<= 1 {
			text := table.cell(t, row, on, calls)
			empty = empty && text == ""
			cells += " " + cmp.Or(text, "–") + " |"
		}
		isStatus := strings.Trim(row.name, "0123456789") == ""
		switch {
		case empty:
		case isStatus && row.number == pending.number && cells == pendingCells:
			pending.name += ", " + row.name
		default:
			flush()
			pending, pendingCells = row, cells
		}
	}
	flush()
	return b.String()
}

// cell returns what was measured, once for all calls if they agree.
func (table *resultTable) cell(t *testing.T, row tableRow, on connection, calls []string) string {
	t.Helper()
	var all []string
	for _, call := range calls {
		m, ok := table.measured[tableCell{row, on, call, false}]
		if !ok {
			continue
		}
		text := m.String()
		if cleared, ok := table.measured[tableCell{row, on, call, true}]; ok {
			text += " → " + cleared.String()
		}
		all = append(all, text)
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(all)))
	if len(distinct) > 1 {
		assert.Fail(t, "the calls do not agree", "%v over %v: %v", row, on, all)
		for i, call := range calls {
			all[i] = call + " " + all[i]
		}
		distinct = all
	}
	return strings.Join(distinct, " or ")
}

const matrixTemplate = `# The fault matrix

The outcome of each fault, as TestFaultMatrix measures it: it breaks real connections over loopback and records the error that the
caller gets. The contract is the default: what a status or a word means there is this library's choice, not a fact about the service.

A connection is fresh, or reused: a request was sent over it before, and got its response. Each call may make three attempts. A
dash means that the fault cannot occur there: a connection that must still be dialed is never a reused one, and HTTP/1 has no
frames. The library speaks HTTP/2 only through your own HTTP client (WithHTTPClient).

## Sends

A cell shows how often the service had the whole request, and the verdict: *1 · unknown*. It holds for every channel. Where timing
decides whether the client can know that nothing was sent, there are two verdicts. After an arrow is the outcome if the fault ends
after two attempts: the caller does not notice it. No message arrives twice, except one with a status of errors.notProcessed in
the contract, which is 429 by default: a choice of this library.

%s
## The listing

The same for a page of SMS.List, whether it is the first or the second. *complete* means that each row was yielded once.
*failed* means that the rows of the earlier pages were yielded, and then an error, which never matches ErrOutcomeUnknown. A read
is retried if that can help. It may arrive more often than the library attempts it: net/http repeats it on a reused connection,
and over HTTP/2 as often as the service refuses it, until the library stops that after a few times (3+).

%s`
