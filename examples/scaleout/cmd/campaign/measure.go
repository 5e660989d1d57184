package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/progress"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func runMeasure(ctx context.Context, args []string) error {
	s := settings{level: slog.LevelError, setup: engine.Setup{AckWait: 30 * time.Second}}
	flags := newFlags("measure", "[flags]", "Measures the SMS per second that different numbers of workers send to a test server in this process, and prints a table.")
	s.registerEngine(flags)
	s.registerWork(flags)
	messages := flags.Int("messages", 2000, "messages per measurement")
	latency := flags.Duration("latency", 100*time.Millisecond, "response time of the test server")
	counts := flags.String("workers", "1,2,4", "numbers of workers, one measurement each")
	if err := parse(flags, args, 0, 0); err != nil {
		return err
	}
	fmt.Printf("%d messages each, response time %v, concurrency %d; %d processors for engine, service and workers\n\n",
		*messages, *latency, s.work.Concurrency, runtime.NumCPU())
	fmt.Println("| workers | messages/s | speedup |")
	fmt.Println("| ---: | ---: | ---: |")
	first := 0.0
	for count := range strings.SplitSeq(*counts, ",") {
		workers, err := strconv.Atoi(count)
		if err != nil || workers < 1 {
			return usageError("-workers must be a list of positive numbers")
		}
		rate, err := s.measure(ctx, workers, *messages, *latency)
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
func (s *settings) measure(ctx context.Context, workers, messages int, latency time.Duration) (float64, error) {
	server, end, err := startEngine("", 0)
	if err != nil {
		return 0, err
	}
	defer end()
	c, err := s.connectTo(ctx, server.URL())
	if err != nil {
		return 0, err
	}
	defer c.Close()
	service := messagingtest.Start()
	defer service.Close()
	service.Inject(messagingtest.Slow(latency), 2*messages)
	loader, err := outbox.NewLoader(ctx, c, s.logger())
	if err != nil {
		return 0, err
	}
	lines, err := sampleFile("measure", messages, smsMessage)
	if err != nil {
		return 0, err
	}
	if _, err = loader.Load(ctx, strings.NewReader(lines), nil); err != nil {
		return 0, err
	}
	start := newLauncher(s, server.URL(), service.URL, service.Token)
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
