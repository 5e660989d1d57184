package messaging

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/setting"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/transport"
)

// An Option configures a client. If two options set the same property, the last one wins; but each WithGuard, WithObserver and WithTransport adds
// to those before it. Otherwise the order does not matter. NewClient and With report all bad options, such as nil, in one *ValidationError. An
// Option may be used for many clients.
type Option func(*settings)

type settings struct {
	credentials  [channelCount]*credential // by channel; 0 is for channels without their own
	httpClient   *http.Client              // a copy of the user's, or nil
	wrap         *wrapper                  // the functions of WithTransport, or nil
	guards       []func(context.Context, Outgoing) error
	observers    *[]Observer   // behind a pointer so that package fmt does not print what they hold
	timeout      time.Duration // 0 if no option set it
	retry        RetryPolicy
	breaker      BreakerPolicy
	settle       *SettlePolicy // nil if no option set it
	limit        *transport.Limiter
	contract     contract.Contract
	contractFrom string            // the option or environment variable that set it, for problems
	contractErr  error             // why the contract in the environment cannot be used
	variables    map[string]string // of the contract's paths
	logger       *slog.Logger
	plainHTTP    bool
	lenient      bool
	fromEnv      bool // problems name environment variables

	problems setting.ProblemsError
}

// wrapper wraps a round tripper. It returns nil if it is given nil.
type wrapper func(http.RoundTripper) http.RoundTripper

const (
	defaultTimeout   = 30 * time.Second
	maxResponseBytes = 8 << 20 // some thousand rows of a listing
)

// RetryPolicy controls retries. It never makes a client retry a send that the service may have processed. A zero field has its default. WithRetry
// rejects a negative field, and a MinWait above MaxWait.
type RetryPolicy struct {
	// MaxAttempts is the number of requests that one call may make, 4 by default. With 1 a call makes one attempt and never backs off, not
	// even for an open circuit breaker. The retry with a fresh token after HTTP 401 does not count.
	MaxAttempts int
	// MinWait starts the back-off between attempts, 200 ms by default. The n-th back-off is a random time up to MinWait·2ⁿ⁻¹. It is at least as
	// long as Retry-After asks, or as an open circuit breaker blocks the call.
	MinWait time.Duration
	// MaxWait bounds all waits of a call together, 60 s by default: for back-offs, for the rate limit and for a connection. If a wait would
	// take longer, or leave no time for a response before the deadline of the context, the call ends at once, and Retryable returns the wait.
	// SendAll waits longer; see WithBreaker.
	MaxWait time.Duration
}

// SettlePolicy controls how SMS.SendOnce, SMS.Settle, and SMS.SendAll with WithSettle, look up a message whose outcome is unknown. None of them
// sends a message again because it is not listed. A zero field has its default. WithSettle rejects a negative one.
type SettlePolicy struct {
	// Window is how long to look, from the moment when the outcome became unknown, or from since of SMS.Settle; 30 s by default. It should be
	// longer than the service takes to list a message that it accepted; the specification does not say how long that is.
	Window time.Duration
	// Interval is the time between two lookups, 2 s by default.
	Interval time.Duration
}

func (s *settings) credentialOf(channel Channel) *credential {
	return cmp.Or(s.credentials[channel], s.credentials[0])
}

func (s *settings) reject(option, format string, args ...any) {
	s.problems = append(s.problems, setting.Problem{Setting: option, Reason: fmt.Sprintf(format, args...)})
}

// require rejects an option unless it is valid, and reports whether it is.
func (s *settings) require(isValid bool, option, format string, args ...any) bool {
	if !isValid {
		s.reject(option, format, args...)
	}
	return isValid
}

// checkSecret checks a value for a header or a body, without repeating it. name is "a token" and the like.
func (s *settings) checkSecret(option, name, value string) {
	switch {
	case value == "":
		s.reject(option, "needs %s, got an empty one", name)
	case strings.TrimSpace(value) != value:
		s.reject(option, "got %s with white space around it", name)
	case !utf8.ValidString(value) || !transport.ValidHeader("Authorization", value):
		s.reject(option, "got %s with characters that no header may hold", name)
	}
}

// WithToken authenticates with a token in the Authorization header. The token is given without the scheme word ("Bearer" by
// default), which the contract adds.
func WithToken(token string) Option { return withToken(token, "WithToken") }

// withToken is WithToken. from is the option or environment variable that errors name.
func withToken(token, from string) Option {
	return func(s *settings) {
		s.checkSecret(from, "a token", token)
		s.credentials[0] = tokenCredential(token, from)
	}
}

