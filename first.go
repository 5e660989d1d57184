package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// FirstAccepted calls functions that send a message in different ways, such as over another account or another channel, in order until one of
// them returns a Receipt.
//
// It calls the next function only if the message was provably not sent: after NotSent, such as with an open circuit breaker, and after Refused.
// It stops, and returns the error
//
//   - if the message may have been sent; see MayHaveBeenSent
//   - at ErrOptedOut, of a guard or of the service, such as after the platform's code 131050 on chat app 2
//   - at ErrDenied and ErrPostponed of a guard, except for ErrWindowClosed, which is about one channel only
//   - at a *ValidationError, and at any other error that is not from a send
//   - when ctx has ended
//
// Give every function but the last a client with WithRetry(RetryPolicy{MaxAttempts: 1}). A client that retries waits while its circuit breaker is
// open, until its message becomes the probe. While the service is down, the probe ends unknown, so that nothing falls back. The cost is that a
// 429 or a failed connection is not retried, but falls back at once.
//
// The error is the last one, with the texts of the others. For errors.Is, errors.As, VerdictOf and Retryable it is the last error alone. To act on
// the error of an earlier send, assign it to a variable. Here, a one-time code also goes to a person who stopped marketing on chat app 2:
//
//	var chatErr error
//	receipt, err := messaging.FirstAccepted(ctx, func(ctx context.Context) (receipt messaging.Receipt, err error) {
//		receipt, chatErr = once.ChatApp2.Send(ctx, chat)
//		return receipt, chatErr
//	}, sendSMS)
//	if errors.Is(chatErr, messaging.ErrOptedOut) && !messaging.MayHaveBeenSent(chatErr) {
//		receipt, err = sendSMS(ctx)
//	}
//
// No functions, or a nil one, is a *ValidationError.
//
// Clients derived by With share the breakers of the service, so create the client of a second account with NewClient.
func FirstAccepted(ctx context.Context, sends ...func(context.Context) (Receipt, error)) (Receipt, error) {
	problems := wire.Checks(checkContext(ctx))
	if len(sends) == 0 {
		problems.Add("sends", "required, but absent")
	}
	for i, send := range sends {
		if send == nil {
			problems.Add(fmt.Sprintf("sends[%d]", i), "required, but nil")
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
		failed = append(failed, err)
		if ctx.Err() != nil || MayHaveBeenSent(err) || isFinal(err) {
			break
		}
	}
	if len(failed) == 1 {
		return Receipt{}, failed[0]
	}
	return Receipt{}, failed
}

// isFinal reports whether an error, which may join several, holds for every way to send a message that was not sent: it is wrong, the recipient
// opted out, or a guard stopped it for a reason other than the window of its channel.
func isFinal(err error) bool {
	if _, isInvalid := errors.AsType[*ValidationError](err); isInvalid {
		return true
	}
	if errors.Is(err, ErrOptedOut) || errors.Is(err, ErrPostponed) {
		return true
	}
	return errors.Is(err, ErrDenied) && !errors.Is(err, ErrWindowClosed)
}

// sendErrors are the errors of several sends. Apart from its text it is the last one: if that has an unknown outcome, an earlier ErrNotSent must
// not match.
type sendErrors []error

func (f sendErrors) Error() string {
	texts := make([]string, len(f))
	for i, err := range f {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; then ")
}

// LogValue logs the errors as send1, send2 and so on.
func (f sendErrors) LogValue() slog.Value {
	attrs := make([]slog.Attr, len(f))
	for i, err := range f {
		attrs[i] = slog.Any(fmt.Sprintf("send%d", i+1), err)
	}
	return slog.GroupValue(attrs...)
}

// Unwrap returns the last error.
func (f sendErrors) Unwrap() error { return f[len(f)-1] }
