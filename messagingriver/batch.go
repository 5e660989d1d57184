package messagingriver

import "sync"

// batch joins what concurrent callers ask for into one statement: what is asked while a statement runs goes into the next.
type batch[In, Out any] struct {
	// run returns the result of each input, in their order, or an error for all.
	run func([]In) ([]Out, error)

	mu      sync.Mutex
	waiting []*request[In, Out]
	running bool
}

type request[In, Out any] struct {
	in   In
	out  Out
	err  error
	done chan struct{}
}

// do returns the result for in. It takes no context, because a caller that left would not know what was written.
func (b *batch[In, Out]) do(in In) (Out, error) {
	r := &request[In, Out]{in: in, done: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, r)
	if !b.running {
		b.running = true
		go b.drain() // ends when no caller waits
	}
	b.mu.Unlock()
	<-r.done
	return r.out, r.err
}

func (b *batch[In, Out]) drain() {
	for {
		b.mu.Lock()
		requests := b.waiting[:min(len(b.waiting), most)]
		b.waiting = b.waiting[len(requests):]
		b.running = len(requests) > 0
		b.mu.Unlock()
		if len(requests) == 0 {
			return
		}
		inputs := make([]In, len(requests))
		for i, r := range requests {
			inputs[i] = r.in
		}
		outputs, err := b.run(inputs)
		for i, r := range requests {
			if r.err = err; err == nil {
				r.out = outputs[i]
			}
			close(r.done)
		}
	}
}
