package progress

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Display shows a status again and again: as a bar where it goes to a terminal, else as a line for each.
type Display struct {
	out io.Writer
	bar *progressbar.ProgressBar // nil for lines
}

// NewDisplay makes a display. Every is how often a status should be shown there: a bar moves, lines add up.
func NewDisplay(out *os.File) (display *Display, every time.Duration) {
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

// Say shows a line between two statuses.
func (d *Display) Say(line string) {
	if d.bar != nil {
		_ = d.bar.Clear()
	}
	_, _ = fmt.Fprintln(d.out, line)
}

// End leaves the last status where it stands.
func (d *Display) End() {
	if d.bar != nil {
		_, _ = fmt.Fprintln(d.out)
	}
}
