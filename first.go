package messaging

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// FirstAccepted calls functions that send, in order, until one of them returns a Receipt: over another account, or another channel. It
// goes on only if the message provably did not go out:
//
//   - after NotSent, such as with an open circuit breaker
//   - after a refusal, unless the response names a message (Error.Ambiguous)
//
// It stops at an unknown outcome, which any error that is not from a send counts as, at ErrDuplicate, at a *ValidationError, and when ctx
// has ended. It also stops at ErrOptedOut, and if a guard said no or later, or could not decide. It goes on if the guard's reason is
// ErrWindowClosed, which holds for one channel only.
//
// The error is that of the last function that was called, and its text shows the others too. For errors.Is, VerdictOf and Retryable it is
// the last error alone. No functions, or a nil one, is a *ValidationError.
//
// A function whose circuit breaker is open waits within the RetryPolicy of its client: with MaxAttempts 1 it ends at once. Clients
// derived by With share the breakers of the service, so make that of a second account by NewClient.
func FirstAccepted(ctx context.Context, sends ...func(context.Context) (Receipt, error)) (Receipt, error) {
	problems := wire.Checks(checkContext(ctx))
	if len(sends) == 0 {
		problems.Found("sends", "required, but absent")
	}
	for i, send := range sends {
		if send == nil {
			problems.Found(fmt.Sprintf("sends[%d]", i), "required, but nil")
		}
	}
	if len(problems) > 0 {
		return Receipt{}, invalid("FirstAccepted", problems)
	}
	var failed sendErrors
	for _, send := range sends {
		receipt, err := send(ctx)
		if err == nil {
			return receipt, nil
		}
		if failed = append(failed, err); ctx.Err() != nil || !allowsAnotherWay(err) {
			break
		}
	}
	if len(failed) == 1 {
		return Receipt{}, failed[0]
	}
	return Receipt{}, failed
}

// allowsAnotherWay reports whether the error of a send proves that its message did not go out, and says nothing against another way.
func allowsAnotherWay(err error) bool {
	e, isError := errors.AsType[*Error](err)
	if !isError || stopsEveryWay(err) {
		return false
	}
	return e.Verdict == NotSent || e.Verdict == Refused && !e.Ambiguous()
}

// stopsEveryWay reports whether an error, which may join several, holds for other ways too: the message may have gone out, it is wrong,
// or a guard stopped it for a reason other than the window of its channel.
func stopsEveryWay(err error) bool {
	if _, isInvalid := errors.AsType[*ValidationError](err); isInvalid {
		return true
	}
	for _, reason := range []error{ErrDuplicate, ErrOutcomeUnknown, ErrOptedOut, ErrPostponed} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return errors.Is(err, ErrDenied) && !errors.Is(err, ErrWindowClosed)
}

// sendErrors are the errors of several sends. It is the last one but for its text: if that has an unknown outcome, the ErrNotSent of one
// before it must not match.
type sendErrors []error

func (f sendErrors) Error() string {
	texts := make([]string, len(f))
	for i, err := range f {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; then ")
}

// Unwrap returns the last error.
func (f sendErrors) Unwrap() error { return f[len(f)-1] }
