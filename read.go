package messaging

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// A reading is one call of an operation that reads. The caller sets the first fields, and perform sets the others.
type reading[T any, C decoder] struct {
	core     *core
	endpoint *readEndpoint[C]
	params   url.Values // the arguments by concept
	request  codec.Request
	problems []wire.Problem // of the arguments
	decode   func(body []byte) (T, codec.Failure, error)

	value   T
	isFresh bool // no cache kept the response (see age)

	// of the last attempt
	failure   codec.Failure
	decodeErr error
	err       *Error
}

// perform performs the operation. Without an error, value and isFresh are set.
func (r *reading[T, C]) perform(ctx context.Context) error {
	e := r.endpoint
	if problems := append(r.problems, checkContext(ctx)...); len(problems) > 0 {
		return invalid(e.name, problems)
	}
	if err := e.missingCredentials(); err != nil {
		return err
	}
	o := r.core.observation(ctx, &e.endpoint)
	ctx, end := o.begin(ctx, StepCall, 0)
	buffer := e.takeBuffer()
	request := r.core.request(&e.endpoint, r.request)
	request.Buffer = *buffer
	request.Judge = r
	request.Observe = o.inTransport(ctx, r)
	out := r.core.transport.Do(ctx, request)
	if out.StatusCode == 0 || out.Interrupted != nil {
		r.err = r.failed(out) // there was nothing to judge, or more is known since
	}
	*buffer = out.Body
	e.keepBuffer(buffer)
	if r.err != nil {
		end(o.failure(r.err))
		return r.err
	}
	end(StepResult{StatusCode: out.StatusCode, Attempts: out.Attempts})
	r.isFresh = age(out) == 0
	return nil
}

// takeBuffer returns a buffer for a response, which may be that of an earlier one.
func (e *readEndpoint[C]) takeBuffer() *[]byte {
	if buffer, isKept := e.buffers.Get().(*[]byte); isKept {
		return buffer
	}
	return new([]byte)
}

// keepBuffer keeps the buffer of a response that was read for another one.
func (e *readEndpoint[C]) keepBuffer(buffer *[]byte) {
	const largestKept = 2 << 20 // a larger buffer is rare
	if cap(*buffer) <= largestKept {
		e.buffers.Put(buffer)
	}
}

func (r *reading[T, C]) judged() *Error { return r.err }

// Judge is called by the transport for each response.
func (r *reading[T, C]) Judge(out *transport.Outcome) transport.Judgement {
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
	j := transport.Judgement{
		Repeatable:   r.isTemporary(out.StatusCode),
		TokenRefused: out.StatusCode == http.StatusUnauthorized,
	}
	r.endpoint.addHealth(&j, r.err)
	return j
}

// isTemporary reports whether another attempt may get a better response than the one with this status.
func (r *reading[T, C]) isTemporary(status int) bool {
	isSpoiled := r.decodeErr != nil && !errors.Is(r.decodeErr, codec.ErrPage) // after ErrPage another attempt would get the same page
	isTrouble := slices.Contains([]int{408, 500, 502, 503, 504}, status)
	return isSpoiled || isTrouble || slices.Contains(r.endpoint.errors.NotProcessed, status)
}

// failed returns the error of a read, or nil if it succeeded.
func (r *reading[T, C]) failed(out *transport.Outcome) *Error {
	isSuccessful := isSuccess(out.StatusCode)
	isRead := out.Err == nil && r.decodeErr == nil
	if isSuccessful && isRead && r.failure.Code == "" {
		return nil
	}
	err := newError(&r.endpoint.endpoint, *out)
	if out.StatusCode == 0 {
		err.repeatable = !transport.IsPermanent(out.Err)
		return err
	}
	err.repeatable = err.repeatable || r.isTemporary(out.StatusCode) || out.WasCut()
	failure := r.failure
	var notJSON error
	switch {
	case !isSuccessful:
		failure, notJSON = r.endpoint.codec.DecodeFailure(out.Body)
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
