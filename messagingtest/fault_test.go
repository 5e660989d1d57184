package messagingtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// attempt is a test of one request, over a connection that is fresh or reused.
type attempt struct {
	*testing.T
	s     *Server
	shoot func() reply
}

func onBothConnections(t *testing.T, test func(attempt)) {
	t.Helper()
	for _, reused := range []bool{false, true} {
		t.Run(fmt.Sprintf("reused=%v", reused), func(t *testing.T) {
			s := NewServer(t)
			client := newClient(t)
			if reused {
				send(t, client, s, goodBody).data(t)
				s.Reset()
			}
			test(attempt{t, s, func() reply {
				r := send(t, client, s, goodBody)
				assert.Equal(t, reused, r.reused)
				return r
			}})
			s.Reset()
			send(t, client, s, goodBody).data(t) // the fault is over
			assert.Len(t, s.Sent(), 1)
		})
	}
}

func TestAcceptThenDrop(t *testing.T) {
	onBothConnections(t, func(a attempt) {
		a.s.Inject(FaultAcceptThenDrop(), 1)
		r := a.shoot()
		require.ErrorIs(a, r.err, syscall.ECONNRESET)
		assert.Len(a, a.s.Sent(), 1)
		assert.Equal(a, 1, a.s.Requests())
	})
}

func TestDropUnread(t *testing.T) {
	onBothConnections(t, func(a attempt) {
		a.s.Inject(FaultDropUnread(), 1)
		r := a.shoot()
		require.ErrorIs(a, r.err, syscall.ECONNRESET)
		assert.Empty(a, a.s.Sent())
		assert.Equal(a, 1, a.s.Requests())
	})
}

func TestDropUnreadDoesNotWaitForBody(t *testing.T) {
	s := NewServer(t)
	s.Inject(Fault{}, 1)
	s.Inject(FaultDropUnread(), 1)
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	responses := bufio.NewReader(c)
	resp, err := http.ReadResponse(responses, nil)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())

	_, err = io.WriteString(c, "POST /sms/send HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
	require.NoError(t, err)
	_, err = responses.ReadByte()
	require.ErrorIs(t, err, syscall.ECONNRESET)
	assert.Equal(t, 2, s.Requests())
}

func TestDropUnreadOfALargeBody(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	body := strings.Replace(goodBody, "Hi", strings.Repeat("a", 900_000), 1)
	for range 10 {
		s.Inject(FaultDropUnread(), 1)
		require.Error(t, send(t, client, s, body).err)
		send(t, client, s, goodBody).data(t) // the next drop meets a reused connection
	}
	assert.Len(t, s.Sent(), 10)
	assert.Equal(t, 20, s.Requests())
}

func TestDropUnreadOnReusedConnections(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	for range 100 {
		r := send(t, client, s, goodBody)
		r.data(t)
		s.Inject(FaultDropUnread(), 1)
		r = send(t, client, s, goodBody)
		assert.True(t, r.reused)
		require.Error(t, r.err)
	}
	assert.Len(t, s.Sent(), 100)
	assert.Equal(t, 200, s.Requests())
}

func TestAcceptThenDropShowsNetHTTPRetry(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	send(t, client, s, goodBody).data(t)
	s.Reset()
	s.Inject(FaultAcceptThenDrop(), 1)
	req := newRequest(t, s, goodBody)
	req.Header.Set("Idempotency-Key", "k")
	assert.Equal(t, http.StatusOK, do(client, req).status)
	assert.Len(t, s.Sent(), 2, "the double send shows")
}

func TestFaultOfAPipelinedRequest(t *testing.T) {
	for _, fault := range []Fault{FaultDropUnread(), FaultAcceptThenDrop()} {
		t.Run(fault.String(), func(t *testing.T) {
			s := NewServer(t)
			s.Inject(Fault{}, 1)
			s.Inject(fault, 1)
			c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			require.NoError(t, err)
			defer func() { _ = c.Close() }()
			one := fmt.Sprintf("POST /sms/send HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
				s.Token, len(goodBody), goodBody)
			_, err = io.WriteString(c, one+one)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, c)
			require.ErrorIs(t, err, syscall.ECONNRESET)
			assert.Equal(t, 2, s.Requests())
			want := 1
			if fault == FaultAcceptThenDrop() {
				want = 2
			}
			assert.Len(t, s.Sent(), want)
		})
	}
}

