package webhook_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// raw sends bytes over a connection of its own, and reads the first answer.
func raw(t *testing.T, server *httptest.Server, request string) (status int, header http.Header, body string) {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	method, _, _ := strings.Cut(request, " ")
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, answer.Header, string(text)
}

// What no client of package net/http would send.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("%F0%9F%98%80", 5000)
	for _, tt := range []struct {
		name    string
		request string
		status  int
		from    string
		text    string
	}{
		{"plain", "GET /hook?from=+639171234567&message=Hi HTTP/1.1\r\nHost: x\r\n\r\n", 200, "+639171234567", "Hi"},
		{"HTTP 1.0 without a host", "GET /hook?from=1111&message=Hi HTTP/1.0\r\n\r\n", 200, "1111", "Hi"},
		{"raw bytes beyond ASCII", "GET /hook?from=1111&message=caf\xe9+\x80\xff HTTP/1.1\r\nHost: x\r\n\r\n", 200, "1111", "café €ÿ"},
		{"raw UTF-8", "GET /hook?from=1111&message=é€😀 HTTP/1.1\r\nHost: x\r\n\r\n", 200, "1111", "é€😀"},
		{"bad escapes", "GET /hook?from=1111&message=100%&x=%zz;%u00E6 HTTP/1.1\r\nHost: x\r\n\r\n", 200, "1111", "100%"},
		{"quotes and brackets", "GET /hook?from=1111&message=\"<a>{b}|\\^`[c]\" HTTP/1.1\r\nHost: x\r\n\r\n", 200, "1111", "\"<a>{b}|\\^`[c]\""},
		{"JSON", `GET /hook?from=1111&message={"a":"b"} HTTP/1.1` + "\r\nHost: x\r\n\r\n", 200, "1111", `{"a":"b"}`},
		{"a fragment", "GET /hook?from=1111&message=a#b HTTP/1.1\r\nHost: x\r\n\r\n", 200, "1111", "a#b"},
		{"an absolute URL", "GET http://attacker.example/hook?from=1111&message=a HTTP/1.1\r\nHost: attacker.example\r\n\r\n", 200, "1111", "a"},
		{"60,000 bytes", "GET /hook?from=1111&message=" + long + " HTTP/1.1\r\nHost: x\r\n\r\n", 200, "1111", strings.Repeat("😀", 5000)},
		{"70,000 bytes", "GET /hook?from=1111&message=" + long + strings.Repeat("a", 10_000) + " HTTP/1.1\r\nHost: x\r\n\r\n", 414, "", ""},
		{"a body on a GET", "GET /hook?from=1111&message=a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nfrom=2222", 200, "1111", "a"},
		{"a chunked form", "POST /post HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nfrom=1111\r\na\r\n&message=a\r\n0\r\n\r\n", 200, "1111", "a"},
		{"a form that ends early", "POST /post HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nfrom=1111\r\nzz\r\n", 400, "", ""},
		{"a POST", "POST /hook?from=1111 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 405, "", ""},
		{"HEAD", "HEAD /hook?from=1111 HTTP/1.1\r\nHost: x\r\n\r\n", 200, "", ""},
		{"an unknown method", "HOOK /hook?from=1111 HTTP/1.1\r\nHost: x\r\n\r\n", 405, "", ""},
		{"a prefetch", "GET /hook?from=1111 HTTP/1.1\r\nHost: x\r\nsec-purpose: prefetch\r\n\r\n", 503, "", ""},
		{"no query", "GET /hook HTTP/1.1\r\nHost: x\r\n\r\n", 400, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var in inbox[webhook.SMSMessage]
			mux := http.NewServeMux()
			mux.Handle("/hook", hooks().SMS(in.handle))
			mux.Handle("/post", hooks(webhook.WithPOST()).SMS(in.handle))
			server := httptest.NewServer(mux)
			defer server.Close()
			status, header, body := raw(t, server, tt.request)
			assert.Equal(t, tt.status, status)
			assert.Empty(t, body)
			assert.Equal(t, "no-store", header.Get("Cache-Control"))
			if tt.name != "HEAD" {
				assert.Equal(t, "0", header.Get("Content-Length"))
			}
			if tt.from == "" {
				assert.Empty(t, in.got)
				return
			}
			m := in.one(t)
			assert.Equal(t, tt.from, m.From)
			assert.Equal(t, tt.text, m.Text)
		})
	}
}

// Each of many events comes twice over 64 connections, some at once, and again until it is answered with 200.
func TestServerHandlesEachEventOnce(t *testing.T) {
	t.Parallel()
	const events, connections = 2000, 64
	var handled [events + 1]atomic.Int32
	var failed atomic.Int32
	server := httptest.NewServer(hooks(withKey(), webhook.WithStore(webhook.NewMemoryStore(events, time.Hour))).SMS(func(_ context.Context, m webhook.SMSMessage) error {
		n, err := strconv.Atoi(m.ID)
		if err != nil {
			return err
		}
		if n%97 == 0 && failed.Add(1)%2 == 1 {
			return errors.New("not yet")
		}
		handled[n].Add(1)
		return nil
	}))
	defer server.Close()
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = connections
	work := make(chan int)
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for n := range work {
				for range 10_000 { // until it is handled
					answer, err := client.Get(server.URL + "/?key=s3cret-of-16-chars&from=1111&message=a&id=" + strconv.Itoa(n))
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
					if answer.StatusCode == http.StatusOK {
						break
					}
					if answer.StatusCode != http.StatusServiceUnavailable && answer.StatusCode != http.StatusInternalServerError {
						t.Errorf("%d", answer.StatusCode)
						return
					}
					runtime.Gosched()
				}
			}
		})
	}
	for n := range events {
		work <- n + 1 // 0 is no ID
		work <- n + 1
	}
	close(work)
	wg.Wait()
	for n := range events {
		if times := handled[n+1].Load(); times != 1 {
			t.Errorf("%d was handled %d times", n+1, times)
		}
	}
}

