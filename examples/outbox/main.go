// Command outbox shows messagingriver: orders and their messages are written in one transaction, and the messages are sent by a
// queue in the same database. The service is a test server that loses responses and runs out of credit; nothing needs to be
// installed.
//
//	go -C examples/outbox run .                       SQLite, in a temporary file
//	go -C examples/outbox run . -database postgres://user@127.0.0.1/shop
//	go -C examples/outbox test ./...                  processes killed and frozen; the ledger stays exact
//
// docs/outbox.md says what to do with the outbox in production.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func main() {
	database := flag.String("database", "", "postgres://… or the path of an SQLite file; a temporary file by default")
	orders := flag.Int("orders", 3000, "how many orders to take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, *database, *orders)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "outbox:", err)
		os.Exit(1)
	}
}

// options are quicker than a production's, so that the example ends soon.
func options() messagingriver.Options {
	return messagingriver.Options{SendTimeout: time.Second, SettleFor: 2 * time.Second}
}

func run(ctx context.Context, out io.Writer, database string, orders int) error {
	if database == "" {
		folder, err := os.MkdirTemp("", "outbox")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder
		database = filepath.Join(folder, "shop.db")
	}
	service := messagingtest.Start()
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	if err != nil {
		return err
	}
	shop, err := open(ctx, database, client, options())
	if err != nil {
		return err
	}
	defer shop.close()
	if err = migrate(ctx, shop); err != nil {
		return err
	}

	began := time.Now()
	const each = 500
	for first := 0; first < orders; first += each {
		if err = shop.order(ctx, first, min(each, orders-first)); err != nil {
			return fmt.Errorf("orders %d to %d: %w", first, first+each, err)
		}
	}
	printf(out, "took %d orders and enqueued their messages in %.1f s\n", orders, time.Since(began).Seconds())

	// Of a hundred messages one loses its response, and one is lost itself. The credit is used up half way.
	service.InjectRandomly(1, 0.02, messagingtest.AcceptThenDrop(), messagingtest.DropUnread())
	service.SetBalance(strconv.Itoa(orders / 4))
	stopWork, err := shop.work(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	err = watch(ctx, out, shop, func() { service.SetBalance("1000000") })
	if err == nil {
		service.InjectRandomly(1, 0)
		err = decide(ctx, out, shop, service)
	}
	if err == nil {
		err = watch(ctx, out, shop, func() {})
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if stopErr := stopWork(stopping); err == nil {
		err = stopErr
	}
	if err != nil {
		return err
	}
	if err = receive(ctx, out, shop); err != nil {
		return err
	}
	return ledger(ctx, out, shop, service, orders)
}

// receive takes the reply of a customer, with which the service calls twice.
func receive(ctx context.Context, out io.Writer, shop anyShop) error {
	handler, err := shop.replies(ctx)
	if err != nil {
		return err
	}
	for range 2 {
		reply := messagingtest.InboundSMS{ID: "reply-1", From: "+639171234567", Text: "Thank you"}
		handler.ServeHTTP(httptest.NewRecorder(), messagingtest.SMSRequest("/hooks/sms", reply))
	}
	n, err := shop.countReplies(ctx)
	printf(out, "a reply came twice and was written %d time(s)\n", n)
	return err
}

// watch prints progress until every message is accepted, refused, dropped or parked. If the outbox pauses its queue, it calls
// topUp.
func watch(ctx context.Context, out io.Writer, shop anyShop, topUp func()) error {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		counts, err := shop.counts(ctx)
		if err != nil {
			return err
		}
		printf(out, "waiting %5d   sending %3d   unknown %3d   parked %3d   accepted %5d\n", counts[messagingriver.Waiting],
			counts[messagingriver.Sending], counts[messagingriver.Unknown], counts[messagingriver.Parked], counts[messagingriver.Accepted])
		if counts[messagingriver.Waiting]+counts[messagingriver.Sending]+counts[messagingriver.Unknown] == 0 {
			return nil
		}
		problem, err := shop.paused(ctx)
		if err != nil {
			return err
		}
		if problem != "" {
			printf(out, "the queue is paused: %s\n", problem)
			topUp()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// decide is the person who looks after parked messages. This one can look into the service's own ledger.
func decide(ctx context.Context, out io.Writer, shop anyShop, service *messagingtest.Server) error {
	parked, err := shop.parked(ctx)
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, m := range service.Sent() {
		taken[m.ReferenceID] = true
	}
	keys := map[messagingriver.Decision][]messagingriver.Key{}
	for _, record := range parked {
		decision := messagingriver.Resend
		if taken[record.Reference] {
			decision = messagingriver.Sent
		}
		keys[decision] = append(keys[decision], record.Key)
	}
	for _, decision := range []messagingriver.Decision{messagingriver.Sent, messagingriver.Resend} {
		n, err := shop.Resolve(ctx, decision, keys[decision]...)
		if err != nil {
			return err
		}
		printf(out, "a person resolved %d parked messages: %s\n", n, decision)
	}
	return nil
}

// ledger compares the outbox with what the service processed.
func ledger(ctx context.Context, out io.Writer, shop anyShop, service *messagingtest.Server, orders int) error {
	counts, err := shop.counts(ctx)
	if err != nil {
		return err
	}
	processed := map[string]int{}
	for _, m := range service.Sent() {
		processed[m.ReferenceID]++
	}
	once := 0
	for _, n := range processed {
		if n == 1 {
			once++
		}
	}
	printf(out, "\nledger: %d orders, %d accepted by the outbox, %d processed by the service, %d of them once\n",
		orders, counts[messagingriver.Accepted], len(service.Sent()), once)
	if counts[messagingriver.Accepted] != orders || once != orders || len(service.Sent()) != orders {
		return fmt.Errorf("the ledger is not exact: %v", counts)
	}
	return nil
}

// printf prints progress. Where it cannot be printed, nobody misses it.
func printf(out io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
