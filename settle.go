package messaging

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/describe"
	"github.com/messaging-service/messaging-go/internal/phone"
	"github.com/messaging-service/messaging-go/internal/redact"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// SendOnce sends like Send, and settles an unknown outcome by looking the message up. It never sends twice.
//
// It adds a reference ID if the message has none; the ID comes back in the Receipt and in Error.ReferenceID. A reference ID must name one
// message. If it was used before, SendOnce may find an older message to the same number.
//
// After an unknown outcome SendOnce looks the message up every Interval until the Window of the client's SettlePolicy ends:
//
//   - The message is listed: the Receipt comes from its row. StatusCode is 0 and Raw is nil, because the response was lost.
//   - It is listed as refused (see Verdict), with one ID for each attempt. The verdict is Refused, and Error.Code is its SendStatus. A message
//     that was accepted and not delivered is not refused.
//   - Otherwise the outcome stays unknown, with the error of the send. It also matches ErrNotListed under the conditions of Settle.
//
// Give the context more time than the attempts and the window take together. The last lookup may take five seconds longer.
func (s *SMSService) SendOnce(ctx context.Context, m sms.Message) (Receipt, error) {
	o := s.core.observation(ctx, &s.core.smsSend().endpoint)
	ctx, end := o.begin(ctx, StepCall, 0)
	receipt, err := s.deliverOnce(ctx, withReference(m), s.core.settings.settlePolicy(), o, sendMode{})
	end(o.outcome(&receipt, err))
	return receipt, err
}

// deliverOnce is SendOnce for a message with a reference ID, within a step that o observes.
func (s *SMSService) deliverOnce(ctx context.Context, m sms.Message, policy SettlePolicy, o *observation, mode sendMode) (Receipt, error) {
	list := s.core.smsList()
	if reason := list.codec.Problem(); reason != "" { // an unknown outcome could not be settled
		return Receipt{}, invalid(list.name, []wire.Problem{{Field: "contract", Reason: reason}})
	}
	began := time.Now()
	receipt, err := s.core.deliver(ctx, &sending{endpoint: s.core.smsSend(), call: describe.SMS(m)}, o, mode)
	sendErr, ok := errors.AsType[*Error](err)
	if !ok || sendErr.Verdict != Unknown {
		return receipt, err
	}
	row, settleErr := s.settle(ctx, m, policy, time.Now(), sendErr.Attempts)
	if settleErr == nil {
		s.core.settled(ctx, began)
		return receiptOf(row, sendErr.Attempts), nil
	}
	if refusal, ok := errors.AsType[*Error](settleErr); ok && refusal.Verdict == Refused {
		refusal.Attempts = sendErr.Attempts
		return Receipt{}, refusal
	}
	if errors.Is(settleErr, ErrNotListed) {
		sendErr.classes = append(sendErr.classes, ErrNotListed)
	}
	return Receipt{}, sendErr
}

// receiptOf returns the receipt of a listed message, which took attempts to send.
func receiptOf(tx sms.Transaction, attempts int) Receipt {
	return Receipt{
		ID:          tx.ID,
		RequestID:   tx.RequestID,
		ReferenceID: tx.ReferenceID,
		Parts:       tx.Parts,
		Cost:        tx.Price,
		Currency:    tx.Currency,
		Operator:    tx.Operator,
		Status:      tx.SendStatus,
		Attempts:    attempts,
	}
}

