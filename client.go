package messaging

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Version is the version of this library, as in the User-Agent header. It ends in "-dev" where no version was released.
const Version = "0.1.0-dev"

// Client sends messages. NewClient makes one. It never changes and is safe for concurrent use: make one and share it. The zero
// Client is not usable. A Client runs no goroutine and needs no closing.
//
// It uses up to 256 connections of its own for each channel and kind: sends, and reads. An idle connection is kept for four seconds. A dial
// in progress when its call ends may continue for up to 10 seconds. Nothing else outlives a call.
//
// Printed or logged in any form it shows its base URL and no credentials.
type Client struct {
	// SMS sends SMS and reads them back.
	SMS *SMSService
	// ChatApp1 sends over chat app 1.
	ChatApp1 *ChatApp1Service
	// ChatApp2 sends over chat app 2.
	ChatApp2 *ChatApp2Service

	core *core
}

// Channel is a part of the service that may have credentials of its own. The zero value is no channel: it stands for the account, whose
// operations use the credentials of all channels.
type Channel uint8

// The channels. The specification describes the credentials of SMS only; the chat apps use the same unless WithAuth says
// otherwise.
const (
	ChannelSMS Channel = iota + 1
	ChannelChatApp1
	ChannelChatApp2
	channelCount = iota + 1 // with the zero Channel
)

// String returns the channel's name as in the contract, such as "sms". The zero value is "account".
func (c Channel) String() string {
	switch {
	case c == 0:
		return "account"
	case c >= channelCount:
		return fmt.Sprintf("channel %d", uint8(c))
	default:
		return table.Channels()[c-1].Name
	}
}

// NewClient returns a client for the service at baseURL, such as "https://api.example.com". A path in the URL is kept before the
// service's own paths.
//
// The URL must be absolute and https; plain http is accepted for a loopback host, and for other hosts with WithPlainHTTP.
// Credentials are required: WithToken, WithTokenSource, WithAPIKey or WithAuth. All problems are reported in one
// *ValidationError. NewClient does no I/O.
func NewClient(baseURL string, options ...Option) (*Client, error) {
	return newClient(baseURL, false, options)
}

func newClient(baseURL string, fromEnv bool, options []Option) (*Client, error) {
	s := settings{fromEnv: fromEnv}
	s.apply(options)
	base := s.checkBaseURL(baseURL)
	return s.client(base, nil)
}

// The environment variables of NewClientFromEnv.
const (
	envBaseURL   = "MESSAGING_BASE_URL"
	envToken     = "MESSAGING_TOKEN"
	envAPIKey    = "MESSAGING_API_KEY"
	envAPISecret = "MESSAGING_API_SECRET"
	envVariable  = "MESSAGING_VAR_" // and the name of a variable
)

// NewClientFromEnv returns a client configured by environment variables:
//
//   - MESSAGING_BASE_URL: required, as for NewClient
//   - MESSAGING_TOKEN, or MESSAGING_API_KEY and MESSAGING_API_SECRET: the credentials, unless an option sets them. The key is
//     alone if the contract has no secret (auth.keyPair.secret)
//   - MESSAGING_CONTRACT: optional, the path of a file with a contract overlay
//   - MESSAGING_VAR_ACCOUNT for the variable {account} of the contract's paths, and so for others: required unless WithVariable sets it
//
// An empty variable counts as absent. The options are applied on top. Errors name variables and never show their values.
func NewClientFromEnv(options ...Option) (*Client, error) {
	baseURL, token := os.Getenv(envBaseURL), os.Getenv(envToken)
	key, secret := os.Getenv(envAPIKey), os.Getenv(envAPISecret)
	var problems wire.Checks
	var causes []error
	var fromEnv []Option
	switch {
	case token != "" && (key != "" || secret != ""):
		problems.Found(envToken, "set beside "+envAPIKey+" or "+envAPISecret+"; want one kind of credentials")
	case token != "":
		fromEnv = append(fromEnv, withToken(token, envToken))
	case key == "" && secret != "":
		problems.Found(envAPIKey, "required beside "+envAPISecret)
	case key != "":
		fromEnv = append(fromEnv, withAPIKey(key, secret, envAPIKey, envAPISecret))
	}
	if baseURL == "" {
		problems.Found(envBaseURL, "required, but absent")
	}
	names, err := contract.FromEnv()
	if err != nil {
		problems.Found(table.EnvFile, strings.ReplaceAll(err.Error(), "\n", "; "))
		causes = append(causes, err)
	}
	fromEnv = append(fromEnv, WithContract(names))
	if len(problems) > 0 {
		return nil, invalid("", problems, causes...)
	}
	return newClient(baseURL, true, append(fromEnv, options...))
}

// With returns a client that differs by the given options and shares everything else: connections, rate limit, tokens and the
// compiled contract. It is cheap; c itself does not change. A client with other credentials is worth keeping, because a breaker for its
// account belongs to it; see WithBreaker.
func (c *Client) With(options ...Option) (*Client, error) {
	s := c.core.settings
	s.apply(options)
	return s.client(c.core.baseURL, c.core)
}

