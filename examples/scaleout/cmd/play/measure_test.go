package main

import (
	"flag"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/progress"
	"github.com/messaging-service/messaging-go/messagingtest"
)

var measured = flag.Bool("measure", false, "measure the messages per second of the README")

func TestMeasure(t *testing.T) {
	if !*measured {
		t.Skip("run with -measure")
	}
	const messages, concurrency = 2000, 32
	for _, latency := range []time.Duration{100 * time.Millisecond, 0} {
		for _, workers := range []int{1, 2, 4} {
			rate, err := measure(t, workers, messages, concurrency, latency)
			require.NoError(t, err)
			t.Logf("response time %v, %d workers: %.0f messages/s; %d processors for engine, service and workers", latency, workers, rate, runtime.NumCPU())
		}
	}
}

// measure returns the messages per second that so many workers send, from the first request to the last verdict.
func measure(t *testing.T, workers, messages, concurrency int, latency time.Duration) (float64, error) {
	t.Helper()
	ctx := t.Context()
	on := engine.Options{URL: startedEngine(t).URL()}
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
	start.environment = append(start.environment, asCommand+"=1")
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