// Inputs that a careless parser needs long for, or much memory. Not in parallel: the memory of the process is measured.
//
//nolint:paralleltest // see above
func TestRequestCostIsBounded(t *testing.T) {
	const limit = 64 << 10
	fill := func(pattern string) string { return strings.Repeat(pattern, (limit-100)/len(pattern)) }
	list := func(before, element, after string) string {
		return "from=1111&payload=" + before + strings.TrimSuffix(fill(element+","), ",") + after
	}
	for name, query := range map[string]string{
		"separators":          "from=1111" + fill("&"),
		"equal signs":         "from=1111&message=" + fill("="),
		"percent signs":       "from=1111&message=" + fill("%"),
		"escapes":             "from=1111&message=" + fill("%41"),
		"plus signs":          "from=1111&message=" + fill("+"),
		"bytes of no UTF-8":   "from=1111&message=" + fill("\x80"),
		"spaces in a sender":  "from=" + fill("+") + "1",
		"a sender of digits":  "from=+" + fill("1"),
		"a time":              "from=1111&timestamp=" + fill("2"),
		"a long name":         fill("a") + "=b&from=1111",
		"many secrets":        "from=1111&" + fill("key=s3cret-of-16-chars&"),
		"secrets in between":  "from=1111&" + fill("key=s3cret-of-16-chars&a&"),
		"open JSON":           "from=1111&payload={%22a%22:" + fill("["),
		"JSON of members":     "from=1111&payload={" + fill(`"a":0,`) + `"type":"x"}`,
		"JSON in the text":    "from=1111&message={" + fill(`"a":0,`) + `"type":"x","x":{}}`,
		"many messages":       list(`{"messages":[`, `{}`, `]}`),
		"many entries":        list(`{"entry":[`, `0`, `]}`),
		"many changes":        list(`{"entry":[{"changes":[`, `{}`, `]}]}`),
		"many empty contacts": list(`{"type":"contacts","contacts":[`, `0`, `]}`),
		"many phones":         list(`{"type":"contacts","contacts":[{"phones":[`, `{}`, `]}]}`),
		"many items":          list(`{"type":"order","order":{"product_items":[`, `0`, `]}}`),
		"names and names":     "from=1111&payload={" + manyNames(limit-200) + `"type":"x"}`,
	} {
		opts := []webhook.Option{withKey(), webhook.WithLimits(1<<17, limit)}
		r := get(query + "&key=s3cret-of-16-chars")
		require.LessOrEqual(t, len(r.URL.RawQuery), limit, name)
		least := uint64(math.MaxUint64) // other goroutines allocate too, now and then
		for range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			_, _, err := hooks(opts...).ParseChatApp1(r)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, webhook.ErrTooLarge) {
				require.NoError(t, err, name)
			}
			assert.Less(t, took, 30*time.Second, name)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		assert.Less(t, least, uint64(40*limit), name)
	}
}

// manyNames makes members of JSON with a name of their own each.
func manyNames(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `"%x":0,`, i)
	}
	return b.String()
}

func TestMounting(t *testing.T) {
	t.Parallel()
	var sms inbox[webhook.SMSMessage]
	var reports inbox[webhook.DeliveryReport]
	mux := http.NewServeMux()
	mux.Handle("GET /hooks/sms", hooks().SMS(sms.handle))
	mux.Handle("/prefix/", http.StripPrefix("/prefix", hooks().Delivery(reports.handle)))
	mux.Handle("/slow", http.TimeoutHandler(hooks().SMS(sms.handle), time.Minute, ""))
	server := httptest.NewServer(mux)
	defer server.Close()
	for target, want := range map[string]int{
		"/hooks/sms?from=1111": 200, "/prefix/dlr?id=1": 200, "/slow?from=2222": 200, "/hooks/sms": 400, "/prefix/dlr": 400,
	} {
		answer, err := server.Client().Get(server.URL + target)
		require.NoError(t, err)
		answer.Body.Close()
		assert.Equal(t, want, answer.StatusCode, target)
	}
	assert.Len(t, sms.got, 2)
	assert.Len(t, reports.got, 1)
}

func TestRequestMadeByHand(t *testing.T) {
	t.Parallel()
	m, err := hooks().ParseSMS(&http.Request{URL: &url.URL{RawQuery: "from=1111&message=a"}})
	require.NoError(t, err)
	assert.Equal(t, "a", m.Text)
	_, err = hooks().ParseSMS(&http.Request{})
	require.ErrorIs(t, err, webhook.ErrNoSender)
	_, err = hooks(webhook.WithPOST()).ParseSMS(&http.Request{Method: http.MethodPost})
	require.ErrorIs(t, err, webhook.ErrNoSender)
}
