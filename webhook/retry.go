package webhook

import (
	"errors"
	"time"
)

// ErrRetryLater is returned by a handle function for an event that it cannot take now, as while a database is down: the response
// is 503 with Retry-After, and a store forgets the event. Wrap it, or return [RetryLater] to say when.
var ErrRetryLater = errors.New("webhook: retry later")

// RetryLater returns an error that is ErrRetryLater and asks the service to call again after a time, which is rounded up to
// whole seconds, at least one. Services may ignore it. Of several events in a request the longest time counts.
func RetryLater(after time.Duration) error { return &retryLaterError{after} }

type retryLaterError struct{ after time.Duration }

func (e *retryLaterError) Error() string {
	return ErrRetryLater.Error() + " (" + e.after.String() + ")"
}

func (e *retryLaterError) Is(target error) bool { return target == ErrRetryLater }

// delay returns the time, or 0 for a nil error.
func (e *retryLaterError) delay() time.Duration {
	if e == nil {
		return 0
	}
	return e.after
}
