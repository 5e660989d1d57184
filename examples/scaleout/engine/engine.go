// Package engine connects to NATS JetStream, which keeps everything that must survive a process. It names the streams and buckets, and
// [Connection.Prepare] creates them; packages outbox and inbox define what they hold. Package embedded runs a server in this process.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Names of streams and buckets within an environment. [Connection.Name] adds the environment.
const (
	// Outbox is the stream of messages to send: a work queue with a token for each message, which leaves it once the message is settled.
	Outbox = "OUTBOX"
	// Records is the bucket with one entry per outbound message, by channel and reference ID.
	Records = "records"
	// Limits is the bucket that holds the shared rate limit and the shared breakers.
	Limits = "limits"
	// Inbox is the stream of inbound events.
	Inbox = "INBOX"
	// Claims is the bucket by which receivers agree on who handles an event.
	Claims = "claims"
	// Parked is the bucket of events that a reader has given up on.
	Parked = "parked"
)

// Priorities returns the lanes of a channel in the stream Outbox. Each lane has a consumer, so that none waits for another.
func Priorities() []string { return []string{"high", "normal", "settle"} }

// Channels returns the channels of outbound messages.
func Channels() []string { return []string{"sms", "chatapp1", "chatapp2"} }

// Options says how to reach an engine. A zero field takes its default.
type Options struct {
	// URL is the address of the engine, or several addresses separated by commas. It can hold a user and a password.
	URL string
	// Environment is the prefix of everything on the engine: letters, digits and dashes. Environments share nothing. The default
	// is campaign.
	Environment string
	// Credentials is the path of a NATS credentials file.
	Credentials string
	// CA is the path of a PEM file with the authorities that the engine's certificate is checked against. The default is the system's.
	CA string
	// Certificate and Key are the paths of PEM files that show the engine who the client is.
	Certificate, Key string
	// Timeout bounds the first connection, 5 s by default.
	Timeout time.Duration
	// Logger receives what the packages of this module log. Nil discards it.
	Logger *slog.Logger
}

// Connection is a connection to the engine. It is safe for concurrent use. When the connection is lost, it reconnects until it succeeds.
type Connection struct {
	NATS      *nats.Conn
	JetStream jetstream.JetStream
	Log       *slog.Logger

	environment string
}

// ErrOldServer means that the server does not have what the streams need.
var ErrOldServer = errors.New("the NATS server is older than 2.11, the first with a time to live for each message")

// Connect connects to an engine. The caller closes the connection.
func Connect(ctx context.Context, options Options) (*Connection, error) {
	options.Environment = cmp.Or(options.Environment, "campaign")
	if !regexp.MustCompile(`^[A-Za-z0-9-]{1,40}$`).MatchString(options.Environment) {
		return nil, fmt.Errorf("engine: the environment is %q, want 1 to 40 letters, digits and dashes", options.Environment)
	}
	options.Timeout = cmp.Or(options.Timeout, 5*time.Second)
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	if deadline, ok := ctx.Deadline(); ok {
		options.Timeout = min(options.Timeout, time.Until(deadline))
	}
	all := []nats.Option{
		nats.Name("scaleout"), nats.Timeout(options.Timeout), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.IgnoreAuthErrorAbort(),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			// Such as a permission that is missing, of which the caller sees only that nothing comes back.
			options.Logger.WarnContext(context.WithoutCancel(ctx), "the engine reports an error", slog.Any("error", err))
		}),
	}
	if options.Credentials != "" {
		all = append(all, nats.UserCredentials(options.Credentials))
	}
	if options.CA != "" {
		all = append(all, nats.RootCAs(options.CA))
	}
	if options.Certificate != "" || options.Key != "" {
		all = append(all, nats.ClientCert(options.Certificate, options.Key))
	}
	conn, err := nats.Connect(options.URL, all...)
	if err != nil {
		return nil, fmt.Errorf("engine: connecting: %w", err)
	}
	if version := conn.ConnectedServerVersion(); !isSupported(version) {
		conn.Close()
		return nil, fmt.Errorf("engine: %w: it is %s", ErrOldServer, version)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("engine: %w", err)
	}
	return &Connection{NATS: conn, JetStream: js, Log: options.Logger, environment: options.Environment}, nil
}