// WithTokenSource authenticates with tokens from a function, for tokens that expire. A token is refreshed shortly before its Expiry (a tenth of
// its life, at most a minute), once for all calls that wait. If the service responds with HTTP 401, the token is dropped and the call is retried
// once with a fresh one.
//
// The function is called in the goroutine of a call, with a context that ends with that call or after the client's timeout. If it returns an
// error or an empty token, the old token is used for as long as it is valid. Without one the call ends, and the verdict is NotSent, or Refused
// after HTTP 401. SendAll tries its messages again until no token could be had for MaxWait of the RetryPolicy. They then end not sent, until a
// token can be had again.
func WithTokenSource(source func(ctx context.Context) (Token, error)) Option {
	return func(s *settings) {
		s.require(source != nil, "WithTokenSource", "needs a function, got nil")
		s.credentials[0] = sourceCredential(source)
	}
}

// WithAPIKey authenticates with a key and its secret. The secret is "" if the contract has none (auth.keyPair.secret). By default they go into
// the body of a send. A read by GET has no body: unless a contract says where they go (auth.keyPair.in: "header", "basic" or "query"), List,
// Find and SendOnce return a *ValidationError before they send anything, and Settle cannot look anything up.
func WithAPIKey(key, secret string) Option {
	return withAPIKey(apiKey{key: key, secret: secret, keyFrom: "WithAPIKey", secretFrom: "WithAPIKey"})
}

func withAPIKey(k apiKey) Option {
	return func(s *settings) {
		s.checkSecret(k.keyFrom, "a key", k.key)
		if k.secret != "" {
			s.checkSecret(k.secretFrom, "a secret", k.secret)
		}
		s.credentials[0] = keyCredential(k)
	}
}

// WithBasicAuth authenticates by HTTP Basic authentication. The user must not contain a colon. Channels are those of WithAuth.
func WithBasicAuth(user, password string, channels ...Channel) Option {
	return func(s *settings) {
		s.checkSecret("WithBasicAuth", "a user", user)
		s.checkSecret("WithBasicAuth", "a password", password)
		s.require(!strings.Contains(user, ":"), "WithBasicAuth", "got a user with a colon, which HTTP Basic authentication cannot carry")
		s.setCredential("WithBasicAuth", basicCredential(user, password), channels)
	}
}

// WithAuth authenticates with a function, for a signature or anything else that a contract cannot describe. If channels are given, it
// applies to those only; otherwise to every channel without credentials of its own.
//
// The function is called for each attempt, with the finished request, from many goroutines at once. It may set headers, add to the query and
// replace the body; GetBody returns the body to sign. Scheme, host and method must stay the same, because credentials go to the base URL
// only. An error ends the call with the verdict NotSent. The context of the request ends after the client's timeout (WithTimeout); a
// function that ignores it delays its own call and no other.
//
// The function may serve many accounts, so a refusal of one opens no circuit breaker; see WithBreaker.
func WithAuth(authenticate func(r *http.Request) error, channels ...Channel) Option {
	return func(s *settings) {
		s.require(authenticate != nil, "WithAuth", "needs a function, got nil")
		s.setCredential("WithAuth", customCredential(authenticate), channels)
	}
}

// setCredential sets the credential of channels or, if there are none, of every channel without one of its own.
func (s *settings) setCredential(option string, c *credential, channels []Channel) {
	if len(channels) == 0 {
		s.credentials[0] = c
	}
	for _, channel := range channels {
		isChannel := channel >= ChannelSMS && channel < channelCount
		if s.require(isChannel, option, "got %v; want one of ChannelSMS and the constants after it", channel) {
			s.credentials[channel] = c
		}
	}
}

// WithHTTPClient sends through the given client: its Transport (or, if that is nil, the library's own), its Jar, and its Timeout for each attempt
// unless WithTimeout is given. The client is copied and never changed, and its idle connections are never closed. Redirects are not followed,
// even with a CheckRedirect.
//
// To add something to requests, use WithTransport. A Transport given here replaces the library's transport, and with it the left column:
//
//	                            the library's own transport         a Transport of yours
//	HTTP version                HTTP/1.1                            its own. Over HTTP/2 a server that restarts leaves
//	                                                                sends in doubt, and their outcome is unknown
//	idle connections            dropped after 4 s, before services  IdleConnTimeout, without end by default: a request that
//	                            drop them                           meets a closing connection has an unknown outcome
//	connections                 up to 256 for each account,         MaxConnsPerHost, MaxIdleConnsPerHost: without bound in
//	                            channel and kind, sends and reads   use, two idle by default
//	connecting, proxy and TLS   10 s together                       Dialer, TLSHandshakeTimeout
//	header of a response        64 KiB                              MaxResponseHeaderBytes, 10 MiB by default
//	a send without a body       Content-Length: 0                   Transfer-Encoding: chunked
//	evidence of what was        always                              if it runs the hooks of net/http/httptrace, as
//	written                                                         *http.Transport does; otherwise any failure but one
//	                                                                of a dial has an unknown outcome
//	requests that net/http      none that changes anything          none, but a Transport that retries by itself breaks
//	repeats by itself                                               the promise that nothing is sent twice
func WithHTTPClient(client *http.Client) Option {
	return func(s *settings) {
		if client == nil {
			s.reject("WithHTTPClient", "needs a client, got nil")
			return
		}
		s.require(client.Timeout >= 0, "WithHTTPClient", "has a Timeout of %v; want 0 or more", client.Timeout)
		copied := *client
		s.httpClient = &copied
	}
}

