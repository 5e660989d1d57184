package messaging

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/redact"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/transport"
)

// An Observer watches the calls of a client, for traces and metrics; see WithObserver. It is used from many goroutines at once.
//
// To count messages by their verdict, count the ends of steps with Kind StepCall and without Read. The Verdict of other steps does not
// count messages.
//
// Steps nest. A StepCall contains its attempts, waits and token refreshes. The StepCall of SMS.SendOnce also contains its lookups, and each
// lookup contains a StepCall for every page. If an Observer panics, so does the call, and the outcome of the message is unknown.
// In SendAll the panic becomes the error of its message.
type Observer interface {
	// StartStep is called before a step begins. It returns a context that derives from ctx, for EndStep and for the steps within this one. For
	// a StepAttempt it is also the context of the HTTP request: a round tripper of WithTransport can find a span in it, and add headers.
	StartStep(ctx context.Context, step Step) context.Context
	// EndStep is called once for each StartStep, when the step has ended. It is called in the same goroutine, except for the StepCall and the
	// StepBackoff of a message of SendAll. If a function of the user panics or calls runtime.Goexit, the steps around it may have no EndStep.
	EndStep(ctx context.Context, step Step, result StepResult)
}

// A StepKind is the kind of a step.
type StepKind string

const (
	// StepCall is a whole operation: a send, from validation to verdict, with all that SMS.SendOnce does to settle it; or one
	// page of a listing.
	StepCall StepKind = "call"
	// StepAttempt is one request, and its response read to the end.
	StepAttempt StepKind = "attempt"
	// StepLookup is a lookup of a message by its reference ID, over all its pages.
	StepLookup StepKind = "lookup"
	// StepSettle is a call of SMS.Settle, with its lookups and waits. Its verdict is what became of the message.
	StepSettle StepKind = "settle"
	// StepWait is a wait for the rate limit or for a connection. There is no such step if the call need not wait. Waits of one call never
	// overlap.
	StepWait StepKind = "wait"
	// StepBackoff is the wait before another attempt, including the wait for the circuit breaker, or before another lookup. For a message of
	// SendAll it ends when the message is resumed.
	StepBackoff StepKind = "backoff"
	// StepToken is a call of the function of WithTokenSource.
	StepToken StepKind = "token"
)

// A Step describes a step of a call. It holds no number, text, query or credential.
type Step struct {
	// Kind is the kind of the step.
	Kind StepKind
	// Operation is the contract's name of the operation, such as "sms.send", and Channel its channel.
	Operation string
	Channel   Channel
	// Read reports whether the operation only reads. It then has no verdict.
	Read bool
	// Method is the HTTP method of the operation's requests.
	Method string
	// Server is the host of the base URL, with its port if it has one.
	Server string
	// Attempt is the number of an attempt, from 1, or of the attempt that a wait is for; 0 for other steps.
	Attempt int
}

// A StepResult describes how a step ended. A field that does not apply to the step is zero. It holds no number, text, query or credential: an ID
// of the service that may hold one is left out.
type StepResult struct {
	// Duration is how long the step took.
	Duration time.Duration
	// Reason says why the step failed, like Error.Error; it is empty if it did not.
	Reason string
	// Class is the class of the failure: the text of the sentinel that it matches without the prefix, such as "rate limited" for
	// ErrRateLimited; empty if it has none.
	Class string
	// Verdict says whether the message was sent, for a StepCall that sends and for a StepSettle. It is meaningless for other steps.
	Verdict Verdict
	// StatusCode is the HTTP status of the last response, or 0 if there was none.
	StatusCode int
	// Attempts is the number of requests that a StepCall began.
	Attempts int
	// MessageID and RequestID are the service's IDs of the message and of the request.
	MessageID string
	RequestID string
	// Parts is the number of parts that the service charges.
	Parts int
	// Rows is how many messages with the reference ID a StepLookup found on one page. If there is more than one, the message was sent more than
	// once or the reference ID was used before.
	Rows int
}

// An observation observes and logs one call. A nil observation does neither.
type observation struct {
	observers *[]Observer
	logger    *slog.Logger // for attempts, or nil
	step      Step         // without its kind
	// The IDs in the response that may be shown.
	messageID, requestID string
}

