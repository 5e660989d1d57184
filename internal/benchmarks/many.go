package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"sync/atomic"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

const (
	namePool           = "net/http by hand, a pool of workers"
	nameCounter        = "net/http by hand, no outcomes"
	nameSendAll        = "messaging-go, SendAll"
	namePoolDefault    = "net/http by hand, the default transport"
	namePoolRetryable  = "go-retryablehttp, a pool of workers"
	idleConnections    = 256
	secureConcurrency  = 64
	secureLengthFactor = 2
)

// outcome is what became of one message of a pool.
type outcome struct {
	id  string
	err error
}

// pool sends with workers that take jobs from a channel, and takes what became of each from another: what one writes by
// hand to send many messages and to know of each.
func (c call) pool(workers int, id string) operation {
	return func(ctx context.Context, n int) error {
		jobs := make(chan int)
		outcomes := make(chan outcome, workers)
		var running sync.WaitGroup
		for range workers {
			running.Go(func() {
				for range jobs {
					got, err := c(ctx)
					outcomes <- outcome{got, err}
				}
			})
		}
		go func() {
			for i := range n {
				jobs <- i
			}
			close(jobs)
			running.Wait()
			close(outcomes)
		}()
		var failed error
		for out := range outcomes {
			switch {
			case out.err != nil:
				failed = out.err
			case out.id != id:
				failed = errNoID
			}
		}
		return failed
	}
}

// counted sends with goroutines that share nothing but a counter, and reports nothing about a message: the least
// that sending many at once can cost.
func (c call) counted(workers int, id string) operation {
	return func(ctx context.Context, n int) error {
		var next, wrong atomic.Int64
		var running sync.WaitGroup
		for range workers {
			running.Go(func() {
				for next.Add(1) <= int64(n) {
					if got, err := c(ctx); err != nil || got != id {
						wrong.Add(1)
					}
				}
			})
		}
		running.Wait()
		if wrong.Load() > 0 {
			return fmt.Errorf("%d of %d messages were not sent", wrong.Load(), n)
		}
		return nil
	}
}

// messages yields n of them.
func messages(n int) iter.Seq[sms.Message] {
	return func(yield func(sms.Message) bool) {
		for range n {
			if !yield(orderMessage()) {
				return
			}
		}
	}
}

// sendAll sends with this library's own pool.
func sendAll(service *messaging.SMSService, concurrency int) operation {
	return func(ctx context.Context, n int) error {
		outcomes := 0
		for out := range service.SendAll(ctx, messages(n), concurrency) {
			if out.Err != nil {
				return out.Err
			}
			if out.Receipt.ID != messageID {
				return errNoID
			}
			outcomes++
		}
		if outcomes != n {
			return fmt.Errorf("%d outcomes for %d messages", outcomes, n)
		}
		return nil
	}
}

func manySends(workers int) work {
	w := work{
		name: fmt.Sprintf("many-%d", workers), floor: namePool,
		ratios: []metric{rate, cpuTime}, figures: []figure{perSecond, cpuMicros, allocsEach},
		targets: []target{{
			what:      fmt.Sprintf("%d senders at once over loopback: throughput", workers),
			contender: nameSendAll, metric: rate, against: namePool, limit: 0.97, atLeast: true,
			why: "a worker hands over the whole message and receipt, where the pool hands over an ID; the rest is one send over a connection",
		}},
		contenders: []contender{
			{name: namePool, prepare: func(_ context.Context, at service) (operation, error) {
				return byHand(way{}.client(), at.Plain).pool(workers, messageID), nil
			}},
			{name: nameCounter, prepare: func(_ context.Context, at service) (operation, error) {
				return byHand(way{}.client(), at.Plain).counted(workers, messageID), nil
			}},
			{name: namePoolDefault, prepare: func(_ context.Context, at service) (operation, error) {
				return byHand(http.DefaultClient, at.Plain).pool(workers, messageID), nil
			}},
			{name: namePoolRetryable, prepare: func(_ context.Context, at service) (operation, error) {
				return retryable(newRetryable(), at.Plain).pool(workers, messageID), nil
			}},
			{name: nameSendAll, prepare: func(_ context.Context, at service) (operation, error) {
				client, err := newClient(at.Plain, nil)
				if err != nil {
					return nil, err
				}
				return sendAll(client.SMS, workers), nil
			}},
		},
	}
	for _, p := range peers() {
		w.contenders = append(w.contenders, contender{name: p.name, prepare: func(_ context.Context, at service) (operation, error) {
			send, err := p.connect(at.Plain, nil)
			if err != nil {
				return nil, err
			}
			return send.pool(workers, p.id), nil
		}})
	}
	return w
}

