package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A namedError is an error that this package found, or knows by a better name than its cause. Its text holds no secret
// and nothing that a peer wrote.
type namedError struct {
	text  string
	cause error // or nil
}

func (e *namedError) Error() string { return e.text }
func (e *namedError) Unwrap() error { return e.cause }

// NewError returns an error whose text may be shown, and which wraps cause, or nothing if that is nil.
func NewError(text string, cause error) error { return &namedError{text, cause} }

// Timeout makes os.IsTimeout and its like work.
func (e *namedError) Timeout() bool {
	return errors.Is(e.cause, context.DeadlineExceeded) || errors.Is(e.cause, os.ErrDeadlineExceeded)
}

// Describe returns what err says, for an error text or a log. It repeats only texts that are known to name addresses
// and reasons. Of any other error it returns the type, because the text may hold a query, a token, or what the service
// wrote.
func Describe(err error) string {
	return cmp.Or(describeKnown(err), fmt.Sprintf("the connection failed (%T)", err))
}

// describeKnown returns "" if only the type of err may be told.
func describeKnown(err error) string {
	if named, ok := errors.AsType[*namedError](err); ok {
		return named.text
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return describeOp(op)
	}
	return describeStandard(err)
}

// describeOp returns the text of op. Of an inner error that is not the standard library's it shows the type.
func describeOp(op *net.OpError) string {
	reason := describeStandard(op.Err)
	if nested, ok := errors.AsType[*net.OpError](op.Err); ok {
		reason = describeOp(nested)
	} else if fmt.Sprintf("%T", op.Err) == "tls.alert" { // the type is not exported
		reason = op.Err.Error()
	}
	if reason == "" {
		reason = fmt.Sprintf("failed (%T)", op.Err)
	}
	text := *op
	text.Err = errors.New(reason)
	return text.Error()
}

func describeStandard(err error) string {
	if err == nil {
		return ""
	}
	if text := cmp.Or(textOf[*net.DNSError](err), textOf[tls.RecordHeaderError](err)); text != "" {
		return text
	}
	refused := cmp.Or(textOf[x509.UnknownAuthorityError](err), textOf[x509.HostnameError](err), textOf[x509.CertificateInvalidError](err))
	var timeout interface{ Timeout() bool }
	switch errno := textOf[syscall.Errno](err); {
	case refused != "":
		return "certificate refused: " + strconv.QuoteToASCII(refused[:min(len(refused), 200)]) // a peer wrote it
	case errno != "":
		return errno
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the response was cut short"
	case errors.Is(err, io.EOF):
		return "the connection ended without a response"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "i/o timeout"
	case errors.Is(err, context.Canceled):
		return context.Canceled.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("a timeout of the HTTP client (%T)", err)
	}
	switch text := err.Error(); { // net/http has no types for these; nothing is decided by them
	case strings.Contains(text, "net/http: server response headers exceeded "):
		return "the header of the response is larger than the client reads"
	case strings.Contains(text, "http2: ") && strings.Contains(text, "GOAWAY"):
		return "the server ended the HTTP/2 connection (GOAWAY)"
	default:
		return ""
	}
}

// textOf returns the text of the error of a type that is in the chain of err, or "".
func textOf[E error](err error) string {
	if e, ok := errors.AsType[E](err); ok {
		return e.Error()
	}
	return ""
}

// withoutURL returns the cause of a *url.Error, whose URL may hold personal data in its query.
func withoutURL(err error) error {
	if u, ok := err.(*url.Error); ok { //nolint:errorlint // a wrapped one is not printed
		return withoutURL(u.Err)
	}
	return err
}
