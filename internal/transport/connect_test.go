package transport

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listener serves each connection with serve, and counts connections.
type listener struct {
	net.Listener
	accepted, open, maxOpen atomic.Int32
}

func listen(t *testing.T, serve func(net.Conn)) *listener {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &listener{Listener: tcp}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := tcp.Accept()
			if err != nil {
				return
			}
			l.accepted.Add(1)
			l.maxOpen.Store(max(l.maxOpen.Load(), l.open.Add(1)))
			serving.Go(func() {
				defer l.open.Add(-1)
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(time.Minute))
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = tcp.Close()
		serving.Wait()
	})
	return l
}

func (l *listener) url(scheme string) *url.URL {
	return &url.URL{Scheme: scheme, Host: l.Addr().String(), Path: "/"}
}

// silence reads until the peer closes the connection, and writes nothing.
func silence(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// certificate returns a self-signed certificate for the names.
func certificate(t *testing.T, names ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: names, Subject: pkix.Name{CommonName: "a peer"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Without bounds each of these left some 5,000 goroutines for up to a minute, or for ever.
func TestNewBaseBoundsConnectionsBeingEstablished(t *testing.T) {
	const (
		senders        = 64
		timeout        = 50 * time.Millisecond
		connectTimeout = 500 * time.Millisecond
		patience       = 30 * time.Second // for the peer and the scheduler of a busy machine
		divisor        = 64               // of the bound, so that the senders meet it: without one they open some ten connections each
	)
	proxyCertificate := certificate(t, "proxy.example")
	type row struct {
		proxy string // the scheme of the proxy, or empty
		serve func(net.Conn)
	}
	rows := map[string]row{
		"TLS that never begins": {"", silence},
		"TLS that stops half-way": {"", func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 1))
			_, _ = conn.Write([]byte{22, 3, 3, 1, 0, 2}) // a handshake message of which the rest is missing
			silence(conn)
		}},
		"CONNECT without a response": {"http", silence},
		"CONNECT with a response that does not end": {"http", func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nX-Slow: ")
			for {
				if _, err := io.WriteString(conn, "x"); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}},
		"CONNECT, then TLS that never begins": {"http", func(conn net.Conn) {
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			silence(conn)
		}},
		"CONNECT over TLS without a response": {"https", func(conn net.Conn) {
			silence(tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{proxyCertificate}}))
		}},
		"SOCKS that stops half-way": {"socks5", func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 3))
			_, _ = conn.Write([]byte{5, 0})
			silence(conn)
		}},
	}
	before := runtime.NumGoroutine()
	t.Run("against a peer with", func(t *testing.T) {
		for name, tc := range rows {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				peer := listen(t, tc.serve)
				base := newBase(connectTimeout)
				base.MaxConnsPerHost /= divisor
				base.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
				request := sendRequest()
				if tc.proxy != "" {
					base.Proxy = http.ProxyURL(peer.url(tc.proxy))
				} else {
					base.Proxy = nil
					request.URL = peer.url("https")
				}
				tr := newTransport(base, ownBase, timeoutOf(timeout), attemptsUpTo(1))
				ctx, cancel := context.WithTimeout(t.Context(), 2*connectTimeout)
				defer cancel()
				var calls sync.WaitGroup
				for range senders {
					calls.Go(func() {
						for ctx.Err() == nil {
							assert.Error(t, tr.Do(ctx, request).Err)
						}
					})
				}
				calls.Wait()
				assert.Eventually(t, func() bool { return peer.maxOpen.Load() > 0 }, patience, 10*time.Millisecond, "no connection came")
				assert.LessOrEqual(t, int(peer.maxOpen.Load()), 2*maxConnsPerHost/divisor, "the peer is late to notice those that were closed")
				assert.Eventually(t, func() bool { return peer.open.Load() == 0 }, patience, 10*time.Millisecond,
					"no connection is left after the time that it may take")
			})
		}
	})
	assertGoroutines(t, before)
}

func ownBase(tr *Transport) { tr.OwnBase = true }

func TestNewBaseServesResponsesSlowerThanConnecting(t *testing.T) {
	t.Parallel()
	const connectTimeout = 2 * time.Second // a busy machine must be able to connect in it
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(connectTimeout + connectTimeout/2)
				_, _ = io.WriteString(w, "{}")
			}))
			if scheme == "https" {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			base := newBase(connectTimeout)
			defer base.CloseIdleConnections()
			base.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
			tr := newTransport(base, ownBase, attemptsUpTo(1))
			for range 2 { // on a new connection, and on one that is idle
				out := tr.Do(t.Context(), readOf(t, server))
				require.NoError(t, out.Err)
				assert.Equal(t, 200, out.StatusCode)
			}
		})
	}
}

func TestNewBaseLetsCallsWaitForAConnection(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) }))
	defer server.Close()
	base := NewBase()
	defer base.CloseIdleConnections()
	base.MaxConnsPerHost = 2
	tr := newTransport(base, ownBase)
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() { assert.Equal(t, 200, tr.Do(t.Context(), readOf(t, server)).StatusCode) })
	}
	calls.Wait()
}

