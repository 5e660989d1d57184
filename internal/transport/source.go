package transport

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Source keeps the token that a user's function issues: cached until it nears its expiry, refreshed once for however
// many callers wait, and dropped when the service has refused it. It starts no goroutine: one of the callers fetches.
type Source struct {
	fetch func(ctx context.Context) (value string, expiry time.Time, err error)

	mu      sync.Mutex
	current *token
	flight  *flight
}

// token is one that was issued. The zero expiry means that it holds until the service refuses it.
type token struct {
	value     func() string // a function, so that no verb of package fmt prints it
	expiry    time.Time
	refreshAt time.Time
}

// flight is a fetch that is under way.
type flight struct {
	done      chan struct{}
	err       error
	abandoned bool // the caller that fetched gave up; that says nothing to the others
}

// NewSource returns a Source over fetch.
func NewSource(fetch func(ctx context.Context) (value string, expiry time.Time, err error)) *Source {
	return &Source{fetch: fetch}
}

var errEmptyToken = errors.New("the token source returned an empty token, or one that no header may hold")

// earliest is how long before its expiry a token is refreshed at the most.
const earliest = time.Minute

// token gives a token that is not known to be over.
func (s *Source) token(ctx context.Context) (*token, error) {
	for {
		s.mu.Lock()
		now := time.Now()
		usable := s.current != nil && (s.current.expiry.IsZero() || now.Before(s.current.expiry))
		if usable && (s.current.expiry.IsZero() || now.Before(s.current.refreshAt) || s.flight != nil) {
			defer s.mu.Unlock()
			return s.current, nil
		}
		if s.flight == nil {
			old := s.current
			s.flight = &flight{done: make(chan struct{})}
			s.mu.Unlock()
			return s.refresh(ctx, old, usable)
		}
		flight := s.flight
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-flight.done:
			if flight.err != nil && !flight.abandoned {
				return nil, flight.err
			}
		}
	}
}

// refresh fetches a token for everybody who waits. Where the old one still holds, a failure costs nothing yet.
func (s *Source) refresh(ctx context.Context, old *token, usable bool) (fresh *token, err error) {
	err = AuthError{errors.New("the token source panicked")}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flight.err, s.flight.abandoned = err, ctx.Err() != nil
		switch {
		case err == nil:
			s.current = fresh
		case usable && s.current == old && time.Now().Before(old.expiry):
			fresh, err = old, nil
			later := *old
			later.refreshAt = time.Now().Add(time.Until(old.expiry) / 2)
			s.current = &later
		}
		close(s.flight.done)
		s.flight = nil
	}()
	value, expiry, fetchErr := s.fetch(ctx)
	switch {
	case fetchErr != nil:
		err = AuthError{fetchErr}
	case value == "" || !ValidHeader("Authorization", value):
		err = errEmptyToken
	default:
		err = nil
		fresh = &token{value: func() string { return value }, expiry: expiry}
		if !expiry.IsZero() {
			fresh.refreshAt = expiry.Add(-min(earliest, time.Until(expiry)/10))
		}
	}
	return fresh, err
}

// forget drops a token that the service refused, unless another has taken its place.
func (s *Source) forget(t *token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.current.value() == t.value() {
		s.current = nil
	}
}

// Authenticator returns one that sets the token in the header, behind the scheme word where there is one.
func (s *Source) Authenticator(name, scheme string) Authenticator {
	return sourced{s, http.CanonicalHeaderKey(name), scheme}
}

type sourced struct {
	source       *Source
	name, scheme string
}

func (a sourced) authenticate(ctx context.Context, e *exchange, r *http.Request) error {
	t, err := a.source.token(ctx)
	if err != nil {
		return err
	}
	value := t.value()
	if a.scheme != "" {
		value = a.scheme + " " + value
	}
	r.Header[a.name] = []string{value}
	e.refused = func() { a.source.forget(t) }
	return nil
}
