package sandbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// retries is how often the service repeats a call of a webhook that failed.
const retries = 2

// The forms of webhook calls.
const (
	formContract = "contract" // as the contract says, the default
	formForm     = "form"
	formJSON     = "json"
)

// aboutAnswer is the subject of a call with an answer. Other calls report a state.
const aboutAnswer = "answer"

var errNoWebhook = errors.New("no webhook is set for this channel: start with --webhook-CHANNEL URL, or set it on the page Connect")

// report reports a status of a message in the background, after the report before it. It closes done at the end. The caller has counted the
// report as open.
func (s *Sandbox) report(e *entry, status contract.Status, previous, done chan struct{}) {
	s.workers.Go(func() {
		defer close(done)
		if previous != nil {
			<-previous
		}
		s.reports <- struct{}{}
		s.call(s.ctx, e, string(status))
		<-s.reports
		st := s.lock()
		defer st.unlock()
		e.open--
		s.live.notify("")
	})
}

// call calls a webhook with an answer, or with a state of a message, and returns the calls that it made. It does not hold the lock meanwhile.
func (s *Sandbox) call(ctx context.Context, e *entry, about string, options ...messagingtest.CallOption) []*Call {
	plan := s.beginCall(e, about)
	options = append(options, plan.options...)
	var results []messagingtest.CallResult
	switch {
	case e.Answer != nil:
		results = s.service.CallWebhook(ctx, plan.webhook, e.Answer.callback(e.ID, e.At), options...)
	case plan.isKnown:
		results = s.service.ReportDelivery(ctx, e.ID, about, options...)
	}
	return s.endCall(e, about, results, plan.mask)
}

// A callPlan is how to call a webhook.
type callPlan struct {
	webhook string // the URL for answers
	options []messagingtest.CallOption
	mask    masker // for the secrets of the URL
	isKnown bool   // the sandbox has not dropped the message
}

// beginCall returns how to call a webhook, and counts the call as open.
func (s *Sandbox) beginCall(e *entry, about string) callPlan {
	st := s.lock()
	defer st.unlock()
	plan := callPlan{
		webhook: st.settings.Webhooks[e.Channel],
		options: []messagingtest.CallOption{messagingtest.RetryFailures(retries), st.formOption()},
		isKnown: st.book.byID[e.ID] == e,
	}
	plan.mask = s.mask.forURL(plan.webhook, nil)
	if e.Sent != nil {
		plan.mask = s.mask.forURL(e.Sent.CallbackURL, s.table.WebhookDelivery.Placeholders)
		report := st.reportOf(e, contract.Status(about))
		plan.options = append(plan.options, messagingtest.WithStatusTime(report.at), messagingtest.WithErrorCode(report.code))
	}
	e.open++
	s.live.notify("")
	return plan
}

// endCall records the calls that were made, and no longer counts the call as open.
func (s *Sandbox) endCall(e *entry, about string, results []messagingtest.CallResult, mask masker) []*Call {
	st := s.lock()
	defer st.unlock()
	e.open--
	calls := st.recordCalls(e, about, results, mask)
	s.live.notify("")
	return calls
}

// reportOf returns the report of a state: the report made since the message entered the state, or a new report.
func (st *sandboxState) reportOf(e *entry, state contract.Status) stateReport {
	report, isMade := e.reports[state]
	if isMade {
		return report
	}
	report.at = st.now()
	if state == contract.StatusFailed {
		report.code = st.messageDeliveries[e.ID].Code
	}
	e.reports[state] = report
	return report
}

// formOption returns the option for the form of the calls.
func (st *sandboxState) formOption() messagingtest.CallOption {
	switch st.settings.WebhookForm {
	case formForm:
		return messagingtest.AsForm()
	case formJSON:
		return messagingtest.AsJSON()
	}
	return nil
}

