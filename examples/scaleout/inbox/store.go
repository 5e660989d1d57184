package inbox

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/webhook"
)

// Store is a [webhook.Store] that any number of receivers share: the bucket of claims in the engine. It is safe for concurrent use.
//
// A claim is an entry of the bucket that the engine removes when its lease ends, by the engine's clock. An entry that marks the key as
// handled replaces it, and stays for as long as the bucket keeps its entries.
type Store struct {
	engine *engine.Connection
	claims jetstream.KeyValue
	lease  time.Duration
}

const (
	// DefaultLease is longer than a receiver needs for an event, even if every call to the engine takes until its timeout.
	DefaultLease = 30 * time.Second
	// minLease is the engine's resolution.
	minLease = time.Second
	// releaseMarkerTTL is how long the engine keeps the mark that a claim was released.
	releaseMarkerTTL = time.Minute
)

// handled is the value of the entry of a handled event. The value of a claim starts with another letter.
const handled = "handled"

// NewStore returns a store on a prepared engine. A claim is valid for the lease, which is rounded up to whole seconds; 0 means
// [DefaultLease]. The store logs what the engine failed to do, with the key of the event and nothing else of it.
func NewStore(ctx context.Context, c *engine.Connection, lease time.Duration) (*Store, error) {
	lease = cmp.Or(lease, DefaultLease)
	if lease < minLease {
		return nil, fmt.Errorf("inbox: the lease is %v, want at least %v", lease, minLease)
	}
	claims, err := c.Bucket(ctx, engine.Claims)
	return &Store{engine: c, claims: claims, lease: (lease + time.Second - 1).Truncate(time.Second)}, err
}

// Once implements [webhook.Store]. It calls handle only while it holds a claim of the key, and releases the claim if handle fails or
// panics. It returns [ErrUnavailable] if the engine does not respond within three seconds: before it calls handle, or after handle has
// returned nil. In the second case the event is handled again once the lease has ended.
//
// If handle takes longer than the lease, another receiver can claim the key. The event then counts as handled as soon as one of
// them succeeds.
func (s *Store) Once(ctx context.Context, key string, handle func(context.Context) error) error {
	claim, err := s.claim(ctx, key)
	if claim == 0 {
		return err
	}
	succeeded := false
	defer func() {
		if !succeeded { // also if handle panics or exits its goroutine
			s.release(ctx, key, claim)
		}
	}()
	if err := handle(ctx); err != nil {
		return err
	}
	succeeded = true
	return s.complete(ctx, key)
}

// claim claims a key. It returns the revision of the claim, or 0 if the key was handled, or [webhook.ErrInProgress].
func (s *Store) claim(ctx context.Context, key string) (claim uint64, err error) {
	// An attempt whose response was lost may have claimed the key. The next attempt recognizes the claim by its mark.
	mark := []byte("claim " + rand.Text())
	inProgress := false
	err = call(ctx, s.engine, storeTimeout, "claiming", key, func(ctx context.Context) error {
		revision, createErr := s.claims.Create(ctx, entryKey(key), mark, jetstream.KeyTTL(s.lease))
		if !engine.IsConflict(createErr) {
			claim = revision
			return createErr
		}
		entry, getErr := s.claims.Get(ctx, entryKey(key))
		switch {
		case errors.Is(getErr, jetstream.ErrKeyNotFound): // the claim has just ended, or is just being made
			return errAgain
		case getErr != nil:
			return getErr
		case bytes.Equal(entry.Value(), mark):
			claim = entry.Revision()
		case string(entry.Value()) != handled:
			inProgress = true
		}
		return nil
	})
	if inProgress {
		return 0, webhook.ErrInProgress
	}
	return claim, err
}

// complete marks a key as handled, even if another receiver has claimed it since.
func (s *Store) complete(ctx context.Context, key string) error {
	return call(ctx, s.engine, storeTimeout, "completing", key, func(ctx context.Context) error {
		_, err := s.claims.Put(ctx, entryKey(key), []byte(handled))
		return err
	})
}

// release releases a claim. It changes nothing if another receiver has claimed the key since, or has handled the event. If it fails, the
// claim ends with its lease.
func (s *Store) release(ctx context.Context, key string, claim uint64) {
	_ = call(ctx, s.engine, storeTimeout, "releasing", key, func(ctx context.Context) error {
		err := s.claims.Purge(ctx, entryKey(key), jetstream.LastRevision(claim), jetstream.PurgeTTL(releaseMarkerTTL))
		if engine.IsConflict(err) { // by an earlier attempt or another receiver, or the lease has ended
			return nil
		}
		return err
	})
}

// entryKey encodes a key with characters that the engine accepts.
func entryKey(key string) string { return base64.RawURLEncoding.EncodeToString([]byte(key)) }
