package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Stream is where events are kept. It is safe for concurrent use.
type Stream struct {
	nats *nats.Conn
	js   jetstream.JetStream
	log  *slog.Logger
}

// Setup says how events are kept. A zero field has its default.
type Setup struct {
	// Replicas is the number of nodes that keep the events: 1, or 3 on a cluster.
	Replicas int
	// MaxBytes bounds the stream, without a bound by default. Events beyond it are refused; none is discarded for another.
	MaxBytes int64
	// Keep is how long events are kept, and recognized if they come again; 7 days by default.
	Keep time.Duration
}

// The names of the stream of events, and of the one for those that the consumer gave up on.
const eventStream, parkedStream = "INBOX", "INBOX_PARKED"

// Connect connects to the engine, a NATS server of version 2.11 or later, or several separated by commas. It connects again
// whenever the connection is lost. The caller closes the stream.
func Connect(url string, log *slog.Logger) (*Stream, error) {
	conn, err := nats.Connect(url, nats.Name("inbox"), nats.MaxReconnects(-1), nats.ReconnectWait(250*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("inbox: connecting: %w", err)
	}
	js, err := jetstream.New(conn)
	return &Stream{conn, js, log}, err
}

// Close closes the connection.
func (s *Stream) Close() { s.nats.Close() }

// Prepare creates or updates the streams.
func (s *Stream) Prepare(ctx context.Context, setup Setup) error {
	for name, subjects := range map[string]string{eventStream: "inbox.*.*", parkedStream: "inbox_parked.*"} {
		if _, err := s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: name, Subjects: []string{subjects}, MaxAge: cmp.Or(setup.Keep, 7*24*time.Hour),
			MaxBytes: cmp.Or(setup.MaxBytes, -1), Discard: jetstream.DiscardNew, MaxMsgsPerSubject: 1, Replicas: max(1, setup.Replicas),
		}); err != nil {
			return fmt.Errorf("inbox: stream %s: %w", name, err)
		}
	}
	return nil
}

// The service waits some seconds for a response. A cluster that has lost a node needs some to elect a leader.
const publishTimeout, tryTimeout = 5 * time.Second, 1500 * time.Millisecond

// Publish stores an event, and returns nil once it is stored. After another error than nil it may be stored or not.
func (s *Stream) Publish(ctx context.Context, e Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	id := e.Key
	if !e.Lasting {
		id += rand.Text() // the same for all tries of this call
	}
	hash := sha256.Sum256([]byte(id)) // a key may hold what a subject may not
	subject := fmt.Sprintf("inbox.%s.%s", e.Callback, hex.EncodeToString(hash[:]))
	// The caller may be gone. An event that is stored all the same is one that need not come again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
	defer cancel()
	for {
		if err = s.try(ctx, subject, data); err == nil || isPermanent(err) {
			break
		}
		select {
		case <-time.After(50 * time.Millisecond):
			continue
		case <-ctx.Done():
		}
		break
	}
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "an event is not stored", slog.String("key", e.Key), slog.Any("error", err))
		return fmt.Errorf("inbox: storing: %w", err)
	}
	return nil
}

// try publishes under a subject that exists once, so that neither a try whose response was lost nor another receiver stores the
// event twice.
func (s *Stream) try(ctx context.Context, subject string, data []byte) error {
	if !s.nats.IsConnected() {
		return nats.ErrDisconnected // or the request would wait in a buffer and be carried out after the call has ended
	}
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	_, err := s.js.Publish(ctx, subject, data, jetstream.WithExpectLastSequencePerSubject(0))
	if isConflict(err) {
		// It is stored, or another write of it is under way on the cluster and may still fail. Only reading it is proof.
		var stream jetstream.Stream
		if stream, err = s.js.Stream(ctx, eventStream); err == nil {
			_, err = stream.GetLastMsgForSubject(ctx, subject)
		}
	}
	return err
}

func isConflict(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// isPermanent reports whether another try would end the same: the event is too large, or there is no room.
func isPermanent(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return errors.Is(err, nats.ErrMaxPayload) || ok && api.ErrorCode != jetstream.JSErrCodeMessageNotFound
}

// maxEvent is more than an event takes that a receiver accepts.
const maxEvent = 1 << 18

// Healthy returns nil if events can be stored: the engine is there, and the stream, the account and the disk have room.
func (s *Stream) Healthy(ctx context.Context) error {
	if !s.nats.IsConnected() {
		return nats.ErrDisconnected
	}
	stream, err := s.js.Stream(ctx, eventStream)
	if err != nil {
		return err
	}
	info := stream.CachedInfo()
	if left := info.Config.MaxBytes - int64(info.State.Bytes); info.Config.MaxBytes > 0 && left < maxEvent { //nolint:gosec // a size
		return errors.New("inbox: the stream is full")
	}
	_, err = s.js.Publish(ctx, "inbox_parked.health", nil) // what an account or a disk without room rejects
	return err
}