// Settle looks up what became of a message that may have been sent, for a program that finds it in its own store after a crash. It sends
// nothing. Only the reference ID and the number of the message are used, and both are required.
//
// since is the latest time at which the message may have been sent. If the process that sent it was killed and you do not know when, pass the
// time at which your program started: that costs one window. The Window of the client's SettlePolicy is counted from since. Settle looks the
// message up every Interval until the window has ended, and at least once. Calls for several messages may share one since: then only
// the first message that is not listed waits until the window ends. A time in the future counts as now, so that each message that is not listed
// waits for a whole window.
//
// The Receipt is that of a row with the message's reference ID and number, with or without country code. A row without a number counts, too.
// A message that is listed as refused has the verdict Refused. Settle does not know how many attempts there were: if the service also lists requests
// that it throttled, such a row may be that of an earlier attempt. Otherwise the outcome stays Unknown, and the error says more:
//
//   - ErrNotListed: the message was not listed when the window had ended, in a response that no cache kept. It may still be listed later,
//     so this proves nothing.
//   - ErrFilterIgnored: only other messages are listed. Another lookup would not help.
//   - ErrInvalid: the message has no reference ID or number, or the contract does not say how to list messages by reference ID, so no lookup
//     was made. Or the service refused the lookup as invalid.
//   - Otherwise the context ended, the last lookup failed, or it found a row without an ID or of another number. The error matches
//     the class of a failed lookup, such as ErrUnauthorized.
//
// Settle sends nothing, so it can be called again at any time. That is pointless after ErrFilterIgnored and ErrInvalid, until the contract or the
// message is changed. If the lookup itself failed, wait at least Error.RetryAfter.
func (s *SMSService) Settle(ctx context.Context, m sms.Message, since time.Time) (Receipt, error) {
	var c wire.Checks
	if m.ReferenceID == "" {
		c.Add("ReferenceID", "required, but absent")
	}
	if m.To == "" {
		c.Add("To", "required, but absent")
	}
	if since.IsZero() {
		c.Add("since", "required, but the zero time")
	}
	if problems := append(c, checkContext(ctx)...); len(problems) > 0 {
		return Receipt{}, s.unsettled(m, invalid("Settle", problems))
	}
	o := s.core.observation(ctx, &s.core.smsSend().endpoint)
	ctx, end := o.begin(ctx, StepSettle, 0)
	row, err := s.settle(ctx, m, s.core.settings.settlePolicy(), since, 1)
	if err != nil {
		err = s.unsettled(m, err)
		end(o.failure(err))
		return Receipt{}, err
	}
	receipt := receiptOf(row, 0)
	end(o.outcome(&receipt, nil))
	return receipt, nil
}

// unsettled returns the error of Settle for an error of settle. The outcome stays unknown, unless the message is listed as refused.
func (s *SMSService) unsettled(m sms.Message, err error) error {
	failed := lookupFailure(err)
	if failed.Verdict == Refused { // the lookup found the message
		return err
	}
	failed.Operation = s.core.smsSend().name
	failed.Verdict = Unknown
	failed.ReferenceID = m.ReferenceID
	failed.read = false
	failed.settled = true
	failed.reason = cmp.Or(failed.reason, "the lookup failed")
	return &failed
}

// lookupFailure returns the error of a lookup as an Error, which the caller may change. It does not wrap a *ValidationError, which would match
// ErrNotSent: the lookup was invalid, and says nothing about the message.
func lookupFailure(err error) Error {
	if validation, ok := errors.AsType[*ValidationError](err); ok {
		return Error{classes: []error{ErrInvalid}, reason: "it cannot be looked up: " + validation.problems()}
	}
	if lookupErr, ok := errors.AsType[*Error](err); ok {
		return *lookupErr
	}
	if row, ok := errors.AsType[*rowError](err); ok {
		return Error{cause: transport.NewError(row.text(), err)}
	}
	return Error{cause: err}
}

func withReference(m sms.Message) sms.Message {
	if m.ReferenceID == "" {
		m.ReferenceID = rand.Text()
	}
	return m
}

// settle looks a message up until a row proves its outcome, or until the window that starts at since has ended. A last lookup then decides: the error
// matches ErrNotListed if the service itself responded to it without such a row. An invalid lookup and a filter that is ignored end it at once.
func (s *SMSService) settle(ctx context.Context, m sms.Message, policy SettlePolicy, since time.Time, attempts int) (sms.Transaction, error) {
	const lastLookup = 5 * time.Second // how long the last lookup may take
	now := time.Now()
	if since.After(now) {
		since = now
	}
	end := since.Add(policy.Window)
	if end.Before(now) {
		end = now
	}
	lookupCtx, cancel := context.WithDeadline(ctx, end.Add(lastLookup))
	defer cancel()
	for {
		isLast := time.Until(end) <= 0
		rows, err := s.find(lookupCtx, m.ReferenceID)
		var row sms.Transaction
		if err == nil {
			row, err = s.settledBy(rows, m, attempts)
		}
		if isLast || isDecided(err) {
			return row, err
		}
		if !s.waitForLookup(ctx, min(policy.Interval, time.Until(end))) {
			return sms.Transaction{}, &Error{Operation: s.core.smsList().name, read: true, cause: ctx.Err()}
		}
	}
}

// isDecided reports whether another lookup would not change the result of one that ended with err: the outcome is known, the lookup is invalid, or
// the filter is ignored.
func isDecided(err error) bool {
	return VerdictOf(err) != Unknown || errors.Is(err, ErrFilterIgnored)
}

