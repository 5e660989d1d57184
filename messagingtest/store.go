package messagingtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Store remembers which events were handled. It has the methods of the Store of package webhook.
type Store interface {
	Once(ctx context.Context, key string, handle func(context.Context) error) error
}

const (
	storeTimeout = 10 * time.Second       // for what should happen at once
	storePause   = 100 * time.Millisecond // in which what should not happen would
)

var errHandle = errors.New("handle fails")

// TestStore checks that a store does what a webhook receiver relies on. Once calls handle once for each key, returns its error,
// and forgets the key if handle fails or panics. It never calls handle twice at a time for a key, does not let keys wait for
// each other, and distinguishes keys that differ in one character.
//
// inProgress is the error that the store returns while another call handles the same key: webhook.ErrInProgress. A store may
// also wait for the other call, as long as its context lasts.
//
// The keys are random, so the store may be shared and need not be empty. Its lease should not be shorter than 10 s.
func TestStore(t *testing.T, store Store, inProgress error) {
	t.Helper()
	for _, c := range storeChecks() {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(t.Context(), store, inProgress); err != nil {
				t.Error(err)
			}
		})
	}
}

type storeCheck struct {
	name  string
	check func(context.Context, *storeTest) error
}

func (c storeCheck) run(ctx context.Context, store Store, inProgress error) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return c.check(ctx, &storeTest{store: store, inProgress: inProgress, key: "messagingtest-" + rand.Text()})
}

func storeChecks() []storeCheck {
	return []storeCheck{
		{"handles once", func(ctx context.Context, s *storeTest) error {
			return s.want(1, errors.Join(s.once(ctx, succeed), s.once(ctx, succeed), s.once(ctx, succeed)))
		}},
		{"forgets a failure", func(ctx context.Context, s *storeTest) error {
			for range 2 {
				if err := s.once(ctx, fail); !errors.Is(err, errHandle) {
					return fmt.Errorf("Once returns %v, want the error of handle", err)
				}
			}
			return s.want(3, s.once(ctx, succeed))
		}},
		{"forgets a panic", func(ctx context.Context, s *storeTest) error {
			func() {
				defer func() { _ = recover() }()
				_ = s.once(ctx, func(context.Context) error { panic("handle panics") })
			}()
			return s.want(2, s.once(ctx, succeed))
		}},
		{"forgets a failure or says that it does not", func(ctx context.Context, s *storeTest) error {
			ended, cancel := context.WithCancel(ctx)
			err := s.once(ended, func(context.Context) error {
				cancel()
				return nil
			})
			if err != nil {
				return s.want(2, s.once(ctx, succeed))
			}
			return s.want(1, s.once(ctx, succeed))
		}},
		{"handles one at a time", func(ctx context.Context, s *storeTest) error {
			return s.want(1, s.race(ctx, nil))
		}},
		{"handles one at a time after a failure", func(ctx context.Context, s *storeTest) error {
			return s.want(2, errors.Join(s.race(ctx, errHandle), s.once(ctx, succeed)))
		}},
		{"waits no longer than its context", func(ctx context.Context, s *storeTest) error {
			finish, err := s.hold(ctx)
			if err != nil {
				return err
			}
			short, cancel := context.WithTimeout(ctx, storePause)
			defer cancel()
			if s.once(short, succeed) == nil {
				err = errors.New("Once returns nil while another call handles the key")
			} else if ctx.Err() != nil {
				err = errors.New("Once waits when its context has ended")
			}
			return s.want(1, errors.Join(err, finish(nil)))
		}},
		{"handles different keys at a time", func(ctx context.Context, s *storeTest) error {
			finish, err := s.hold(ctx)
			if err != nil {
				return err
			}
			other := &storeTest{store: s.store, key: s.key + "-other"}
			return errors.Join(other.want(1, other.once(ctx, succeed)), finish(nil))
		}},
		{"distinguishes keys", func(ctx context.Context, s *storeTest) error {
			for _, suffix := range []string{"a", "A", "a ", "á", "%", "_", strings.Repeat("x", 200) + "1", strings.Repeat("x", 200) + "2"} {
				key := &storeTest{store: s.store, key: s.key + suffix}
				if err := key.want(1, key.once(ctx, succeed)); err != nil {
					return fmt.Errorf("the new key %q: %w", key.key, err)
				}
			}
			return nil
		}},
		{"passes the values of its context to handle", func(ctx context.Context, s *storeTest) error {
			type contextKey struct{}
			return s.once(context.WithValue(ctx, contextKey{}, "value"), func(ctx context.Context) error {
				if ctx.Value(contextKey{}) != "value" {
					return errors.New("the context of handle lacks a value")
				}
				return nil
			})
		}},
	}
}

// storeTest calls a store with one key, and counts the calls of its handlers.
type storeTest struct {
	store      Store
	inProgress error
	key        string

	calls, running atomic.Int32
	overlap        atomic.Bool
}

func succeed(context.Context) error { return nil }

func fail(context.Context) error { return errHandle }

func (s *storeTest) once(ctx context.Context, handle func(context.Context) error) error {
	return s.store.Once(ctx, s.key, func(ctx context.Context) error {
		s.calls.Add(1)
		if s.running.Add(1) > 1 {
			s.overlap.Store(true)
		}
		defer s.running.Add(-1)
		return handle(ctx)
	})
}

// want returns an error unless err is nil and handlers were called so often, one at a time.
func (s *storeTest) want(calls int32, err error) error {
	switch {
	case err != nil:
		return err
	case s.overlap.Load():
		return errors.New("handle is called while another call handles the same key")
	case s.calls.Load() != calls:
		return fmt.Errorf("handle is called %d times, want %d", s.calls.Load(), calls)
	}
	return nil
}

// hold calls Once with a handler that waits, and returns when it has begun. Its result ends the handler with an error or nil,
// and returns what Once returns.
func (s *storeTest) hold(ctx context.Context) (finish func(error) error, err error) {
	began, end, result := make(chan struct{}), make(chan error, 1), make(chan error, 1)
	go func() {
		result <- s.once(ctx, func(ctx context.Context) error {
			close(began)
			select {
			case err := <-end:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	select {
	case <-began:
	case err := <-result:
		return nil, fmt.Errorf("Once returns %w without calling handle", err)
	case <-ctx.Done():
		return nil, errors.New("Once does not call handle")
	}
	return func(err error) error {
		end <- err
		return <-result
	}, nil
}

// race calls Once several times while another call handles the key, and ends that call with the error that handle returns.
func (s *storeTest) race(ctx context.Context, handle error) error {
	finish, err := s.hold(ctx)
	if err != nil {
		return err
	}
	results := make([]error, 8)
	var rivals sync.WaitGroup
	for i := range results {
		rivals.Go(func() { results[i] = s.once(ctx, succeed) })
	}
	time.Sleep(storePause)
	if err := finish(handle); !errors.Is(err, handle) {
		return fmt.Errorf("Once returns %v, want what handle returns: %v", err, handle)
	}
	rivals.Wait()
	for _, err := range results {
		if err != nil && !errors.Is(err, s.inProgress) {
			return fmt.Errorf("while another call handles the key, Once returns %v, want %v", err, s.inProgress)
		}
	}
	return nil
}
