package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
)

// Environment variables.
const (
	envEngine = "NATS_URL"
	envURL    = "MESSAGING_BASE_URL"
	envToken  = "MESSAGING_TOKEN"
)

// settings are the settings that all processes of a campaign share.
type settings struct {
	setup engine.Setup
	work  outbox.WorkerOptions
	level slog.Level
}

// registerEngine adds the flags that configure the engine.
func (s *settings) registerEngine(flags *flag.FlagSet) {
	flags.IntVar(&s.setup.Replicas, "replicas", s.setup.Replicas, "number of engine nodes that keep the data; 0 keeps the current setting, or means 1 for a new engine")
	flags.DurationVar(&s.setup.AckWait, "ack-wait", s.setup.AckWait, "time without a heartbeat after which a message goes to another worker; 0 keeps the current setting, or means 30s for a new engine")
	flags.TextVar(&s.level, "log", s.level, "level of the log on standard error: debug, info, warn or error")
}

// registerWork adds the flags that configure a worker.
func (s *settings) registerWork(flags *flag.FlagSet) {
	w := &s.work
	if w.Concurrency == 0 {
		w.Concurrency = 32
	}
	flags.IntVar(&w.Concurrency, "concurrency", w.Concurrency, "messages in flight per worker")
	flags.DurationVar(&w.SendTimeout, "send-timeout", orDefault(w.SendTimeout, 10*time.Second), "time limit of one send, including the library's retries")
	flags.DurationVar(&w.SettleWindow, "settle-window", orDefault(w.SettleWindow, 30*time.Second), "longest time that the service takes to list an SMS")
	flags.DurationVar(&w.SettleInterval, "settle-interval", orDefault(w.SettleInterval, 2*time.Second), "time between two lookups")
	flags.DurationVar(&w.GiveUpAfter, "give-up", orDefault(w.GiveUpAfter, time.Hour), "time after which an SMS whose lookups fail is parked")
}

func orDefault(d, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return d
}

// arguments returns the flags that pass the settings to a worker process.
func (s *settings) arguments() []string {
	return []string{
		"-replicas=" + strconv.Itoa(s.setup.Replicas), "-ack-wait=" + s.setup.AckWait.String(), "-log=" + s.level.String(),
		"-concurrency=" + strconv.Itoa(s.work.Concurrency), "-send-timeout=" + s.work.SendTimeout.String(),
		"-settle-window=" + s.work.SettleWindow.String(), "-settle-interval=" + s.work.SettleInterval.String(),
		"-give-up=" + s.work.GiveUpAfter.String(),
	}
}

func (s *settings) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: s.level}))
}

// connect connects to the engine that the environment names and prepares it.
func (s *settings) connect(ctx context.Context) (*engine.Connection, error) {
	url := os.Getenv(envEngine)
	if url == "" {
		return nil, usageError(envEngine + " is empty: set it to the address of the engine. `campaign engine` starts one; a campaign without a command starts its own")
	}
	return s.connectTo(ctx, url)
}

// connectTo retries for a while, since a process can be started while the engine is away.
func (s *settings) connectTo(ctx context.Context, url string) (c *engine.Connection, err error) {
	const tries, each = 10, 3 * time.Second
	for range tries {
		if c, err = s.tryToConnect(ctx, url, each); err == nil || ctx.Err() != nil {
			break
		}
		timer := time.NewTimer(each / tries)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return c, err
}

func (s *settings) tryToConnect(ctx context.Context, url string, within time.Duration) (*engine.Connection, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	c, err := engine.Connect(ctx, url, "campaign")
	if err != nil {
		return nil, err
	}
	if err = c.Prepare(ctx, s.setup); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// newClient returns a client for the service that the environment names.
func newClient(log *slog.Logger) (*messaging.Client, error) {
	if os.Getenv(envURL) == "" {
		return nil, usageError(envURL + " is empty: set it to the address of the service. `campaign service` starts a test server; a campaign without a command starts its own")
	}
	client, err := messaging.NewClientFromEnv(messaging.WithLogger(log))
	if err != nil {
		return nil, fmt.Errorf("creating the client: %w", err)
	}
	return client, nil
}
