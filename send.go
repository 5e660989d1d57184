package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/redact"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// A Receipt is the service's response to a message that it accepted. A field that the response does not have is empty or zero.
type Receipt struct {
	// ID is the service's ID of the message. It is empty only if the contract says that the service has no such IDs ("response": {"id": []}).
	// The status word then says that the message was accepted, and only its reference ID finds it.
	ID string
	// RequestID is the service's ID of the request, for its support.
	RequestID string
	// ReferenceID is the one in the response or, without one, the reference ID that was sent.
	ReferenceID string
	// Parts is the number of parts that the service charges.
	Parts int
	// UnitCost, Cost and Balance are decimal strings, with the digits that the service sent, apart from the scale of the contract: the price of
	// one part, the price of the message, and what is left on the account. A currency in the same text is left out.
	UnitCost string
	Cost     string
	Balance  string
	// Currency is the currency of these, such as "EUR". If it is empty, it is the account's.
	Currency string
	// Operator is the code of the recipient's network.
	Operator string
	// Status is the service's word for the state of the message, such as "accepted". On chat app 2 it may be "held_for_quality_assessment" or
	// "paused": the platform holds a template back, and may not deliver it.
	Status string
	// Attempts is the number of requests that the send began.
	Attempts int
	// StatusCode is the HTTP status of the response, or 0 if a lookup settled an unknown outcome.
	StatusCode int
	// Raw is the whole response without a byte order mark, a text as a JSON string, or nil if a lookup settled an unknown outcome. It belongs
	// to the caller.
	Raw json.RawMessage
}

// LogValue logs everything but Raw, which may repeat a number or a text. Of Status, which may be a sentence, it masks what may be a number. It
// shows IDs as they are, even if the service makes them from numbers.
func (r Receipt) LogValue() slog.Value {
	status := new(redact.Secrets).Mask(r.Status)
	return slog.GroupValue(
		slog.String("id", r.ID),
		slog.String("request_id", r.RequestID),
		slog.String("reference_id", r.ReferenceID),
		slog.Int("parts", r.Parts),
		slog.String("unit_cost", r.UnitCost),
		slog.String("cost", r.Cost),
		slog.String("balance", r.Balance),
		slog.String("currency", r.Currency),
		slog.String("operator", r.Operator),
		slog.String("service_status", status),
		slog.Int("attempts", r.Attempts),
		slog.Int("status", r.StatusCode),
	)
}

// An Outcome is the result of one message of a SendAll.
type Outcome[M any] struct {
	// Index is the index of the message in the sequence, from 0. It is -1 if an argument of SendAll is invalid.
	Index int
	// Message is the message as it was sent, with the reference ID that SMS.SendAll may have given it.
	Message M
	// Receipt is the receipt of the message. It means nothing if Err is not nil.
	Receipt Receipt
	// Err is the error of the send, or nil if the service accepted the message; see SMSService.Send.
	Err error
}

// Message is a message of any channel: an sms.Message, a chatapp1.Message or a chatapp2.Message. A queue can keep one as JSON, with its channel:
// the JSON does not name the type.
type Message interface {
	json.Marshaler
	slog.LogValuer
}

// A sendMode says how a message is sent. The zero mode is that of Send.
type sendMode struct {
	// maybeWritten, unless nil, is set to whether something of the message may have been written, even if a function of the user panics.
	maybeWritten *bool
	// waits is the context of the waits of a SendAll, or nil. With it a send makes one attempt, because SendAll itself waits before another.
	waits context.Context //nolint:containedctx // of a SendAll
	// priorAttempts is how many requests there were before.
	priorAttempts int
	// noToken, unless nil, says why the send must not ask for a token.
	noToken error
}

func (c *core) send(ctx context.Context, s *sending, mode sendMode) (Receipt, error) {
	o := c.observation(ctx, &s.endpoint.endpoint)
	ctx, end := o.begin(ctx, StepCall, 0)
	receipt, err := c.deliver(ctx, s, o, mode)
	end(o.outcome(&receipt, err))
	return receipt, err
}

