package messaging

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// Version is the version of this library, as in the User-Agent header.
const Version = "0.1.0"

// Client sends messages. It is made by NewClient, never changes afterwards, and is safe for concurrent use: make one and
// share it. The zero Client is not usable. It holds no goroutine and needs no closing.
//
// Printed or logged in any form it shows its base URL and no credentials.
type Client struct {
	// SMS sends SMS and reads them back.
	SMS *sms.Service
	// ChatApp1 sends over chat app 1.
	ChatApp1 *chatapp1.Service
	// ChatApp2 sends over chat app 2.
	ChatApp2 *chatapp2.Service

	core *core
}

// NewClient returns a client for the service at baseURL, such as "https://api.example.com". A path in it is kept in front
// of the service's own.
//
// The URL must be absolute and https; plain http is accepted for a loopback host, and for others with WithPlainHTTP. Credentials
// are required: WithToken, WithTokenSource, WithAPIKey or WithAuth. All problems come in one *ValidationError; nothing is
// sent to find out.
func NewClient(baseURL string, options ...Option) (*Client, error) {
	s := settings{maxAnswer: defaultMaxAnswer, userAgent: "messaging-go/" + Version, contract: contract.Default()}
	return s.apply(options).client(baseURL)
}

// The environment that NewClientFromEnv reads.
const (
	envBaseURL   = "MESSAGING_BASE_URL"
	envToken     = "MESSAGING_TOKEN"
	envAPIKey    = "MESSAGING_API_KEY"
	envAPISecret = "MESSAGING_API_SECRET"
	envContract  = "MESSAGING_CONTRACT"
)

// NewClientFromEnv returns a client as the environment describes it:
//
//   - MESSAGING_BASE_URL: required, as for NewClient
//   - MESSAGING_TOKEN, or MESSAGING_API_KEY with MESSAGING_API_SECRET: one of the two, or neither where an option brings
//     credentials
//   - MESSAGING_CONTRACT: optional, the path of a file with a contract overlay
//
// A variable that is empty counts as absent. The options come on top. Errors name variables and never show what they hold.
func NewClientFromEnv(options ...Option) (*Client, error) {
	baseURL, token := os.Getenv(envBaseURL), os.Getenv(envToken)
	key, secret := os.Getenv(envAPIKey), os.Getenv(envAPISecret)
	var problems []wire.Problem
	refuse := func(variable, reason string) {
		problems = append(problems, wire.Problem{Field: variable, Reason: reason})
	}
	var fromEnv []Option
	switch {
	case token != "" && (key != "" || secret != ""):
		refuse(envToken, "set beside "+envAPIKey+" or "+envAPISecret+"; want one kind of credentials")
	case token != "":
		fromEnv = append(fromEnv, WithToken(token))
	case key != "" && secret == "":
		refuse(envAPISecret, "required beside "+envAPIKey)
	case key == "" && secret != "":
		refuse(envAPIKey, "required beside "+envAPISecret)
	case key != "":
		fromEnv = append(fromEnv, WithAPIKey(key, secret))
	}
	if baseURL == "" {
		refuse(envBaseURL, "required, but absent")
	}
	if file := os.Getenv(envContract); file != "" {
		overlay, err := os.ReadFile(file) //nolint:gosec // the user names the file
		if err != nil {
			refuse(envContract, "the file that it names cannot be read")
		} else if names, err := contract.Parse(overlay); err != nil {
			refuse(envContract, err.Error())
		} else {
			fromEnv = append(fromEnv, WithContract(names))
		}
	}
	if problems != nil {
		return nil, invalid("", problems)
	}
	return NewClient(baseURL, append(fromEnv, options...)...)
}

// With returns a client that differs by the given options and shares the rest: base URL, connections, rate limit, tokens.
// The client itself stays as it is.
func (c *Client) With(options ...Option) (*Client, error) {
	return c.core.settings.apply(options).client(c.core.baseURL.String())
}

// Format prints the base URL alone, in every verb.
func (c Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.summary()) }

// LogValue logs what Format prints.
func (c Client) LogValue() slog.Value { return slog.StringValue(c.summary()) }

func (c Client) summary() string {
	if c.core == nil {
		return "messaging.Client()"
	}
	return "messaging.Client(" + c.core.baseURL.String() + ")"
}

func (s settings) apply(options []Option) *settings {
	s.problems = nil
	for i, option := range options {
		if option == nil {
			s.refuse(fmt.Sprintf("options[%d]", i), "must not be nil")
			continue
		}
		option(&s)
	}
	return &s
}

