package messaging

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/time/rate"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Option sets one thing of a client. Where two set the same, the last wins; else their order does not matter. An option
// that makes no sense is refused by NewClient and With, all of them in one *ValidationError. An Option may be used for
// many clients.
type Option func(*settings)

// settings is what the options fill. It is copied for a derived client.
type settings struct {
	credentials [ChannelChatApp2 + 1]credential // by channel; 0 is that of every channel without its own
	base        http.RoundTripper
	ownBase     bool // whether base is this package's own
	jar         http.CookieJar
	timeout     time.Duration // 0 while no option set it
	inherited   time.Duration // the timeout of the user's http.Client
	retry       RetryPolicy
	settle      *SettlePolicy // nil while no option set it
	limiter     *rate.Limiter
	contract    contract.Contract
	maxAnswer   int64
	logger      *slog.Logger
	userAgent   string
	plainHTTP   bool
	lenient     bool

	problems []wire.Problem
}

const (
	// defaultTimeout is how long one attempt may take.
	defaultTimeout = 30 * time.Second
	// defaultMaxAnswer is some thousand rows of a listing.
	defaultMaxAnswer = 8 << 20
)

// RetryPolicy says how often and how soon a call is repeated. It never makes a send be repeated that the service may
// have processed. A zero field takes its default.
type RetryPolicy struct {
	// MaxAttempts is how many requests one call may make, 4 by default; 1 means that nothing is repeated. The repeat with
	// a fresh token after an HTTP 401 comes on top.
	MaxAttempts int
	// MinWait and MaxWait bound the waits between attempts, 200 ms and 60 s by default. The n-th wait is a random time up
	// to MinWait·2ⁿ⁻¹ and up to MaxWait, and at least as long as a Retry-After asks for; one that asks for more than
	// MaxWait, or for more than the context leaves, ends the call at once.
	MinWait time.Duration
	MaxWait time.Duration
}

// SettlePolicy says how SMS.SendOnce, and SMS.SendAll where WithSettle was given, find out what became of a message whose
// outcome is unknown: they look it up by its reference ID. A zero field takes its default.
type SettlePolicy struct {
	// Window is how long to keep looking, from the moment when the outcome became unknown; 30 s by default. It should be
	// longer than the service takes to list a message that it has accepted, which the specification does not say.
	Window time.Duration
	// Interval is the time between two look-ups, 2 s by default.
	Interval time.Duration
	// Resend allows sending the message once more when it was not listed until the end of the window. False by default,
	// because a message that is listed later than that has then been sent twice. So has every message whose outcome was
	// unknown, if the service ignores the reference ID or lists it elsewhere than the contract says: before setting Resend,
	// send one message and Find it.
	Resend bool
}

func (s *settings) refuse(option, format string, args ...any) {
	s.problems = append(s.problems, wire.Problem{Field: option, Reason: fmt.Sprintf(format, args...)})
}

// secret checks what goes into a header or a body as credentials, without repeating it.
func (s *settings) secret(option, what, value string) {
	switch {
	case value == "":
		s.refuse(option, "needs %s, got an empty one", what)
	case strings.TrimSpace(value) != value:
		s.refuse(option, "got %s with white space around it", what)
	case !utf8.ValidString(value) || !transport.ValidHeader("Authorization", value):
		s.refuse(option, "got %s with characters that no header may hold", what)
	}
}

// WithToken authenticates with a token that the service issued, in the Authorization header as the specification says.
// Give it without
// the scheme word before it: Bearer is a default of the contract (auth.token.scheme) and may be changed or empty.
func WithToken(token string) Option {
	return func(s *settings) {
		s.secret("WithToken", "a token", token)
		s.credentials[0] = tokenCredential(token)
	}
}

