package sandbox

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
)

// maxMessages is how many the sandbox keeps.
const maxMessages = 10_000

// rig is a sandbox that listens, and a webhook that it calls.
type rig struct {
	*Sandbox

	spaces *Spaces
	t      *testing.T
	url    string
	http   *http.Client
	hook   *hook
}

// hook is a webhook that records its requests.
type hook struct {
	*httptest.Server

	mu     sync.Mutex
	got    []*http.Request
	status int
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{status: http.StatusOK}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got = append(h.got, r)
		w.WriteHeader(h.status)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) requests() []*http.Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*http.Request(nil), h.got...)
}

func newRig(t *testing.T, config Config) *rig {
	t.Helper()
	box := New(config)
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = box.Handler("127.0.0.1:0", server.Listener.Addr())
	server.Start()
	r := &rig{Sandbox: box.Sandbox(), spaces: box, t: t, url: server.URL, http: server.Client(), hook: newHook(t)}
	r.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(func() {
		box.Close() // ends streams, which the server would wait for
		server.Close()
	})
	return r
}

func (r *rig) client(opts ...messaging.Option) *messaging.Client {
	r.t.Helper()
	client, err := messaging.NewClient(r.url, append([]messaging.Option{messaging.WithToken(r.service.Token)}, opts...)...)
	require.NoError(r.t, err)
	return client
}

// do makes a request with the token of the service.
func (r *rig) do(method, path, body string, header ...string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, bytes.NewBufferString(body))
	require.NoError(r.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+r.service.Token)
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
		if header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	resp, err := r.http.Do(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	return resp.StatusCode, string(text)
}

// api makes a request that has to succeed, and reads the response.
func (r *rig) api(method, path, body string, to any) {
	r.t.Helper()
	status, text := r.do(method, Root+path, body)
	require.Equal(r.t, http.StatusOK, status, text)
	if to != nil {
		require.NoError(r.t, json.Unmarshal([]byte(text), to))
	}
}

// page returns a page.
func (r *rig) page(path string) string {
	r.t.Helper()
	status, text := r.do(http.MethodGet, Root+path, "")
	require.Equal(r.t, http.StatusOK, status, text)
	return text
}

// messages returns all messages that were sent, when there are as many as that.
func (r *rig) messages(want int) []Message {
	r.t.Helper()
	var found []Message
	require.Eventually(r.t, func() bool {
		st := r.lock()
		defer st.unlock()
		found = st.list(messageFilter{}, "", listPart{limit: maxMessages}).found
		return len(found) >= want
	}, 2*time.Minute, 5*time.Millisecond)
	return found
}

// settled returns a message when a condition holds.
func (r *rig) settled(id string, condition func(Message) bool) Message {
	r.t.Helper()
	var m Message
	require.Eventually(r.t, func() bool {
		st := r.lock()
		defer st.unlock()
		e := st.book.byID[id]
		if e == nil {
			return false
		}
		m = st.message(e)
		return condition(m)
	}, 2*time.Minute, 5*time.Millisecond)
	return m
}

// contains checks that a page has a text, and does not print the page.
func contains(t *testing.T, page, want string, where ...any) {
	t.Helper()
	found := strings.Contains(html.UnescapeString(page), want)
	assert.True(t, found, "no %s %v", want, where)
}

// lacks checks that a page does not have a text.
func lacks(t *testing.T, page, unwanted string, where ...any) {
	t.Helper()
	found := strings.Contains(html.UnescapeString(page), unwanted)
	assert.False(t, found, "%.100s %v", unwanted, where)
}

// count returns how often the HTML of a page has a text, as it is written.
func count(page, text string) int { return strings.Count(page, text) }

// exchange returns an exchange when it has ended: a client may have the response before.
func (r *rig) exchange(id int) Exchange {
	r.t.Helper()
	var found Exchange
	require.Eventually(r.t, func() bool {
		st := r.lock()
		defer st.unlock()
		x := st.traffic.byID[id]
		if x != nil {
			found = st.withMessage(x)
		}
		return x != nil
	}, 2*time.Minute, 5*time.Millisecond)
	return found
}
