package messaging_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
)

// cloning is a wrapper as tracers write them: it sends a copy of the request.
func cloning(change func(*http.Request)) messaging.Option {
	return messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			if change != nil {
				change(r)
			}
			return base.RoundTrip(r)
		})
	})
}

// closingService responds to the first request of each connection and closes it upon the second, after it has read it. It
// returns its URL and the requests that it read.
func closingService(t *testing.T) (url string, requests func() []string) {
	t.Helper()
	var mu sync.Mutex
	var read []string
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = tcp.Close() })
	go func() {
		for {
			conn, err := tcp.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for n := range 2 {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					body, _ := io.ReadAll(r.Body)
					mu.Lock()
					read = append(read, r.Method+" "+string(body)+r.Header.Get("Content-Length")+strings.Join(r.TransferEncoding, ""))
					mu.Unlock()
					if n == 0 {
						_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"+`{"id":"m"}`)
					}
				}
			}()
		}
	}()
	return "http://" + tcp.Addr().String(), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(read)
	}
}

// net/http repeats a request by itself over a connection that was used before, if it has a GetBody or no body, and a header with
// an idempotency key. A wrapper may bring all of these.
func TestWithTransportSendsNothingTwice(t *testing.T) {
	inQuery, err := contract.Parse([]byte(`{"sms.send": {"encoding": "query"}}`))
	require.NoError(t, err)
	for name, change := range map[string]func(*http.Request){
		"nothing": nil,
		"a key":   func(r *http.Request) { r.Header.Set("Idempotency-Key", "k") },
		"no body": func(r *http.Request) { r.Body, r.ContentLength = nil, 0 },
		"no body, and a key": func(r *http.Request) {
			r.Header.Set("X-Idempotency-Key", "k")
			r.Body, r.ContentLength = http.NoBody, 0
		},
		"GetBody, and a key": func(r *http.Request) {
			r.Header.Set("Idempotency-Key", "k")
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), 2
			r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("{}")), nil }
		},
		"a wrapped body": func(r *http.Request) { r.Body = struct{ io.ReadCloser }{r.Body} },
		"another body of unknown length": func(r *http.Request) {
			r.Header.Set("Idempotency-Key", "k")
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader("other")), 0
		},
	} {
		for encoding, names := range map[string]contract.Contract{"JSON": contract.Default(), "query": inQuery} {
			t.Run(name+", "+encoding, func(t *testing.T) {
				url, requests := closingService(t)
				client, err := messaging.NewClient(url, messaging.WithToken("t"), messaging.WithContract(names), cloning(change))
				require.NoError(t, err)
				_, err = client.SMS.Send(t.Context(), one)
				require.NoError(t, err)
				_, err = client.SMS.Send(t.Context(), one)
				assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err), "%v", err)
				require.Len(t, requests(), 2)
				if name == "a wrapped body" && encoding == "query" {
					assert.Equal(t, "POST 0", requests()[0])
				}
				if strings.HasPrefix(name, "another") {
					assert.Equal(t, "POST otherchunked", requests()[1])
				}
			})
		}
	}
}

func TestWithTransportKeepsTheEvidence(t *testing.T) {
	t.Run("nothing listens", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		var wrapped atomic.Int32
		client, err := messaging.NewClient(server.URL, messaging.WithToken("t"), cloning(func(*http.Request) { wrapped.Add(1) }),
			messaging.WithRetry(messaging.RetryPolicy{MinWait: 1, MaxWait: 1}))
		require.NoError(t, err)
		_, err = client.SMS.Send(t.Context(), one)
		require.ErrorIs(t, err, messaging.ErrNotSent)
		assert.EqualValues(t, 4, wrapped.Load(), "a wrapper sees each attempt")
	})
	t.Run("no response", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
		defer server.Close()
		client, err := messaging.NewClient(server.URL, messaging.WithToken("t"), cloning(nil))
		require.NoError(t, err)
		_, err = client.SMS.Send(t.Context(), one)
		require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
	})
	t.Run("an endless body", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, "{")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
		defer server.Close()
		client, err := messaging.NewClient(server.URL, messaging.WithToken("t"), cloning(nil), messaging.WithTimeout(300*time.Millisecond))
		require.NoError(t, err)
		_, err = client.SMS.Send(t.Context(), one)
		require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
	})
}

func TestWithTransportSharesConnections(t *testing.T) {
	var connections, wraps atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"id":"m"}`)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	client, err := messaging.NewClient(server.URL, messaging.WithToken("t"),
		messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
			wraps.Add(1)
			return base
		}))
	require.NoError(t, err)
	derived, err := client.With(messaging.WithTimeout(time.Minute))
	require.NoError(t, err)
	assert.EqualValues(t, 1, wraps.Load(), "a derived client shares what was wrapped")
	wrapped, err := client.With(cloning(nil))
	require.NoError(t, err)
	for _, c := range []*messaging.Client{client, derived, wrapped} {
		_, err := c.SMS.Send(t.Context(), one)
		require.NoError(t, err)
	}
	assert.EqualValues(t, 1, connections.Load())
}

func TestWithTransportWrapsInOrder(t *testing.T) {
	var order []string
	wrap := func(name string) messaging.Option {
		return cloning(func(*http.Request) { order = append(order, name) })
	}
	user := roundTripper(func(r *http.Request) (*http.Response, error) {
		order = append(order, "user's")
		return respond(r, http.StatusOK, accepted), nil
	})
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), wrap("first"), user.option(), wrap("second"))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), one)
	require.NoError(t, err)
	assert.Equal(t, []string{"second", "first", "user's"}, order)
}

func TestWithTransportNeedsATransport(t *testing.T) {
	_, err := messaging.NewClient(baseURL, messaging.WithToken("t"), messaging.WithTransport(nil))
	require.EqualError(t, err, "messaging: WithTransport: needs a function, got nil")
	for _, option := range []messaging.Option{cloning(nil), messaging.WithTimeout(time.Second)} {
		nothing := messaging.WithTransport(func(http.RoundTripper) http.RoundTripper { return nil })
		_, err = messaging.NewClient(baseURL, messaging.WithToken("t"), nothing, option)
		require.EqualError(t, err, "messaging: WithTransport: the function returned nil; want a http.RoundTripper")
	}
}