// WithTokenSource authenticates with tokens that a function issues, for tokens that expire. A token is kept until shortly
// before its Expiry (a tenth of its life, at most a minute), and fetched once for however many calls wait. When
// the service answers HTTP 401 the token is dropped and the call repeated once with a fresh one.
//
// The function is called from the goroutine of a call, with a context that ends with that call's attempt. An error
// from it, or an empty token, ends the call with the verdict NotSent.
func WithTokenSource(source func(ctx context.Context) (Token, error)) Option {
	return func(s *settings) {
		if source == nil {
			s.refuse("WithTokenSource", "needs a function, got nil")
			return
		}
		s.credentials[0] = sourceCredential(source)
	}
}

// WithAPIKey authenticates with a key and its secret. Where they stand in a request is a default of the contract
// (auth.keyPair): as apiKey and apiSecret in the body of a send and in the query of a listing, where proxies and servers may
// log them. A contract can put them into headers instead ("in": "header" or "basic").
func WithAPIKey(key, secret string) Option {
	return func(s *settings) {
		s.secret("WithAPIKey", "a key", key)
		s.secret("WithAPIKey", "a secret", secret)
		s.credentials[0] = keyCredential(key, secret)
	}
}

// WithAuth authenticates by other means: Basic, an AuthFunc, or a type of your own. With channels it is for these only,
// and the other credentials serve the rest; without, for all that have none of their own.
func WithAuth(auth Auth, channels ...Channel) Option {
	return func(s *settings) {
		if f, ok := auth.(AuthFunc); auth == nil || ok && f == nil {
			s.refuse("WithAuth", "needs an Auth, got nil")
			return
		}
		if b, ok := auth.(basic); ok {
			user, password := b()
			s.secret("Basic", "a user", user)
			s.secret("Basic", "a password", password)
			if strings.Contains(user, ":") {
				s.refuse("Basic", "got a user with a colon, which HTTP Basic authentication cannot carry")
			}
		}
		if len(channels) == 0 {
			s.credentials[0] = authCredential(auth)
		}
		for _, channel := range channels {
			if channel < ChannelSMS || channel > ChannelChatApp2 {
				s.refuse("WithAuth", "got %v; the channels are ChannelSMS, ChannelChatApp1, ChannelChatApp2", channel)
				continue
			}
			s.credentials[channel] = authCredential(auth)
		}
	}
}

// WithHTTPClient sends through the given client: its Transport (one of this package's own where that is nil), its
// Jar, and its Timeout for each attempt where WithTimeout is absent. The client is copied, never changed, and its idle
// connections are never closed. Redirects are not followed, whatever its CheckRedirect says.
//
// A Transport should keep more idle connections per host than net/http's two, and drop them before the service does: a
// request that meets a closing connection has an unknown outcome. One that repeats requests by itself breaks the promise
// that nothing is sent twice.
func WithHTTPClient(client *http.Client) Option {
	return func(s *settings) {
		if client == nil {
			s.refuse("WithHTTPClient", "needs a client, got nil")
			return
		}
		if client.Timeout < 0 {
			s.refuse("WithHTTPClient", "has a Timeout of %v; want 0 or more", client.Timeout)
		}
		s.base, s.jar, s.inherited = client.Transport, client.Jar, client.Timeout
		s.ownBase = false
	}
}

// WithTimeout bounds one attempt, from waiting for a connection to the end of the answer: 30 s by default. The context of
// a call bounds all of its attempts together.
func WithTimeout(timeout time.Duration) Option {
	return func(s *settings) {
		if timeout <= 0 {
			s.refuse("WithTimeout", "must be more than 0, got %v", timeout)
		}
		s.timeout = timeout
	}
}

// WithRetry sets how often and how soon a call is repeated.
func WithRetry(policy RetryPolicy) Option {
	return func(s *settings) {
		if policy.MaxAttempts < 0 {
			s.refuse("WithRetry", "MaxAttempts must be 1 or more, or 0 for the default, got %d", policy.MaxAttempts)
		}
		if policy.MinWait < 0 || policy.MaxWait < 0 {
			s.refuse("WithRetry", "MinWait and MaxWait must not be negative, got %v and %v", policy.MinWait, policy.MaxWait)
		}
		if policy.MinWait > policy.MaxWait && policy.MaxWait > 0 {
			s.refuse("WithRetry", "MinWait must not be more than MaxWait, got %v and %v", policy.MinWait, policy.MaxWait)
		}
		s.retry = policy
	}
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	if p.MaxAttempts == 0 {
		p.MaxAttempts = 4
	}
	if p.MaxWait == 0 {
		p.MaxWait = max(time.Minute, p.MinWait)
	}
	if p.MinWait == 0 {
		p.MinWait = min(200*time.Millisecond, p.MaxWait)
	}
	return p
}

