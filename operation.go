package messaging

import (
	"context"
	"errors"
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

// The operations of the service, by their keys in the contract.
const (
	smsSend      = "sms.send"
	smsList      = "sms.list"
	chatApp1Send = "chatapp1.send"
	chatApp2Send = "chatapp2.send"
)

// operation is something that the service can be asked to do. Everything else about it follows: a new operation is a row of
// operations and a method of a service.
type operation struct {
	name    string
	channel Channel     // whose credentials it uses
	send    *table.Send // what it sends
	list    *table.List // or what it reads
	listed  bool        // whether what it sends is listed, so that an unknown outcome can be settled
}

func operations(t *table.Table) []operation {
	return []operation{
		{name: smsSend, channel: ChannelSMS, send: &t.SMSSend, listed: true},
		{name: smsList, channel: ChannelSMS, list: &t.SMSList},
		{name: chatApp1Send, channel: ChannelChatApp1, send: &t.ChatApp1Send},
		{name: chatApp2Send, channel: ChannelChatApp2, send: &t.ChatApp2Send},
	}
}

// endpoints are the operations, compiled for a contract, a base URL and credentials. They never change.
type endpoints struct {
	sends map[string]*sendEndpoint
	lists map[string]*listEndpoint
}

// endpoint is where an operation is performed, and with which credentials.
type endpoint struct {
	operation

	url           *url.URL
	authenticated bool
	authenticator transport.Authenticator // nil if the credentials are part of the request
	pair          codec.KeyPair           // nil if they are not
}

type sendEndpoint struct {
	endpoint

	codec        *codec.Send
	notProcessed []int // the statuses which prove that a send was not processed
}

type listEndpoint struct {
	endpoint

	codec   *codec.List
	buffers sync.Pool // of responses that were read
}

func compile(s *settings, base *url.URL) *endpoints {
	t := s.contract.Table()
	all := &endpoints{sends: map[string]*sendEndpoint{}, lists: map[string]*listEndpoint{}}
	for _, op := range operations(t) {
		e := endpoint{operation: op}
		own := s.credentials[op.channel]
		if own == nil {
			own = s.credentials[0]
		}
		if own != nil {
			e.authenticated = true
			e.authenticator, e.pair = own.compile(t.Auth)
		}
		if op.send != nil {
			e.url = join(base, op.send.Path)
			all.sends[op.name] = &sendEndpoint{
				endpoint: e, codec: codec.CompileSend(t, op.send, e.url, e.pair), notProcessed: t.Errors.NotProcessed,
			}
		} else {
			e.url = join(base, op.list.Path)
			all.lists[op.name] = &listEndpoint{endpoint: e, codec: codec.CompileList(t, op.list, e.url, e.pair)}
		}
	}
	return all
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
	err := newError(e.operation, transport.Outcome{})
	err.reason = "the client has no credentials for " + e.channel.String() + " (WithAuth)"
	if !err.read {
		err.Verdict = NotSent
	}
	return err
}

// describe returns the request of the endpoint as a person would name it, without its query.
func (e *endpoint) describe() string {
	if e.send != nil {
		return "POST " + e.url.Path
	}
	return e.list.Method + " " + e.url.Path
}

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
		_, params := e.pair()
		s.AddCredential(params[0].Value)
		s.AddCredential(params[1].Value)
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
	o := c.observation(e)
	ctx, end := o.call(ctx)
	out := c.transport.Do(ctx, transport.Request{
		Operation: e.name, Method: r.request.Method, URL: r.request.URL, Body: r.request.Body, ContentType: r.request.ContentType,
		Read: true, Authenticate: e.authenticator, Buffer: r.buffer,
		Decode: func(body []byte) error {
			value, failure, decodeErr = r.decode(body)
			if errors.Is(decodeErr, codec.ErrPage) {
				return nil // another attempt would bring the same
			}
			return decodeErr
		},
		Explain: func(out transport.Outcome) error {
			if err := r.judge(e, out, failure, decodeErr); err != nil {
				return err
			}
			return nil
		},
		Observe: o.inTransport(),
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
	err := newError(e.operation, out)
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
