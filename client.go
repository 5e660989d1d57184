package messaging

import (
	"cmp"
	"errors"
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
	"github.com/messaging-service/messaging-go/internal/setting"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Version is the version of this library, as in the User-Agent header. It ends in "-dev" where no version was released.
const Version = "0.1.0-dev"

// A Client sends messages. Create one with NewClient and share it: it is safe for concurrent use, and its options never change. The zero Client is
// not usable. A Client runs no goroutine and needs no closing.
//
// For each account and channel it uses up to 256 connections for sends and 256 for reads, and together with the clients that With derives from it
// up to 2,048. An idle connection is kept for four seconds. A dial in progress when its call ends may continue for up to 10 seconds. Nothing else
// outlives a call.
//
// Printed or logged in any form, a Client shows its base URL and no credentials.
type Client struct {
	// SMS sends SMS and reads them back.
	SMS *SMSService
	// ChatApp1 sends over chat app 1.
	ChatApp1 *ChatApp1Service
	// ChatApp2 sends over chat app 2.
	ChatApp2 *ChatApp2Service

	core *core
}

// A Channel is a part of the service that may have credentials of its own. The zero Channel is the account, whose operations use the
// credentials that are set for all channels. To store a Channel, store the text of String, which ParseChannel reads back.
type Channel uint8

// The channels. The specification describes the credentials of SMS only. The chat apps use the same, unless WithAuth or WithBasicAuth sets
// others.
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

// ParseChannel returns the channel whose name is "sms", "chatapp1" or "chatapp2", as String returns it. Any other name is an error, "account" and
// another case of letters too.
func ParseChannel(name string) (Channel, error) {
	for channel := ChannelSMS; channel < channelCount; channel++ {
		if channel.String() == name {
			return channel, nil
		}
	}
	return 0, errors.New("messaging: name: not a channel; want sms, chatapp1 or chatapp2")
}

// NewClient returns a client for the service at baseURL, such as "https://api.example.com". A path in the URL is kept before the
// service's own paths.
//
// The URL must be absolute and https; plain http is accepted for a loopback host, and for other hosts with WithPlainHTTP. Credentials are
// required: WithToken, WithTokenSource, WithAPIKey, WithBasicAuth or WithAuth. All problems are reported in one *ValidationError. NewClient
// does no I/O.
func NewClient(baseURL string, options ...Option) (*Client, error) {
	var s settings
	return newClient(baseURL, s, options)
}

func newClient(baseURL string, s settings, options []Option) (*Client, error) {
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
	envVarPrefix = "MESSAGING_VAR_" // followed by the name of a variable
)

// NewClientFromEnv returns a client configured by environment variables:
//
//   - MESSAGING_BASE_URL: required, as for NewClient.
//   - MESSAGING_TOKEN, or MESSAGING_API_KEY and MESSAGING_API_SECRET: the credentials, unless an option sets them. The key needs no secret if
//     the contract has none (auth.keyPair.secret).
//   - MESSAGING_CONTRACT: the path of a file with a contract overlay. Optional.
//   - MESSAGING_VAR_ACCOUNT: the variable {account} of the contract's paths, and so on for other variables. Required unless WithVariable sets
//     the variable.
//
// An empty variable counts as absent. The options are applied afterwards. All problems, of variables and options, are reported in one
// *ValidationError, which names variables and never shows their values.
func NewClientFromEnv(options ...Option) (*Client, error) {
	fromEnv := []Option{contractFromEnv()}
	if credentials := credentialsFromEnv(); credentials != nil {
		fromEnv = append(fromEnv, credentials)
	}
	s := settings{fromEnv: true}
	return newClient(os.Getenv(envBaseURL), s, append(fromEnv, options...))
}

func contractFromEnv() Option {
	names, err := contract.FromEnv()
	if err == nil {
		return withContract(names, table.EnvFile)
	}
	return func(s *settings) {
		s.reject(table.EnvFile, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		s.contractErr = err
	}
}

// credentialsFromEnv returns the option for the credentials in the environment, or nil if there are none.
func credentialsFromEnv() Option {
	token := os.Getenv(envToken)
	k := apiKey{
		key:                os.Getenv(envAPIKey),
		secret:             os.Getenv(envAPISecret),
		keyFrom:            envAPIKey,
		secretFrom:         envAPISecret,
		envNamesNoContract: os.Getenv(table.EnvFile) == "",
	}
	switch {
	case token != "" && k.key+k.secret != "":
		return func(s *settings) {
			s.reject(envToken, "set together with %s or %s; want one kind of credentials", envAPIKey, envAPISecret)
			s.credentials[0] = tokenCredential(token, envToken)
		}
	case token != "":
		return withToken(token, envToken)
	case k.key != "":
		return withAPIKey(k)
	case k.secret != "":
		return func(s *settings) {
			s.reject(envAPIKey, "required together with %s", envAPISecret)
			s.credentials[0] = keyCredential(k)
		}
	default:
		return nil
	}
}

// With returns a client that differs from c by the given options, and shares everything else: the pool of connections, the rate limit, tokens and
// the compiled contract. It is cheap. If an option sets credentials, the new client has the 256 connections and the circuit breakers of another
// account: create it once for each account, and share it; see WithBreaker. All bad options are reported in one *ValidationError.
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
	s.contractErr = nil
	for i, option := range options {
		if option == nil {
			s.reject(fmt.Sprintf("options[%d]", i), "must not be nil")
			continue
		}
		option(s)
	}
}

// client returns a client with these settings. It shares everything with parent, if there is one, that the settings do not change.
func (s settings) client(baseURL *url.URL, parent *core) (*Client, error) {
	s.check(parent)
	if len(s.problems) > 0 {
		return nil, s.invalid()
	}
	c := &core{settings: s, baseURL: baseURL, base: s.newBase(parent), breakers: new(serviceBreakers)}
	if c.base.wrapped == nil {
		s.reject("WithTransport", "the function returned nil; want a http.RoundTripper")
		return nil, s.invalid()
	}
	if parent != nil {
		c.breakers = parent.breakers
	}
	if parent != nil && s.sharesEndpoints(&parent.settings) {
		c.endpoints = parent.endpoints
	} else {
		c.endpoints = compile(s, baseURL)
	}
	c.setTransport()
	return &Client{
		SMS:      &SMSService{c},
		ChatApp1: &ChatApp1Service{c},
		ChatApp2: &ChatApp2Service{c},
		core:     c,
	}, nil
}

// invalid returns the problems of the settings as an error. They are also its cause, from which commands compose their own texts.
func (s *settings) invalid() error {
	var problems []wire.Problem
	for _, problem := range s.problems {
		problems = append(problems, wire.Problem{Field: problem.Setting, Reason: problem.Text()})
	}
	causes := []error{s.problems}
	if s.contractErr != nil {
		causes = append(causes, s.contractErr)
	}
	return invalid("", problems, causes...)
}

// sharesEndpoints reports whether the operations of clients with these and with other settings are the same.
func (s *settings) sharesEndpoints(other *settings) bool {
	return s.contract == other.contract && s.credentials == other.credentials && maps.Equal(s.variables, other.variables)
}

// check finds options that do not go together. The settings of parent, if there is one, were checked before.
func (s *settings) check(parent *core) {
	if s.contract != contract.Default() && (parent == nil || parent.settings.contract != s.contract) {
		s.checkNames()
	}
	s.checkCredentials()
	s.checkVariables()
	names := table.Of(s.contract)
	hasReference := names.SMSSend.Fields["reference"] != "" && names.SMSList.Params["reference"] != ""
	if s.settle != nil && !hasReference {
		s.reject("WithSettle", "needs a reference ID, and the contract has none (sms.send.fields.reference, sms.list.params.reference)")
	}
}

// checkNames finds names of the contract that one request cannot hold together.
func (s *settings) checkNames() {
	for _, problem := range codec.CheckNames(table.Of(s.contract)) {
		s.reject(s.contractFrom, "%s: %s", problem.Path, problem.Reason)
	}
}

func (s *settings) checkCredentials() {
	isSet := func(c *credential) bool { return c != nil }
	if !slices.ContainsFunc(s.credentials[:], isSet) {
		if s.fromEnv {
			keyPair := envAPIKey + " and " + envAPISecret
			if table.Of(s.contract).Auth.KeyPair.Secret == "" {
				keyPair = envAPIKey
			}
			s.problems = append(s.problems, setting.Problem{
				Setting: envToken,
				Reason:  "want credentials, got none; set it, or " + keyPair,
				Advice:  ", or use an option such as %s",
				Option:  "WithAuth",
			})
		} else {
			s.reject("options", "want credentials, got none; use WithToken, WithTokenSource, WithAPIKey, WithBasicAuth or WithAuth")
		}
	}
	if c := s.credentials[0]; c != nil && c.check != nil && s.contractErr == nil {
		if setBy, reason := c.check(table.Of(s.contract).Auth); reason != "" {
			s.reject(setBy, "%s", reason)
		}
	}
}

// checkVariables finds variables of the contract's paths that no option sets, and takes them from the environment if the client does.
func (s *settings) checkVariables() {
	for _, name := range table.Of(s.contract).Variables() {
		if _, isSet := s.variables[name]; isSet {
			continue
		}
		field := "WithVariable"
		if s.fromEnv {
			field = envVarPrefix + strings.ToUpper(name)
			if value := os.Getenv(field); value != "" {
				withVariable(name, value, field)(s)
				continue
			}
		}
		s.reject(field, "required, but absent: paths of the contract have the variable {%s}", name)
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
	case baseURL == "" && s.fromEnv:
		s.reject(field, "required, but absent; %s", want)
	case baseURL == "":
		s.reject(field, "%s, got an empty one", want)
	case err != nil:
		s.reject(field, "%s", want)
	case !isWebURL(u):
		s.reject(field, "%s, with the scheme https and a host", want)
	case u.User != nil:
		s.problems = append(s.problems, setting.Problem{
			Setting: field,
			Reason:  "must not hold a user or a password",
			Advice:  "; use %s",
			Option:  "WithBasicAuth",
		})
	case strings.ContainsAny(baseURL, "?#"):
		s.reject(field, "must have no query and no fragment")
	case u.Scheme == "http" && !s.plainHTTP && !isLoopback(u.Hostname()):
		s.problems = append(s.problems, setting.Problem{
			Setting: field,
			Reason:  "must be https: credentials would travel in the clear",
			Advice:  " (%s allows it)",
			Option:  "WithPlainHTTP",
		})
	}
	return u
}

func isWebURL(u *url.URL) bool {
	isWeb := u.Scheme == "https" || u.Scheme == "http"
	return isWeb && u.Opaque == "" && u.Hostname() != ""
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// A core is what the services of a client share.
type core struct {
	*endpoints

	settings  settings
	baseURL   *url.URL
	base      *base
	breakers  *serviceBreakers // of all clients made by With
	transport *transport.Transport
}

// base is the round tripper of a client. It is behind a pointer so that package fmt does not print the user's.
type base struct {
	unwrapped http.RoundTripper // the library's own transport, or the user's
	wrapped   http.RoundTripper // the same, wrapped by WithTransport
}

// newBase returns the round tripper. It reuses the round trippers of parent, if there is one, whose settings are the same.
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
	given := cmp.Or(s.httpClient, new(http.Client))
	retry := s.retry.withDefaults()
	c.transport = &transport.Transport{
		Base:             c.base.wrapped,
		OwnBase:          s.ownBase(),
		Jar:              given.Jar,
		Timeout:          cmp.Or(s.timeout, given.Timeout, defaultTimeout),
		MaxAttempts:      retry.MaxAttempts,
		MinWait:          retry.MinWait,
		MaxWait:          retry.MaxWait,
		Limit:            s.limit,
		MaxResponseBytes: maxResponseBytes,
		Changed:          c.breakerChanged,
	}
}