// WithRateLimit lets perSecond requests leave in a second on average, and burst at once; repeated attempts and look-ups count.
// A call waits for its turn as long as its context allows, and ends with the verdict NotSent where that is too short. Clients
// derived by With share the limit. Without the option there is none.
func WithRateLimit(perSecond float64, burst int) Option {
	return func(s *settings) {
		if !(perSecond > 0) || math.IsInf(perSecond, 1) {
			s.refuse("WithRateLimit", "perSecond must be a number more than 0, got %v", perSecond)
		}
		if burst < 1 {
			s.refuse("WithRateLimit", "burst must be 1 or more, got %d", burst)
		}
		s.limiter = rate.NewLimiter(rate.Limit(perSecond), burst)
	}
}

// WithSettle sets how an unknown outcome is settled by look-ups. SMS.SendOnce settles by the default policy without it;
// SMS.SendAll settles only with it, and each message that it settles holds a worker for up to the Window. Look-ups count
// towards the rate limit. A contract without a reference ID for sending or listing is refused.
func WithSettle(policy SettlePolicy) Option {
	return func(s *settings) {
		if policy.Window < 0 || policy.Interval < 0 {
			s.refuse("WithSettle", "Window and Interval must not be negative, got %v and %v", policy.Window, policy.Interval)
		}
		s.settle = &policy
	}
}

func (p SettlePolicy) withDefaults() SettlePolicy {
	if p.Window == 0 {
		p.Window = 30 * time.Second
	}
	if p.Interval == 0 {
		p.Interval = 2 * time.Second
	}
	return p
}

// WithContract sets the wire names that differ from the defaults; see package contract. The client keeps a copy.
func WithContract(wire contract.Contract) Option {
	return func(s *settings) {
		if err := wire.Validate(); err != nil {
			s.refuse("WithContract", "%v", err)
			return
		}
		s.contract = wire.Clone()
	}
}

// WithLenientLimits lets messages pass that break only limits which the platform behind chat app 2 documents: lengths,
// counts, ranges, formats and sets of words (Problem.Limit). Those move, and the service decides in the end. What a message
// cannot be without is checked all the same, and so is everything that this library itself needs.
func WithLenientLimits() Option { return func(s *settings) { s.lenient = true } }

// WithMaxAnswer sets how many bytes of a successful answer are read, 8 MiB by default. The answer to a send that is larger
// leaves its outcome unknown. Of an answer that is an error, at most 64 KiB are kept.
func WithMaxAnswer(bytes int64) Option {
	return func(s *settings) {
		if bytes < 1 {
			s.refuse("WithMaxAnswer", "must be 1 byte or more, got %d", bytes)
		}
		s.maxAnswer = bytes
	}
}

// WithLogger logs each attempt at debug level, and each unknown outcome as a warning: operation, attempt, status, duration
// and what went wrong; no token, number, text, query, header or body. Without the option nothing is logged.
func WithLogger(logger *slog.Logger) Option {
	return func(s *settings) {
		if logger == nil {
			s.refuse("WithLogger", "needs a logger, got nil")
		}
		s.logger = logger
	}
}

// WithUserAgent sets the User-Agent header, "messaging-go/" and the version by default.
func WithUserAgent(userAgent string) Option {
	return func(s *settings) {
		s.secret("WithUserAgent", "a name", userAgent)
		s.userAgent = userAgent
	}
}

// WithPlainHTTP allows a base URL that begins with http:// for a host that is not loopback. Credentials, numbers and
// texts then travel in the clear: for a network that is encrypted below, and for nothing else.
func WithPlainHTTP() Option {
	return func(s *settings) { s.plainHTTP = true }
}
