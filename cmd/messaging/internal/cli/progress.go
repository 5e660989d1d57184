package cli

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress shows the progress of a listing: on a terminal in a line that is updated, elsewhere in a line every ten seconds. It is not safe
// for concurrent use.
type Progress struct {
	console Console
	bar     *progressbar.ProgressBar // nil if there is no terminal
	silent  bool
	printed time.Time
}

// NewProgress returns a progress that begins at done rows. It shows nothing unless isVisible.
func NewProgress(console Console, isVisible bool, done int) *Progress {
	p := &Progress{console: console, silent: !isVisible, printed: time.Now()}
	if isVisible && console.ErrTerminal {
		p.bar = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(console.Err), progressbar.OptionShowCount(),
			progressbar.OptionSetDescription("rows"), progressbar.OptionClearOnFinish(), progressbar.OptionShowIts(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetRenderBlankState(true))
		_ = p.bar.Set(done)
	}
	return p
}

// Set shows that done of total rows are complete. A total of 0 is unknown.
func (p *Progress) Set(done, total int) {
	const between = 10 * time.Second
	switch {
	case p.silent:
	case p.bar != nil:
		if total > 0 {
			p.bar.ChangeMax(max(total, done))
		}
		_ = p.bar.Set(done)
	case time.Since(p.printed) >= between:
		p.printed = time.Now()
		of := ""
		if total > 0 {
			of = fmt.Sprintf(" of %d", total)
		}
		_, _ = fmt.Fprintf(p.console.Err, "%d%s rows\n", done, of)
	}
}

// End removes the line from a terminal.
func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
