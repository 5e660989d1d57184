package inbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/webhook"
)

// Store is a [webhook.Store] that any number of receivers share: the bucket of claims in the engine. It is safe for concurrent use.
//
// A claim is an entry that the engine lets go by itself when the lease is over, by its own clock. Completing it puts an entry in its
// place that stays for as long as the bucket keeps what it holds.
type Store struct {
	engine *engine.Connection
	claims jetstream.KeyValue
	lease  time.Duration
	logger *slog.Logger

	mu sync.Mutex
	// held has the revisions of the claims that were given out here and have not ended, the oldest first: another goroutine
	// may have claimed a key again after the lease.
	held map[string][]uint64
}

const (
	// DefaultLease is longer than a receiver can take for an event, with an engine that answers at the last moment to everything.
	DefaultLease = 30 * time.Second
	// minLease is what the engine counts in.
	minLease = time.Second
	// markerStays is how long it can be seen that a claim was given back.
	markerStays = time.Minute
)

// done is the value of what was handled. That of a claim begins with another letter.
const done = "done"

// NewStore makes a store over an engine that is prepared. A claim is its owner's for the lease, which the engine
// counts in whole seconds; 0 means [DefaultLease]. What the engine could not do is logged, with the key of the event and nothing else of it.
func NewStore(ctx context.Context, c *engine.Connection, lease time.Duration, logger *slog.Logger) (*Store, error) {
	if lease == 0 {
		lease = DefaultLease
	}
	if lease < minLease {
		return nil, fmt.Errorf("inbox: a lease of %v is shorter than %v", lease, minLease)
	}
	claims, err := c.Bucket(ctx, engine.Claims)
	if err != nil {
		return nil, err
	}
	return &Store{engine: c, claims: claims, lease: (lease + time.Second - 1).Truncate(time.Second), logger: logger, held: make(map[string][]uint64)}, nil
}

// Claim claims a key, as [webhook.Store] has it. It takes [ErrUnavailable] at most three seconds to come.
func (s *Store) Claim(ctx context.Context, key string) (webhook.ClaimState, error) {
	// An attempt whose answer was lost may have claimed the key: the next one knows the claim as its own by what is in it.
	mark := []byte("claim " + rand.Text())
	var state webhook.ClaimState
	err := retry(ctx, s.engine, claimTimeout, func(ctx context.Context) error {
		revision, err := s.claims.Create(ctx, key, mark, jetstream.KeyTTL(s.lease))
		if err == nil {
			state = s.hold(key, revision)
			return nil
		}
		if !engine.IsConflict(err) {
			return permanentIfInvalid(err)
		}
		entry, err := s.claims.Get(ctx, key)
		switch {
		case err != nil: // also where the claim has gone in this moment, or is just being made
			return err
		case string(entry.Value()) == done:
			state = webhook.Done
		case bytes.Equal(entry.Value(), mark):
			state = s.hold(key, entry.Revision())
		default:
			state = webhook.InProgress
		}
		return nil
	})
	return state, s.logged(ctx, "not claimed", key, err)
}

// Complete marks a key as done, whoever has claimed it by now: the event was handled all the same.
func (s *Store) Complete(ctx context.Context, key string) error {
	s.letGo(key)
	err := retry(ctx, s.engine, settleTimeout, func(ctx context.Context) error {
		_, err := s.claims.Put(ctx, key, []byte(done))
		return permanentIfInvalid(err)
	})
	return s.logged(ctx, "not completed", key, err)
}

// Release gives a claim back, if it is still the one that was made here: not one that another made after the lease, and not what
// is done.
func (s *Store) Release(ctx context.Context, key string) error {
	revision, ok := s.letGo(key)
	if !ok {
		return nil
	}
	err := retry(ctx, s.engine, settleTimeout, func(ctx context.Context) error {
		err := s.claims.Purge(ctx, key, jetstream.LastRevision(revision), jetstream.PurgeTTL(markerStays))
		if engine.IsConflict(err) { // by another, or by this attempt's predecessor, or the lease is over
			return nil
		}
		return permanentIfInvalid(err)
	})
	return s.logged(ctx, "not released", key, err)
}

// hold takes down a claim that was made here.
func (s *Store) hold(key string, revision uint64) webhook.ClaimState {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[key] = append(s.held[key], revision)
	return webhook.Claimed
}

// letGo gives the oldest claim of a key that was made here. Who ends it may be the owner of a later one; but a later one is given out
// only when all others have ended, so nobody's claim goes while he handles the event within his lease.
func (s *Store) letGo(key string) (revision uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	revisions := s.held[key]
	switch len(revisions) {
	case 0:
		return 0, false
	case 1:
		delete(s.held, key)
	default:
		s.held[key] = revisions[1:]
	}
	return revisions[0], true
}

func (s *Store) logged(ctx context.Context, what, key string, err error) error {
	if err == nil {
		return nil
	}
	s.logger.LogAttrs(ctx, slog.LevelError, "store", slog.String("verdict", what), slog.String("key", key), slog.Any("error", err))
	return fmt.Errorf("inbox: %s: %w", what, err)
}

// permanentIfInvalid tells the errors that stay whatever happens.
func permanentIfInvalid(err error) error {
	if errors.Is(err, jetstream.ErrInvalidKey) || errors.Is(err, jetstream.ErrLimitMarkerTTLNotSupported) {
		return permanentError{err}
	}
	return err
}
