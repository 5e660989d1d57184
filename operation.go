package messaging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/redact"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Channel is a part of the service that may have credentials of its own. The zero value is no channel.
type Channel uint8

// The channels. The specification describes the credentials of SMS only; the chat apps use the same unless WithAuth says
// otherwise.
const (
	ChannelSMS Channel = iota + 1
	ChannelChatApp1
	ChannelChatApp2
	channelCount = iota + 1 // with the zero Channel
)

// String returns the channel's name as in the contract: "sms", "chatapp1" or "chatapp2".
func (c Channel) String() string {
	if c == 0 || c >= channelCount {
		return fmt.Sprintf("channel %d", uint8(c))
	}
	return [...]string{ChannelSMS: "sms", ChannelChatApp1: "chatapp1", ChannelChatApp2: "chatapp2"}[c]
}

// endpoints are the operations of the service, compiled for a contract, a base URL and credentials. They never change. Each is
// compiled when it is first used, because few programs use them all. A new operation is a field, its line in compile, and a method
// of a service.
type endpoints struct {
	smsSend      func() *sendEndpoint
	smsList      func() *listEndpoint
	chatApp1Send func() *sendEndpoint
	chatApp2Send func() *sendEndpoint
}

func compile(s settings, base *url.URL) *endpoints {
	c := &compiler{s, base, s.contract.Table()}
	t := c.table
	return &endpoints{
		smsSend:      sync.OnceValue(func() *sendEndpoint { return c.send("sms.send", ChannelSMS, &t.SMSSend) }),
		smsList:      sync.OnceValue(func() *listEndpoint { return c.list("sms.list", ChannelSMS, &t.SMSList) }),
		chatApp1Send: sync.OnceValue(func() *sendEndpoint { return c.send("chatapp1.send", ChannelChatApp1, &t.ChatApp1Send) }),
		chatApp2Send: sync.OnceValue(func() *sendEndpoint { return c.send("chatapp2.send", ChannelChatApp2, &t.ChatApp2Send) }),
	}
}

// endpoint is an operation: what it is called, where it is performed, and with which credentials.
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
}

type sendEndpoint struct {
	endpoint

	codec  *codec.Send
	errors *table.Errors
}

type listEndpoint struct {
	endpoint

	codec   *codec.List
	buffers sync.Pool // of responses that were read
}

type compiler struct {
	settings settings
	base     *url.URL
	table    *table.Table
}

func (c *compiler) endpoint(name string, channel Channel, method, path string, headers table.Headers) endpoint {
	e := endpoint{name: name, channel: channel, method: method, url: join(c.base, path), header: http.Header{}}
	for name, value := range c.table.Headers.With(headers) {
		e.header.Set(name, value)
	}
	e.header.Set("Accept", "application/json")
	e.header.Set("User-Agent", c.settings.userAgent)
	if own := cmp.Or(c.settings.credentials[channel], c.settings.credentials[0]); own != nil {
		e.authenticated = true
		e.authenticator, e.pair = own.compile(c.table.Auth)
	}
	return e
}

func (c *compiler) send(name string, channel Channel, op *table.Send) *sendEndpoint {
	e := &sendEndpoint{endpoint: c.endpoint(name, channel, http.MethodPost, op.Path, op.Headers), errors: &c.table.Errors}
	e.codec = codec.CompileSend(c.table, op, e.url, e.pair)
	e.setContentType(e.codec.ContentType())
	return e
}

func (c *compiler) list(name string, channel Channel, op *table.List) *listEndpoint {
	e := &listEndpoint{endpoint: c.endpoint(name, channel, op.Method, op.Path, op.Headers)}
	e.read = true
	e.codec = codec.CompileList(c.table, op, e.url, e.pair)
	e.setContentType(e.codec.ContentType())
	return e
}

func (e *endpoint) setContentType(contentType string) {
	if contentType != "" {
		e.header.Set("Content-Type", contentType)
	}
}

func join(base *url.URL, path string) *url.URL {
	joined, err := url.Parse(strings.TrimSuffix(base.String(), "/") + path)
	if err != nil {
		return base.JoinPath(path) // the contract has checked the path
	}
	return joined
}

// missingCredentials returns the error of a call for which the client has no credentials, or nil.
func (e *endpoint) missingCredentials() *Error {
	if e.authenticated {
		return nil
	}
	err := newError(e, transport.Outcome{})
	err.reason = "the client has no credentials for " + e.channel.String() + " (WithAuth)"
	if !err.read {
		err.Verdict = NotSent
	}
	return err
}

