package progress

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Display shows a changing status: as a bar on a terminal, or as one line per status elsewhere.
type Display struct {
	out io.Writer
	bar *progressbar.ProgressBar // nil if out is not a terminal
}

// NewDisplay returns a display and how often to update it: a bar moves, lines add up.
func NewDisplay(out *os.File) (display *Display, interval time.Duration) {
	if !term.IsTerminal(int(out.Fd())) {
		return &Display{out: out}, time.Second
	}
	bar := progressbar.NewOptions(1,
		progressbar.OptionSetWriter(out), progressbar.OptionSetWidth(15), progressbar.OptionShowCount(),
		progressbar.OptionShowDescriptionAtLineEnd(), progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false), progressbar.OptionUseANSICodes(true),
	)
	return &Display{out: out, bar: bar}, 200 * time.Millisecond
}

// Show shows a status.
func (d *Display) Show(s Status) {
	if d.bar == nil {
		_, _ = fmt.Fprintln(d.out, s)
		return
	}
	d.bar.ChangeMax(max(s.Total, 1))
	d.bar.Describe(s.brief())
	_ = d.bar.Set(s.Final())
}

// Println prints a line between two statuses.
func (d *Display) Println(line string) {
	if d.bar != nil {
		_ = d.bar.Clear()
	}
	_, _ = fmt.Fprintln(d.out, line)
}

// End ends the display. The last status stays visible.
func (d *Display) End() {
	if d.bar != nil {
		_, _ = fmt.Fprintln(d.out)
	}
}
