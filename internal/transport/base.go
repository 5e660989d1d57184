package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	// idleTimeout is how long the transport of NewBase keeps an idle connection: less than the servers that are quickest to close theirs,
	// because a request that meets a closing connection has an unknown outcome.
	idleTimeout = 4 * time.Second
	// maxConnsPerHost bounds the connections of the transport of NewBase: in use, idle, or being dialled for requests that ended. There are
	// enough for the slots of every channel and kind of an account, so that none waits for another's.
	maxConnsPerHost = 8 * maxInFlight
	// connectTimeout bounds how long a connection may take until it can carry a request.
	connectTimeout = 10 * time.Second
)

// Base is the library's own round tripper. Its connections are for a Transport whose OwnBase is set.
type Base struct{ http.Transport }

// RoundTrip sends a request once. net/http repeats a request by itself if it has a GetBody or no body, and a method or a header that allows
// it (see isReplayable in net/http). A POST therefore leaves here with a body and without a GetBody, even if a wrapper has changed it. An
// empty body is left out only if no header allows net/http to repeat the request.
func (b *Base) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || r.GetBody == nil && r.ContentLength != 0 {
		return b.Transport.RoundTrip(r)
	}
	out := r.WithContext(r.Context()) // a copy
	out.GetBody = nil
	if r.ContentLength == 0 {
		body, err := withoutEmpty(r.Body)
		if err != nil {
			return nil, err
		}
		if body == http.NoBody && hasIdempotencyKey(r.Header) {
			body = io.NopCloser(strings.NewReader("")) // its length is unknown to net/http
		}
		out.Body = body
	}
	return b.Transport.RoundTrip(out)
}

func hasIdempotencyKey(h http.Header) bool {
	_, hasKey := h["Idempotency-Key"]
	_, hasOtherKey := h["X-Idempotency-Key"]
	return hasKey || hasOtherKey
}

// withoutEmpty returns body, or http.NoBody if it is empty.
func withoutEmpty(body io.ReadCloser) (io.ReadCloser, error) {
	if body == nil || body == http.NoBody {
		return http.NoBody, nil
	}
	var first [1]byte
	n, err := io.ReadFull(body, first[:])
	if err == io.EOF {
		return http.NoBody, body.Close()
	}
	if err != nil {
		_ = body.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first[:n]), body), body}, nil
}

// endsWithContext reports whether reading a response of the round tripper ends with the context of the request.
func endsWithContext(rt http.RoundTripper) bool {
	switch rt.(type) {
	case *Base, *http.Transport:
		return true
	default:
		return false
	}
}

// NewBase returns the round tripper for a client that was given none.
//
// It speaks HTTP/1.1 only. Over HTTP/2, a server that restarts or closes a connection after its thousandth request leaves the sends on it in
// doubt, and only the text of an error of net/http tells them from processed ones.
//
// net/http continues a dial after the request that it was for has ended, so that another request can use the connection. What a call leaves
// behind is bounded here: at most 2,048 connections per host, each with two goroutines, for at most 10 seconds until the proxy has responded
// and the TLS handshake is complete.
func NewBase() *Base { return newBase(connectTimeout) }

func newBase(connectTimeout time.Duration) *Base {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &Base{http.Transport{
		Proxy: http.ProxyFromEnvironment,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode != http.StatusOK {
				return proxyError(resp.StatusCode)
			}
			return nil
		},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			deadline := time.Now().Add(connectTimeout)
			dialer := net.Dialer{Deadline: deadline, KeepAlive: 15 * time.Second}
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			_ = conn.SetDeadline(deadline) // for the proxy and TLS; see clearDialDeadline
			return conn, nil
		},
		MaxConnsPerHost:        maxConnsPerHost,
		MaxIdleConnsPerHost:    maxConnsPerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: 64 << 10,
		Protocols:              protocols,
	}}
}

// clearDialDeadline ends the time limit of dialling, because the connection is ready.
func clearDialDeadline(info httptrace.GotConnInfo) { _ = info.Conn.SetDeadline(time.Time{}) }

var errProxyAuth = errors.New("the proxy wants credentials")

// proxyError returns the error of a proxy that did not open a tunnel to the service.
func proxyError(status int) error {
	text := fmt.Sprintf("the proxy refused the connection: HTTP %d", status)
	if status == http.StatusProxyAuthRequired {
		return &safeError{text, errProxyAuth}
	}
	return &safeError{text: text}
}

// connectError returns a better error for one that ended an attempt before there was a connection.
func connectError(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op != "dial" && errors.Is(err, os.ErrDeadlineExceeded) {
		return &safeError{"the proxy or the TLS handshake took too long", err}
	}
	// A Transport without OnProxyConnectResponse reports only the text of the status, such as "Bad Gateway".
	if status := failureStatus(err.Error()); status != 0 {
		return proxyError(status)
	}
	return err
}

// failureStatus returns the HTTP status from 300 on that has a text, or 0.
func failureStatus(text string) int {
	for status := http.StatusMultipleChoices; status < 600; status++ {
		isNamed := http.StatusText(status) != ""
		if isNamed && strings.EqualFold(http.StatusText(status), text) {
			return status
		}
	}
	return 0
}