func TestSlow(t *testing.T) {
	onBothConnections(t, func(a attempt) {
		a.s.Inject(FaultSlow(50*time.Millisecond), 1)
		r := a.shoot()
		r.data(a.T)
		assert.GreaterOrEqual(a, r.elapsed, 50*time.Millisecond)
		assert.Len(a, a.s.Sent(), 1)
		assert.Greater(a, time.Since(a.s.Sent()[0].At), 50*time.Millisecond, "it is processed before it waits")
	})
}

func TestSlowOfNothing(t *testing.T) {
	s := NewServer(t)
	s.Inject(FaultSlow(0), 1)
	s.Inject(FaultSlow(-time.Hour), 1)
	client := newClient(t)
	send(t, client, s, goodBody).data(t)
	send(t, client, s, goodBody).data(t)
}

func TestSlowEndsWhenTheClientGoesAway(t *testing.T) {
	for _, reused := range []bool{false, true} {
		s := NewServer(t)
		client := newClient(t)
		if reused {
			send(t, client, s, goodBody).data(t)
			s.Reset()
		}
		s.Inject(FaultSlow(time.Hour), 1)
		ctx, cancel := context.WithCancel(t.Context())
		req := newRequest(t, s, goodBody).WithContext(ctx)
		done := make(chan reply)
		go func() { done <- do(client, req) }()
		require.Eventually(t, func() bool { return len(s.Sent()) == 1 && holding() }, 30*time.Second, time.Millisecond)
		cancel()
		r := <-done
		require.ErrorIs(t, r.err, context.Canceled)
		assert.Equal(t, reused, r.reused)
		assert.Eventually(t, func() bool { return !holding() }, 30*time.Second, time.Millisecond)
	}
}

// holding reports whether any server of this process delays a response.
func holding() bool {
	stacks := make([]byte, 1<<20)
	return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "messagingtest.sleep(")
}

func TestStatus(t *testing.T) {
	for _, tc := range []struct {
		status     int
		retryAfter time.Duration
		code       string
		header     []string
	}{
		{200, 0, "40003", nil},
		{202, 0, "40003", nil},
		{301, 0, "", nil},
		{307, 0, "", nil},
		{400, 0, "40003", nil},
		{401, 0, "40001", nil},
		{402, 0, "200101", nil},
		{403, 0, "", nil},
		{404, 0, "40005", nil},
		{408, 0, "", nil},
		{409, 0, "", nil},
		{429, 0, "40002", nil},
		{429, time.Second, "40002", []string{"1"}},
		{429, time.Nanosecond, "40002", []string{"1"}},
		{429, time.Second + 1, "40002", []string{"2"}},
		{429, -1, "40002", []string{"0"}},
		{429, math.MaxInt64, "40002", []string{"9223372037"}},
		{500, 0, "50000", nil},
		{502, 0, "50000", nil},
		{503, 90 * time.Second, "50000", []string{"90"}},
		{504, 0, "50000", nil},
		{599, 0, "50000", nil},
	} {
		t.Run(FaultStatus(tc.status, tc.retryAfter).String(), func(t *testing.T) {
			onBothConnections(t, func(a attempt) {
				a.s.Inject(FaultStatus(tc.status, tc.retryAfter), 1)
				r := a.shoot()
				require.NoError(a, r.err)
				assert.Equal(a, tc.status, r.status)
				assert.Equal(a, tc.code, r.code(a.T))
				assert.Equal(a, tc.header, r.header.Values("Retry-After"))
				assert.Equal(a, "application/json", r.header.Get("Content-Type"))
				assert.Empty(a, a.s.Sent())
				assert.Equal(a, 1, a.s.Requests())
			})
		})
	}
}

func TestStatusWithoutABody(t *testing.T) {
	for _, code := range []int{204, 304} {
		onBothConnections(t, func(a attempt) {
			a.s.Inject(FaultStatus(code, 0), 1)
			r := a.shoot()
			require.NoError(a, r.err)
			assert.Equal(a, code, r.status)
			assert.Empty(a, r.body)
			assert.Empty(a, a.s.Sent())
		})
	}
}

func TestStatusComesBeforeEveryCheck(t *testing.T) {
	s := NewServer(t)
	s.Inject(FaultStatus(503, 0), 1)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/nothing", nil)
	require.NoError(t, err)
	assert.Equal(t, 503, do(newClient(t), req).status)
}

