package messaging

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/redact"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// endpoints are the operations of the service, compiled for a contract, a base URL and credentials. They never change. Each is compiled when it
// is first used, because few programs use them all. To add an operation, add a field, its line in compile, and a method of a service.
type endpoints struct {
	sends   [channelCount]func() *sendEndpoint // by channel
	smsList func() *readEndpoint[*codec.List]
}

func compile(s settings, base *url.URL) *endpoints {
	c := &compiler{s, base, table.Of(s.contract).WithVariables(s.variables)}
	e := &endpoints{
		smsList: compileRead(c, "sms.list", ChannelSMS, &c.table.SMSList.Read, codec.CompileList),
	}
	channels := table.Channels()
	if len(channels) != len(e.sends)-1 {
		panic("messaging: a Channel of client.go lacks its field in internal/table/table.go, or a field its Channel")
	}
	for i, channel := range channels {
		id := ChannelSMS + Channel(i)
		e.sends[id] = sync.OnceValue(func() *sendEndpoint { return c.send(channel.SendSection(), id, channel.Send(c.table)) })
	}
	return e
}

func (e *endpoints) sendOn(channel Channel) *sendEndpoint { return e.sends[channel]() }

func (e *endpoints) smsSend() *sendEndpoint { return e.sendOn(ChannelSMS) }

// An endpoint is an operation: its name, its request without the message, and its credentials.
type endpoint struct {
	name    string  // its section of the contract
	channel Channel // whose credentials it uses
	method  string
	read    bool // whether it only reads

	url           *url.URL
	header        http.Header // the same for each request
	authenticated bool
	authenticator transport.Authenticator // nil if the credentials are part of the request
	pair          codec.KeyPair           // nil if they are not
	isMultiTenant bool                    // the credentials may be those of many accounts
	errors        *table.Errors           // how its responses report a failure
}

type sendEndpoint struct {
	endpoint

	codec   *codec.Send
	foundAt sync.Map // paths of IDs that were found by name, and logged
}

// readEndpoint is an operation that reads, with its codec.
type readEndpoint[C decoder] struct {
	endpoint

	codec   C
	buffers sync.Pool // of responses that were read
}

type decoder interface {
	DecodeFailure(body []byte) (codec.Failure, error)
}

type compiler struct {
	settings settings
	base     *url.URL
	table    *table.Table
}

func (c *compiler) endpoint(name string, channel Channel, method string, op *table.Operation) endpoint {
	e := endpoint{name: name, channel: channel, method: method, url: join(c.base, op.Path), header: http.Header{}}
	for header, value := range c.table.Headers.With(op.Headers) {
		e.header.Set(header, value)
	}
	e.header.Set("Accept", "application/json")
	e.header.Set("User-Agent", "messaging-go/"+Version)
	if contentType := codec.ContentType(op.Encoding); contentType != "" {
		e.header.Set("Content-Type", contentType)
	}
	e.errors = &c.table.Errors
	if own := c.settings.credentialOf(channel); own != nil {
		e.authenticated = true
		e.isMultiTenant = own.isMultiTenant
		e.authenticator, e.pair = own.compile(c.table.Auth)
	}
	return e
}

func (c *compiler) send(name string, channel Channel, op *table.Send) *sendEndpoint {
	e := &sendEndpoint{endpoint: c.endpoint(name, channel, http.MethodPost, &op.Operation)}
	e.codec = codec.CompileSend(c.table, op, e.url, e.pair)
	standard := table.Channels()[channel-ChannelSMS].Send(table.Default())
	if slices.Equal(op.Response["id"], standard.Response["id"]) { // the contract has only the default paths
		e.codec.SeekIDs(c.table)
	}
	return e
}

func compileRead[C decoder](
	c *compiler, name string, channel Channel, op *table.Read, compile func(*table.Table, *url.URL, codec.KeyPair) C,
) func() *readEndpoint[C] {
	return sync.OnceValue(func() *readEndpoint[C] {
		e := &readEndpoint[C]{endpoint: c.endpoint(name, channel, op.Method, &op.Operation)}
		e.read = true
		e.codec = compile(c.table, e.url, e.pair)
		return e
	})
}

func join(base *url.URL, path string) *url.URL {
	joined, err := url.Parse(strings.TrimSuffix(base.String(), "/") + path)
	if err != nil {
		return base.JoinPath(path) // the contract has checked the path
	}
	return joined
}

func (e *endpoint) missingCredentials() *Error {
	if e.authenticated {
		return nil
	}
	err := newError(e, transport.Outcome{})
	err.noCredentials = true
	err.reason = "the client has no credentials for " + e.channel.String() + " (WithAuth)"
	if !err.read {
		err.Verdict = NotSent
	}
	return err
}

func (e *endpoint) describe() string { return e.method + " " + e.url.Path }

// secrets returns what must not appear in the error of a call: the values of its fields, and its credentials.
func (e *endpoint) secrets(fields []wire.Field, params url.Values, out transport.Outcome) redact.Secrets {
	var s redact.Secrets
	for _, field := range fields {
		switch field.Concept {
		case "reference", "template", "language":
			// names that the sender chose, not content
		default:
			s.AddText(field.Text)
			if variables, ok := field.Value.(map[string]string); ok {
				s.AddValue(variables)
			}
		}
	}
	for concept := range params {
		switch concept {
		case "reference", "pageSize":
		default:
			s.AddText(params.Get(concept))
		}
	}
	if e.pair != nil {
		key, secret := e.pair()
		s.AddCredential(key)
		s.AddCredential(secret)
	}
	s.AddRequest(out.Sent)
	return s
}

func checkContext(ctx context.Context) []wire.Problem {
	if ctx == nil {
		return []wire.Problem{{Field: "ctx", Reason: "required, but nil"}}
	}
	return nil
}

// request returns an encoded request with what the endpoint and its channel add. The caller adds its judge and its observer.
func (c *core) request(e *endpoint, encoded codec.Request) transport.Request {
	calls := c.calls(e.channel, e.read)
	return transport.Request{
		Method:       encoded.Method,
		URL:          encoded.URL,
		Header:       e.header,
		Body:         encoded.Body,
		Read:         e.read,
		Channel:      uint8(e.channel),
		Slots:        calls.slots,
		Service:      calls.service,
		Account:      calls.account,
		Authenticate: e.authenticator,
	}
}
