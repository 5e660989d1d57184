package messaging

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/messaging-service/messaging-go/contract"
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
		of := ChannelSMS + Channel(i)
		e.sends[of] = sync.OnceValue(func() *sendEndpoint { return c.send(channel.SendSection(), of, channel.Send(c.table)) })
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
	for name, value := range c.table.Headers.With(op.Headers) {
		e.header.Set(name, value)
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
	usual := table.Channels()[channel-ChannelSMS].Send(table.Of(contract.Default())).Response["id"]
	if slices.Equal(op.Response["id"], usual) { // no overlay names it
		e.codec.SeekIDs(c.table, e.pair)
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
			if params, ok := field.Value.(map[string]string); ok {
				s.AddValue(params)
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

// read performs an operation that reads, whose arguments are already encoded. params are its parameters by concept. isFresh reports whether
// no cache kept the response (see age).
func read[T any, C decoder](
	ctx context.Context, c *core, e *readEndpoint[C], params url.Values, encoded codec.Request, problems []wire.Problem,
	decode func(body []byte) (T, codec.Failure, error),
) (value T, isFresh bool, err error) {
	problems = append(problems, checkContext(ctx)...)
	if len(problems) > 0 {
		return value, false, invalid(e.name, problems)
	}
	if err := e.missingCredentials(); err != nil {
		return value, false, err
	}
	buffer, _ := e.buffers.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	r := &reading[T]{core: c, endpoint: &e.endpoint, params: params, decode: decode, decodeFailure: e.codec.DecodeFailure}
	o := c.observation(ctx, &e.endpoint)
	ctx, end := o.begin(ctx, StepCall, 0)
	request := c.request(&e.endpoint, encoded)
	request.Buffer = *buffer
	request.Judge = r
	request.Observe = o.inTransport(ctx, r)
	out := c.transport.Do(ctx, request)
	if out.StatusCode == 0 || out.Interrupted != nil {
		r.err = r.failed(out) // there was nothing to judge, or more is known since
	}
	*buffer = out.Body
	const largestKept = 2 << 20 // a larger buffer is rare, and not kept for the next response
	if cap(*buffer) <= largestKept {
		e.buffers.Put(buffer)
	}
	if r.err != nil {
		end(o.failure(r.err))
		return value, false, r.err
	}
	end(StepResult{StatusCode: out.StatusCode, Attempts: out.Attempts})
	return r.value, age(out) == 0, nil
}

// request returns the request of an operation, apart from what belongs to one call.
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

// A reading is a read under way: how its responses are decoded, and the result of its last attempt.
type reading[T any] struct {
	core          *core
	endpoint      *endpoint
	params        url.Values
	decode        func(body []byte) (T, codec.Failure, error)
	decodeFailure func(body []byte) (codec.Failure, error)

	value     T
	failure   codec.Failure
	decodeErr error
	err       *Error
}

func (r *reading[T]) judged() *Error { return r.err }

// Judge is called by the transport for each response.
func (r *reading[T]) Judge(out *transport.Outcome) transport.Judgement {
	r.value = *new(T)
	r.failure = codec.Failure{}
	r.decodeErr = nil
	if out.Err == nil && isSuccess(out.StatusCode) {
		r.value, r.failure, r.decodeErr = r.decode(out.Body)
	}
	r.err = r.failed(out)
	if r.err == nil {
		return transport.Judgement{}
	}
	isTemporary := slices.Contains([]int{408, 500, 502, 503, 504}, out.StatusCode) ||
		slices.Contains(r.endpoint.errors.NotProcessed, out.StatusCode)
	isSpoiled := r.decodeErr != nil && !errors.Is(r.decodeErr, codec.ErrPage) // after ErrPage another attempt would get the same page
	j := transport.Judgement{
		Repeatable:   isTemporary || isSpoiled,
		TokenRefused: out.StatusCode == http.StatusUnauthorized,
	}
	r.endpoint.addHealth(&j, r.err)
	return j
}

// failed returns the error of a read, or nil if it succeeded.
func (r *reading[T]) failed(out *transport.Outcome) *Error {
	isSuccessful := isSuccess(out.StatusCode)
	isRead := out.Err == nil && r.decodeErr == nil
	if isSuccessful && isRead && r.failure.Code == "" {
		return nil
	}
	err := newError(r.endpoint, *out)
	if out.StatusCode == 0 {
		return err
	}
	failure := r.failure
	var notJSON error
	switch {
	case !isSuccessful:
		failure, notJSON = r.decodeFailure(out.Body)
		if out.StatusCode == http.StatusNotFound {
			err.reason = r.endpoint.describe()
		}
	case out.Err != nil:
		err.reason = "the response could not be read to its end"
	case errors.Is(r.decodeErr, codec.ErrPage):
		err.reason = r.decodeErr.Error()
	case r.decodeErr != nil:
		err.reason = "the response is " + r.decodeErr.Error()
	case failure.Class == "":
		err.reason = codec.UnknownCode
	}
	err.explain(failure, notJSON, *out, r.endpoint.secrets(nil, r.params, *out))
	return err
}

func isSuccess(status int) bool { return status >= 200 && status < 300 }

func (c *core) warnOfRows(ctx context.Context, referenceID string, rows int) {
	if c.settings.logger == nil {
		return
	}
	attrs := []slog.Attr{slog.Int("rows", rows)}
	if table.IsWord(referenceID) {
		attrs = append(attrs, slog.String("reference_id", referenceID))
	}
	c.settings.logger.LogAttrs(ctx, slog.LevelWarn, "messaging: several messages have one reference ID", attrs...)
}
