package sandbox

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// printer writes lines in the background: a terminal that is slow, or stopped, holds no request up. It drops lines that it
// cannot write in time, and says how many.
type printer struct {
	lines   chan string
	done    chan struct{}
	mu      sync.Mutex
	dropped int
	closed  bool
}

func newPrinter(out io.Writer) *printer {
	const waiting = 1000
	p := &printer{lines: make(chan string, waiting), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for line := range p.lines {
			_, _ = fmt.Fprintln(out, line)
			if n := p.takeDropped(); n > 0 {
				_, _ = fmt.Fprintf(out, "… %d lines were not printed\n", n)
			}
		}
	}()
	return p
}

func (p *printer) takeDropped() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.dropped
	p.dropped = 0
	return n
}

// print writes a line soon.
func (p *printer) print(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	select {
	case p.lines <- line:
	default:
		p.dropped++
	}
}

// close writes what waits and ends, within a second.
func (p *printer) close() {
	p.mu.Lock()
	p.closed = true
	close(p.lines)
	p.mu.Unlock()
	select {
	case <-p.done:
	case <-time.After(time.Second): // what reads the lines has stopped
	}
}
