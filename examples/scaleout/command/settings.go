package command

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
)

// Environment variables.
const (
	EnvEngine = "NATS_URL"
	EnvURL    = "MESSAGING_BASE_URL"
	EnvToken  = "MESSAGING_TOKEN"
)

// Settings are what the processes of a campaign share.
type Settings struct {
	Engine engine.Options
	Level  slog.Level
}

// Register adds the flags that say how to reach the engine. Their defaults are environment variables.
func (s *Settings) Register(flags *flag.FlagSet) {
	for _, option := range []struct {
		field                *string
		name, variable, help string
	}{
		{&s.Engine.Environment, "environment", "CAMPAIGN_ENVIRONMENT", "prefix of everything on the engine; environments share nothing"},
		{&s.Engine.Credentials, "creds", "NATS_CREDS", "credentials file for the engine"},
		{&s.Engine.CA, "tls-ca", "NATS_CA", "PEM file with the authorities for the engine's certificate"},
		{&s.Engine.Certificate, "tls-cert", "NATS_CERT", "PEM file with the certificate that the engine asks for"},
		{&s.Engine.Key, "tls-key", "NATS_KEY", "PEM file with the key of that certificate"},
	} {
		flags.StringVar(option.field, option.name, os.Getenv(option.variable), option.help+" ($"+option.variable+")")
	}
	flags.TextVar(&s.Level, "log", s.Level, "level of the log on standard error: debug, info, warn or error")
}

// RegisterWork adds the flags that configure a worker.
func RegisterWork(flags *flag.FlagSet, w *outbox.WorkerOptions) {
	flags.IntVar(&w.Concurrency, "concurrency", 32, "messages of one channel and priority in flight")
	flags.DurationVar(&w.SendTimeout, "send-timeout", 10*time.Second, "time limit of one send")
	flags.DurationVar(&w.SettleInterval, "settle-interval", 2*time.Second, "time between the first two lookups of an SMS with an unknown outcome; it grows to ten minutes")
	flags.DurationVar(&w.SettleFor, "settle-for", 6*time.Hour, "time after which such an SMS is parked")
	flags.BoolVar(&w.Resend, "resend", false, "send an SMS again that is not listed after -settle-window. RISK: it is sent twice if the service lists it later,\n"+
		"if the network delivers a request later than that, or if the service ignores the reference ID")
	flags.DurationVar(&w.SettleWindow, "settle-window", 5*time.Minute, "longest time that the service takes to list an SMS; for -resend")
	flags.DurationVar(&w.StopTimeout, "stop-timeout", 0, "time to stop in while the engine is away; 0 means -send-timeout and 10 s")
}

// Logger returns the logger of a command.
func (s *Settings) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: s.Level}))
}

// Connect connects to the engine that the environment names. It retries for a while, since a process can be started while the engine is
// away.
func (s *Settings) Connect(ctx context.Context) (c *engine.Connection, err error) {
	if s.Engine.URL == "" {
		s.Engine.URL = os.Getenv(EnvEngine)
	}
	if s.Engine.URL == "" {
		return nil, UsageError(EnvEngine + " is empty: set it to the address of the engine. `play engine` starts one")
	}
	s.Engine.Client, s.Engine.Timeout, s.Engine.Logger = "campaign", 3*time.Second, s.Logger()
	const tries = 10
	for range tries {
		if c, err = engine.Connect(ctx, s.Engine); err == nil || ctx.Err() != nil {
			break
		}
		timer := time.NewTimer(300 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return c, err
}

// newClient returns a client for the service that the environment names.
func newClient(options ...messaging.Option) (*messaging.Client, error) {
	if os.Getenv(EnvURL) == "" {
		return nil, UsageError(EnvURL + " is empty: set it to the address of the service. `play service` starts a test server")
	}
	client, err := messaging.NewClientFromEnv(options...)
	if err != nil {
		return nil, fmt.Errorf("creating the client: %w", err)
	}
	return client, nil
}