func TestProxyThatRefusesIsNamed(t *testing.T) {
	for _, status := range []string{"407 Proxy Authentication Required", "502 Bad Gateway", "503 service unavailable", "403 Forbidden"} {
		for name, base := range map[string]*http.Transport{"own": &NewBase().Transport, "user's": {}} {
			t.Run(status+", "+name, func(t *testing.T) {
				proxy := listen(t, func(conn net.Conn) {
					_, _ = http.ReadRequest(bufio.NewReader(conn))
					_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", status)
				})
				base.Proxy = http.ProxyURL(proxy.url("http"))
				out := newTransport(base, waits(1, time.Second)).Do(t.Context(), sendRequest())
				assert.Equal(t, "the proxy refused the connection: HTTP "+status[:3], Describe(out.Err))
				assert.False(t, out.Written)
				assert.Zero(t, out.StatusCode)
				if strings.HasPrefix(status, "407") {
					assert.Equal(t, 1, out.Attempts, "credentials do not appear by trying again")
				} else {
					assert.Equal(t, 4, out.Attempts)
				}
			})
		}
	}
}

func TestProxyOrTLSTakingTooLongIsNamed(t *testing.T) {
	peer := listen(t, silence)
	for _, proxied := range []bool{false, true} {
		base := newBase(50 * time.Millisecond)
		base.Proxy = nil
		if proxied {
			base.Proxy = http.ProxyURL(peer.url("http"))
		}
		request := sendRequest()
		request.URL = peer.url("https")
		out := newTransport(base, ownBase, attemptsUpTo(1)).Do(t.Context(), request)
		assert.Equal(t, "the proxy or the TLS handshake took too long", Describe(out.Err))
		assert.False(t, out.Written)
		var op *net.OpError
		assert.ErrorAs(t, out.Err, &op)
	}
}

// goAway serves HTTP/2 and answers the first request with a GOAWAY.
func goAway(last, code uint32) func(net.Conn) {
	return func(conn net.Conn) {
		frame := func(kind byte, payload ...uint32) {
			b := []byte{0, 0, byte(4 * len(payload)), kind, 0, 0, 0, 0, 0}
			for _, p := range payload {
				b = binary.BigEndian.AppendUint32(b, p)
			}
			_, _ = conn.Write(b)
		}
		r := bufio.NewReader(conn)
		if _, err := r.Discard(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")); err != nil {
			return
		}
		frame(4) // SETTINGS
		for head := make([]byte, 9); ; {
			if _, err := io.ReadFull(r, head); err != nil {
				return
			}
			_, _ = r.Discard(int(head[0])<<16 | int(head[1])<<8 | int(head[2]))
			if head[3] == 0 { // DATA: the request is complete
				frame(7, last, code)
				time.Sleep(10 * time.Millisecond) // a close must not overtake it
				return
			}
		}
	}
}

func TestGoAwayIsNamed(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"without processing, gracefully":     goAway(0, 0),
		"without processing, for a reason":   goAway(0, 11),
		"perhaps processed, then closed":     goAway(1, 0),
		"perhaps processed, with a reason":   goAway(1, 11),
		"perhaps processed, text with a key": goAway(1, 1<<31-1),
	} {
		t.Run(name, func(t *testing.T) {
			peer := listen(t, serve)
			base := &http.Transport{Protocols: new(http.Protocols)}
			base.Protocols.SetUnencryptedHTTP2(true)
			request := sendRequest()
			request.URL = peer.url("http")
			out := newTransport(base).Do(t.Context(), request)
			assert.Equal(t, "the server ended the HTTP/2 connection (GOAWAY)", Describe(out.Err))
			assert.True(t, out.Written)
			assert.Equal(t, 1, out.Attempts)
		})
	}
}

func TestCertificateNamesAreQuotedAndCut(t *testing.T) {
	for name, names := range map[string][]string{
		"line breaks": {"a\nlevel=INFO msg=\"all is well\"\r\n"},
		"long":        {strings.Repeat("x", 200) + ".example", strings.Repeat("y", 60_000)},
	} {
		t.Run(name, func(t *testing.T) {
			pair := certificate(t, names...)
			peer := listen(t, func(conn net.Conn) { silence(tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}})) })
			base := NewBase()
			base.Proxy = nil
			request := sendRequest()
			request.URL = peer.url("https")
			request.URL.Host = strings.Replace(request.URL.Host, "127.0.0.1", "localhost", 1)
			out := newTransport(base, ownBase, waits(1, time.Second)).Do(t.Context(), request)
			text := Describe(out.Err)
			assert.True(t, strings.HasPrefix(text, `certificate refused: "x509: `), text)
			assert.NotContains(t, text, "\n")
			assert.NotContains(t, text, "\r")
			assert.Less(t, len(text), 300)
			assert.False(t, out.Written)
			assert.Equal(t, 1, out.Attempts)
		})
	}
}

func TestReadAsksCachesForAFreshResponse(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.Header.Get("Cache-Control"))
		w.Header().Set("Age", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	tr := newTransport(http.DefaultTransport, waits(1, time.Second), attemptsUpTo(2))
	out := tr.Do(t.Context(), readOf(t, server))
	assert.Equal(t, "7", out.Header.Get("Age"), "a response from a cache says so")
	send := sendRequest()
	send.URL = readOf(t, server).URL
	tr.Do(t.Context(), send)
	assert.Equal(t, []string{"GET no-cache", "GET no-cache", "POST "}, got)
}
