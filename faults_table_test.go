package messaging_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
)

// documentedFaults is where the table stands that users read.
const documentedFaults = "docs/faults.md"

var matrixFile = flag.String("matrix", "", "the `file` that TestEveryFaultEndsWithTheRightVerdict writes its table to")

// A faultTable holds what was measured in each cell of the matrix, by its place.
type faultTable struct {
	again atomic.Int32 // how many calls were made once more

	mu       sync.Mutex
	rows     []faultRow
	expected int
	measured map[faultPlace]measurement
}

// A faultRow is a row of the table; several faults may share one.
type faultRow struct {
	number int
	name   string
}

// A faultPlace is that of a cell.
type faultPlace struct {
	row    faultRow
	on     connection
	call   string
	clears bool
}

// A measurement is what came of one call.
type measurement struct {
	arrived int
	words   string
	open    bool // microseconds decide
	endless bool // net/http repeats the request as often as it is let
}

func (m measurement) String() string {
	if m.endless {
		return fmt.Sprintf("%d+ · %s", faultAttempts, m.words)
	}
	return fmt.Sprintf("%d · %s", m.arrived, m.words)
}

func (table *faultTable) expect(cells []faultCell) {
	table.mu.Lock()
	defer table.mu.Unlock()
	table.expected += len(cells)
	if row := cells[0].row(); !slices.Contains(table.rows, row) {
		table.rows = append(table.rows, row)
	}
}

func (f faultCell) row() faultRow { return faultRow{f.number, f.name} }

func (table *faultTable) enter(f faultCell, arrived int, end faultEnd) {
	m := measurement{arrived: arrived, open: f.channel != nil && len(f.want().verdict) > 1, endless: f.want().returned}
	switch {
	case f.channel != nil && len(end.errs) > 0:
		m.words = messaging.VerdictOf(end.errs[0]).String()
	case f.channel != nil:
		m.words = messaging.VerdictOf(nil).String()
	case len(end.errs) > 0:
		m.words = "failed"
	default:
		m.words = "complete"
	}
	table.mu.Lock()
	defer table.mu.Unlock()
	if table.measured == nil {
		table.measured = map[faultPlace]measurement{}
	}
	table.measured[faultPlace{f.row(), f.on, f.call, f.clears}] = m
}

// finish writes the table, or compares it with the one that is documented. One that lacks a cell, because not every test
// was run, is neither.
func (table *faultTable) finish(t *testing.T) {
	t.Helper()
	table.mu.Lock()
	defer table.mu.Unlock()
	if len(table.measured) < table.expected {
		assert.Empty(t, *matrixFile, "not every cell was measured: no table")
		return
	}
	measured := table.markdown(t)
	if *matrixFile != "" {
		require.NoError(t, os.WriteFile(*matrixFile, []byte(measured), 0o644))
		return
	}
	documented, err := os.ReadFile(documentedFaults)
	require.NoError(t, err)
	assert.Equal(t, withoutOpen(string(documented)), withoutOpen(measured), "%s says something else: write it anew, as it says", documentedFaults)
}

// openMark stands in a cell that may be another the next time.
const openMark = " †"

// withoutOpen leaves out the cells that may be another the next time.
func withoutOpen(page string) string {
	cells := strings.Split(page, "|")
	for i, cell := range cells {
		if strings.HasSuffix(cell, openMark+" ") {
			cells[i] = openMark
		}
	}
	return strings.Join(cells, "|")
}

func (table *faultTable) markdown(t *testing.T) string {
	t.Helper()
	slices.SortStableFunc(table.rows, func(a, b faultRow) int { return cmp.Compare(a.number, b.number) })
	var sends, reads []string
	for _, call := range faultCalls {
		if call.channel != nil {
			sends = append(sends, call.call)
		} else {
			reads = append(reads, call.call)
		}
	}
	return fmt.Sprintf(faultsPage, table.section(t, sends), table.section(t, reads))
}

// section is the table of calls that must agree.
func (table *faultTable) section(t *testing.T, calls []string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| # | fault |")
	for on := http1Fresh; on <= http2Reused; on <<= 1 {
		fmt.Fprintf(&b, " %v |", on)
	}
	b.WriteString("\n|--|--|--|--|--|--|\n")
	names, last := "", ""
	number := 0
	flush := func() {
		if names != "" {
			fmt.Fprintf(&b, "| %d | %s |%s\n", number, names, last)
		}
	}
	for _, row := range table.rows {
		cells, empty := "", true
		for on := http1Fresh; on <= http2Reused; on <<= 1 {
			cell := table.cell(t, row, on, calls)
			empty = empty && cell == ""
			cells += " " + cmp.Or(cell, "–") + " |"
		}
		isStatus := strings.Trim(row.name, "0123456789") == ""
		switch {
		case empty:
		case isStatus && row.number == number && cells == last:
			names += ", " + row.name
		default:
			flush()
			number, names, last = row.number, row.name, cells
		}
	}
	flush()
	return b.String()
}

// cell gives what was measured, of all calls that agree at once.
func (table *faultTable) cell(t *testing.T, row faultRow, on connection, calls []string) string {
	t.Helper()
	var all []string
	open := false
	for _, call := range calls {
		m, ok := table.measured[faultPlace{row, on, call, false}]
		if !ok {
			continue
		}
		cell := m.String()
		if cleared, ok := table.measured[faultPlace{row, on, call, true}]; ok {
			cell += " → " + cleared.String()
		}
		all = append(all, cell)
		open = open || m.open
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(all)))
	if !open && len(distinct) > 1 {
		assert.Fail(t, "the calls do not agree", "%v over %v: %v", row, on, all)
		for i, call := range calls {
			all[i] = call + " " + all[i]
		}
		distinct = all
	}
	cell := strings.Join(distinct, " or ")
	if open {
		cell += openMark
	}
	return cell
}

const faultsPage = `# What comes of a fault

Measured, not promised: each cell is what a test saw when it broke real connections over loopback in this way, and what the
caller was told. The test fails where a cell is not what the library promises, and where this page is out of date.

    go test . -run TestEveryFaultEndsWithTheRightVerdict -matrix docs/faults.md

A connection is fresh, or reused: something was sent over it before, and answered. Each call may make three attempts. A dash
stands where the fault cannot be: who still has to dial has no connection that was used, and HTTP/1 has no frames. This
library speaks HTTP/2 only through an HTTP client of yours (WithHTTPClient).

## Sends

A cell says how often the service had the request whole, and with it the message, and the verdict: *1 · unknown*. It holds
for SMS, chat app 1 and chat app 2 alike. Behind an arrow stands what came of it when the fault ended after two attempts: the
caller does not notice. No message arrives twice, but for one that the service itself calls not processed (429).

A † marks what microseconds decide: whether the client can know that nothing was sent.

%s
## The listing

The same for a page of SMS.List, whether it is the first or the second. *complete* means that each row was handed out once;
*failed* that the rows of the pages before were, and then an error, which never is ErrOutcomeUnknown. A read is asked again
where that can help. It may arrive more often than it was attempted: by itself net/http asks once more on a connection that
was used before; and over HTTP/2 what the service gave back, until this library stops it after a few times (3+).

%s`
