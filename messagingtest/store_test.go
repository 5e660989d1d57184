package messagingtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/webhook"
)

// memoryStore is a store that can be broken in several ways.
type memoryStore struct {
	waits bool // for another call that handles the key

	forgets          bool // everything
	keepsFailures    bool
	keepsPanics      bool
	hidesErrors      bool
	ignoresOthers    bool // that handle the key
	otherError       bool // while another call handles the key
	locksAll         bool
	foldsCase        bool
	cutsKeys         bool
	dropsContext     bool
	waitsForEver     bool
	failsAfterHandle bool // if the context has ended

	mu    sync.Mutex
	state map[string]chan struct{} // closed when it is handled
	all   chan struct{}
}

func (s *memoryStore) Once(ctx context.Context, key string, handle func(context.Context) error) (err error) {
	if s.foldsCase {
		key = strings.ToLower(key)
	}
	if s.cutsKeys {
		key = key[:min(len(key), 60)]
	}
	if s.locksAll {
		s.mu.Lock()
		if s.all == nil {
			s.all = make(chan struct{}, 1) // a mutex would stop the clock of a test
		}
		s.mu.Unlock()
		s.all <- struct{}{}
		defer func() { <-s.all }()
	}
	for {
		s.mu.Lock()
		done, known := s.state[key]
		if !known || s.ignoresOthers && !isClosed(done) {
			break
		}
		s.mu.Unlock()
		if isClosed(done) {
			return nil
		}
		switch {
		case s.otherError:
			return errors.New("conflict")
		case s.waitsForEver:
			<-done
		case !s.waits:
			return webhook.ErrInProgress
		default:
			select {
			case <-done:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	if s.state == nil {
		s.state = map[string]chan struct{}{}
	}
	done := make(chan struct{})
	s.state[key] = done
	s.mu.Unlock()

	failed, panicked := false, true
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.forgets || failed && !s.keepsFailures && !panicked || panicked && !s.keepsPanics {
			delete(s.state, key)
		}
		if !isClosed(done) {
			close(done)
		}
	}()
	handleCtx := ctx
	if s.dropsContext {
		handleCtx = context.Background()
	}
	err = handle(handleCtx)
	failed, panicked = err != nil, false
	if s.hidesErrors {
		return nil
	}
	if s.failsAfterHandle && ctx.Err() != nil {
		return ctx.Err() // but the key is remembered
	}
	return err
}

// stuckStore handles an event, and then does not return, even when its context ends.
type stuckStore struct{}

func (stuckStore) Once(ctx context.Context, _ string, handle func(context.Context) error) error {
	_ = handle(ctx)
	time.Sleep(time.Hour)
	return nil
}

func TestTestStoreNamesRuleOfStuckStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := storeChecks()[0].run(t.Context(), same(stuckStore{}))
		assert.ErrorContains(t, err, "a call of Once does not return")
		assert.Less(t, time.Since(began), time.Minute)
		time.Sleep(24 * time.Hour) // the calls have to end before the test does
	})
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func same(store webhook.Store) func() webhook.Store { return func() webhook.Store { return store } }

func TestTestStorePassesCorrectStore(t *testing.T) { //nolint:tparallel // the checks of TestStore follow each other
	t.Parallel()
	store := webhook.NewMemoryStore(20_000, time.Hour)
	store.Lease = time.Second
	TestStore(t, same(store))
}

func TestTestStorePassesStoresWithoutLease(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string]bool{"in progress": false, "waits": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for _, c := range storeChecks() {
					if err := c.run(t.Context(), same(&memoryStore{waits: waits})); !errors.Is(err, errNoLease) {
						assert.NoError(t, err, c.rule)
					}
				}
			})
		})
	}
}

func TestTestStoreSkipsTheEndOfALongLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range storeChecks() {
			for lease, want := range map[time.Duration]error{2 * time.Second: nil, time.Hour: errNoLease} {
				store := webhook.NewMemoryStore(20_000, time.Hour)
				store.Lease = lease
				err := c.run(t.Context(), same(store))
				if c.rule != "when the lease of a call is over, another call takes over, and the first call no longer changes anything" {
					want = nil
				}
				assert.ErrorIs(t, err, want, c.rule)
			}
		}
	})
}

// forgetfulStore loses what took over when the call before it fails late.
type forgetfulStore struct {
	mu   sync.Mutex
	ends map[string]time.Time
	done map[string]bool
}

func (s *forgetfulStore) Once(ctx context.Context, key string, handle func(context.Context) error) error {
	s.mu.Lock()
	done, busy := s.done[key], time.Now().Before(s.ends[key])
	if !done && !busy {
		s.ends[key] = time.Now().Add(time.Second)
	}
	s.mu.Unlock()
	switch {
	case done:
		return nil
	case busy:
		return webhook.ErrInProgress
	}
	err := handle(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[key] = err == nil
	delete(s.ends, key)
	return err
}

func TestTestStoreFindsLateFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &forgetfulStore{ends: map[string]time.Time{}, done: map[string]bool{}}
		var failed []string
		for _, c := range storeChecks() {
			err := c.run(t.Context(), same(store))
			if err != nil {
				failed = append(failed, c.rule)
			}
		}
		assert.Equal(t, []string{"Once forgets the key if handle panics", "when the lease of a call is over, another call takes over, and the first call no longer changes anything"}, failed)
	})
}

func TestTestStoreFindsFault(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		store webhook.Store
		want  []string // the checks that fail
	}{
		"forgets": {&memoryStore{forgets: true}, []string{
			"Once calls handle once for a key, and returns nil when it is called again", "Once returns an error if it cannot record that the event was handled, such as when its context ends",
		}},
		"keeps failures": {&memoryStore{keepsFailures: true}, []string{
			"Once returns the error of handle, and forgets the key", "after a failure one call handles the key, and no two at a time",
		}},
		"keeps panics": {&memoryStore{keepsPanics: true}, []string{"Once forgets the key if handle panics"}},
		"hides errors": {&memoryStore{hidesErrors: true}, []string{
			"Once returns the error of handle, and forgets the key", "after a failure one call handles the key, and no two at a time",
		}},
		"handles twice at a time": {&memoryStore{ignoresOthers: true}, []string{
			"while a call handles a key, others wait or return ErrInProgress, and never call handle", "after a failure one call handles the key, and no two at a time", "Once stops waiting when its context ends",
		}},
		"another error": {&memoryStore{otherError: true}, []string{
			"while a call handles a key, others wait or return ErrInProgress, and never call handle", "after a failure one call handles the key, and no two at a time",
		}},
		"one lock": {&memoryStore{locksAll: true}, []string{
			"Once stops waiting when its context ends", "calls with different keys do not wait for each other",
		}},
		"waits for ever":     {&memoryStore{waitsForEver: true}, []string{"Once stops waiting when its context ends"}},
		"folds case":         {&memoryStore{foldsCase: true}, []string{"keys of up to 100 characters that differ in one character are different"}},
		"cuts keys":          {&memoryStore{cutsKeys: true}, []string{"keys of up to 100 characters that differ in one character are different"}},
		"drops context":      {&memoryStore{dropsContext: true}, []string{"the context of handle has the values of the context of Once"}},
		"few keys":           {webhook.NewMemoryStore(100, time.Hour), []string{"Once remembers ten thousand keys"}},
		"fails after handle": {&memoryStore{failsAfterHandle: true}, []string{"Once returns an error if it cannot record that the event was handled, such as when its context ends"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var failed []string
				for _, c := range storeChecks() {
					if c.run(t.Context(), same(tt.store)) != nil {
						failed = append(failed, c.rule)
					}
				}
				assert.Subset(t, failed, tt.want)
				assert.Less(t, len(failed), len(storeChecks())-3, "a fault fails what it breaks, not all")
				time.Sleep(2 * storeTimeout)
			})
		})
	}
}
