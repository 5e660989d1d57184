package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

// chatty is an error of a type that the package does not know.
type chatty struct{ text string }

func (c *chatty) Error() string { return c.text }

// slow is an unknown error that says that it is a timeout.
type slow struct{ chatty }

func (*slow) Timeout() bool { return true }

func TestDescribeHidesUnknownTexts(t *testing.T) {
	secret := errors.New("secret: to=639171234567")
	for name, err := range map[string]error{
		"plain":                        secret,
		"of an unknown type":           &chatty{"secret 639171234567"},
		"wrapped":                      fmt.Errorf("secret 639171234567: %w", secret),
		"wrapped around EOF":           fmt.Errorf("secret 639171234567: %w", io.EOF),
		"wrapped around a cut":         fmt.Errorf("secret 639171234567: %w", io.ErrUnexpectedEOF),
		"wrapped around a dial error":  fmt.Errorf("secret 639171234567: %w", errRefused),
		"wrapped around DNS":           fmt.Errorf("secret 639171234567: %w", &net.DNSError{Err: "no such host", Name: "h"}),
		"wrapped around a certificate": fmt.Errorf("secret 639171234567: %w", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}),
		"wrapped around ours":          fmt.Errorf("secret 639171234567: %w", &safeError{"context canceled", secret}),
		"wrapped around a deadline":    fmt.Errorf("secret 639171234567: %w", context.DeadlineExceeded),
		"wrapped around canceled":      fmt.Errorf("secret 639171234567: %w", context.Canceled),
		"joined":                       errors.Join(secret, io.EOF, errRefused),
		"URL with a query":             &url.Error{Op: "Get", URL: "https://api.example.com/?text=secret", Err: secret},
		"URL around EOF":               &url.Error{Op: "Get", URL: "https://api.example.com/?text=secret", Err: io.EOF},
		"URL around a dial error":      &url.Error{Op: "Get", URL: "https://api.example.com/?text=secret", Err: errRefused},
		"credentials":                  authError(secret),
		"credentials, wrapped":         fmt.Errorf("secret: %w", authError(secret)),
		"a timeout":                    &slow{chatty{"secret 639171234567"}},
		"of a proxy":                   &net.OpError{Op: "proxyconnect", Net: "tcp", Err: secret},
		"of an unknown operation":      &net.OpError{Op: "socks connect", Net: "tcp", Err: secret},
		"of a dialer":                  &net.OpError{Op: "dial", Net: "tcp", Err: secret},
		"of a dialer, around DNS":      &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("secret: %w", &net.DNSError{Err: "no such host", Name: "h"})},
		"of a dialer in another":       &net.OpError{Op: "proxyconnect", Net: "tcp", Err: fmt.Errorf("secret: %w", &net.OpError{Op: "dial", Net: "tcp", Err: secret})},
		"of a certificate":             &tls.CertificateVerificationError{Err: secret},
		"of a certificate, around one": &tls.CertificateVerificationError{Err: fmt.Errorf("secret: %w", x509.UnknownAuthorityError{})},
		"of another end of TLS":        &net.OpError{Op: "remote error", Err: secret},
		"ours, for a context":          &safeError{"context canceled", secret},
	} {
		text := Describe(err)
		assert.NotContains(t, text, "secret", name)
		assert.NotContains(t, text, "639171234567", name)
		assert.NotEmpty(t, text, name)
	}
}

func TestDescribeNamesKnownErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"refused": {
			&net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
			"dial tcp 127.0.0.1:443: connection refused",
		},
		"refused, in a URL": {&url.Error{Op: "Post", URL: "https://api.example.com/?q", Err: errRefused}, "dial tcp: connection refused"},
		"reset":             {errReset, "read tcp: connection reset by peer"},
		"broken pipe":       {&net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}, "write tcp: broken pipe"},
		"DNS": {
			&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}},
			"dial tcp: lookup api.example.com: no such host",
		},
		"certificate": {
			&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
			`certificate refused: "x509: certificate signed by unknown authority"`,
		},
		"certificate of another host": {
			&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"other.example"}}, Host: "api.example.com"}},
			`certificate refused: "x509: certificate is valid for other.example, not api.example.com"`,
		},
		"certificate that is over": {
			&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired, Detail: "long ago"}},
			`certificate refused: "x509: certificate has expired or is not yet valid: long ago"`,
		},
		"certificate, for a reason of the user's": {
			&tls.CertificateVerificationError{Err: errSecret},
			"the connection failed (*tls.CertificateVerificationError)",
		},
		"proxy refused": {
			&net.OpError{Op: "proxyconnect", Net: "tcp", Err: &net.OpError{
				Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3128}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
			}},
			"proxyconnect tcp: dial tcp 127.0.0.1:3128: connection refused",
		},
		"proxy with a bad certificate": {
			&net.OpError{Op: "proxyconnect", Net: "tcp", Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}},
			`proxyconnect tcp: certificate refused: "x509: certificate signed by unknown authority"`,
		},
		"proxy, unknown reason":    {&net.OpError{Op: "proxyconnect", Net: "tcp", Err: errSecret}, "proxyconnect tcp: failed (*errors.errorString)"},
		"dialer of the user's":     {&net.OpError{Op: "dial", Net: "tcp", Err: &chatty{"secret"}}, "dial tcp: failed (*transport.chatty)"},
		"known, in unknown words":  {&net.OpError{Op: "read", Net: "tcp", Err: fmt.Errorf("secret: %w", syscall.ECONNRESET)}, "read tcp: connection reset by peer"},
		"operation that ended":     {&net.OpError{Op: "read", Net: "tcp", Err: io.EOF}, "read tcp: the connection ended without a response"},
		"operation, cut":           {&net.OpError{Op: "read", Net: "tcp", Err: io.ErrUnexpectedEOF}, "read tcp: the response was cut short"},
		"operation, canceled":      {&net.OpError{Op: "dial", Net: "tcp", Err: context.Canceled}, "dial tcp: context canceled"},
		"operation, deadline":      {&net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}, "dial tcp: context deadline exceeded"},
		"operation, other timeout": {&net.OpError{Op: "read", Net: "tcp", Err: &slow{}}, "read tcp: a timeout of the HTTP client (*transport.slow)"},
		"operation without reason": {&net.OpError{Op: "read", Net: "tcp"}, "read tcp: failed (<nil>)"},
		"nothing":                  {errNoResponse, "the round tripper returned neither a response nor an error"},
		"nothing, wrapped":         {fmt.Errorf("%w", errNoResponse), "the round tripper returned neither a response nor an error"},
		"no TLS":                   {tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, "tls: first record does not look like a TLS handshake"},
		"EOF":                      {io.EOF, "the connection ended without a response"},
		"cut":                      {io.ErrUnexpectedEOF, "the response was cut short"},
		"canceled":                 {context.Canceled, "context canceled"},
		"deadline":                 {context.DeadlineExceeded, "context deadline exceeded"},
		"too large":                {tooLargeError(7), "the response is larger than 7 bytes"},
		"credentials":              {authError(errSecret), "authentication failed before anything was sent"},
		"empty token":              {errInvalidToken, errInvalidToken.Error()},
		"moved":                    {errMoved, errMoved.Error()},
		"header":                   {errInvalidHeader, errInvalidHeader.Error()},
		"another timeout":          {&slow{}, "a timeout of the HTTP client (*transport.slow)"},
		"anything else":            {&chatty{"secret"}, "the connection failed (*transport.chatty)"},
		"interrupted call":         {errors.Join(context.Canceled, nil), "context canceled"},
	} {
		assert.Equal(t, tc.want, Describe(tc.err), name)
	}
}