// Format prints the base URL in every verb.
func (c Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs the base URL.
func (c Client) LogValue() slog.Value { return slog.StringValue(c.summary()) }

func (c Client) summary() string {
	if c.core == nil {
		return "messaging.Client()"
	}
	return "messaging.Client(" + c.core.baseURL.String() + ")"
}

func (s *settings) apply(options []Option) {
	s.problems = nil
	for i, option := range options {
		if option == nil {
			s.reject(fmt.Sprintf("options[%d]", i), "must not be nil")
			continue
		}
		option(s)
	}
}

// client returns a client with these settings. It shares with parent, if there is one, what the settings do not change.
func (s settings) client(baseURL *url.URL, parent *core) (*Client, error) {
	s.check(parent)
	if s.problems != nil {
		return nil, invalid("", s.problems)
	}
	c := &core{settings: s, baseURL: baseURL, base: s.newBase(parent), breakers: new(serviceBreakers)}
	if parent != nil {
		c.breakers = parent.breakers
	}
	if c.base.wrapped == nil {
		return nil, invalid("", []wire.Problem{{Field: "WithTransport", Reason: "the function returned nil; want a http.RoundTripper"}})
	}
	if parent != nil && parent.settings.contract == s.contract && parent.settings.credentials == s.credentials &&
		maps.Equal(parent.settings.variables, s.variables) {
		c.endpoints = parent.endpoints
	} else {
		c.endpoints = compile(s, baseURL)
	}
	c.setTransport()
	return &Client{
		SMS: &SMSService{c}, ChatApp1: &ChatApp1Service{c}, ChatApp2: &ChatApp2Service{c},
		core: c,
	}, nil
}

// check finds options that do not go together. Parent has the settings that were checked before, if there are any.
func (s *settings) check(parent *core) {
	names := table.Of(s.contract)
	if s.contract != contract.Default() && (parent == nil || parent.settings.contract != s.contract) {
		s.checkNames()
	}
	if !slices.ContainsFunc(s.credentials[:], func(c *credential) bool { return c != nil }) {
		field, want := "options", "use WithToken, WithTokenSource, WithAPIKey or WithAuth"
		if s.fromEnv {
			field, want = envToken, "set it, or "+envAPIKey+" and "+envAPISecret+", or use an option such as WithAuth"
		}
		s.reject(field, "want credentials, got none; %s", want)
	}
	if c := s.credentials[0]; c != nil && c.check != nil {
		if setBy, reason := c.check(names.Auth); reason != "" {
			s.reject(setBy, "%s", reason)
		}
	}
	for _, name := range names.Variables() {
		if _, ok := s.variables[name]; ok {
			continue
		}
		field := envVariable + strings.ToUpper(name)
		if value := os.Getenv(field); s.fromEnv && value != "" {
			withVariable(name, value, field)(s)
			continue
		}
		if !s.fromEnv {
			field = "WithVariable"
		}
		s.reject(field, "required, but absent: paths of the contract have the variable {%s}", name)
	}
	if s.settle != nil && (names.SMSSend.Fields["reference"] == "" || names.SMSList.Params["reference"] == "") {
		s.reject("WithSettle", "needs a reference ID, and the contract has none (sms.send.fields.reference, sms.list.params.reference)")
	}
}

// checkNames finds names of the contract that one request cannot hold together.
func (s *settings) checkNames() {
	field := "WithContract"
	if s.fromEnv {
		field = table.EnvFile
	}
	for _, problem := range codec.CheckNames(table.Of(s.contract)) {
		s.reject(field, "%s: %s", problem.Path, problem.Reason)
	}
}

func (s *settings) checkBaseURL(baseURL string) *url.URL {
	const want = "want an absolute URL such as https://api.example.com"
	field := "baseURL"
	if s.fromEnv {
		field = envBaseURL
	}
	u, err := url.Parse(baseURL)
	switch {
	case baseURL == "":
		s.reject(field, "%s, got an empty one", want)
	case err != nil:
		s.reject(field, "%s", want)
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		s.reject(field, "%s, with the scheme https and a host", want)
	case u.User != nil:
		s.reject(field, "must not hold a user or a password; use WithBasicAuth")
	case strings.ContainsAny(baseURL, "?#"):
		s.reject(field, "must have no query and no fragment")
	case u.Scheme == "http" && !s.plainHTTP && !isLoopback(u.Hostname()):
		s.reject(field, "must be https: credentials would travel in the clear (WithPlainHTTP allows it)")
	}
	return u
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

type core struct {
	*endpoints

	settings  settings
	baseURL   *url.URL
	base      *base
	breakers  *serviceBreakers // of all clients made by With
	transport *transport.Transport
}

// base is the round tripper of a client. It is behind a pointer so that package fmt does not print what the user's holds.
type base struct {
	unwrapped http.RoundTripper // the library's own transport, or the user's
	wrapped   http.RoundTripper // the same, wrapped by WithTransport
}

// newBase returns the round tripper: that of the parent, as far as the settings are the same.
func (s *settings) newBase(parent *core) *base {
	var b base
	switch {
	case parent != nil && s.sharesBase(&parent.settings):
		if s.wrap == parent.settings.wrap {
			return parent.base
		}
		b.unwrapped = parent.base.unwrapped
	case s.ownBase():
		b.unwrapped = transport.NewBase()
	default:
		b.unwrapped = s.httpClient.Transport
	}
	b.wrapped = b.unwrapped
	if s.wrap != nil {
		b.wrapped = (*s.wrap)(b.unwrapped)
	}
	return &b
}

func (s *settings) sharesBase(with *settings) bool {
	return s.httpClient == with.httpClient || s.ownBase() && with.ownBase()
}

// ownBase reports whether requests go through the library's own transport.
func (s *settings) ownBase() bool { return s.httpClient == nil || s.httpClient.Transport == nil }

func (c *core) setTransport() {
	s := &c.settings
	user := cmp.Or(s.httpClient, new(http.Client))
	retry := s.retry.withDefaults()
	c.transport = &transport.Transport{
		Base: c.base.wrapped, OwnBase: s.ownBase(), Jar: user.Jar, Timeout: cmp.Or(s.timeout, user.Timeout, defaultTimeout),
		MaxAttempts: retry.MaxAttempts, MinWait: retry.MinWait, MaxWait: retry.MaxWait,
		Limit: s.limit, MaxResponseBytes: maxResponseBytes,
		Changed: c.breakerChanged,
	}
}
