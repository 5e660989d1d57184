package transport

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

// TokenSource caches the token that a user's function issues. A token is refreshed when it nears its expiry, by one
// caller for all that wait, and dropped when the service refuses it. A TokenSource starts no goroutine.
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

type fetch struct {
	done chan struct{}
	err  error // nil if the caller's context ended: that is no failure for those who wait
}

// NewTokenSource returns a TokenSource that issues tokens by fetch. A token with a zero expiry does not expire.
func NewTokenSource(fetch func(ctx context.Context) (value string, expiry time.Time, err error)) *TokenSource {
	return &TokenSource{fetch: fetch}
}

var errInvalidToken = &namedError{text: "the token source returned a token that is empty, has the scheme word, or no header may hold"}

// maxRefreshAhead is the most that a token is refreshed before its expiry.
const maxRefreshAhead = time.Minute

// token returns a token that has not expired as far as is known.
func (s *TokenSource) token(ctx context.Context, observe Observe) (*token, error) {
	for {
		s.mu.Lock()
		now := time.Now()
		usable := s.current != nil && now.Before(s.current.expiry)
		if usable && (now.Before(s.current.refreshAt) || s.pending != nil) {
			defer s.mu.Unlock()
			return s.current, nil
		}
		if s.pending == nil {
			old := s.current
			s.pending = &fetch{done: make(chan struct{})}
			s.mu.Unlock()
			return s.refresh(ctx, observe, old, usable)
		}
		pending := s.pending
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, authError(ctx.Err())
		case <-pending.done:
			if pending.err != nil {
				return nil, pending.err
			}
		}
	}
}

// refresh fetches a token for all who wait. If it fails, the old token serves until it expires.
func (s *TokenSource) refresh(ctx context.Context, observe Observe, old *token, usable bool) (fresh *token, err error) {
	err = authError(errors.New("the token source panicked"))
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if ctx.Err() == nil {
			s.pending.err = err
		}
		switch {
		case err == nil:
			s.current = fresh
		case usable && s.current == old && time.Now().Before(old.expiry):
			fresh, err = old, nil
			later := *old
			later.refreshAt = time.Now().Add(time.Until(old.expiry) / 2)
			s.current = &later
		}
		close(s.pending.done)
		s.pending = nil
	}()
	observed, end := observe.begin(ctx, Token, 0)
	value, expiry, fetchErr := s.fetch(observed)
	switch {
	case fetchErr != nil:
		err = authError(fetchErr)
	case value == "" || !ValidHeader("Authorization", value):
		err = errInvalidToken
	default:
		err = nil
		if expiry.IsZero() {
			expiry = time.Unix(1<<40, 0) // in some 30,000 years
		}
		refreshAt := expiry.Add(-min(maxRefreshAhead, time.Until(expiry)/10))
		fresh = &token{func() string { return value }, expiry, refreshAt}
	}
	end(Outcome{Err: err})
	return fresh, err
}

// forget drops a token that the service refused, unless it was replaced already.
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
