package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"

	messaging "github.com/messaging-service/messaging-go"
)

// errWebhook ends a campaign. Without the webhook no STOP is received, and nothing may be sent.
var errWebhook = errors.New("the webhook failed")

// run sends a campaign until the context ends, or the webhook fails. It receives STOP and reports before it enqueues the first message, because that
// may take minutes.
func run(ctx context.Context, listener net.Listener, in settings) error {
	defer listener.Close() //nolint:errcheck // the server has closed it
	c, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer c.db.close()
	serving, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	server := newServer(newMux(c, c.hooks))
	go func() {
		fail(fmt.Errorf("%w: %w", errWebhook, server.Serve(netutil.LimitListener(listener, 256))))
	}()
	stopTasks := startTasks(ctx, task{name: "prune", interval: time.Hour, do: c.prune})
	ending := context.WithoutCancel(ctx)
	lines, err := c.load(serving)
	if err != nil {
		return errors.Join(err, c.stop(ending, server), stopTasks(ending))
	}
	sendErr := c.outbox.Start(ctx)
	if sendErr == nil {
		sendErr = c.send(serving, lines, in.hasResults)
	}
	stopErr := errors.Join(c.stop(ending, server), stopTasks(ending))
	ending, cancel := context.WithTimeout(ending, 30*time.Second)
	defer cancel()
	return errors.Join(sendErr, stopErr, c.writeResults(ending, lines)) // with the reports that came since
}

// load reads the file of recipients and enqueues its new messages.
func (c *campaign) load(ctx context.Context) (recipientLines, error) {
	lines, err := c.readLines()
	if err != nil {
		return lines, err
	}
	added, err := c.enqueue(ctx, lines.messages)
	if ctx.Err() != nil {
		return lines, errStopped(ctx)
	}
	if err != nil {
		return lines, err
	}
	log.Printf("new lines: %d; known: %d; invalid: %d", added, len(lines.messages)-added, len(lines.invalid)) //nolint:gosec // numbers
	return lines, nil
}

// errStopped returns the error of a campaign that ends before all messages are final, with the cause of the end.
func errStopped(ctx context.Context) error {
	return fmt.Errorf("stopped; start it again to go on: %w", context.Cause(ctx))
}

// send writes the results once all messages are final. Then it goes on, for messages that a person resends, until the context ends.
func (c *campaign) send(ctx context.Context, lines recipientLines, hasResults func()) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	if err := c.writeResults(ctx, lines); err != nil {
		return err
	}
	log.Println("all messages are final: see results.csv; Ctrl-C ends this, and writes it again with the delivery reports")
	hasResults()
	<-ctx.Done()
	if cause := context.Cause(ctx); errors.Is(cause, errWebhook) {
		return cause
	}
	return nil
}

// wait returns nil when all messages are final.
func (c *campaign) wait(ctx context.Context) error {
	for {
		left, err := c.unfinished(ctx)
		switch {
		case err == nil && left == 0:
			return nil
		case err == nil:
			log.Printf("%d left", left) //nolint:gosec // a number
		case ctx.Err() == nil: // such as a restart of the database
			log.Println("the messages cannot be counted yet:", err)
		}
		select {
		case <-time.After(5 * time.Second): // unfinished reads all messages
		case <-ctx.Done():
			return errStopped(ctx)
		}
	}
}

// unfinished returns how many messages are not final.
func (c *campaign) unfinished(ctx context.Context) (int, error) {
	campaigns, err := c.outbox.Campaigns(ctx, c.name)
	if errors.Is(err, messaging.ErrNotFound) { // no line is valid, or the outbox has deleted all messages
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return campaigns[0].Unfinished(), nil
}

// stop stops sending and receiving, both at once. Outbox.Stop takes up to 50 seconds.
func (c *campaign) stop(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, 55*time.Second)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- c.outbox.Stop(ctx) }()
	shutdownErr := server.Shutdown(ctx)
	return errors.Join(<-stopped, shutdownErr)
}
