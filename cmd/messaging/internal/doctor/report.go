package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Result is the result of a check.
type Result string

const (
	OK      Result = "ok"      // as the contract says
	Differs Result = "differs" // the account contradicts the contract
	Unknown Result = "unknown" // what matters could not be found out
	Note    Result = "note"    // worth knowing
)

// Check is one thing that was looked at.
type Check struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	Result  Result `json:"result"`
	Detail  string `json:"detail"`
	// Overlay is the line of an overlay that makes the contract right, if that is clear.
	Overlay string `json:"overlay,omitempty"`
}

// Report is what the doctor found.
type Report struct {
	Address string  `json:"address,omitempty"`
	Checks  []Check `json:"checks"`
	// Overlay is the overlay that was in use, with all that was found.
	Overlay json.RawMessage `json:"overlay"`
	// Summary is what it comes to.
	Summary Summary `json:"summary"`
	// Status is the exit status: 0 if nothing contradicts the contract, 1 if something does, and 2 if it could not be found out.
	Status int `json:"status"`
}

// Summary is what works with the overlay, and what to do next.
type Summary struct {
	Works   []string `json:"works"`
	Fails   []string `json:"fails"`
	Untried []string `json:"untried"`
	Next    string   `json:"next"`
}

// String returns the summary as lines.
func (s Summary) String() string {
	var b strings.Builder
	for _, part := range []struct {
		name  string
		items []string
	}{{"works", s.Works}, {"does not", s.Fails}, {"not tried", s.Untried}} {
		if len(part.items) > 0 {
			_, _ = fmt.Fprintf(&b, "%-10s %s\n", part.name, strings.Join(part.items, "; "))
		}
	}
	_, _ = fmt.Fprintf(&b, "%-10s %s\n", "next", s.Next)
	return b.String()
}

// sort puts the checks of a section together, in the order in which they are read.
func (r *Report) sort() {
	order := []string{"address", "listing", "times", "paging", "page", "filters", "sorting", "send", "errors", "overlay"}
	place := func(c Check) int {
		if i := slices.Index(order, c.Section); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(r.Checks, func(a, b Check) int { return place(a) - place(b) })
}

// Exit statuses.
const (
	statusOK = iota
	statusDiffers
	statusUnknown
)

func (r *Report) has(result Result) bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Result == result })
}

func (r *Report) setStatus() {
	switch {
	case r.has(Differs):
		r.Status = statusDiffers
	case r.has(Unknown):
		r.Status = statusUnknown
	default:
		r.Status = statusOK
	}
}

// writeText writes the report as a table, and below it the overlay under a title, if there is one.
func (r *Report) writeText(w io.Writer, overlayTitle string) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	section := ""
	counts := map[Result]int{}
	for _, c := range r.Checks {
		if counts[c.Result]++; c.Section != section {
			section = c.Section
			_, _ = fmt.Fprintf(table, "\n%s\n", strings.ToUpper(section))
		}
		_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\n", c.Result, c.Name, c.Detail)
		if c.Overlay != "" {
			_, _ = fmt.Fprintf(table, "  \t\toverlay: %s\n", c.Overlay)
		}
	}
	_ = table.Flush() // to a string
	_, _ = fmt.Fprintf(&b, "\n%d as the contract says, %d differ, %d not found out\n\n%s", counts[OK], counts[Differs], counts[Unknown], r.Summary)
	if overlayTitle != "" {
		_, _ = fmt.Fprintf(&b, "\n%s:\n%s\n", overlayTitle, r.Overlay)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
