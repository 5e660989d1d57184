package messagingriver

import (
	"context"
	"sync"
	"time"
)

// batcher joins what goroutines write at the same time: what comes while one statement runs goes into the next.
type batcher[T any] struct {
	writing sync.Mutex // held while a statement runs

	mu   sync.Mutex
	next *batch[T] // is not written yet, or nil
}

// batch is written together.
type batch[T any] struct {
	items []T
	done  chan struct{} // closed when err is set
	err   error
}

// gathering is how long the first item waits for others.
const gathering = 2 * time.Millisecond

// do returns when an item has been written, by its caller or by another.
func (b *batcher[T]) do(ctx context.Context, item T, write func(ctx context.Context, items []T) error) error {
	b.mu.Lock()
	isFirst := b.next == nil
	if isFirst {
		b.next = &batch[T]{done: make(chan struct{})}
	}
	joined := b.next
	joined.items = append(joined.items, item)
	b.mu.Unlock()
	if !isFirst {
		<-joined.done
		return joined.err
	}
	select {
	case <-time.After(gathering):
	case <-ctx.Done():
	}
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	b.next = nil
	b.mu.Unlock()
	defer close(joined.done)
	joined.err = write(ctx, joined.items)
	return joined.err
}
