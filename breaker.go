package messaging

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/internal/transport"
)

// BreakerPolicy controls the circuit breakers of a client; see WithBreaker. A zero field has its default. A breaker opens after 16
// failures in a row; that number is fixed.
type BreakerPolicy struct {
	// GiveUp bounds how long SendAll holds messages back without any success; WithBreaker rejects a negative one. The default is 10 minutes, or
	// one minute of trouble with the account. The time before SendAll began does not count. After GiveUp, messages between two probes end NotSent.
	GiveUp time.Duration
	// Off turns the breakers off for this client. Other clients that share them do not count its calls.
	Off bool
}

// BreakerState is the state of a circuit breaker; see Client.Breaker. The zero value is a closed breaker.
type BreakerState struct {
	// Open reports whether messages are held back. It stays true during a probe.
	Open bool
	// Since is when the breaker opened.
	Since time.Time
	// Until is when the next message goes out as a probe. It is in the past during a probe, and if no message waits.
	Until time.Time
	// Cause is the last response of the service, or how the connection failed. It matches the sentinel of its class, such as ErrUnavailable,
	// and holds nothing from a message.
	Cause error
	// Account reports whether the account is in trouble (credentials, credit), which waiting alone rarely fixes.
	Account bool
}

// Breaker returns the state of the circuit breakers for sends over a channel, of the service and of the account; see WithBreaker. If both are open,
// it is the state of the one whose pause ends later. For an unknown channel it is the zero BreakerState. It says the same for all clients that
// share the breakers.
func (c *Client) Breaker(channel Channel) BreakerState {
	if channel < ChannelSMS || channel >= channelCount || c.core.settings.breaker.Off {
		return BreakerState{}
	}
	var state BreakerState
	calls := c.core.calls(channel, false)
	for _, b := range calls.breakers() {
		if t, open := b.Trouble(); open && !t.Until.Before(state.Until) {
			state = BreakerState{Open: true, Since: t.Since, Until: t.Until, Cause: t.Cause, Account: t.Account}
		}
	}
	return state
}

// kinds are the kinds of calls of a channel: sends and reads.
const kinds = 2

// An account holds what the calls with one credential share, by channel and kind.
type account [channelCount][kinds]struct {
	slots   *transport.Slots
	breaker transport.Breaker
}

func newAccount() *account {
	a := new(account)
	for channel := range a {
		for kind := range a[channel] {
			a[channel][kind].slots = transport.NewSlots()
		}
	}
	return a
}

// serviceBreakers are the breakers that all clients of a service share, by channel and kind.
type serviceBreakers [channelCount][kinds]transport.Breaker

// calls holds what the calls of one channel and kind share. The breakers are nil if they are off. What belongs to the account is nil if the
// channel has no credentials.
type calls struct {
	slots            *transport.Slots
	service, account *transport.Breaker
}

// breakers returns the breakers that are on.
func (c calls) breakers() []*transport.Breaker {
	isOff := func(b *transport.Breaker) bool { return b == nil }
	return slices.DeleteFunc([]*transport.Breaker{c.service, c.account}, isOff)
}

func (c *core) calls(channel Channel, read bool) calls {
	kind := 0
	if read {
		kind = 1
	}
	var shared calls
	credential := c.settings.credentialOf(channel)
	if credential != nil {
		shared.slots = credential.account[channel][kind].slots
	}
	if c.settings.breaker.Off {
		return shared
	}
	shared.service = &c.breakers[channel][kind]
	if credential != nil {
		shared.account = &credential.account[channel][kind].breaker
	}
	return shared
}

// addHealth adds to a judgement what a response that is not a success says about the service and the account. err is the error of the call.
func (e *endpoint) addHealth(j *transport.Judgement, err *Error) {
	j.Health = e.health(j, err)
	if j.Health != transport.Failing && j.Health != transport.Refusing {
		return
	}
	text := fmt.Sprintf("HTTP %d", err.StatusCode)
	var class error
	if len(err.classes) > 0 {
		class = err.classes[0]
		text += ", " + className(class)
	}
	if err.isPage || isSuccess(err.StatusCode) {
		text += ", which the contract does not explain (WithContract)"
	}
	j.Cause = transport.NewError(text, class)
}

