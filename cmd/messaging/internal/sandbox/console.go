package sandbox

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// console prints a line for each event. The zero value prints nothing.
type console struct {
	print func(line string)
	space string
}

// line prints an event.
func (c console) line(kind, format string, args ...any) {
	if c.print == nil {
		return
	}
	where := strings.TrimPrefix("["+c.space+"] ", "[] ")
	c.print(fmt.Sprintf("%s %-8s %s", time.Now().Format("15:04:05"), kind, where) + fmt.Sprintf(format, args...))
}

func (c console) message(e *entry) {
	c.line("message", "%s %s → %s: %s (%s)", channelName(e.Channel), visible(e.Sent.From), visible(e.Recipient), visible(e.preview), visible(e.ID))
}

func (c console) answer(e *entry) {
	c.line("answer", "%s %s → %s: %s (%s)", channelName(e.Channel), visible(e.Recipient), visible(e.Answer.To), visible(e.preview), visible(e.ID))
}

func (c console) callback(call *Call) {
	if call.Error != "" {
		c.line("callback", "%s → no response: %s (%s)", call.About, visible(call.Error), visible(call.URL))
		return
	}
	c.line("callback", "%s → %d in %v ms (%s)", call.About, call.Status, call.Millis, visible(call.URL))
}

func (c console) fault(x *Exchange) {
	met := x.Fault
	if x.Status > 0 {
		met += " → " + itoa(x.Status)
	}
	c.line("fault", "%s met %s: a correct client says %s", visible(x.Method+" "+x.URL), met, visible(x.Verdict))
}

func (c console) refused(x *Exchange) {
	c.line("refused", "%d %s: %s", x.Status, visible(x.Method+" "+x.URL), visible(x.Reason))
}

// visible returns the beginning of a text in one line. Hidden characters, which could move the cursor, are replaced by their codes.
func visible(text string) string {
	const width = 80
	var b strings.Builder
	for _, p := range pieces(shorten(text, width)) {
		if p.Control != "" {
			b.WriteString("<" + p.Control + ">")
		}
		b.WriteString(p.Text)
	}
	return cmp.Or(strings.Join(strings.Fields(b.String()), " "), `""`)
}

// printer writes lines in the background, so that a slow or stopped terminal does not block requests. It drops lines that it cannot write
// in time, and prints how many.
type printer struct {
	lines   chan string
	done    chan struct{}
	dropped atomic.Int64

	mu     sync.Mutex // guards closed, which is set before lines is closed
	closed bool
}

func newPrinter(out io.Writer) *printer {
	const waiting = 1000
	p := &printer{lines: make(chan string, waiting), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for line := range p.lines {
			_, _ = fmt.Fprintln(out, line)
			if n := p.dropped.Swap(0); n > 0 {
				_, _ = fmt.Fprintf(out, "… %d lines were not printed\n", n)
			}
		}
	}()
	return p
}

// print queues a line.
func (p *printer) print(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	select {
	case p.lines <- line:
	default:
		p.dropped.Add(1)
	}
}

// close writes the queued lines, for at most a second.
func (p *printer) close() {
	p.mu.Lock()
	p.closed = true
	close(p.lines)
	p.mu.Unlock()
	select {
	case <-p.done:
	case <-time.After(time.Second): // the terminal is stopped
	}
}