// WithTransport wraps the transport of the client, to count or sign requests: the library's own, which keeps its properties, or that of
// WithHTTPClient. Given more than once, each wraps the result of the one before it. To trace, use WithObserver: a wrapper sees whole requests,
// whose queries can hold credentials, numbers and texts.
//
// The function is called when a client is created, and must not return nil. The round tripper that it returns is called once for each attempt,
// from many goroutines at once. It must pass the request on at most once, with its context; a round tripper that retries can send twice. If it
// fails a request without passing it on, the outcome is unknown.
func WithTransport(wrap func(base http.RoundTripper) http.RoundTripper) Option {
	return func(s *settings) {
		s.require(wrap != nil, "WithTransport", "needs a function, got nil")
		inner := s.wrap
		both := wrapper(func(base http.RoundTripper) http.RoundTripper {
			if inner != nil {
				base = (*inner)(base)
			}
			if base == nil {
				return nil
			}
			return wrap(base)
		})
		s.wrap = &both
	}
}

// WithTimeout bounds one attempt, from connecting to the end of the response. It must be more than 0; without the option it is 30 s. The functions
// of WithTokenSource and WithAuth run before the attempt, and have as much time of their own. The context of a call bounds all of its attempts and
// waits together; see RetryPolicy.
func WithTimeout(timeout time.Duration) Option {
	return func(s *settings) {
		s.require(timeout > 0, "WithTimeout", "must be more than 0, got %v", timeout)
		s.timeout = timeout
	}
}

// WithRetry sets how often and how soon a call is retried. It replaces the whole policy: a zero field has its default again.
func WithRetry(policy RetryPolicy) Option {
	return func(s *settings) {
		minWait, maxWait := policy.MinWait, policy.MaxWait
		s.require(policy.MaxAttempts >= 0, "WithRetry", "MaxAttempts must be 1 or more, or 0 for the default, got %d", policy.MaxAttempts)
		s.require(minWait >= 0 && maxWait >= 0, "WithRetry", "MinWait and MaxWait must not be negative, got %v and %v", minWait, maxWait)
		s.require(minWait <= maxWait || maxWait <= 0, "WithRetry", "MinWait must not be more than MaxWait, got %v and %v", minWait, maxWait)
		s.retry = policy
	}
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	p.MaxAttempts = cmp.Or(p.MaxAttempts, 4)
	p.MaxWait = cmp.Or(p.MaxWait, max(time.Minute, p.MinWait))
	p.MinWait = cmp.Or(p.MinWait, min(200*time.Millisecond, p.MaxWait))
	return p
}

// WithRateLimit limits requests to perSecond on average, more than 0, and burst at once, at least 1. Retries and lookups count. Calls get their
// turns in the order in which they came. If a turn comes too late, for MaxWait of the RetryPolicy or for a response before the deadline of the
// context, the call ends at once with the verdict NotSent and gives the turn back; Retryable returns the wait. Clients derived by With share the
// limit. By default there is no limit.
func WithRateLimit(perSecond float64, burst int) Option {
	return func(s *settings) {
		s.require(perSecond > 0 && !math.IsInf(perSecond, 1), "WithRateLimit", "must be more than 0 requests per second, got %v", perSecond)
		s.require(burst >= 1, "WithRateLimit", "want a burst of 1 or more, got %d", burst)
		s.limit = transport.NewLimiter(perSecond, burst)
	}
}

