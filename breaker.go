package messaging

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// BreakerPolicy is how the circuit breakers of a client work; see WithBreaker. A zero field has its default.
type BreakerPolicy struct {
	// GiveUp bounds how long SendAll holds messages back without any success. The default is 10 minutes, or one minute if the account is
	// in trouble. Beyond it, every message but a probe ends NotSent.
	GiveUp time.Duration
	// Off turns the breakers off for this client: it neither asks them nor counts in them.
	Off bool
}

// BreakerState is what Client.Breaker returns. The zero value is a closed breaker.
type BreakerState struct {
	// Open reports whether messages are held back. It stays true while a probe is on its way.
	Open bool
	// Since is when the trouble began.
	Since time.Time
	// Until is when the next message goes out as a probe. It is in the past while a probe is on its way or no message waits.
	Until time.Time
	// Cause is what the service responded last, or how the connection failed. It matches the sentinel of its class, such as
	// ErrUnavailable, and holds nothing of a message.
	Cause error
	// Account reports whether the account is in trouble (credentials, credit), which waiting alone rarely mends.
	Account bool
}

// Breaker returns the state of the circuit breaker for sending over a channel; see WithBreaker. A channel that does not exist has none.
func (c *Client) Breaker(channel Channel) BreakerState {
	if channel < ChannelSMS || channel >= channelCount || c.core.settings.breaker.Off {
		return BreakerState{}
	}
	var state BreakerState
	calls := c.core.calls(channel, false)
	for _, b := range []*transport.Breaker{calls.service, calls.account} {
		if b == nil {
			continue
		}
		if t, open := b.Trouble(); open && !t.Until.Before(state.Until) {
			state = BreakerState{Open: true, Since: t.Since, Until: t.Until, Cause: t.Cause, Account: t.Account}
		}
	}
	return state
}

// kinds are the kinds of calls of a channel: sends and reads.
const kinds = 2

// An account is what the calls with one credential share, by channel and kind.
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

// calls is what the calls of one channel and kind share. A breaker is nil if it is off, and everything of the account if there are no
// credentials for the channel.
type calls struct {
	slots            *transport.Slots
	service, account *transport.Breaker
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

// recipientOf returns who a message is for: a number or the ID of a user.
func recipientOf(call *wire.Call) string {
	return cmp.Or(textOf(call, "to"), textOf(call, "recipient"))
}

// addHealth adds to a judgement what a response that is no success says of the service and of the account. err is the error of the call.
func (e *endpoint) addHealth(j *transport.Judgement, err *Error) {
	j.Health = e.health(j, err)
	if j.Health == transport.Healthy || j.Health == transport.Inconclusive {
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

// health returns what the response says. Refusals of one message, and of one request too many, are the service's own word, and so health.
func (e *endpoint) health(j *transport.Judgement, err *Error) transport.Health {
	if err.platform == platformRateOfRecipient {
		return transport.Inconclusive // it says something of this recipient only
	}
	if !err.isPage && e.refusesAccount(err) {
		if !e.tenants {
			return transport.Refusing
		}
		if err.Verdict == Unknown {
			return transport.Inconclusive
		}
		return transport.Healthy // an Auth of the user may serve many accounts
	}
	status := err.StatusCode
	isUnreadable := isSuccess(status) && j.Repeatable
	switch {
	case j.Repeatable && !e.read: // provably not processed, so the service lives
		return transport.Healthy
	case err.is(ErrUnavailable), status >= http.StatusInternalServerError, status == http.StatusRequestTimeout:
		return transport.Failing
	case e.read && (err.isPage || isUnreadable):
		return transport.Failing
	case !e.read && err.Verdict == Unknown:
		return transport.Failing
	default:
		return transport.Healthy
	}
}

// refusesAccount reports whether a response refuses the account, whatever the request: by a code of the contract, or else by its status.
func (e *endpoint) refusesAccount(err *Error) bool {
	if err.is(ErrUnauthorized) || err.is(ErrInsufficientBalance) {
		return true
	}
	if err.byCode {
		return false
	}
	switch err.StatusCode {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return true
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		return !e.read // a wrong path must not burn a campaign; a lookup may find nothing so
	default:
		return false
	}
}

// settled tells the breakers that the service lists a message whose send, which began at a time, had an unknown outcome.
func (c *core) settled(ctx context.Context, began time.Time) {
	calls := c.calls(ChannelSMS, false)
	for _, b := range []*transport.Breaker{calls.service, calls.account} {
		if b == nil {
			continue
		}
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
