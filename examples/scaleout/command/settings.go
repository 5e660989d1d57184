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

// setting is a flag whose default is an environment variable.
type setting struct {
	field                *string
	name, variable, help string
}

func (s *Settings) table() []setting {
	return []setting{
		{&s.Engine.Environment, "environment", "CAMPAIGN_ENVIRONMENT", "prefix of everything on the engine; environments share nothing"},
		{&s.Engine.Credentials, "creds", "NATS_CREDS", "credentials file for the engine"},
		{&s.Engine.CA, "tls-ca", "NATS_CA", "PEM file with the authorities for the engine's certificate"},
		{&s.Engine.Certificate, "tls-cert", "NATS_CERT", "PEM file with the certificate that the engine asks for"},
		{&s.Engine.Key, "tls-key", "NATS_KEY", "PEM file with the key of that certificate"},
	}
}

// Register adds the flags that say how to reach the engine.
func (s *Settings) Register(flags *flag.FlagSet) *Settings {
	for _, option := range s.table() {
		flags.StringVar(option.field, option.name, os.Getenv(option.variable), option.help+" ($"+option.variable+")")
	}
	flags.TextVar(&s.Level, "log", s.Level, "level of the log on standard error: debug, info, warn or error")
	return s
}

// Environ returns the environment variables with which another process reaches the same engine.
func (s *Settings) Environ() []string {
	all := []string{EnvEngine + "=" + s.Engine.URL}
	for _, option := range s.table() {
		all = append(all, option.variable+"="+*option.field)
	}
	return all
}

func (s *Settings) logger() *slog.Logger {
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
	s.Engine.Timeout, s.Engine.Logger = 3*time.Second, s.logger()
	const tries = 10
	for range tries {
		if c, err = engine.Connect(ctx, s.Engine); err == nil || !engine.Sleep(ctx, 300*time.Millisecond) {
			break
		}
	}
	return c, err
}

// onEngine connects to the engine, and calls run with the connection.
func (s *Settings) onEngine(ctx context.Context, run func(c *engine.Connection) error) error {
	c, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return run(c)
}

// onOutbox is onEngine for an outbox.
func (s *Settings) onOutbox(ctx context.Context, run func(o *outbox.Outbox) error) error {
	return s.onEngine(ctx, func(c *engine.Connection) error {
		o, err := outbox.Open(ctx, c)
		if err != nil {
			return err
		}
		return run(o)
	})
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
