package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Describe says in words what a cause was, for an error text or a log. It repeats the text of errors whose words are
// known to name addresses and reasons only; of any other it gives the type, since a text may hold a query, a token or
// what the service wrote.
func Describe(err error) string {
	var ours because
	var auth AuthError
	var limit limitError
	var op *net.OpError
	switch {
	case errors.As(err, &auth):
		return auth.Error()
	case errors.As(err, &limit):
		return limit.Error()
	case errors.As(err, &ours):
		return ours.Error()
	case errors.Is(err, errMoved), errors.Is(err, errHeader), errors.Is(err, errEmptyToken), errors.Is(err, ErrTooLarge), errors.Is(err, errNothing), errors.Is(err, errRepeated):
		return err.Error()
	case errors.As(err, &op):
		return describeOp(op)
	}
	if reason := known(err); reason != "" {
		return reason
	}
	return fmt.Sprintf("the connection failed (%T)", err)
}

// describeOp says what net says, but for an inner error that is not net's own.
func describeOp(op *net.OpError) string {
	reason := known(op.Err)
	if fmt.Sprintf("%T", op.Err) == "tls.alert" { // crypto/tls gives the type no other name
		reason = op.Err.Error()
	}
	if nested, ok := errors.AsType[*net.OpError](op.Err); ok {
		reason = describeOp(nested)
	}
	if reason == "" {
		reason = fmt.Sprintf("failed (%T)", op.Err)
	}
	text := *op
	text.Err = errors.New(reason)
	return text.Error()
}

// known gives the text of an error whose words are the standard library's, or "".
func known(err error) string {
	var (
		dns       *net.DNSError
		errno     syscall.Errno
		call      *os.SyscallError
		header    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		expired   x509.CertificateInvalidError
		timeout   interface{ Timeout() bool }
	)
	switch {
	case errors.As(err, &dns):
		return dns.Error()
	case errors.As(err, &header):
		return header.Error()
	case errors.As(err, &authority):
		return authority.Error()
	case errors.As(err, &host):
		return host.Error()
	case errors.As(err, &expired):
		return expired.Error()
	case errors.As(err, &call) && errors.As(call.Err, &errno):
		return call.Syscall + ": " + errno.Error()
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer was cut short"
	case errors.Is(err, io.EOF):
		return "the connection ended without an answer"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "i/o timeout"
	case errors.Is(err, context.Canceled):
		return context.Canceled.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("a timeout of the HTTP client (%T)", err)
	default:
		return headerTooLarge(err)
	}
}

// headerTooLarge recognises what net/http says of header fields over http.Transport.MaxResponseHeaderBytes, and has no type
// for. Nothing is decided by it.
func headerTooLarge(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		if rest, ok := strings.CutPrefix(err.Error(), "net/http: server response headers exceeded "); ok {
			limit, _, _ := strings.Cut(rest, " ")
			if n, err := strconv.ParseInt(limit, 10, 64); err == nil {
				return fmt.Sprintf("the header fields of the answer are larger than the %d bytes that the client reads", n)
			}
		}
	}
	return ""
}