// isSupported reports whether a server of this version can be used.
func isSupported(version string) bool {
	var major, minor int
	_, err := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &major, &minor)
	return err == nil && (major > 2 || major == 2 && minor >= 11)
}

// Close flushes and closes the connection. It takes a second at most.
func (c *Connection) Close() {
	_ = c.NATS.FlushTimeout(time.Second)
	c.NATS.Close()
}

// Name returns the name of a stream, bucket or consumer in this environment.
func (c *Connection) Name(base string) string { return c.environment + "_" + base }

// Consumer returns the name of the consumer of a lane of the stream Outbox.
func (c *Connection) Consumer(channel, lane string) string { return c.Name(channel + "_" + lane) }

// OutboxSubject returns the subject of a token in the stream Outbox, or of several if a part is a wildcard.
func (c *Connection) OutboxSubject(channel, lane, key string) string {
	return strings.Join([]string{c.environment, "outbox", channel, lane, key}, ".")
}

// InboxSubject returns the subject of an event in the stream Inbox, or of several if a part is a wildcard.
func (c *Connection) InboxSubject(kind, key string) string {
	return strings.Join([]string{c.environment, "inbox", kind, key}, ".")
}

// Stream returns a stream with its current state.
func (c *Connection) Stream(ctx context.Context, base string) (jetstream.Stream, error) {
	stream, err := c.JetStream.Stream(ctx, c.Name(base))
	return stream, c.explained(base, err)
}

// Bucket opens a bucket.
func (c *Connection) Bucket(ctx context.Context, base string) (jetstream.KeyValue, error) {
	bucket, err := c.JetStream.KeyValue(ctx, c.Name(base))
	return bucket, c.explained(base, err)
}

// ErrNotPrepared means that a stream or bucket is missing, or was made by another version.
var ErrNotPrepared = errors.New("is not prepared, run campaign prepare")

// explained returns an error of opening a stream or bucket with what an operator needs to know.
func (c *Connection) explained(base string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrBucketNotFound):
		return fmt.Errorf("engine: environment %s %w: %w", c.environment, ErrNotPrepared, err)
	default:
		return fmt.Errorf("engine: opening %s: %w", c.Name(base), err)
	}
}

// BucketStream returns the name of the stream behind a bucket.
func (c *Connection) BucketStream(base string) string { return "KV_" + c.Name(base) }

// BucketSubject returns the subject of a key of a bucket.
func (c *Connection) BucketSubject(base, key string) string { return "$KV." + c.Name(base) + "." + key }

// IsConflict reports whether err means that another writer was faster: the key exists, has changed since it was read, or is being written
// at this moment. A cluster reports the last case with a code of its own; that write may still fail.
func IsConflict(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// IsPresent reports whether err means that the stream Outbox already holds a token with this subject.
func IsPresent(err error) bool {
	const maxMessagesPerSubject = "maximum messages per subject exceeded"
	return err != nil && strings.Contains(err.Error(), maxMessagesPerSubject)
}

// ErrFull means that the engine has no room for a message, and that the caller does not wait for room.
var ErrFull = errors.New("the engine is full")

// IsFull reports whether err means that a stream, an account or a disk has no room.
func IsFull(err error) bool {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	const insufficientResources, storageExceeded, memoryExceeded = 10023, 10047, 10028
	switch api.ErrorCode {
	case insufficientResources, storageExceeded, memoryExceeded:
		return true
	default:
		return strings.Contains(api.Description, "maximum bytes exceeded") || strings.Contains(api.Description, "maximum messages exceeded")
	}
}