// waitForLookup waits before the next lookup, and reports whether the context has not ended.
func (s *SMSService) waitForLookup(ctx context.Context, wait time.Duration) bool {
	o := s.core.observation(ctx, &s.core.smsList().endpoint)
	ctx, end := o.begin(ctx, StepBackoff, 0)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	end(o.failure(ctx.Err()))
	return ctx.Err() == nil
}

// settledBy returns the first row that proves that the message was accepted. If there is none, the error has the verdict Refused if every row says
// that the message was refused, and as many messages are listed as there were attempts. Otherwise it says why a row proves nothing.
func (s *SMSService) settledBy(rows []sms.Transaction, m sms.Message, attempts int) (sms.Transaction, error) {
	uncertainty := ""            // of the first row that proves nothing
	refused := map[string]bool{} // by ID: a message may have several rows, such as one for each of its parts
	for _, row := range rows {
		if !matchesNumber(row.To, m.To) {
			uncertainty = cmp.Or(uncertainty, "has another number")
			continue
		}
		switch s.Verdict(row) {
		case Accepted:
			return row, nil
		case Refused:
			refused[row.ID] = true
		case Unknown, NotSent:
			uncertainty = cmp.Or(uncertainty, uncertaintyOf(row))
		}
	}
	if uncertainty != "" {
		return sms.Transaction{}, s.listError("the listed message " + uncertainty)
	}
	if len(refused) < attempts {
		return sms.Transaction{}, s.listError("the listed message may be that of an earlier attempt, which was refused")
	}
	return sms.Transaction{}, s.refusalBy(rows[0], m)
}

// refusalBy returns the error of a message that a row lists as refused.
func (s *SMSService) refusalBy(row sms.Transaction, m sms.Message) *Error {
	var secrets redact.Secrets
	secrets.AddText(m.To)
	secrets.AddText(m.Text)
	return &Error{
		Operation:   s.core.smsSend().name,
		Verdict:     Refused,
		Code:        row.SendStatus,
		RequestID:   row.RequestID,
		ReferenceID: m.ReferenceID,
		reason:      "the service lists the message as refused",
		hidesIDs:    secrets.InWord(row.SendStatus) || secrets.InWord(row.RequestID),
	}
}

// Verdict returns what a listed row says about its message. It requests nothing: it judges the row by the contract of the client, as Settle
// and SendOnce do.
//
//   - Accepted: the row has an ID, and nothing in it says otherwise, even if its status is not in the contract. A message that was taken
//     but not delivered was accepted: the Status of the row says what became of it.
//   - Refused: the SendStatus is a word of sms.send.refused, and no delivery status, such as sent or delivered, shows that the message went out.
//     In a row without a delivery status, a word for failed or rejected refuses, too. The row has no error for a duplicate: the service may have
//     taken the first message with that reference ID.
//   - Unknown: the row proves nothing. It has no ID, as the zero Transaction, or an ErrorCode, or a field that decides could not be read (see
//     ReadError).
//
// It never returns NotSent. It is safe for concurrent use.
func (s *SMSService) Verdict(tx sms.Transaction) Verdict {
	switch {
	case tx.ID == "", isDoubtful(tx.ReadError):
		return Unknown
	case s.core.smsList().codec.IsRefused(tx):
		return Refused
	case tx.ErrorCode != "":
		return Unknown
	default:
		return Accepted
	}
}

// isDoubtful reports whether the ReadError of a row leaves open what became of its message.
func isDoubtful(readErr error) bool {
	row, isRowError := errors.AsType[*rowError](readErr)
	if isRowError {
		return row.problem.IsDoubtful()
	}
	return readErr != nil // of another kind, which the caller set
}

// uncertaintyOf says why Verdict returns Unknown for a row.
func uncertaintyOf(row sms.Transaction) string {
	unreadable, isRowError := errors.AsType[*rowError](row.ReadError)
	switch {
	case isRowError && unreadable.problem.IsDoubtful():
		return "cannot be read: " + unreadable.problem.Error()
	case row.ID == "":
		return "has no ID"
	default:
		return "has an error (ErrorCode)"
	}
}

// matchesNumber reports whether a listed number may be the number of a message. A row without a number may belong to the message.
func matchesNumber(listed, sent string) bool {
	return strings.TrimSpace(listed) == "" || phone.Match(listed, sent)
}