// health returns what the response says about the service and the account.
func (e *endpoint) health(j *transport.Judgement, err *Error) transport.Health {
	switch {
	case err.platform == platformRateOfRecipient:
		return transport.Inconclusive // it is about this recipient only
	case e.refusesAccount(err):
		return e.accountHealth(err)
	case e.read:
		return readHealth(j, err)
	default:
		return sendHealth(j, err)
	}
}

// accountHealth returns what a refusal of the account says. The function of WithAuth may serve many accounts, which must not stop each other.
func (e *endpoint) accountHealth(err *Error) transport.Health {
	isUnproven := !e.read && err.Verdict == Unknown // a read has no verdict
	switch {
	case !e.isMultiTenant:
		return transport.Refusing
	case isUnproven:
		return transport.Inconclusive
	default:
		return transport.Healthy
	}
}

// readHealth returns what a failed read says about the service.
func readHealth(j *transport.Judgement, err *Error) transport.Health {
	isUnreadable := isSuccess(err.StatusCode) && j.Repeatable // another attempt may get a response that can be read
	if isUnavailable(err) || err.isPage || isUnreadable {
		return transport.Failing
	}
	return transport.Healthy
}

// sendHealth returns what a failed send says about the service. A service that refuses one message, or one request too many, is healthy.
func sendHealth(j *transport.Judgement, err *Error) transport.Health {
	isProcessed := !j.Repeatable // otherwise the service itself responded, and proved that it processed nothing
	isInTrouble := isUnavailable(err) || err.Verdict == Unknown
	if isProcessed && isInTrouble {
		return transport.Failing
	}
	return transport.Healthy
}

// isUnavailable reports whether a response says that the service is in trouble.
func isUnavailable(err *Error) bool {
	status := err.StatusCode
	return err.hasClass(ErrUnavailable) || status >= http.StatusInternalServerError || status == http.StatusRequestTimeout
}

// refusesAccount reports whether a response refuses the account and not the request, by a code of the contract or, without one, by its status.
func (e *endpoint) refusesAccount(err *Error) bool {
	if err.isPage {
		return false
	}
	if err.hasClass(ErrUnauthorized) || err.hasClass(ErrInsufficientBalance) {
		return true
	}
	if err.byCode {
		return false
	}
	switch err.StatusCode {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return true
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		return !e.read // a wrong path must not fail a whole campaign; a lookup may find nothing
	default:
		return false
	}
}

// settled tells the breakers that the service lists a message whose send had an unknown outcome. The send began at the given time.
func (c *core) settled(ctx context.Context, began time.Time) {
	calls := c.calls(ChannelSMS, false)
	for _, b := range calls.breakers() {
		if change := b.Settled(began); change != nil {
			c.breakerChanged(ctx, &transport.Request{Channel: uint8(ChannelSMS)}, *change)
		}
	}
}

func (c *core) breakerChanged(ctx context.Context, r *transport.Request, change transport.Change) {
	if c.settings.logger == nil {
		return
	}
	attrs := []slog.Attr{
		slog.String("channel", Channel(r.Channel).String()), slog.Bool("read", r.Read),
		slog.String("cause", transport.Describe(change.Cause)), slog.Bool("account", change.Account),
	}
	if change.Opened {
		attrs = append(attrs, slog.Duration("pause", time.Until(change.Until).Round(time.Millisecond)))
		c.settings.logger.LogAttrs(ctx, slog.LevelWarn, "messaging: circuit breaker opened", attrs...)
	} else {
		attrs = append(attrs, slog.Duration("open", time.Since(change.Since).Round(time.Millisecond)))
		c.settings.logger.LogAttrs(ctx, slog.LevelInfo, "messaging: circuit breaker closed", attrs...)
	}
}
