package main

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

const (
	namePool          = "hand-written net/http, a pool of workers"
	namePoolDefault   = "net/http's default transport, the same pool"
	namePoolRetryable = "go-retryablehttp, the same pool"
	nameSendAll       = "messaging-go, SendAll"

	senders = 64
)

// pool returns an operation that sends by a pool of workers. As with SendAll, the goroutine of the caller passes each message on and reads each
// receipt. It passes on at most one message for each worker before it reads a receipt.
func (c call) pool(workers int, id string) operation {
	return func(ctx context.Context, n int) error {
		type job struct {
			index   int
			message sms.Message
		}
		jobs := make(chan job)
		outcomes := make(chan messaging.Outcome[sms.Message], workers)
		var running sync.WaitGroup
		for range workers {
			running.Go(func() {
				for j := range jobs {
					receipt, err := c(ctx, j.message)
					outcomes <- messaging.Outcome[sms.Message]{Index: j.index, Message: j.message, Receipt: receipt, Err: err}
				}
			})
		}
		return check(func(yield func(messaging.Outcome[sms.Message]) bool) {
			for i := range n {
				if i >= workers {
					yield(<-outcomes)
				}
				jobs <- job{i, orderMessage()}
			}
			close(jobs)
			for range min(n, workers) {
				yield(<-outcomes)
			}
			running.Wait()
		}, n, id)
	}
}

// sendAll returns an operation that sends by SendAll.
func sendAll(service *messaging.SMSService, concurrency int) operation {
	return func(ctx context.Context, n int) error {
		messages := func(yield func(sms.Message) bool) {
			for range n {
				if !yield(orderMessage()) {
					return
				}
			}
		}
		return check(service.SendAll(ctx, messages, concurrency), n, messageID)
	}
}

// check reports an error unless all messages were sent.
func check(outcomes iter.Seq[messaging.Outcome[sms.Message]], n int, id string) error {
	count := 0
	var failed error
	for outcome := range outcomes {
		count++
		switch {
		case outcome.Err != nil:
			failed = outcome.Err
		case outcome.Receipt.ID != id:
			failed = errNoID
		}
	}
	if failed == nil && count != n {
		return fmt.Errorf("%d outcomes for %d messages", count, n)
	}
	return failed
}

func plainAddress(a addresses) string  { return a.Plain }
func secureAddress(a addresses) string { return a.Secure }

// manySends compares sends from many goroutines at once, to one of the addresses.
func manySends(address func(addresses) string, withPeers bool) comparison {
	pool := func(connect func(base string) call) preparation {
		return func(testing.TB) operation { return connect(address(server())).pool(senders, messageID) }
	}
	floor := pool(func(base string) call { return byHand(pooled(), base+smsPath, plainBody) })
	w := comparison{minimum: 8 * senders, turn: 60 * time.Millisecond, contenders: []contender{
		{name: namePool, prepare: floor},
		{name: nameSendAll, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return sendAll(newClient(tb, address(server()), nil).SMS, senders)
		}},
		{name: namePoolDefault, floor: floor, prepare: pool(func(base string) call {
			return byHand(http.DefaultClient, base+smsPath, plainBody)
		})},
		{name: namePoolRetryable, floor: floor, prepare: pool(func(base string) call {
			return retryable(retryablehttp.NewClient(), base+smsPath)
		})},
	}}
	if !withPeers {
		return w
	}
	for _, p := range peers() {
		w.contenders = append(w.contenders, contender{name: p.name, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return p.connect(tb, address(server()), nil).pool(senders, p.id)
		}})
	}
	return w
}