// client makes a client of settings that are whole.
func (s *settings) client(baseURL string) (*Client, error) {
	base := s.checkBaseURL(baseURL)
	if !slices.ContainsFunc(s.credentials[:], func(c credential) bool { return c != nil }) {
		s.refuse("options", "want credentials, got none; use WithToken, WithTokenSource, WithAPIKey or WithAuth")
	}
	if s.settle != nil && (s.contract.SMSSend.Fields.Reference == "" || s.contract.SMSList.Params.Reference == "") {
		s.refuse("WithSettle", "needs a reference ID, and the contract names none (sms.send.fields.reference, sms.list.params.reference)")
	}
	if s.problems != nil {
		return nil, invalid("", s.problems)
	}
	if s.base == nil {
		s.base, s.ownBase = transport.NewBase(transport.DefaultIdleTimeout), true
	}
	core, err := newCore(*s, base)
	if err != nil {
		return nil, err
	}
	return &Client{
		SMS: sms.NewService(core), ChatApp1: chatapp1.NewService(core), ChatApp2: chatapp2.NewService(core), core: core,
	}, nil
}

func (s *settings) checkBaseURL(baseURL string) *url.URL {
	const field, want = "baseURL", "want an absolute URL such as https://api.example.com"
	u, err := url.Parse(baseURL)
	switch {
	case baseURL == "":
		s.refuse(field, "%s, got an empty one", want)
	case err != nil:
		s.refuse(field, "%s", want)
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		s.refuse(field, "%s, with the scheme https and a host", want)
	case u.User != nil:
		s.refuse(field, "must not hold a user or a password; use WithAuth(messaging.Basic(user, password))")
	case strings.ContainsAny(baseURL, "?#"):
		s.refuse(field, "must have no query and no fragment")
	case u.Scheme == "http" && !s.plainHTTP && !isLoopback(u.Hostname()):
		s.refuse(field, "must be https: credentials would travel in the clear (WithPlainHTTP allows it on a network that is encrypted below)")
	}
	return u
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// core performs the calls of the channels. It implements wire.Doer apart from Client, so that no Call shows in its
// documentation.
type core struct {
	settings  settings
	baseURL   *url.URL
	transport *transport.Transport
	sends     map[wire.Operation]*send
	list      *list
}

func newCore(s settings, baseURL *url.URL) (*core, error) {
	retry := s.retry.withDefaults()
	timeout := s.timeout
	if timeout == 0 {
		timeout = s.inherited
	}
	if timeout == 0 {
		timeout = defaultTimeout
	}
	c := &core{
		settings: s, baseURL: baseURL,
		transport: &transport.Transport{
			Base: s.base, OwnBase: s.ownBase, Jar: s.jar, Timeout: timeout,
			MaxAttempts: retry.MaxAttempts, MinWait: retry.MinWait, MaxWait: retry.MaxWait,
			Limiter: s.limiter, MaxResponseBytes: s.maxAnswer, NotProcessed: s.contract.Errors.NotProcessed,
			UserAgent: s.userAgent, Logger: s.logger,
		},
	}
	var err error
	if c.sends, err = compileSends(s, baseURL); err != nil {
		return nil, err
	}
	c.list, err = compileList(s, baseURL)
	return c, err
}

// credential is what authenticates a channel, or nil.
func (s *settings) credential(channel Channel) credential {
	if own := s.credentials[channel]; own != nil {
		return own
	}
	return s.credentials[0]
}

// Send implements wire.Doer.
func (c *core) Send(ctx context.Context, call wire.Call) (wire.Receipt, error) {
	op := c.sends[call.Op]
	request, problems := op.request(call)
	if ctx == nil {
		problems = append(problems, wire.Problem{Field: "ctx", Reason: "required, but nil"})
	}
	if problems != nil {
		return wire.Receipt{}, invalid(call.Op.String(), problems)
	}
	if !op.authenticated {
		e := c.unauthenticated(call.Op, op.channel)
		e.ReferenceID = call.Reference
		return wire.Receipt{}, e
	}
	outcome := c.transport.Do(ctx, request)
	receipt, err := op.judge(call, outcome)
	if err != nil {
		c.warn(ctx, err)
		return wire.Receipt{}, err
	}
	return receipt, nil
}

func (c *core) unauthenticated(op wire.Operation, channel Channel) *Error {
	return &Error{
		Operation: op.String(), Verdict: NotSent, read: op == wire.SMSList,
		reason: "the client has no credentials for " + channel.String() + " (WithAuth)",
	}
}

func (c *core) warn(ctx context.Context, err *Error) {
	if c.settings.logger != nil && err.Verdict == Unknown {
		c.settings.logger.LogAttrs(ctx, slog.LevelWarn, "messaging: outcome unknown", slog.Any("error", err))
	}
}

func join(base *url.URL, path string) *url.URL {
	joined, err := url.Parse(strings.TrimSuffix(base.String(), "/") + path)
	if err != nil {
		return base.JoinPath(path) // the contract has checked the path
	}
	return joined
}
