package proxytest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	events = 300
	secret = "s3cret-of-16-chars"
)

// A receiver is a process that receives webhooks. Its output is the ledger.
type receiver struct {
	t       *testing.T
	address string
	output  string // a file
	process *exec.Cmd
}

// newReceiver starts a receiver.
func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t, address: freeAddress(t), output: filepath.Join(t.TempDir(), "output")}
	r.start()
	t.Cleanup(r.kill)
	return r
}

func (r *receiver) start() {
	out, err := os.OpenFile(r.output, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(r.t, err)
	defer func() { _ = out.Close() }() // the process has a descriptor of its own
	r.process = exec.Command(os.Args[0])
	r.process.Env = append(os.Environ(), receiverVariable+"="+r.address)
	r.process.Stdout, r.process.Stderr = out, out
	r.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(r.t, r.process.Start())
	waitForListener(r.t, r.address)
}

func (r *receiver) kill() {
	_ = r.process.Process.Kill()
	_ = r.process.Wait()
}

// stop stops the process as an operator would, and waits for it.
func (r *receiver) stop() {
	_ = r.process.Process.Signal(syscall.SIGTERM)
	_ = r.process.Wait()
}

var handledEvent = regexp.MustCompile(`SMS "(e-\d+)"`)

// handled returns how often each event was handled.
func (r *receiver) handled() map[string]int {
	text, err := os.ReadFile(r.output)
	require.NoError(r.t, err)
	times := map[string]int{}
	for _, match := range handledEvent.FindAllSubmatch(text, -1) {
		times[string(match[1])]++
	}
	return times
}

// TestWebhookServerBehindProxies calls a receiver through a proxy, as a service does: again until it responds
// with 200. No event is lost, and as long as the receiver lives, none is handled twice.
func TestWebhookServerBehindProxies(t *testing.T) {
	t.Parallel()
	for _, front := range proxies() {
		if front.kind == "squid" || front.protocol == tls1 {
			continue
		}
		for name, disturb := range map[string]func(*proxy, *receiver){
			"nothing happens": func(*proxy, *receiver) {},
			"reloaded":        func(p *proxy, _ *receiver) { p.reload() },
			"killed and started": func(p *proxy, _ *receiver) {
				p.kill()
				p.start()
			},
			"stopped for a second": func(p *proxy, _ *receiver) {
				p.signal(syscall.SIGSTOP)
				time.Sleep(time.Second)
				p.signal(syscall.SIGCONT)
			},
			"receiver stopped for a second": func(_ *proxy, r *receiver) {
				_ = r.process.Process.Signal(syscall.SIGSTOP)
				time.Sleep(time.Second)
				_ = r.process.Process.Signal(syscall.SIGCONT)
			},
			"receiver ended and started": func(_ *proxy, r *receiver) {
				r.stop()
				r.start()
			},
		} {
			name = fmt.Sprintf("%v, %s", front, name)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := newReceiver(t)
				p := newProxy(t, front.kind, front.protocol, r.address, false)
				c := &caller{t: t, base: "https://" + p.address, client: &http.Client{Transport: transport(t, front.protocol == tls2), Timeout: clientTimeout}}
				if front.protocol == plain {
					c.base = "http://" + p.address
				}
				c.callAll(func() { disturb(p, r) })
				times := r.handled()
				twice := 0
				for _, n := range times {
					if n > 1 {
						twice++
					}
				}
				lost := events - len(times)
				assert.Zero(t, lost, "lost")
				assert.Zero(t, c.bodies.Load(), "200 with a body")
				if !strings.Contains(name, "receiver ended") { // its store is its memory
					assert.Zero(t, twice, "handled twice")
				}
				results.add(webhooks, front.String(), events, int(c.calls.Load()), lost, twice, int(c.bodies.Load()))
			})
		}
	}
}

// A caller is a service that calls a webhook.
type caller struct {
	t      *testing.T
	base   string
	client *http.Client
	calls  atomic.Int64
	bodies atomic.Int64 // responses 200 with a body
}

// callAll calls with all events from several goroutines, and disturbs them at a third and at two thirds.
func (c *caller) callAll(disturb func()) {
	var next atomic.Int64
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for number := next.Add(1); number <= events; number = next.Add(1) {
				c.call(fmt.Sprintf("e-%d", number))
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	for third := range 2 {
		for next.Load() < int64(events*(third+1)/3) {
			time.Sleep(2 * time.Millisecond)
		}
		disturb()
	}
	work.Wait()
}

// call calls with an event until the response is 200, for at most half a minute.
func (c *caller) call(id string) {
	query := url.Values{"key": {secret}, "id": {id}, "from": {"639171234567"}, "message": {"Hi " + id}}
	for began := time.Now(); time.Since(began) < 30*time.Second && !c.t.Failed(); time.Sleep(50 * time.Millisecond) {
		c.calls.Add(1)
		status, body, err := get(c.t.Context(), c.client, c.base+"/hooks/sms?"+query.Encode())
		if err != nil || status != http.StatusOK {
			continue
		}
		if body != "" {
			c.bodies.Add(1)
		}
		return
	}
	assert.Fail(c.t, "no 200 for half a minute", id)
}

func get(ctx context.Context, client *http.Client, target string) (status int, body string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// TestWebhookServerRespondsWithoutBody asks for every path that a stranger might try. A gateway may send a body back as an SMS.
func TestWebhookServerRespondsWithoutBody(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	client := &http.Client{Transport: transport(t, false), CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	for path, want := range map[string]int{
		"/":                                  http.StatusNotFound,
		"/favicon.ico":                       http.StatusNotFound,
		"//hooks/sms?key=" + secret:          http.StatusNotFound,
		"/hooks/../hooks/sms":                http.StatusNotFound,
		"/hooks/sms/":                        http.StatusNotFound,
		"/hooks":                             http.StatusNotFound,
		"/hooks/sms":                         http.StatusForbidden,
		"/hooks/sms?key=guess":               http.StatusForbidden,
		"/hooks/sms?key=" + secret:           http.StatusBadRequest,
		"/hooks/sms?from=1&key=" + secret:    http.StatusOK,
		"/hooks/delivery?id=1&key=" + secret: http.StatusOK,
	} {
		status, body, err := get(t.Context(), client, "http://"+r.address+path)
		require.NoError(t, err, path)
		assert.Equal(t, want, status, path)
		assert.Empty(t, body, path)
	}
}

// TestWebhookServerBoundsSlowConnections opens more connections than the server accepts, and says nothing on them. They end
// by the server's timeout, and an event is handled after them.
func TestWebhookServerBoundsSlowConnections(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	for range 300 {
		conn, err := net.DialTimeout("tcp", r.address, 5*time.Second)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
	}
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.process.Process.Pid))
	require.NoError(t, err)
	assert.Less(t, len(entries), 280, "descriptors of the server")
	c := &caller{t: t, base: "http://" + r.address, client: &http.Client{Transport: transport(t, false), Timeout: 20 * time.Second}}
	c.call("e-1")
	assert.Equal(t, 1, r.handled()["e-1"])
}
