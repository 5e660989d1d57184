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

// Problems of one message. The others can be taken in.
var (
	// ErrConflict means that the channel and reference ID belong to a message with other content.
	ErrConflict = errors.New("another message has this channel and reference ID")
	// ErrTooLarge means that the message exceeds the engine's limit.
	ErrTooLarge = errors.New("the message is larger than the engine allows")
	// ErrLineTooLong means that a line has more than MaxLineBytes bytes.
	ErrLineTooLong = fmt.Errorf("the line has more than %d bytes", MaxLineBytes)
)

// Put takes one message in. If the message is already known, Put does nothing and reports false, however long ago it was taken in, until
// its record is removed. If an earlier Put of the message was interrupted, Put completes it. A message whose record was lost is taken
// in as one with an unknown outcome.
//
// If Put returns no error, the message will be sent or parked. While the engine is away, Put waits until ctx ends. It returns
// [engine.ErrFull] if the engine has no room.
func (o *Outbox) Put(ctx context.Context, m Message) (queued bool, err error) {
	if !o.fits(m.line) {
		return false, ErrTooLarge
	}
	record := Record{State: Queued, Lane: string(m.priority), Hash: hash(m.line), Reference: m.reference, Line: m.line}
	e, created, err := o.swap(ctx, Entry{Key: m.Key(), Channel: m.channel}, record)
	if err == nil && !created && e.Hash == "" {
		record.State, record.Reason, record.SentAt = Unknown, "its record was lost", e.Since
		record.Token = e.Token
		e, created, err = o.swap(ctx, e, record.onLane(settleLane))
	}
	switch {
	case err != nil:
		return false, err
	case e.Hash != record.Hash:
		return false, ErrConflict
	case created:
		_, err = o.publish(ctx, e)
		return err == nil, err
	case e.State == Queued: // an earlier Put may have been interrupted
		return o.publish(ctx, e)
	default:
		return false, nil
	}
}

// LoadResult counts the lines of a file by what became of them.
type LoadResult struct {
	// Queued lines were taken in, Known lines had been taken in before, and Bad lines were reported and not taken in.
	Queued, Known, Bad int
}

// String returns the counts.
func (r LoadResult) String() string {
	return fmt.Sprintf("%d queued, %d known, %d bad", r.Queued, r.Known, r.Bad)
}

// numberedMessage is a message with the number of its line, or the reason why the line holds none.
type numberedMessage struct {
	line    int
	message Message
	err     error
}

// Load takes in a file with one message per line, in the format of ParseLine. It skips empty lines. Load calls report after each line,
// one at a time, with the number of the line, counted from 1, the counts so far, and why the line was not taken in, if it was not.
//
// Load returns an error if it had to stop: the file cannot be read, ctx has ended, or the engine is full. Loading the file again then
// continues where Load stopped.
func (o *Outbox) Load(ctx context.Context, file io.Reader, report func(line int, loaded LoadResult, err error)) (LoadResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var loaded LoadResult
	var mu sync.Mutex
	put := func(n numberedMessage) {
		queued := false
		if n.err == nil {
			queued, n.err = o.Put(ctx, n.message)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case n.err == nil && queued:
			loaded.Queued++
		case n.err == nil:
			loaded.Known++
		case n.message.line == nil, errors.Is(n.err, ErrConflict), errors.Is(n.err, ErrTooLarge):
			loaded.Bad++
		default: // the next message would fail, too
			cancel(fmt.Errorf("line %d: %w", n.line, n.err))
			return
		}
		report(n.line, loaded, n.err)
	}
	// Messages with the same key go to the same worker, so that the first of a file wins.
	const loadWorkers = 32
	var workers sync.WaitGroup
	queues := make([]chan numberedMessage, loadWorkers)
	for i := range queues {
		queues[i] = make(chan numberedMessage, 4)
		workers.Go(func() {
			for n := range queues[i] {
				put(n)
			}
		})
	}
	seed := maphash.MakeSeed()
	err := readLines(file, func(n numberedMessage) error {
		select {
		case queues[maphash.String(seed, n.message.Key())%loadWorkers] <- n:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	for _, queue := range queues {
		close(queue)
	}
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return loaded, err
}

// readLines calls handle for each line that is not empty.
func readLines(file io.Reader, handle func(numberedMessage) error) error {
	lines := bufio.NewReaderSize(file, MaxLineBytes+len("\r\n"))
	for number := 1; ; number++ {
		data, err := lines.ReadSlice('\n')
		n := numberedMessage{line: number}
		text := bytes.TrimSpace(data)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			n.err = ErrLineTooLong
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = lines.ReadSlice('\n')
			}
		case len(text) > 0:
			n.message, n.err = ParseLine(text)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("outbox: reading line %d: %w", number, err)
		}
		if n.err != nil || len(text) > 0 {
			if handleErr := handle(n); handleErr != nil {
				return handleErr
			}
		}
		if err != nil {
			return nil //nolint:nilerr // the end of the file
		}
	}
}
