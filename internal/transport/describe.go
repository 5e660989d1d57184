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

// A safeError is an error whose text may be shown: it holds no secret and nothing that a peer wrote.
type safeError struct {
	text  string
	cause error // or nil
}

func (e *safeError) Error() string { return e.text }
func (e *safeError) Unwrap() error { return e.cause }

// NewError returns an error whose text may be shown, and which wraps cause, or nothing if that is nil.
func NewError(text string, cause error) error { return &safeError{text, cause} }

// Timeout makes os.IsTimeout and its like work.
func (e *safeError) Timeout() bool {
	return errors.Is(e.cause, context.DeadlineExceeded) || errors.Is(e.cause, os.ErrDeadlineExceeded)
}

// Describe returns what err says, for the text of an error or for a log. It repeats only texts that are known to name addresses and reasons.
// For any other error it returns the type, because the text may hold a query, a token, or the words of the service.
func Describe(err error) string {
	return cmp.Or(describeKnown(err), fmt.Sprintf("the connection failed (%T)", err))
}

// describeKnown returns the text of an error that may be shown, or "".
func describeKnown(err error) string {
	if safe, ok := errors.AsType[*safeError](err); ok {
		return safe.text
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return describeOp(op)
	}
	return describeStandard(err)
}

// describeOp returns the text of op. For an inner error that is not the standard library's it shows the type.
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

// describeStandard returns the text of an error of the standard library, or "".
func describeStandard(err error) string {
	if err == nil {
		return ""
	}
	known := cmp.Or(textOf[*net.DNSError](err), textOf[tls.RecordHeaderError](err), describeCertificate(err), textOf[syscall.Errno](err))
	return cmp.Or(known, describeEnd(err), describeByText(err.Error()))
}

func describeCertificate(err error) string {
	text := cmp.Or(textOf[x509.UnknownAuthorityError](err), textOf[x509.HostnameError](err), textOf[x509.CertificateInvalidError](err))
	if text == "" {
		return ""
	}
	const longest = 200
	return "certificate refused: " + strconv.QuoteToASCII(text[:min(len(text), longest)]) // a peer wrote it
}

// describeEnd describes the end of a connection or of a context.
func describeEnd(err error) string {
	var timeout interface{ Timeout() bool }
	switch {
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
	default:
		return ""
	}
}

// describeByText describes errors for which net/http has no types. Nothing is decided by them.
func describeByText(text string) string {
	switch {
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
