package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// inbound sends events from the test server during a campaign: each event twice at the same time, to each of two receivers.
type inbound struct {
	engine  *engine.Connection
	service *messagingtest.Server
	events  int
}

// run returns the number of stored events and of calls that got a 200 response.
func (i *inbound) run(ctx context.Context) (stored, succeeded int, err error) {
	before, err := i.stored(ctx)
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	secret, received := rand.Text(), time.Now() // a service that calls again sends the same event, its time included
	var receivers sync.WaitGroup
	failures := make(chan error, 2)
	replies := make(chan []messagingtest.Reply, 2)
	var senders sync.WaitGroup
	for range cap(failures) {
		listener, listenErr := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if listenErr != nil {
			return 0, 0, fmt.Errorf("starting a receiver: %w", listenErr)
		}
		receivers.Go(func() { failures <- inbox.Serve(ctx, listener, i.engine, inbox.Config{Secret: secret}) })
		senders.Go(func() {
			target := "http://" + listener.Addr().String() + inbox.SMSPath + "?" + inbox.SecretParameter + "=" + secret
			replies <- i.sendTo(ctx, target, received)
		})
	}
	senders.Wait()
	close(replies)
	cancel()
	receivers.Wait()
	for all := range replies {
		for _, reply := range all {
			if reply.Err == nil && reply.StatusCode == http.StatusOK {
				succeeded++
			}
		}
	}
	after, err := i.stored(context.WithoutCancel(ctx))
	return after - before, succeeded, errors.Join(err, <-failures, <-failures)
}

// sendTo sends every event to one receiver.
func (i *inbound) sendTo(ctx context.Context, target string, received time.Time) []messagingtest.Reply {
	var replies []messagingtest.Reply
	for n := range i.events {
		event := messagingtest.InboundSMS{
			ID: fmt.Sprintf("play-%d", n), From: fmt.Sprintf("63917%07d", n), To: "ACME", Text: "OK", ReceivedAt: received,
		}
		replies = append(replies, i.service.Receive(ctx, target, event, messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(100))...)
	}
	return replies
}

// stored returns the number of events in the stream.
func (i *inbound) stored(ctx context.Context) (int, error) {
	stream, err := i.engine.Stream(ctx, engine.Inbox)
	if err != nil {
		return 0, err
	}
	return int(stream.CachedInfo().State.Msgs), nil //nolint:gosec // a stream never holds that many
}
