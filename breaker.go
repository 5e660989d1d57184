package messaging

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// BreakerPolicy is how long a client waits for its circuit breakers; see WithBreaker. A zero field has its default.
type BreakerPolicy struct {
	// GiveUp bounds how long SendAll and SMS.SendOnce wait: until the trouble has lasted for so long. The default is 10 minutes,
	// or one minute if the account is in trouble. Beyond it, every message but a probe ends NotSent.
	GiveUp time.Duration
	// NoWait ends a call at once that a breaker holds back, as NotSent, so that a program can take another way. Clients derived by With
	// share the breakers of the service: a second account that is to stand in for this one needs a NewClient of its own.
	NoWait bool
	// Off turns the breakers off for this client: it neither waits for them nor counts in them, and does not space requests.
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
	// Gap is the time that the client leaves between two messages because the service takes them only evenly spaced, or 0.
	Gap time.Duration
}

// Breaker returns the state of the circuit breaker for sending over a channel; see WithBreaker. Of two that are open, for the
// service and for the account, it returns the one whose pause ends later. A channel that does not exist has none.
func (c *Client) Breaker(channel Channel) BreakerState {
	if channel < ChannelSMS || channel >= channelCount || c.core.settings.breaker.Off {
		return BreakerState{}
	}
	var state BreakerState
	breakers := c.core.breakersOf(channel, false)
	for _, b := range []*transport.Breaker{breakers.Service, breakers.Account} {
		if t, open := b.Trouble(); open && (!state.Open || t.Until.After(state.Until)) {
			state = BreakerState{Open: true, Since: t.Since, Until: t.Until, Cause: t.Cause, Account: t.Account}
		}
	}
	state.Gap = breakers.Account.Gap()
	return state
}

// rooms are what calls wait for, by channel, for sends and for reads.
type rooms [channelCount][2]struct {
	breaker transport.Breaker
	places  transport.Places
}

// recipientOf returns who a message is for: a number or the ID of a user.
func recipientOf(call *wire.Call) string {
	return cmp.Or(textOf(call, "to"), textOf(call, "recipient"))
}

// breakersOf returns the breakers of an operation: that of the service, which all clients made by With share, and that of the
// credentials.
func (c *core) breakersOf(channel Channel, read bool) transport.Breakers {
	kind := 0
	if read {
		kind = 1
	}
	room := &c.rooms[channel][kind]
	b := transport.Breakers{Channel: uint8(channel)}
	if c.settings.ownBase() { // only its connections need them
		b.Places = &room.places
	}
	if c.settings.breaker.Off {
		return b
	}
	b.Service = &room.breaker
	if own := c.settings.credentialOf(channel); own != nil {
		b.Account = &own.rooms[channel][kind].breaker
	}
	return b
}

// addHealth adds to a judgement what a response that is no success says of the service. Only the service's own word is health.
func (e *endpoint) addHealth(j *transport.Judgement, err *Error) {
	status, hint := err.StatusCode, ""
	is := func(class error) bool { return slices.Contains(err.classes, class) }
	hasClass := len(err.classes) > 0 && !is(statusClass(status)) // by its code
	isUnknown := !err.read && err.Verdict == Unknown
	switch {
	case is(ErrUnauthorized), is(ErrInsufficientBalance), !hasClass && slices.Contains(ofAccounts, status):
		j.Health = transport.Refusing
		if e.tenants { // an Auth of the user may serve many accounts
			j.Health = transport.Healthy
			if isUnknown {
				j.Health = transport.Unheard
			}
			return
		}
	case j.Repeatable && !e.read: // provably not processed, so the service lives
		j.Health = transport.Throttling
	case is(ErrUnavailable) && hasClass:
		j.Health = transport.Failing
	case isUnknown && (hasClass && !is(ErrRateLimited) || err.ofMessage && status < 500):
		j.Health = transport.Unheard // the service says something of this message only
		return
	case status >= 500, status == http.StatusRequestTimeout:
		j.Health = transport.Failing
	case slices.Contains(e.throttled, status), is(ErrRateLimited):
		j.Health = transport.Throttling
		if isUnknown && err.page {
			hint = ", a page"
		}
	case isUnknown, err.read && (err.page || isSuccess(status) && j.Repeatable):
		j.Health, hint = transport.Failing, ", which the contract does not explain (WithContract)"
	case err.page:
		j.Health = transport.Unheard // of a gateway
		return
	default:
		return
	}
	text, class := fmt.Sprintf("HTTP %d", status), error(nil)
	if len(err.classes) > 0 {
		class = err.classes[0]
		text += ", " + className(class)
	}
	j.Cause = transport.NewError(text+hint, class)
}

// ofAccounts are the statuses that say something of the account, unless a code says otherwise.
var ofAccounts = []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden} //nolint:gochecknoglobals // never written

// settled counts a message as accepted by the service that a lookup found. Its send, which began at a time, had an unknown outcome.
func (c *core) settled(ctx context.Context, call wire.Call, began time.Time) {
	b := c.breakersOf(ChannelSMS, false)
	if b.Service == nil {
		return
	}
	if change := b.Service.Settled(recipientOf(&call), began); change != nil {
		c.breakerChanged(ctx, &transport.Request{Breakers: b}, *change)
	}
}

func (c *core) breakerChanged(ctx context.Context, r *transport.Request, change transport.Change) {
	if c.settings.logger == nil {
		return
	}
	attrs := []slog.Attr{
		slog.String("channel", Channel(r.Breakers.Channel).String()), slog.Bool("read", r.Read),
		slog.String("cause", transport.Describe(change.Cause)), slog.Bool("account", change.Account),
	}
	switch {
	case change.Opened:
		attrs = append(attrs, slog.Duration("pause", time.Until(change.Until).Round(time.Millisecond)))
		c.settings.logger.LogAttrs(ctx, slog.LevelWarn, "messaging: circuit breaker opened", attrs...)
	case change.Paced:
		c.settings.logger.LogAttrs(ctx, slog.LevelWarn, "messaging: messages are spaced evenly", attrs...)
	default:
		attrs = append(attrs, slog.Duration("open", time.Since(change.Since).Round(time.Millisecond)))
		c.settings.logger.LogAttrs(ctx, slog.LevelInfo, "messaging: circuit breaker closed", attrs...)
	}
}