func TestTruncatedResponse(t *testing.T) {
	onBothConnections(t, func(a attempt) {
		a.s.Inject(FaultTruncated(), 1)
		r := a.shoot()
		assert.Equal(a, http.StatusOK, r.status)
		require.ErrorIs(a, r.err, io.ErrUnexpectedEOF)
		assert.NotEmpty(a, r.body)
		assert.Len(a, a.s.Sent(), 1)
		assert.Equal(a, 1, a.s.Requests())
	})
}

func TestNotJSON(t *testing.T) {
	onBothConnections(t, func(a attempt) {
		a.s.Inject(FaultNotJSON(), 1)
		r := a.shoot()
		require.NoError(a, r.err)
		assert.Equal(a, http.StatusOK, r.status)
		assert.Equal(a, "text/html; charset=utf-8", r.header.Get("Content-Type"))
		assert.Contains(a, string(r.body), "<!DOCTYPE html>")
		assert.Len(a, a.s.Sent(), 1)
		assert.Equal(a, 1, a.s.Requests())
	})
}

func TestFaultChecksMessage(t *testing.T) {
	for _, fault := range []Fault{FaultAcceptThenDrop(), FaultSlow(1), FaultTruncated(), FaultNotJSON()} {
		s := NewServer(t)
		s.Inject(fault, 1)
		send(t, newClient(t), s, `{"from":"ACME"}`)
		assert.Empty(t, s.Sent(), fault)
		assert.Equal(t, 1, s.Requests(), fault)
	}
}

func TestInjectOrder(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	s.Inject(FaultStatus(429, 0), 2)
	s.Inject(Fault{}, 1)
	s.Inject(FaultDropUnread(), 1)
	s.Inject(FaultStatus(503, 0), 1)
	var got []int
	for range 6 {
		got = append(got, send(t, client, s, goodBody).status)
	}
	assert.Equal(t, []int{429, 429, 200, 0, 503, 200}, got)
	assert.Equal(t, 6, s.Requests())
	assert.Len(t, s.Sent(), 2)
}

func TestInjectConcurrently(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	s.Inject(FaultDropUnread(), 10)
	s.Inject(FaultAcceptThenDrop(), 10)
	s.Inject(FaultStatus(503, 0), 10)
	s.Inject(FaultNotJSON(), 10)
	var mu sync.Mutex
	seen := map[int]int{}
	var wg sync.WaitGroup
	for range 64 {
		req := newRequest(t, s, goodBody)
		wg.Go(func() {
			r := do(client, req)
			mu.Lock()
			defer mu.Unlock()
			seen[r.status]++
		})
	}
	wg.Wait()
	assert.Equal(t, map[int]int{0: 20, 503: 10, 200: 34}, seen)
	assert.Equal(t, 64, s.Requests())
	assert.Len(t, s.Sent(), 44)
}

func TestInjectRefusesMisuse(t *testing.T) {
	s := NewServer(t)
	assert.PanicsWithValue(t, "messagingtest: Inject(DropUnread, 0): the number of requests is below 1",
		func() { s.Inject(FaultDropUnread(), 0) })
	assert.Panics(t, func() { s.Inject(Fault{}, -1) })
	for _, code := range []int{-1, 0, 199, 600} {
		text := fmt.Sprintf("messagingtest: FaultStatus(%d): not in 200 to 599", code)
		assert.PanicsWithValue(t, text, func() { s.Inject(FaultStatus(code, 0), 1) })
	}
	for _, code := range []int{0, 200, 399, 600} {
		text := fmt.Sprintf("messagingtest: WithStatus(%d): not in 400 to 599", code)
		assert.PanicsWithValue(t, text, func() { s.Inject(FaultCode("131026").WithStatus(code), 1) })
	}
	assert.PanicsWithValue(t, "messagingtest: WithStatus(503): DropUnread is not a FaultCode", func() { FaultDropUnread().WithStatus(503) })
	send(t, newClient(t), s, goodBody).data(t)
}

func TestFaultString(t *testing.T) {
	for fault, name := range map[Fault]string{
		{}:                              "None",
		FaultAcceptThenDrop():           "AcceptThenDrop",
		FaultDropUnread():               "DropUnread",
		FaultSlow(2 * time.Second):      "Slow(2s)",
		FaultStatus(429, 2*time.Second): "Status(429, 2s)",
		FaultStatusAfter(500, "x"):      `StatusAfter(500, "x")`,
		FaultCode("131026"):             `Code("131026", 400)`,
		FaultPage(502):                  "Page(502)",
		FaultTruncated():                "Truncated",
		FaultNotJSON():                  "NotJSON",
	} {
		assert.Equal(t, name, fault.String())
	}
}