// manySendsOverTLS is the case in which the number of idle connections decides. The service's certificate is one of the
// system's to each worker process, so that every client can be used as it is.
func manySendsOverTLS() work {
	return work{
		name: "many-tls", floor: namePool, longer: secureLengthFactor,
		ratios: []metric{rate, cpuTime}, figures: []figure{perSecond, cpuMicros, allocsEach},
		targets: []target{{
			what:      "64 senders at once over TLS, to a service that takes 5 ms: throughput",
			contender: nameSendAll, metric: rate, against: namePool, limit: 0.97, atLeast: true,
			why: "a worker hands over the whole message and receipt, where the pool hands over an ID; the rest is one send over a connection",
		}},
		contenders: []contender{
			{name: namePool, prepare: func(_ context.Context, at service) (operation, error) {
				trusted := x509.NewCertPool()
				if !trusted.AppendCertsFromPEM(at.Certificate) {
					return nil, errors.New("no certificate")
				}
				client := &http.Client{Transport: &http.Transport{
					MaxIdleConnsPerHost: idleConnections, TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12},
				}}
				return byHand(client, at.Secure).pool(secureConcurrency, messageID), nil
			}},
			{name: namePoolDefault, prepare: func(_ context.Context, at service) (operation, error) {
				return byHand(http.DefaultClient, at.Secure).pool(secureConcurrency, messageID), nil
			}},
			{name: namePoolRetryable, prepare: func(_ context.Context, at service) (operation, error) {
				return retryable(newRetryable(), at.Secure).pool(secureConcurrency, messageID), nil
			}},
			{name: nameSendAll, prepare: func(_ context.Context, at service) (operation, error) {
				client, err := newClient(at.Secure, nil)
				if err != nil {
					return nil, err
				}
				return sendAll(client.SMS, secureConcurrency), nil
			}},
		},
	}
}

// manySendsOverHTTP2 is the same service over HTTP/2, where all senders share a connection.
func manySendsOverHTTP2() work {
	client := func(at service) (*http.Client, error) {
		trusted := x509.NewCertPool()
		if !trusted.AppendCertsFromPEM(at.Certificate) {
			return nil, errors.New("no certificate")
		}
		protocols := new(http.Protocols)
		protocols.SetHTTP2(true)
		return &http.Client{Transport: &http.Transport{
			Protocols: protocols, TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12},
		}}, nil
	}
	return work{
		name: "many-http2", floor: namePool, longer: secureLengthFactor,
		ratios: []metric{rate, cpuTime}, figures: []figure{perSecond, cpuMicros, allocsEach},
		contenders: []contender{
			{name: namePool, prepare: func(_ context.Context, at service) (operation, error) {
				hand, err := client(at)
				if err != nil {
					return nil, err
				}
				return byHand(hand, at.Multiplexed).pool(secureConcurrency, messageID), nil
			}},
			{name: nameSendAll, prepare: func(_ context.Context, at service) (operation, error) {
				theirs, err := client(at)
				if err != nil {
					return nil, err
				}
				ours, err := messaging.NewClient(at.Multiplexed, messaging.WithToken(token), messaging.WithHTTPClient(theirs))
				if err != nil {
					return nil, err
				}
				return sendAll(ours.SMS, secureConcurrency), nil
			}},
		},
	}
}
