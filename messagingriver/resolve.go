package messagingriver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"

	"github.com/messaging-service/messaging-go/messagingriver/internal/reference"
)

// Decision is what a person decides about a message: Sent, Resend, NotSent or Drop.
type Decision string

// The decisions. Only Sent applies to a message while a worker has it. After it was resolved as Sent, no other does.
const (
	// Sent says that the message went out, as the service or a delivery report shows. A message that is not completed becomes completed. If
	// its request is under way, the message becomes completed when the attempt ends, even if the response is lost. See Record.Reason.
	Sent Decision = "sent"
	// Resend says that the message did not go out, or was refused for a reason that is gone. A message that is discarded, cancelled or
	// looked up is sent at once. If it did go out, the recipient gets it twice. A message that has expired can be resent only while
	// its outcome is unknown: it is not sent but cancelled, with the verdict NotSent, and OnOutcome is called.
	Resend Decision = "resend"
	// NotSent says that the message did not go out and must not be sent again, so that the program can send a fallback. It applies to a message
	// that is discarded with an unknown outcome. A running process makes it cancelled, with the verdict NotSent, and calls OnOutcome.
	// Afterwards Resend does not apply. If the message did go out, the recipient gets it and the fallback.
	NotSent Decision = "notsent"
	// Drop says that the message must not be sent. A message that is not completed becomes cancelled, and its content is deleted. So it can be
	// dropped once, even by two processes at the same moment. Its reason becomes "dropped", followed by the reason before, if there was one.
	// It also applies to a message that was resolved as NotSent, whose content the outbox still has.
	Drop Decision = "drop"
)

// Resolve carries out a decision about messages and returns how many it applied to. Messages in other states do not change, and keys
// without a message are ignored, whatever a report has as its reference ID. A key of an unknown channel is an error, and nothing is decided. A handler
// of delivery reports may resolve every message that it receives a report about as Sent.
//
// Resolve uses a connection of its own, and each message a transaction of its own. After an error, or the end of ctx, it decides about no
// further message and returns how many it applied to before. In a transaction of the program, such as that of
// webhook/sqlstore, use ResolveTx: Resolve would wait for that transaction.
func (o *Outbox[TTx]) Resolve(ctx context.Context, decision Decision, keys ...Key) (resolved int, err error) {
	if err := decision.check(); err != nil {
		return 0, err
	}
	if err := o.checkKeys(keys); err != nil {
		return 0, err
	}
	for _, key := range keys {
		isResolved, err := o.resolveOne(ctx, decision, key)
		if err != nil {
			return resolved, err
		}
		if isResolved {
			resolved++
		}
	}
	return resolved, nil
}

// resolveOne carries out a decision about one message in a transaction of its own and reports whether it applied.
func (o *Outbox[TTx]) resolveOne(ctx context.Context, decision Decision, key Key) (bool, error) {
	if err := ctx.Err(); err != nil { // inTx would not end with ctx
		return false, fmt.Errorf("messagingriver: %w", err)
	}
	isResolved := false
	err := o.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		retry := func(id int64) error { return o.database.retry(ctx, tx, id) }
		var err error
		isResolved, err = o.resolve(ctx, tx, decision, key, retry)
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return false, fmt.Errorf("%w; within a transaction, call ResolveTx", err)
	}
	return isResolved, err
}

// ResolveTx is like Resolve, in the caller's transaction: the decisions apply after the commit, and not at all if the transaction is rolled back.
// After an error the transaction must be rolled back. If it returns 0 for a key, GetTx in the same transaction says why: there is no message
// (messaging.ErrNotFound), or the Record shows that a worker has it, that it has its outcome or was decided about before, or that it waits, is
// looked up or has expired, so that the decision does not apply to it.
func (o *Outbox[TTx]) ResolveTx(ctx context.Context, tx TTx, decision Decision, keys ...Key) (resolved int, err error) {
	if err := checkTx(tx); err != nil {
		return 0, err
	}
	if err := decision.check(); err != nil {
		return 0, err
	}
	if err := o.checkKeys(keys); err != nil {
		return 0, err
	}
	retry := func(id int64) error {
		_, err := o.inserter.JobRetryTx(ctx, tx, id)
		return explain(err)
	}
	for _, key := range keys {
		isResolved, err := o.resolve(ctx, o.executorOf(tx), decision, key, retry)
		if err != nil {
			return 0, err
		}
		if isResolved {
			resolved++
		}
	}
	return resolved, nil
}

// check returns an error for an unknown decision.
func (d Decision) check() error {
	switch d {
	case Sent, Resend, NotSent, Drop:
		return nil
	default:
		return fmt.Errorf("messagingriver: Resolve got the decision %q; want %q, %q, %q or %q", d, Sent, Resend, NotSent, Drop)
	}
}

// checkKeys returns an error for a key of an unknown channel, which would never have a message.
func (o *Outbox[TTx]) checkKeys(keys []Key) error {
	for i, key := range keys {
		if _, isKnown := o.channels[key.Channel]; !isKnown {
			return fmt.Errorf("messagingriver: keys[%d].Channel is %q; want one of %s", i, key.Channel, strings.Join(o.channelNames(), ", "))
		}
	}
	return nil
}

// resolution returns the statement that carries out a decision about a message and returns the ID of its job if it applied.
func (d *database) resolution(decision Decision) string {
	switch decision {
	case Sent:
		return d.statements.resolveSent
	case Resend:
		return d.statements.resolveResend
	case NotSent:
		return d.statements.resolveNotSent
	default:
		return d.statements.resolveDrop
	}
}

// resolve carries out a decision about one message in a transaction and reports whether it applied. retry makes River work a job at once.
func (o *Outbox[TTx]) resolve(
	ctx context.Context, tx riverdriver.Executor, decision Decision, key Key, retry func(id int64) error,
) (bool, error) {
	if !reference.IsStorable(key.Reference) { // PostgreSQL would fail
		return false, nil
	}
	var id int64
	isResolved, err := o.database.scan(ctx, tx, []any{&id}, o.database.resolution(decision), key.Channel, key.Reference)
	if err != nil || !isResolved {
		return false, err
	}
	needsWorker := decision == Resend || decision == NotSent
	if !needsWorker {
		return true, nil
	}
	return true, retry(id)
}

// isResolvedSent reports whether the message of a running job has been resolved as Sent since the worker got the job. If the database cannot
// be read, it reports false: the job is completed when it is worked again, or by the maintenance.
func (o *Outbox[TTx]) isResolvedSent(ctx context.Context, job *river.Job[messageArgs]) bool {
	isResolved, err := o.database.isResolvedSent(ctx, job.ID)
	if err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: a job cannot be read", "job", job.ID, "error", err)
	}
	return isResolved
}

// isResolvedSent reports whether the message of a running job has been resolved as Sent since a worker got the job.
func (d *database) isResolvedSent(ctx context.Context, job int64) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout)
	defer cancel()
	var id int64
	return d.scan(ctx, d.executor, []any{&id}, findResolved, job)
}
