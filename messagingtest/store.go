package messagingtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

const (
	storeTimeout = 10 * time.Second       // of a check
	storeGrace   = 5 * time.Second        // for a check to return after its timeout
	storePause   = 100 * time.Millisecond // long enough for a broken store to show
	storeKeys    = 10_000
	keysTimeout  = 2 * time.Minute // for storeKeys keys
	leaseTimeout = 6 * time.Second // for the end of a lease
)

var (
	errHandle  = errors.New("handle fails")
	errNoLease = errors.New("no call took over within 6 s: if the store has leases, make them shorter in its test")
)

// TestStore checks that a store has the properties that a webhook receiver relies on. Once calls handle once for each key, returns
// its error, and forgets the key if handle fails or panics. It never runs handle twice at the same time for a key, does not let
// keys wait for each other, distinguishes keys that differ in one character, and remembers ten thousand. When the lease of a call
// is over, as after a crash, another call takes over, and the first call no longer changes anything.
//
//	func TestStore(t *testing.T) {
//		db := openDatabase(t)
//		messagingtest.TestStore(t, func() webhook.Store { return NewStore(db, 4*time.Second) })
//	}
//
// Each check gets a new store from newStore. If two stores share state, like two processes on one database, TestStore checks them together.
// While another call handles the same key, the store may return webhook.ErrInProgress, or wait until its context ends. Let a lease take three
// to five seconds: TestStore does not wait for the end of a longer one. The keys are random, so the memory may hold others. A failure names
// the rule of webhook.Store that is broken.
func TestStore(t *testing.T, newStore func() webhook.Store) {
	t.Helper()
	for _, c := range storeChecks() {
		t.Run(c.rule, func(t *testing.T) {
			t.Helper() // a failure is reported where TestStore is called
			switch err := c.run(t.Context(), newStore); {
			case errors.Is(err, errNoLease):
				t.Skip(err)
			case err != nil:
				t.Errorf("the store breaks a rule of webhook.Store: %s\n%v", c.rule, err)
			}
		})
	}
}

type storeCheck struct {
	rule    string // in the words of the documentation of webhook.Store
	check   func(context.Context, *storeTest) error
	timeout time.Duration // if it is not storeTimeout
}

// run runs the check. It leaves the check behind if a call of the store does not return.
func (c storeCheck) run(ctx context.Context, newStore func() webhook.Store) error {
	timeout := cmp.Or(c.timeout, storeTimeout)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s := &storeTest{store: newStore(), key: "messagingtest." + rand.Text()}
	s.rival = &storeTest{store: newStore(), key: s.key + ".shared"}
	result := make(chan error, 1)
	go func() {
		if !s.sharesMemory(ctx) {
			s.rival.store = s.store
		}
		result <- c.check(ctx, s)
	}()
	select {
	case err := <-result:
		return err
	case <-time.After(timeout + storeGrace):
		return errors.New("a call of Once does not return, not even after its context has ended")
	}
}

func storeChecks() []storeCheck {
	return []storeCheck{
		{
			rule: "Once calls handle once for a key, and returns nil when it is called again",
			check: func(ctx context.Context, s *storeTest) error {
				return s.want(1, errors.Join(s.once(ctx, nil), s.once(ctx, nil), s.once(ctx, nil)))
			},
		},
		{
			rule: "Once returns the error of handle, and forgets the key",
			check: func(ctx context.Context, s *storeTest) error {
				for range 2 {
					if err := unexpected(s.once(ctx, errHandle), errHandle); err != nil {
						return err
					}
				}
				return s.want(3, s.once(ctx, nil))
			},
		},
		{
			rule: "Once forgets the key if handle panics",
			check: func(ctx context.Context, s *storeTest) error {
				func() {
					defer func() { _ = recover() }()
					_ = s.store.Once(ctx, s.key, func(context.Context) error { panic(errHandle) })
				}()
				return s.want(1, s.once(ctx, nil))
			},
		},
		{
			rule: "Once returns an error if it cannot record that the event was handled, such as when its context ends",
			check: func(ctx context.Context, s *storeTest) error {
				ended, cancel := context.WithCancel(ctx)
				err := s.store.Once(ended, s.key, func(context.Context) error {
					cancel()
					return nil
				})
				if err != nil {
					return s.want(1, s.once(ctx, nil))
				}
				return s.want(0, s.once(ctx, nil))
			},
		},
		{
			rule: "while a call handles a key, others wait or return ErrInProgress, and never call handle",
			check: func(ctx context.Context, s *storeTest) error {
				return s.want(1, s.race(ctx, nil))
			},
		},
		{
			rule: "after a failure one call handles the key, and no two at a time",
			check: func(ctx context.Context, s *storeTest) error {
				return s.want(2, errors.Join(s.race(ctx, errHandle), s.once(ctx, nil)))
			},
		},
		{
			rule: "Once stops waiting when its context ends",
			check: func(ctx context.Context, s *storeTest) error {
				finish := s.hold(ctx)
				short, cancel := context.WithTimeout(ctx, storePause)
				defer cancel()
				if err := s.once(short, nil); err == nil || ctx.Err() != nil {
					return errors.New("Once does not stop when its context ends, or returns nil without a call of handle")
				}
				return s.want(1, finish(nil))
			},
		},
		{
			rule: "calls with different keys do not wait for each other",
			check: func(ctx context.Context, s *storeTest) error {
				finish := s.hold(ctx)
				other := s.with(s.key + ".other")
				return errors.Join(other.want(1, other.once(ctx, nil)), finish(nil))
			},
		},
		{
			rule: "keys of up to 100 characters that differ in one character are different",
			check: func(ctx context.Context, s *storeTest) error {
				long := strings.Repeat("x", 50) // keys have up to 100 characters
				for _, suffix := range []string{"a", "A", "aa", ".a", long + "1", long + "2"} {
					key := s.with(s.key + suffix)
					if err := key.want(1, key.once(ctx, nil)); err != nil {
						return fmt.Errorf("the new key %q: %w", key.key, err)
					}
				}
				return nil
			},
		},
		{
			rule: "Once remembers ten thousand keys",
			check: func(ctx context.Context, s *storeTest) error {
				return errors.Join(s.many(ctx), s.many(ctx), s.want(storeKeys, nil))
			},
			timeout: keysTimeout,
		},
		{
			rule: "when the lease of a call is over, another call takes over, and the first call no longer changes anything",
			check: func(ctx context.Context, s *storeTest) error {
				finish := s.hold(ctx)
				rival := &storeTest{store: s.rival.store, key: s.key}
				began := time.Now()
				for rival.calls.Load() == 0 {
					short, cancel := context.WithTimeout(ctx, leaseTimeout)
					_ = rival.once(short, nil)
					cancel()
					if time.Since(began) > leaseTimeout {
						return errors.Join(errNoLease, finish(nil))
					}
					<-time.After(storePause)
				}
				_ = finish(errHandle)
				rivalErr := rival.once(ctx, nil)
				firstErr := s.once(ctx, nil)
				return errors.Join(rival.want(1, rivalErr), s.want(1, firstErr))
			},
		},
		{
			rule: "the context of handle has the values of the context of Once",
			check: func(ctx context.Context, s *storeTest) error {
				type contextKey struct{}
				return s.store.Once(context.WithValue(ctx, contextKey{}, "value"), s.key, func(ctx context.Context) error {
					if ctx.Value(contextKey{}) != "value" {
						return errors.New("the context of handle lacks a value")
					}
					return nil
				})
			},
		},
	}
}

