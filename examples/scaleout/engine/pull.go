package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Pull calls handle for each message of a consumer, up to atOnce at a time, until ctx ends and every call has returned. While a call runs,
// the engine is told once per heartbeat that the message is in progress, so that it does not redeliver it.
func (c *Connection) Pull(ctx context.Context, consumer jetstream.Consumer, atOnce int, heartbeat time.Duration, handle func(jetstream.Msg)) {
	// fetchWait is how long to wait for messages before asking again.
	const fetchWait = 500 * time.Millisecond
	var calls sync.WaitGroup
	defer calls.Wait()
	free, ended := atOnce, make(chan struct{}, atOnce)
	for ctx.Err() == nil {
		for n := len(ended); n > 0 || free == 0; n-- {
			<-ended
			free++
		}
		batch, err := consumer.Fetch(free, jetstream.FetchMaxWait(fetchWait))
		if err == nil {
			for m := range batch.Messages() {
				free--
				calling, end := context.WithCancel(context.WithoutCancel(ctx))
				calls.Go(func() {
					defer func() { ended <- struct{}{} }()
					defer end()
					handle(m)
				})
				calls.Go(func() {
					for Sleep(calling, heartbeat) {
						_ = m.InProgress() // if it fails, the message is redelivered
					}
				})
			}
			err = batch.Error()
		}
		if err != nil && ctx.Err() == nil {
			c.Log.WarnContext(ctx, "fetching messages failed, retrying", slog.Any("error", err))
			Sleep(ctx, Jitter(fetchWait))
		}
	}
}