// WithBreaker sets how long SendAll waits for the circuit breakers, or turns them off. They are on by default, so that a service in trouble costs
// a few messages and not all that are sent meanwhile.
//
// A channel has two breakers for sends, one of the service and one of the account, and two for reads. Client.Breaker returns the state of those for
// sends. Those for reads appear in the errors of reads and in the records of WithLogger. The breaker of the account counts HTTP 401, 402 and 403,
// for sends also 404, 405 and 410, and codes of the classes for credentials and credit. The breaker of the service counts HTTP 5xx and 408,
// failed and broken connections, timeouts, and other unknown outcomes.
//
// A breaker opens after 16 failures in a row, which cannot be set. A response that refuses one message ends the row. Then probes go out, 1 to 30
// seconds apart or as Retry-After asks, and the first success closes the breaker.
//
// A call that meets an open breaker backs off until the end of the pause, if the RetryPolicy and its context allow that. Otherwise, or if
// MaxAttempts is 1, it fails at once with the verdict NotSent. The error matches ErrBreakerOpen, and has the cause and RetryAfter. SendAll waits
// until its context or GiveUp ends. The first call after a pause is the probe.
//
// Only responses in the service's format count as healthy. A stub or a proxy whose responses the contract does not explain opens the breaker,
// and the error then names the contract.
//
// Clients derived by With share the breakers of the service, and those of the account unless they were given credentials. Each WithToken (or
// similar) option creates new breakers of the account, even if the token is unchanged, so keep the client of an account. The function of WithAuth
// may serve many accounts, so refusals of the account open no breaker.
func WithBreaker(policy BreakerPolicy) Option {
	return func(s *settings) {
		s.require(policy.GiveUp >= 0, "WithBreaker", "GiveUp must not be negative, got %v", policy.GiveUp)
		s.breaker = policy
	}
}

// WithSettle sets how an unknown outcome is settled by lookups. Without it, SMS.SendOnce and SMS.Settle use the default policy, and
// SMS.SendAll does not settle. Lookups count towards the rate limit. The contract must have a reference ID for sending and for listing.
func WithSettle(policy SettlePolicy) Option {
	return func(s *settings) {
		window, interval := policy.Window, policy.Interval
		s.require(window >= 0 && interval >= 0, "WithSettle", "Window and Interval must not be negative, got %v and %v", window, interval)
		s.settle = &policy
	}
}

// settlePolicy returns the policy of WithSettle, or the default.
func (s *settings) settlePolicy() SettlePolicy {
	return cmp.Or(s.settle, new(SettlePolicy)).withDefaults()
}

func (p SettlePolicy) withDefaults() SettlePolicy {
	p.Window = cmp.Or(p.Window, 30*time.Second)
	p.Interval = cmp.Or(p.Interval, 2*time.Second)
	return p
}

// WithContract sets the wire names of the account; see package contract. Names that one request cannot hold together, such as one name for
// two fields, are a ValidationError of NewClient.
func WithContract(names contract.Contract) Option { return withContract(names, "WithContract") }

func withContract(names contract.Contract, from string) Option {
	return func(s *settings) {
		s.contract = names
		s.contractFrom = from
	}
}

// WithVariable sets a variable of the contract's paths, such as account in /accounts/{account}/messages. The value is escaped, as one segment or
// a part of it. A client needs each variable of its contract. NewClientFromEnv reads a variable that no option sets from the environment, such
// as MESSAGING_VAR_ACCOUNT. Errors may show the path, so a value must not be a credential.
func WithVariable(name, value string) Option { return withVariable(name, value, "WithVariable") }

func withVariable(name, value, from string) Option {
	return func(s *settings) {
		if reason := table.VariableFault(value); reason != "" {
			s.reject(from, "the value of {%s} %s", name, reason)
		}
		s.variables = maps.Clone(s.variables)
		if s.variables == nil {
			s.variables = map[string]string{}
		}
		s.variables[name] = value
	}
}

// WithLenientLimits skips the checks of limits that the platform behind chat app 2 documents: lengths, counts, ranges, formats and sets of words
// (Problem.Limit). The platform changes these limits, and the service has the last word. Required fields are always checked.
func WithLenientLimits() Option { return func(s *settings) { s.lenient = true } }

// WithLogger logs each attempt (debug), each unknown outcome (warning), and each circuit breaker that opens (warning) or closes (info), with its
// channel and whether it is for reads. It also logs where the ID of a message was found by its name (info), and a lookup that finds several
// messages (warning). A record has the text of the error, the status and the duration. It holds no token, number, text, query, header or body.
// Nothing is logged by default.
func WithLogger(logger *slog.Logger) Option {
	return func(s *settings) {
		s.require(logger != nil, "WithLogger", "needs a logger, got nil")
		s.logger = logger
	}
}

// WithObserver adds an observer, for traces and metrics. Several observers begin a step in the order of the options, each with the context of the
// one before it, and end it in reverse.
func WithObserver(observer Observer) Option {
	return func(s *settings) {
		s.require(observer != nil, "WithObserver", "needs an observer, got nil")
		all := []Observer{observer}
		if s.observers != nil {
			all = slices.Concat(*s.observers, all)
		}
		s.observers = &all
	}
}

// WithPlainHTTP allows a base URL with the scheme http for a host that is not loopback. Credentials, numbers and texts then
// travel in the clear: use it only on a network that is itself encrypted.
func WithPlainHTTP() Option { return func(s *settings) { s.plainHTTP = true } }