// recordCalls enters calls in traffic and, if it still exists, in the message.
func (st *sandboxState) recordCalls(e *entry, about string, results []messagingtest.CallResult, mask masker) []*Call {
	calls := []*Call{}
	isKnown := st.book.byID[e.ID] == e
	for _, result := range results {
		x := st.recordCallback(result, about, mask)
		call := x.webhookCall()
		calls = append(calls, call)
		st.log.callback(call)
		if isKnown {
			x.Message = e.ID
			e.Calls = append(e.Calls, call)
		}
	}
	e.Calls = e.Calls[max(0, len(e.Calls)-maxCalls):]
	st.removeFromLedger(st.book.resize(e))
	return calls
}

func millis(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

// callsBody has the calls of a webhook, or a note why it was not called.
type callsBody struct {
	ID    string  `json:"id"`
	Calls []*Call `json:"calls"`
	Note  string  `json:"note,omitempty"`
}

// postReply enters an answer and calls the webhook of its channel.
func (s *Sandbox) postReply(r *request, a Answer) (any, error) {
	a.Kind = cmp.Or(a.Kind, AnswerText)
	if err := a.validate(); err != nil {
		return nil, err
	}
	e, hasWebhook, err := s.addAnswer(&a)
	if err != nil {
		return nil, err
	}
	s.live.notify("")
	if !hasWebhook {
		s.service.CallWebhook(r.Context(), "", e.Answer.callback(e.ID, e.At)) // it opens the 24-hour window, and calls nothing
		return callsBody{ID: e.ID, Calls: []*Call{}, Note: errNoWebhook.Error()}, nil
	}
	return callsBody{ID: e.ID, Calls: s.call(r.Context(), e, aboutAnswer)}, nil
}

// addAnswer enters an answer and reports whether its channel has a webhook.
func (s *Sandbox) addAnswer(a *Answer) (e *entry, hasWebhook bool, err error) {
	st := s.lock()
	defer st.unlock()
	if err := st.checkMessage(a); err != nil {
		return nil, false, err
	}
	if a.To == "" {
		a.To = st.senderTo(a.Channel, a.From)
	}
	e = newAnswer(newInboundID(), a, st.now())
	st.add(e)
	s.log.answer(e)
	return e, st.settings.Webhooks[a.Channel] != "", nil
}

// senderTo returns the sender of the last message to a recipient.
func (st *sandboxState) senderTo(channel string, recipient string) string {
	c := st.book.conversation(channel, recipient, "")
	if c == nil {
		return ""
	}
	for _, e := range slices.Backward(c.Entries) {
		if e.Sent != nil && e.Sent.From != "" {
			return e.Sent.From
		}
	}
	return ""
}

type repeatBody struct {
	Twice bool            `json:"twice,omitempty"`
	About contract.Status `json:"about,omitempty"` // the current state if empty
}

// postRepeat calls a webhook again, with an answer or with a state of a message, as of the same time.
func (s *Sandbox) postRepeat(r *request, body repeatBody) (any, error) {
	var options []messagingtest.CallOption
	if body.Twice {
		options = append(options, messagingtest.TwiceAtOnce())
	}
	e, about, err := s.repeatable(r.PathValue("id"), body.About)
	if err != nil {
		return nil, err
	}
	return callsBody{ID: e.ID, Calls: s.call(r.Context(), e, about, options...)}, nil
}

// repeatable returns a message or an answer, and the subject of a call about it.
func (s *Sandbox) repeatable(id string, state contract.Status) (e *entry, about string, err error) {
	st := s.lock()
	defer st.unlock()
	e = st.book.byID[id]
	switch {
	case e == nil:
		return nil, "", errNoSuchMessage
	case e.Answer != nil && st.settings.Webhooks[e.Channel] == "":
		return nil, "", errNoWebhook
	case e.Answer != nil:
		return e, aboutAnswer, nil
	case e.Sent.CallbackURL == "" || e.Sent.Status == "":
		return nil, "", errors.New("the message was sent without a callback URL, or has no state to report")
	case st.isUnreported(e.ID):
		return nil, "", errors.New("the delivery of the message is unreported: set another one first")
	case state != "" && !e.hasReached(state):
		return nil, "", errors.New("about must be a state that the message has reached")
	}
	return e, string(cmp.Or(state, e.Sent.Status)), nil
}
