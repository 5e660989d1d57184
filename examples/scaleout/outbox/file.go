package outbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"sync"
)

// MaxLineBytes is the largest length of a line.
const MaxLineBytes = 1 << 20

// ErrLineTooLong means that a line has more than MaxLineBytes bytes.
var ErrLineTooLong = fmt.Errorf("the line has more than %d bytes", MaxLineBytes)

// LoadResult counts the lines of a file by what became of them.
type LoadResult struct {
	// Queued lines were taken in.
	Queued int
	// Known lines had been taken in before.
	Known int
	// Bad lines were reported and not taken in.
	Bad int
}

// String returns the counts.
func (r LoadResult) String() string {
	return fmt.Sprintf("%d queued, %d known, %d bad", r.Queued, r.Known, r.Bad)
}

// Report says what to call while a file is loaded. Each function can be nil; one is called at a time.
type Report struct {
	// Bad is called for each line that cannot be taken in, with its number, counted from 1.
	Bad func(line int, err error)
	// Progress is called after each line.
	Progress func(LoadResult)
}

// loadWorkers is the number of messages of a file that are taken in at once. Messages with the same key are taken in one by one.
const loadWorkers = 32

// Load takes in a file with one message per line, in the format of ParseLine. It skips empty lines. It reports a line that cannot be
// taken in, and continues. Load returns an error if it had to stop: the file cannot be read, ctx has ended, or the engine is full.
// Loading the file again then continues where Load stopped.
func (l *Loader) Load(ctx context.Context, file io.Reader, report Report) (LoadResult, error) {
	load := &load{loader: l, report: report}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	queues := make([]chan numberedMessage, loadWorkers)
	for i := range queues {
		queues[i] = make(chan numberedMessage, 4)
		workers.Go(func() {
			for n := range queues[i] {
				if err := load.put(ctx, n); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := load.read(ctx, file, queues)
	for _, queue := range queues {
		close(queue)
	}
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return load.loaded, err
}

// numberedMessage is a message with its line number.
type numberedMessage struct {
	line    int
	message Message
}

// load is the state of one call of Load.
type load struct {
	loader *Loader
	report Report

	mu     sync.Mutex
	loaded LoadResult
}

// read distributes the messages of a file. Messages with the same key go to the same queue.
func (l *load) read(ctx context.Context, file io.Reader, queues []chan numberedMessage) error {
	lines := bufio.NewReaderSize(file, 64<<10)
	seed := maphash.MakeSeed()
	for n := 1; ; n++ {
		data, err := readLine(lines)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, ErrLineTooLong):
			l.bad(n, err)
			continue
		case err != nil:
			return fmt.Errorf("outbox: reading line %d: %w", n, err)
		case len(data) == 0:
			continue
		}
		message, err := ParseLine(data)
		if err != nil {
			l.bad(n, err)
			continue
		}
		select {
		case queues[maphash.String(seed, message.Key())%uint64(len(queues))] <- numberedMessage{n, message}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// put takes one message in. It returns an error only if the next message would fail, too.
func (l *load) put(ctx context.Context, n numberedMessage) error {
	queued, err := l.loader.Put(ctx, n.message)
	switch {
	case errors.Is(err, ErrConflict), errors.Is(err, ErrTooLarge):
		l.bad(n.line, err)
		return nil
	case err != nil:
		return fmt.Errorf("line %d: %w", n.line, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if queued {
		l.loaded.Queued++
	} else {
		l.loaded.Known++
	}
	l.progress()
	return nil
}

func (l *load) progress() {
	if l.report.Progress != nil {
		l.report.Progress(l.loaded)
	}
}

func (l *load) bad(line int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded.Bad++
	if l.report.Bad != nil {
		l.report.Bad(line, err)
	}
	l.progress()
}

// readLine returns the next line without surrounding white space. It reads a line that is too long to its end but does not store it.
func readLine(lines *bufio.Reader) ([]byte, error) {
	var all []byte
	length := 0
	for {
		part, err := lines.ReadSlice('\n')
		length += len(part)
		if length <= MaxLineBytes+1 {
			all = append(all, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && length > 0, err == nil:
			if len(bytes.TrimRight(all, "\r\n")) > MaxLineBytes || length > MaxLineBytes+1 {
				return nil, ErrLineTooLong
			}
			return bytes.TrimSpace(all), nil
		default:
			return nil, err
		}
	}
}
