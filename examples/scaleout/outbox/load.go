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

// LongestLine is how many bytes a line may have.
const LongestLine = 1 << 20

// ErrLongLine says that a line has more than LongestLine bytes.
var ErrLongLine = fmt.Errorf("the line has more than %d bytes", LongestLine)

// Loaded counts what became of the lines of a file.
type Loaded struct {
	// Queued were taken in.
	Queued int
	// Known had been taken in before.
	Known int
	// Bad were not taken in, for the reasons that were reported.
	Bad int
}

// loadersAtOnce is how many messages of a file are taken in at a time. Those of one key are taken in one after the other.
const loadersAtOnce = 32

// Load takes in a file of one message a line, as ParseLine reads it. Empty lines are passed over. A line that cannot be taken in is
// reported by its number, from 1 on, and the others go on; reports come one at a time. An error is for what ends the load: the file
// cannot be read, the context has ended, the engine cannot take more. Loading the file again then goes on where it ended.
func (l *Loader) Load(ctx context.Context, file io.Reader, report func(line int, err error)) (Loaded, error) {
	load := &load{loader: l, report: report}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	queues := make([]chan numbered, loadersAtOnce)
	for i := range queues {
		queues[i] = make(chan numbered, 4)
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

// numbered is a message with the number of its line.
type numbered struct {
	line    int
	message Message
}

// load is one call of Load.
type load struct {
	loader *Loader
	report func(line int, err error)

	mu     sync.Mutex
	loaded Loaded
}

// read hands out the messages of a file, each key always to the same queue.
func (l *load) read(ctx context.Context, file io.Reader, queues []chan numbered) error {
	lines := bufio.NewReaderSize(file, 64<<10)
	seed := maphash.MakeSeed()
	for n := 1; ; n++ {
		data, err := readLine(lines)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, ErrLongLine):
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
		case queues[maphash.String(seed, message.Key())%uint64(len(queues))] <- numbered{n, message}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// put takes one message in. It returns an error where the next would fare no better.
func (l *load) put(ctx context.Context, n numbered) error {
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
	return nil
}

func (l *load) bad(line int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded.Bad++
	if l.report != nil {
		l.report(line, err)
	}
}

// readLine gives the next line without its end and the white space around it. Of a line that is too long it reads all and keeps nothing.
func readLine(lines *bufio.Reader) ([]byte, error) {
	var all []byte
	length := 0
	for {
		part, err := lines.ReadSlice('\n')
		length += len(part)
		if length <= LongestLine+1 {
			all = append(all, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && length > 0, err == nil:
			if len(bytes.TrimRight(all, "\r\n")) > LongestLine || length > LongestLine+1 {
				return nil, ErrLongLine
			}
			return bytes.TrimSpace(all), nil
		default:
			return nil, err
		}
	}
}
