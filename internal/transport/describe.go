package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
)

// Describe says in words what a cause was, for an error text or a log. It repeats the text of errors whose words are
// known to name addresses and reasons only; of any other it gives the type, since a text may hold a query, a token or
// what the service wrote.
func Describe(err error) string {
	var (
		ours         because
		op           *net.OpError
		dns          *net.DNSError
		verification *tls.CertificateVerificationError
		header       tls.RecordHeaderError
		auth         AuthError
		timeout      interface{ Timeout() bool }
	)
	switch {
	case errors.As(err, &ours):
		return ours.Error()
	case errors.As(err, &auth):
		return auth.Error()
	case errors.Is(err, errMoved), errors.Is(err, errHeader), errors.Is(err, errEmptyToken), errors.Is(err, ErrTooLarge):
		return err.Error()
	case errors.As(err, &dns), errors.As(err, &verification), errors.As(err, &header):
		return firstOf(dns, verification, header).Error()
	case errors.As(err, &op) && (op.Op == "dial" || op.Op == "read" || op.Op == "write"):
		return op.Error()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer was cut short"
	case errors.Is(err, io.EOF):
		return "the connection ended without an answer"
	case errors.Is(err, context.Canceled):
		return context.Canceled.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("a timeout of the HTTP client (%T)", err)
	default:
		return fmt.Sprintf("the connection failed (%T)", err)
	}
}

func firstOf(dns *net.DNSError, verification *tls.CertificateVerificationError, header tls.RecordHeaderError) error {
	switch {
	case dns != nil:
		return dns
	case verification != nil:
		return verification
	default:
		return header
	}
}
