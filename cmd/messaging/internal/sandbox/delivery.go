package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// maxDeliveries is how many deliveries are kept, counting each channel.
const maxDeliveries = 20_000

// maxAdvance is how far the clock can be ahead: every program can read the dates until then.
const maxAdvance = 10 * 365 * 24 * time.Hour

var (
	errChannel = errors.New("channel must be one of " + channelNames())
	errOutcome = errors.New("outcome must be one of " + strings.Join(outcomes(), ", "))
	errAdvance = errors.New("advance must be a duration above zero and up to 87600h, such as 10m")
	errClock   = errors.New("the clock is ten years ahead: reset everything to turn it back")
	errAfter   = errors.New("after is not for unreachable: such a message expires at the end of its lifetime")
)

// The outcomes of a delivery.
const (
	outcomeDelivered   = "delivered"
	outcomeRead        = "read"
	outcomeFailed      = "failed"
	outcomeUnreachable = "unreachable"
	outcomeLate        = "late"
	outcomeUnreported  = "unreported" // delivered, without a report
)

// outcomes returns all outcomes, in the order of the page.
func outcomes() []string {
	return []string{outcomeDelivered, outcomeRead, outcomeFailed, outcomeUnreachable, outcomeLate, outcomeUnreported}
}

// parseDuration parses a duration of a request; an absent one is zero.
func parseDuration(name, text string, longest time.Duration) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > longest {
		return 0, fmt.Errorf("%s must be a duration from 0s to %v, such as 10s", name, longest)
	}
	return d, nil
}

// deliveryBody sets the delivery of one message, or of all messages to a recipient from now on. An empty channel means all channels.
type deliveryBody struct {
	Channel string `json:"channel,omitempty"`
	To      string `json:"to,omitempty"`
	Message string `json:"message,omitempty"`
	Outcome string `json:"outcome"`
	After   string `json:"after,omitempty"` // when the outcome comes and is reported, by POST clock
	Code    string `json:"code,omitempty"`  // the error code in the report of a failure
}

// outcome returns the outcome for the service.
func (d deliveryBody) outcome() (messagingtest.Delivery, error) {
	after, err := parseDuration("after", d.After, maxAdvance)
	if err != nil {
		return messagingtest.Delivery{}, err
	}
	switch d.Outcome {
	case outcomeDelivered, outcomeUnreported:
		return messagingtest.DeliveryAfter(after), nil
	case outcomeRead:
		return messagingtest.DeliveryRead().After(after), nil
	case outcomeFailed:
		return messagingtest.DeliveryFailed().After(after), nil
	case outcomeUnreachable:
		if after > 0 {
			return messagingtest.Delivery{}, errAfter
		}
		return messagingtest.DeliveryUnreachable(), nil
	case outcomeLate:
		return messagingtest.DeliveryLate(cmp.Or(after, time.Minute)), nil
	}
	return messagingtest.Delivery{}, errOutcome
}

// checkCode validates the error code.
func (d deliveryBody) checkCode() error {
	switch {
	case d.Code == "":
		return nil
	case d.Outcome != outcomeFailed:
		return errors.New("code is for the outcome failed")
	case len(d.Code) > maxName:
		return errors.New("code is too long for an error code")
	}
	return nil
}

// deliveryKey identifies a recipient on a channel.
type deliveryKey struct {
	channel   string
	recipient string
}

// deliveryTo returns the delivery that is set for a recipient.
func (st *sandboxState) deliveryTo(channel string, recipient string) deliveryBody {
	key := deliveryKey{channel: channel, recipient: recipientKeyOf(recipient)}
	return cmp.Or(st.deliveries[key], deliveryBody{Outcome: outcomeDelivered})
}

// isUnreported reports whether the callback URL of a message is not called.
func (st *sandboxState) isUnreported(id string) bool {
	return st.messageDeliveries[id].Outcome == outcomeUnreported
}

func (s *Sandbox) postDelivery(_ *request, d deliveryBody) (any, error) {
	outcome, err := d.outcome()
	if err != nil {
		return nil, err
	}
	if err := d.checkCode(); err != nil {
		return nil, err
	}
	if (d.To == "") == (d.Message == "") {
		return nil, errors.New("either to or message must be set: a recipient, or the ID of a message")
	}
	st := s.lock()
	defer st.unlock()
	if d.Message != "" {
		if !s.service.SetMessageDelivery(d.Message, outcome) {
			return nil, errNoSuchMessage
		}
		st.messageDeliveries[d.Message] = d
		return empty(), nil
	}
	if err := st.setDelivery(d, outcome); err != nil {
		return nil, err
	}
	s.live.notify("")
	return empty(), nil
}

// setDelivery sets the delivery to a recipient. The service has one outcome for SMS and one for all other channels.
func (st *sandboxState) setDelivery(d deliveryBody, outcome messagingtest.Delivery) error {
	switch {
	case d.Channel != "" && channelName(d.Channel) == "":
		return errChannel
	case len(d.To) > maxName:
		return fmt.Errorf("to must be a recipient of up to %d bytes", maxName)
	}
	isSMS := d.Channel == channelSMS
	var keys []deliveryKey
	for _, channel := range channels() {
		if d.Channel == "" || isSMS == (channel == channelSMS) {
			keys = append(keys, deliveryKey{channel: channel, recipient: recipientKeyOf(d.To)})
		}
	}
	if len(st.deliveries) >= maxDeliveries && slices.ContainsFunc(keys, st.hasNoDelivery) {
		return fmt.Errorf("%d deliveries are set already: reset everything to remove them", maxDeliveries)
	}
	for _, key := range keys {
		st.deliveries[key] = d
	}
	if !isSMS {
		st.service.SetDelivery(d.To, outcome)
	}
	return nil
}

// hasNoDelivery reports whether no delivery is set for a recipient.
func (st *sandboxState) hasNoDelivery(key deliveryKey) bool {
	_, isSet := st.deliveries[key]
	return !isSet
}

type clockBody struct {
	Advance string `json:"advance"`
}

func (s *Sandbox) postClock(_ *request, body clockBody) (any, error) {
	d, err := time.ParseDuration(body.Advance)
	if err != nil || d <= 0 || d > maxAdvance {
		return nil, errAdvance
	}
	st := s.lock()
	defer st.unlock()
	if st.advanced+d > maxAdvance {
		return nil, errClock
	}
	st.advanced += d
	s.service.Advance(d)
	s.live.notify("")
	return st.maskedSettings(), nil
}

// defaultTTL is the lifetime of a message without one.
const defaultTTL = 24 * time.Hour

// lifetimeLeft returns how much of a message's lifetime is left on the clock.
func (st *sandboxState) lifetimeLeft(e *entry) time.Duration {
	age := st.advanced - e.acceptedAt
	return cmp.Or(e.Sent.TTL, defaultTTL) - age
}
