package transport

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A TokenSource caches the token that a user's function issues. One caller refreshes a token that nears its expiry, for all that wait. A token
// that the service refuses is dropped. A TokenSource starts no goroutine.
type TokenSource struct {
	fetch func(ctx context.Context) (value string, expiry time.Time, err error)

	mu      sync.Mutex
	current *token
	pending *fetch // the fetch under way, or nil
}

type token struct {
	value     func() string // a function, so that package fmt cannot print it
	expiry    time.Time
	refreshAt time.Time
}

func (t *token) isValid(now time.Time) bool { return t != nil && now.Before(t.expiry) }

type fetch struct {
	done chan struct{}
	err  error // nil if the context of the fetching call ended, which is not a failure for the calls that wait
}

// NewTokenSource returns a TokenSource that issues tokens by fetch. A token with a zero expiry does not expire.
func NewTokenSource(fetch func(ctx context.Context) (value string, expiry time.Time, err error)) *TokenSource {
	return &TokenSource{fetch: fetch}
}

var (
	errInvalidToken  = NewError("the token source returned a token that is empty, has the scheme word, or no header may hold", ErrNoToken)
	errTokenPanicked = errors.New("the token source panicked")
)

// ErrNoToken is in the chain of the error of a call for which the token source returned an error or an invalid token.
var ErrNoToken = errors.New("no token")

func tokenError(err error) error { return authError(errors.Join(ErrNoToken, err)) }

// maxRefreshAhead is the most that a token is refreshed before its expiry.
const maxRefreshAhead = time.Minute

// token returns a token that has not expired as far as is known.
func (s *TokenSource) token(ctx context.Context, observe Observe) (*token, error) {
	for {
		s.mu.Lock()
		current := s.current
		pending := s.pending
		now := time.Now()
		isValid := current.isValid(now)
		if isValid && (pending != nil || now.Before(current.refreshAt)) {
			s.mu.Unlock()
			return current, nil
		}
		if pending == nil {
			s.pending = &fetch{done: make(chan struct{})}
			s.mu.Unlock()
			return s.refresh(ctx, observe, current)
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, tokenError(ctx.Err())
		case <-pending.done:
			if pending.err != nil {
				return nil, pending.err
			}
		}
	}
}

// refresh fetches a token in place of old, for all calls that wait. It releases them even if the function of the user panics or calls
// runtime.Goexit.
func (s *TokenSource) refresh(ctx context.Context, observe Observe, old *token) (*token, error) {
	hasReturned := false
	defer func() {
		if !hasReturned {
			_, _ = s.finish(ctx, old, nil, tokenError(errTokenPanicked))
		}
	}()
	observed, end := observe.begin(ctx, Token, 0)
	fetched, fetchErr := s.fetchToken(observed)
	hasReturned = true
	current, err := s.finish(ctx, old, fetched, fetchErr)
	end(Outcome{Err: fetchErr})
	return current, err
}

func (s *TokenSource) fetchToken(ctx context.Context) (*token, error) {
	value, expiry, err := s.fetch(ctx)
	if err != nil {
		return nil, tokenError(err)
	}
	if value == "" || !ValidHeader("Authorization", value) {
		return nil, errInvalidToken
	}
	if expiry.IsZero() {
		expiry = time.Unix(1<<40, 0) // in some 30,000 years
	}
	ahead := min(maxRefreshAhead, time.Until(expiry)/10)
	return &token{func() string { return value }, expiry, expiry.Add(-ahead)}, nil
}

// finish ends a fetch, and returns its result for the call that made it. If the fetch failed, the old token serves until it expires.
func (s *TokenSource) finish(ctx context.Context, old, fresh *token, err error) (*token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := s.pending
	s.pending = nil
	defer close(pending.done)
	if ctx.Err() == nil {
		pending.err = err
	}
	if err == nil {
		s.current = fresh
		return fresh, nil
	}
	now := time.Now()
	if s.current != old || !old.isValid(now) {
		return nil, err
	}
	later := *old
	later.refreshAt = now.Add(old.expiry.Sub(now) / 2)
	s.current = &later
	return old, nil
}

// forget drops a token that the service refused, unless it has been replaced.
func (s *TokenSource) forget(t *token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.current.value() == t.value() {
		s.current = nil
	}
}

// Authenticator returns an Authenticator that sends the token in a header, after scheme and a space unless scheme is
// empty.
func (s *TokenSource) Authenticator(name, scheme string) Authenticator {
	if scheme != "" {
		scheme += " "
	}
	return tokenHeader{s, name, scheme}
}

type tokenHeader struct {
	source       *TokenSource
	name, prefix string
}

func (a tokenHeader) authenticate(ctx context.Context, observe Observe, r *http.Request, _ []byte) (forget func(), err error) {
	t, err := a.source.token(ctx, observe)
	if err != nil {
		return nil, err
	}
	value := t.value()
	if a.prefix != "" && len(value) > len(a.prefix) && strings.EqualFold(value[:len(a.prefix)], a.prefix) {
		return nil, errInvalidToken
	}
	r.Header.Set(a.name, a.prefix+value)
	return func() { a.source.forget(t) }, nil
}
