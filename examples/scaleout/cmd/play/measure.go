package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/command"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/progress"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func runMeasure(ctx context.Context, args []string) error {
	flags := command.NewFlags("play measure", "", "Measures the SMS per second that different numbers of workers send to a test server in this process, and prints a table.")
	concurrency := flags.Int("concurrency", 32, "messages in flight per worker")
	messages := flags.Int("messages", 2000, "messages per measurement")
	latency := flags.Duration("latency", 100*time.Millisecond, "response time of the test server")
	counts := flags.String("workers", "1,2,4", "numbers of workers, one measurement each")
	if err := command.Parse(flags, args, 0, 0); err != nil {
		return err
	}
	fmt.Printf("%d messages each, response time %v, concurrency %d; %d processors for engine, service and workers\n\n",
		*messages, *latency, *concurrency, runtime.NumCPU())
	fmt.Println("| workers | messages/s | speedup |")
	fmt.Println("| ---: | ---: | ---: |")
	first := 0.0
	for count := range strings.SplitSeq(*counts, ",") {
		workers, err := strconv.Atoi(count)
		if err != nil || workers < 1 {
			return command.UsageError("-workers must be a list of positive numbers")
		}
		rate, err := measure(ctx, workers, *messages, *concurrency, *latency)
		if err != nil {
			return err
		}
		if first == 0 {
			first = rate
		}
		fmt.Printf("| %d | %.0f | %.2f |\n", workers, rate, rate/first)
	}
	return nil
}

// measure returns the messages per second that so many workers send, from the first request to the last verdict.
func measure(ctx context.Context, workers, messages, concurrency int, latency time.Duration) (float64, error) {
	server, end, err := startTemporary()
	if err != nil {
		return 0, err
	}
	defer end()
	on := engine.Options{URL: server.URL()}
	c, err := engine.Connect(ctx, on)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if err = c.Prepare(ctx, engine.Setup{}); err != nil {
		return 0, err
	}
	service := messagingtest.Start()
	defer service.Close()
	service.Inject(messagingtest.Slow(latency), 2*messages)
	loader, err := outbox.NewLoader(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return 0, err
	}
	lines, err := sampleFile("measure", messages, smsMessage)
	if err != nil {
		return 0, err
	}
	if _, err = loader.Load(ctx, strings.NewReader(lines), outbox.Report{}); err != nil {
		return 0, err
	}
	start := newLauncher(on, service.URL, service.Token, "-concurrency="+strconv.Itoa(concurrency))
	for range workers {
		w, startErr := start.start(ctx)
		if startErr != nil {
			return 0, startErr
		}
		defer w.kill()
	}
	var last time.Time
	err = progress.Watch(ctx, c, 10*time.Millisecond, func(status progress.Status) bool {
		last = time.Now()
		return status.Final() < status.Total
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return 0, err
	}
	return float64(messages) / last.Sub(service.Sent()[0].At).Seconds(), nil
}