// deliver is send within a step that o observes.
func (c *core) deliver(ctx context.Context, s *sending, o *observation, mode sendMode) (Receipt, error) {
	e := s.endpoint
	encoded, problems := e.codec.Encode(s.call, c.settings.lenient)
	problems = append(problems, checkContext(ctx)...)
	if len(problems) > 0 {
		return Receipt{}, invalid(e.name, problems)
	}
	if err := e.missingCredentials(); err != nil {
		err.ReferenceID = s.call.ReferenceID
		return Receipt{}, err
	}
	request := c.request(&e.endpoint, encoded)
	request.Judge = s
	request.Once = mode.waits != nil
	request.PriorAttempts = mode.priorAttempts
	request.NoToken = mode.noToken
	request.WaitContext = mode.waits
	request.MaybeWritten = mode.maybeWritten
	request.Observe = o.inTransport(ctx, s)
	request.Guard = c.guard(e.channel, &s.call)
	out := c.transport.Do(ctx, request)
	if out.StatusCode == 0 || out.Interrupted != nil {
		s.err = s.failed(out) // there was no response, or more is known since
	}
	if s.err != nil {
		if logger := c.settings.logger; logger != nil && s.err.Verdict == Unknown {
			logger.LogAttrs(ctx, slog.LevelWarn, "messaging: outcome unknown", slog.Any("error", s.err))
		}
		return Receipt{}, s.err
	}
	c.logFoundAt(ctx, s, out)
	receipt := newReceipt(&s.call, out, &s.response)
	if o != nil {
		o.keepIDs(&receipt, e.messageSecrets(&s.call, out))
	}
	return receipt, nil
}

// logFoundAt logs a line for the contract with the path at which the ID of a message was found by name, once for each path. A path may hold the
// number of the recipient, and is then not logged.
func (c *core) logFoundAt(ctx context.Context, s *sending, out *transport.Outcome) {
	e := s.endpoint
	path := s.response.FoundAt
	if path == "" || c.settings.logger == nil {
		return
	}
	if _, isKnown := e.foundAt.LoadOrStore(path, true); isKnown {
		return
	}
	secrets := e.messageSecrets(&s.call, out)
	if secrets.Mask(path) != path {
		return
	}
	line := fmt.Sprintf(`{%q: {"response": {"id": [%q]}}}`, e.name, path)
	c.settings.logger.LogAttrs(ctx, slog.LevelInfo, "messaging: the ID of a message was found by its name; write its path into the contract",
		slog.String("contract", line))
}

// A sending is a send under way: its message, and the result of its last attempt.
type sending struct {
	endpoint *sendEndpoint
	call     wire.Call
	judgement
	err *Error // nil if the message was accepted
}

func (s *sending) judged() *Error { return s.err }

// Judge is called by the transport for each response.
func (s *sending) Judge(out *transport.Outcome) transport.Judgement {
	s.err = nil
	s.judgement = s.endpoint.judge(&s.call, out)
	if s.verdict != Accepted {
		s.err = s.failed(out)
		s.endpoint.addHealth(&s.result, s.err)
	}
	return s.result
}

func (e *sendEndpoint) messageSecrets(call *wire.Call, out *transport.Outcome) redact.Secrets {
	secrets := e.secrets(call.Fields, nil, *out)
	secrets.AddValue(call.Extra)
	for _, member := range call.Members {
		if member.Name != "type" {
			secrets.AddValue(member.Value)
		}
	}
	return secrets
}

func newReceipt(call *wire.Call, out *transport.Outcome, r *codec.Response) Receipt {
	raw := json.RawMessage(codec.WithoutMark(out.Body))
	if r.IsText {
		raw, _ = json.Marshal(string(raw)) // a string can always be encoded
	}
	return Receipt{
		ID:          r.ID,
		RequestID:   cmp.Or(r.RequestID, headerRequestID(out.Header)),
		ReferenceID: cmp.Or(r.ReferenceID, call.ReferenceID),
		Parts:       r.Parts,
		UnitCost:    r.UnitCost,
		Cost:        r.Cost,
		Balance:     r.Balance,
		Currency:    r.Currency,
		Operator:    r.Operator,
		Status:      r.Status,
		Attempts:    out.Attempts,
		StatusCode:  out.StatusCode,
		Raw:         raw,
	}
}

func (c *core) validate(e *sendEndpoint, call wire.Call) error {
	if _, problems := e.codec.Encode(call, c.settings.lenient); len(problems) > 0 {
		return invalid(e.name, problems)
	}
	return nil
}