// describe returns the request of the endpoint as a person would name it, without its query.
func (e *endpoint) describe() string { return e.method + " " + e.url.Path }

// secrets returns what must not appear in the error of a call: the values of its fields, and its credentials.
func (e *endpoint) secrets(fields []wire.Field, out transport.Outcome) redact.Secrets {
	var s redact.Secrets
	for _, field := range fields {
		switch field.Concept {
		case "channel", "from", "fallbackFrom", "reference", "template", "language":
			// names that the sender chose, not content
		default:
			s.AddText(field.Text)
			if params, ok := field.Value.(map[string]string); ok {
				s.AddValue(params)
			}
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

// checkContext returns a problem if there is no context.
func checkContext(ctx context.Context) []wire.Problem {
	if ctx == nil {
		return []wire.Problem{{Field: "ctx", Reason: "required, but nil"}}
	}
	return nil
}

// readRequest is one read: its request and how its response is decoded.
type readRequest[T any] struct {
	request       codec.Request
	params        []wire.Field
	buffer        []byte // overwritten with the response, if large enough
	decode        func(body []byte) (T, codec.Failure, error)
	decodeFailure func(body []byte) (codec.Failure, error)
}

// readResponse is what a read returned.
type readResponse[T any] struct {
	value  T
	fresh  bool   // see isFresh
	buffer []byte // for the next read
}

// read performs a read. It is retried, because reading changes nothing.
func read[T any](ctx context.Context, c *core, e *endpoint, r readRequest[T]) (readResponse[T], error) {
	var value T
	var failure codec.Failure
	var decodeErr error
	o := c.observation(ctx, e)
	ctx, end := o.begin(ctx, StepCall, 0)
	out := c.transport.Do(ctx, transport.Request{
		Method: r.request.Method, URL: r.request.URL, Body: r.request.Body, Header: e.header,
		Read: true, Authenticate: e.authenticator, Buffer: r.buffer,
		Decode: func(body []byte) error {
			value, failure, decodeErr = r.decode(body)
			if errors.Is(decodeErr, codec.ErrPage) {
				return nil // another attempt would bring the same
			}
			return decodeErr
		},
		Observe: o.inTransport(ctx, func(out transport.Outcome) *Error { return r.judge(e, out, failure, decodeErr) }),
	})
	result := readResponse[T]{value: value, fresh: isFresh(out), buffer: out.Body}
	if err := r.judge(e, out, failure, decodeErr); err != nil {
		end(o.failure(err))
		return result, err
	}
	end(StepResult{StatusCode: out.StatusCode, Attempts: out.Attempts})
	return result, nil
}

// judge returns the error of a read, or nil. failure and decodeErr are what decode returned.
func (r *readRequest[T]) judge(e *endpoint, out transport.Outcome, failure codec.Failure, decodeErr error) *Error {
	success := out.StatusCode >= 200 && out.StatusCode < 300
	if success && out.Err == nil && decodeErr == nil && failure.Code == "" {
		return nil
	}
	err := newError(e, out)
	if out.StatusCode == 0 {
		return err
	}
	var notJSON error
	switch {
	case !success:
		failure, notJSON = r.decodeFailure(out.Body)
		if out.StatusCode == http.StatusNotFound {
			err.reason = e.describe()
		}
	case errors.Is(decodeErr, codec.ErrPage):
		err.reason = decodeErr.Error()
	case decodeErr != nil && errors.Is(out.Err, decodeErr):
		err.reason, err.cause = "the response is "+decodeErr.Error(), nil
	case out.Err != nil:
		err.reason = "the response could not be read to its end"
	}
	err.explain(failure, notJSON, out, e.secrets(r.params, out))
	return err
}

// isFresh reports whether nothing shows that a response came from a cache.
func isFresh(out transport.Outcome) bool {
	stale := out.StatusCode != http.StatusOK || out.Header["Age"] != nil
	for _, warning := range out.Header["Warning"] {
		stale = stale || strings.HasPrefix(warning, "1")
	}
	for _, name := range []string{"X-Cache", "X-Cache-Status", "Cache-Status", "Cf-Cache-Status"} {
		state := strings.ToLower(strings.Join(out.Header[name], " "))
		stale = stale || strings.Contains(state, "hit") || strings.Contains(state, "stale") || strings.Contains(state, "updating")
	}
	return !stale
}

// warn logs an unknown outcome.
func (c *core) warn(ctx context.Context, err *Error) {
	if c.settings.logger != nil && err.Verdict == Unknown {
		c.settings.logger.LogAttrs(ctx, slog.LevelWarn, "messaging: outcome unknown", slog.Any("error", err))
	}
}
