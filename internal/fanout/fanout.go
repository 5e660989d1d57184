// Package fanout works on many items at once, with bounded workers and flat memory.
package fanout

import (
	"context"
	"iter"
	"sync"
)

// Result is what became of one item. Index counts the items from 0 in the order in which they were taken.
type Result[In, Out any] struct {
	Index int
	Item  In
	Out   Out
}

// Run takes items in the caller's goroutine, lets at most workers of them be worked on at once, and yields what became of
// each in the order in which they end.
//
// When the context ends no more items are taken; one that was taken and not begun is given to refuse, so that every
// item that was taken has its result. When the caller breaks, nothing more is taken or begun, and Run returns when the
// work that is under way has ended. No goroutine is left then.
func Run[In, Out any](
	ctx context.Context, items iter.Seq[In], workers int,
	work func(context.Context, In) Out, refuse func(context.Context, In) Out,
) iter.Seq[Result[In, Out]] {
	return func(yield func(Result[In, Out]) bool) {
		const most = 1024 // results that wait for the caller, without a worker waiting with them
		jobs := make(chan Result[In, Out])
		done := make(chan Result[In, Out], min(workers, most))
		var running sync.WaitGroup
		started, busy, next := 0, 0, 0
		defer func() { // also where the caller or the items panic
			close(jobs)
			go func() {
				running.Wait()
				close(done)
			}()
			for range done { // what is under way ends unseen
			}
		}()
		begin := func(job Result[In, Out]) {
			if busy == started && started < workers {
				started++
				running.Go(func() {
					for job := range jobs {
						job.Out = work(ctx, job.Item)
						done <- job
					}
				})
			}
			jobs <- job // a worker is free, or about to be
			busy++
		}
		for item := range items {
			job := Result[In, Out]{Index: next, Item: item}
			next++
			for busy == workers || busy > 0 && len(done) > 0 {
				busy--
				if !yield(<-done) {
					return
				}
			}
			if ctx.Err() != nil {
				job.Out = refuse(ctx, job.Item)
				if !yield(job) {
					return
				}
				break
			}
			begin(job)
		}
		for ; busy > 0; busy-- {
			if !yield(<-done) {
				return
			}
		}
	}
}
