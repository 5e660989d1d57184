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

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestTestStorePassesCorrectStores(t *testing.T) {
	t.Parallel()
	t.Run("in progress", func(t *testing.T) {
		t.Parallel()
		TestStore(t, &memoryStore{})
	})
	t.Run("waits", func(t *testing.T) {
		t.Parallel()
		TestStore(t, &memoryStore{waits: true})
	})
}

func TestTestStoreFindsFault(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		store webhook.Store
		want  []string // the checks that fail
	}{
		"forgets": {&memoryStore{forgets: true}, []string{
			"handles once", "returns an error if it forgets",
		}},
		"keeps failures": {&memoryStore{keepsFailures: true}, []string{
			"forgets a failure", "handles one at a time after a failure",
		}},
		"keeps panics": {&memoryStore{keepsPanics: true}, []string{"forgets a panic"}},
		"hides errors": {&memoryStore{hidesErrors: true}, []string{
			"forgets a failure", "handles one at a time after a failure",
		}},
		"handles twice at a time": {&memoryStore{ignoresOthers: true}, []string{
			"handles one at a time", "handles one at a time after a failure", "waits no longer than its context",
		}},
		"another error": {&memoryStore{otherError: true}, []string{
			"handles one at a time", "handles one at a time after a failure",
		}},
		"one lock": {&memoryStore{locksAll: true}, []string{
			"waits no longer than its context", "handles different keys at a time",
		}},
		"waits for ever":     {&memoryStore{waitsForEver: true}, []string{"waits no longer than its context"}},
		"folds case":         {&memoryStore{foldsCase: true}, []string{"distinguishes keys"}},
		"cuts keys":          {&memoryStore{cutsKeys: true}, []string{"distinguishes keys"}},
		"drops context":      {&memoryStore{dropsContext: true}, []string{"passes the values of its context to handle"}},
		"fails after handle": {&memoryStore{failsAfterHandle: true}, []string{"returns an error if it forgets"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var failed []string
				for _, c := range storeChecks() {
					if c.run(t.Context(), tt.store) != nil {
						failed = append(failed, c.name)
					}
				}
				assert.Subset(t, failed, tt.want)
				assert.Less(t, len(failed), len(storeChecks())-3, "a fault fails what it breaks, not all")
				time.Sleep(2 * storeTimeout)
			})
		})
	}
}
