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

// The environment.
const (
	envEngine = "NATS_URL"
	envURL    = "MESSAGING_BASE_URL"
	envToken  = "MESSAGING_TOKEN"
)

// settings are what the processes of one campaign have in common: all of them must be given the same.
type settings struct {
	setup engine.Setup
	work  outbox.WorkerOptions
	level slog.Level
}

// registerEngine adds the flags by which the engine is prepared.
func (s *settings) registerEngine(flags *flag.FlagSet) {
	flags.IntVar(&s.setup.Replicas, "replicas", s.setup.Replicas, "on how many nodes of the engine everything is kept; 0 leaves it as it is, 1 in a new engine")
	flags.DurationVar(&s.setup.AckWait, "ack-wait", s.setup.AckWait, "after how long without a sign of life a message goes to another worker; 0 leaves it as it is, 30s in a new engine")
	flags.TextVar(&s.level, "log", s.level, "what is logged to standard error: debug, info, warn or error")
}

// registerWork adds the flags of a worker.
func (s *settings) registerWork(flags *flag.FlagSet) {
	w := &s.work
	if w.Concurrency == 0 {
		w.Concurrency = 32
	}
	flags.IntVar(&w.Concurrency, "concurrency", w.Concurrency, "how many messages a worker has under way at once")
	flags.DurationVar(&w.SendTimeout, "send-timeout", orDefault(w.SendTimeout, 10*time.Second), "how long one send may take, with what the library repeats")
	flags.DurationVar(&w.SettleWindow, "settle-window", orDefault(w.SettleWindow, 30*time.Second), "how long the service may take to list an SMS that it has received")
	flags.DurationVar(&w.SettleInterval, "settle-interval", orDefault(w.SettleInterval, 2*time.Second), "the time between two look-ups")
	flags.DurationVar(&w.GiveUpAfter, "give-up", orDefault(w.GiveUpAfter, time.Hour), "after how long an SMS that cannot be looked up is parked")
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// arguments gives the flags by which a worker process gets the same settings.
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

// connect connects to the engine of the environment and prepares it.
func (s *settings) connect(ctx context.Context) (*engine.Connection, error) {
	url := os.Getenv(envEngine)
	if url == "" {
		return nil, usageError(envEngine + " is empty: it says where the engine is. `campaign engine` starts one, and a campaign without a command brings its own")
	}
	return s.connectTo(ctx, url)
}

// connectTo tries for a while: a process may be started while the engine is away.
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

// newClient makes a client for the service of the environment.
func newClient(log *slog.Logger) (*messaging.Client, error) {
	if os.Getenv(envURL) == "" {
		return nil, usageError(envURL + " is empty: it says where the service is. `campaign service` starts a stand-in, and a campaign without a command brings its own")
	}
	client, err := messaging.NewClientFromEnv(messaging.WithLogger(log))
	if err != nil {
		return nil, fmt.Errorf("the service: %w", err)
	}
	return client, nil
}
