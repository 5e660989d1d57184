package messagingriver

import (
	"context"
	"errors"
	"sync"
	"time"
)

// batcher combines what goroutines write at the same time: while one statement runs, it gathers the items of the next.
type batcher[T any] struct {
	writing sync.Mutex // held while a statement runs

	mu   sync.Mutex
	next *batch[T] // the batch that gathers items, or nil
}

// batch is a group of items that one statement writes.
type batch[T any] struct {
	items []T
	done  chan struct{} // closed when err is set
	err   error
}

// gatherTime is how long the first item waits for others.
const gatherTime = 2 * time.Millisecond

// errBatchPanic is the error of a batch whose write panicked.
var errBatchPanic = errors.New("the statement panicked")

// do returns when an item has been written. The caller with the first item of a batch writes them all.
func (b *batcher[T]) do(ctx context.Context, item T, write func(ctx context.Context, items []T) error) error {
	joined, isFirst := b.join(item)
	if !isFirst {
		<-joined.done // the time of a statement is bounded
		return joined.err
	}
	select {
	case <-time.After(gatherTime):
	case <-ctx.Done():
	}
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	b.next = nil
	b.mu.Unlock()
	joined.err = errBatchPanic
	defer close(joined.done)
	joined.err = write(ctx, joined.items)
	return joined.err
}

// join adds an item to the next batch and reports whether it is the first.
func (b *batcher[T]) join(item T) (joined *batch[T], isFirst bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	isFirst = b.next == nil
	if isFirst {
		b.next = &batch[T]{done: make(chan struct{})}
	}
	b.next.items = append(b.next.items, item)
	return b.next, isFirst
}