func unexpected(got, want error) error {
	if errors.Is(got, want) {
		return nil
	}
	return fmt.Errorf("the error of Once is %q, want %q", fmt.Sprint(got), fmt.Sprint(want))
}

// storeTest calls a store with one key, and counts the calls of handle.
type storeTest struct {
	store webhook.Store
	key   string
	rival *storeTest // like another process; with the same store unless two stores share state

	calls, running, overlaps atomic.Int32
}

// sharesMemory reports whether the store of the rival remembers a key that this store has handled.
func (s *storeTest) sharesMemory(ctx context.Context) bool {
	_ = s.with(s.rival.key).once(ctx, nil)
	err := s.rival.once(ctx, nil)
	return err == nil && s.rival.calls.Load() == 0
}

func (s *storeTest) with(key string) *storeTest { return &storeTest{store: s.store, key: key} }

// many calls Once with each of ten thousand keys, several at a time.
func (s *storeTest) many(ctx context.Context) error {
	errs := make([]error, 16)
	var workers sync.WaitGroup
	for w := range errs {
		workers.Go(func() {
			for i := w; i < storeKeys && errs[w] == nil; i += len(errs) {
				errs[w] = s.store.Once(ctx, fmt.Sprint(s.key, ".", i), func(context.Context) error {
					s.calls.Add(1)
					return nil
				})
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

func (s *storeTest) once(ctx context.Context, result error) error {
	return s.onceIn(ctx, s.store, func() error { return result })
}

func (s *storeTest) onceIn(ctx context.Context, store webhook.Store, handle func() error) error {
	return store.Once(ctx, s.key, func(context.Context) error {
		s.calls.Add(1)
		s.overlaps.Add(s.running.Add(1) - 1)
		defer s.running.Add(-1)
		return handle()
	})
}

// want returns an error unless err is nil and handle was called the given number of times, never twice at the same time.
func (s *storeTest) want(calls int32, err error) error {
	switch {
	case err != nil:
		return err
	case s.overlaps.Load() > 0:
		return errors.New("handle is called while another call handles the same key")
	case s.calls.Load() != calls:
		return fmt.Errorf("handle is called %d times, want %d", s.calls.Load(), calls)
	}
	return nil
}

// hold calls Once with a handle that waits, and returns when handle has begun. Calling finish ends handle with an error or nil;
// finish returns the error of Once.
func (s *storeTest) hold(ctx context.Context) (finish func(error) error) {
	began := make(chan struct{})
	end := make(chan error, 1)
	result := make(chan error, 1)
	go func() {
		result <- s.onceIn(ctx, s.store, func() error {
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
	case <-ctx.Done(): // the number of calls is then too small
	}
	return func(err error) error {
		end <- err
		return <-result
	}
}

// race calls Once several times while another call handles the key, and then ends that call with handled.
func (s *storeTest) race(ctx context.Context, handled error) error {
	finish := s.hold(ctx)
	results := make([]error, 8)
	var rivals sync.WaitGroup
	for i := range results {
		rivals.Go(func() {
			store := []webhook.Store{s.store, s.rival.store}[i%2]
			results[i] = s.onceIn(ctx, store, func() error { return nil })
			if results[i] != nil {
				results[i] = unexpected(results[i], webhook.ErrInProgress)
			}
		})
	}
	<-time.After(storePause)
	err := unexpected(finish(handled), handled)
	rivals.Wait()
	return errors.Join(err, errors.Join(results...))
}