// observation returns one for a call, or nil if the client has neither observers nor a logger at level debug.
func (c *core) observation(ctx context.Context, e *endpoint) *observation {
	logger, observers := c.settings.logger, c.settings.observers
	if logger != nil && !logger.Enabled(ctx, slog.LevelDebug) {
		logger = nil
	}
	if logger == nil && observers == nil {
		return nil
	}
	return &observation{
		observers: cmp.Or(observers, new([]Observer)),
		logger:    logger,
		step:      Step{Operation: e.name, Channel: e.channel, Read: e.read, Method: e.method, Server: c.baseURL.Host},
	}
}

func (o *observation) begin(ctx context.Context, kind StepKind, attempt int) (context.Context, func(StepResult)) {
	if o == nil || ctx == nil {
		return ctx, func(StepResult) {}
	}
	step := o.step
	step.Kind = kind
	step.Attempt = attempt
	began := time.Now()
	for _, observer := range *o.observers {
		ctx = observer.StartStep(ctx, step) //nolint:fatcontext // one for each observer
	}
	return ctx, func(result StepResult) {
		result.Duration = time.Since(began)
		for _, observer := range slices.Backward(*o.observers) {
			observer.EndStep(ctx, step, result)
		}
	}
}

// A judge knows the error of the last response of a call, or nil.
type judge interface{ judged() *Error }

// inTransport returns a function that observes the steps of a call with the context caller, or nil.
func (o *observation) inTransport(caller context.Context, by judge) transport.Observe {
	if o == nil {
		return nil
	}
	return func(ctx context.Context, step transport.Step, attempt int) (context.Context, func(transport.Outcome)) {
		began := time.Now()
		ctx, end := o.begin(ctx, StepKind(step), attempt)
		return ctx, func(out transport.Outcome) {
			found := o.failure(out.Err)
			if out.StatusCode != 0 {
				if err := by.judged(); err != nil {
					found = o.failure(err)
				}
			}
			if step == transport.Attempt {
				o.log(caller, out, time.Since(began), found.Reason) // the context of the attempt may have ended
			}
			end(StepResult{Reason: found.Reason, Class: found.Class, RequestID: found.RequestID, StatusCode: out.StatusCode})
		}
	}
}

// log logs an attempt, without anything that belongs to a recipient: no query, header or body.
func (o *observation) log(ctx context.Context, out transport.Outcome, took time.Duration, reason string) {
	if o.logger == nil {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", o.step.Operation),
		slog.Int("attempt", out.Attempts),
		slog.Int("status", out.StatusCode),
		slog.Duration("took", took),
	}
	if out.Err != nil {
		attrs = append(attrs, slog.String("error", transport.Describe(out.Err)), slog.Bool("written", out.Written))
	}
	if out.StatusCode != 0 && reason != "" {
		attrs = append(attrs, slog.String("reason", reason))
	}
	o.logger.LogAttrs(ctx, slog.LevelDebug, "messaging: attempt", attrs...)
}

func (o *observation) outcome(r *Receipt, err error) StepResult {
	if o == nil || err != nil {
		return o.failure(err)
	}
	return StepResult{
		Verdict:    Accepted,
		StatusCode: r.StatusCode,
		Attempts:   r.Attempts,
		Parts:      r.Parts,
		MessageID:  o.messageID,
		RequestID:  o.requestID,
	}
}

func (o *observation) failure(err error) StepResult {
	if o == nil || err == nil {
		return StepResult{}
	}
	if e, ok := errors.AsType[*Error](err); ok {
		result := StepResult{Reason: e.Error(), Verdict: e.Verdict, StatusCode: e.StatusCode, Attempts: e.Attempts}
		if table.IsWord(e.RequestID) && !e.hidesIDs {
			result.RequestID = e.RequestID
		}
		if len(e.classes) > 0 {
			result.Class = className(e.classes[0])
		}
		return result
	}
	if e, ok := errors.AsType[*ValidationError](err); ok {
		return StepResult{Reason: e.Error(), Verdict: NotSent, Class: className(ErrInvalid)}
	}
	return StepResult{Reason: transport.Describe(err)}
}

func className(sentinel error) string { return strings.TrimPrefix(sentinel.Error(), "messaging: ") }

func (o *observation) keepIDs(r *Receipt, secrets redact.Secrets) {
	if table.IsWord(r.ID) && !secrets.InWord(r.ID) {
		o.messageID = r.ID
	}
	if table.IsWord(r.RequestID) && !secrets.InWord(r.RequestID) {
		o.requestID = r.RequestID
	}
}
