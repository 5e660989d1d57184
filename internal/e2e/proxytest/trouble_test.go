package proxytest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	messaging "github.com/messaging-service/messaging-go"
)

// numbered returns an option that numbers the attempts of the client in a header.
func numbered() messaging.Option {
	var attempts atomic.Int64
	return messaging.WithTransport(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set(attemptHeader, strconv.FormatInt(attempts.Add(1), 10))
			return next.RoundTrip(r)
		})
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// assertSentOnce fails if the client itself sent a message again: two of its attempts were processed.
func assertSentOnce(t *testing.T, processed []string) {
	t.Helper()
	attempts := map[string]map[string]bool{}
	for _, line := range processed {
		reference, attempt, _ := strings.Cut(line, " ")
		if attempts[reference] == nil {
			attempts[reference] = map[string]bool{}
		}
		attempts[reference][attempt] = true
	}
	for reference, by := range attempts {
		assert.LessOrEqual(t, len(by), 1, "%s was sent again", reference)
	}
}

// TestSendThroughProxiesThatRepeat has proxies that repeat POSTs, which doubles messages regardless of the client. The client itself repeats
// nothing, and calls no message that was processed refused or not sent: not after a 500, and not if the second backend responds with a page
// while the first one still works on the message.
func TestSendThroughProxiesThatRepeat(t *testing.T) {
	t.Parallel()
	if !*withProxies {
		return
	}
	for kind, within := range map[string]string{
		"nginx":   "proxy_next_upstream error timeout http_500 non_idempotent;",
		"haproxy": "retries 2\n\toption redispatch 1\n\tretry-on all-retryable-errors",
	} {
		for name, backends := range map[string][2]behaviour{
			"origin says 500 after processing": {{BrokenEvery: 5, Broken: 500}, {BrokenEvery: 5, Broken: 500}},
			"one processes slowly, one says 429, 401 or 400 by a page": {
				{HangEvery: 3, Hang: 1500 * time.Millisecond}, {Pages: []int{429, 401, 400}},
			},
		} {
			through := kind + ", repeating"
			t.Run(fmt.Sprintf("%s, %s", through, name), func(t *testing.T) {
				t.Parallel()
				one, two := newOrigin(t, backends[0]), newOrigin(t, backends[1])
				p := &proxy{t: t, name: kind, address: freeAddress(t), within: within}
				p.url = "http://" + p.address
				if kind == "nginx" {
					p.upstreams = []string{two.config.Address}
					p.nginx(plain, one.config.Address)
				} else {
					p.within += "\n\tserver two " + two.config.Address
					p.haproxy(plain, one.config.Address, false)
				}
				p.start()
				t.Cleanup(p.kill)
				b := newBooks(t, p.url, messaging.WithTimeout(5*time.Second), numbered())
				b.sendAll(func() {}, b.client.SMS.Send)
				ledger := one.finalLedger()
				for reference, times := range two.finalLedger() {
					ledger[reference] += times
				}
				b.compareVerdicts(sends, through, ledger)
				assertSentOnce(t, append(one.processed(), two.processed()...))
			})
		}
	}
}

// TestSendThroughACacheByPath has a cache that keys POSTs by their path: it responds to all messages with the response to the first.
func TestSendThroughACacheByPath(t *testing.T) {
	t.Parallel()
	if !*withProxies {
		return
	}
	o := newOrigin(t, behaviour{})
	p := &proxy{t: t, name: "nginx", address: freeAddress(t)}
	p.url = "http://" + p.address
	p.outside = "proxy_cache_path " + t.TempDir() + " keys_zone=byPath:1m;"
	p.within = "proxy_cache byPath; proxy_cache_methods GET HEAD POST; proxy_cache_key $request_uri; proxy_cache_valid 200 1s;"
	p.nginx(plain, o.config.Address)
	p.start()
	t.Cleanup(p.kill)
	b := newBooks(t, p.url)
	b.sendAll(func() {}, b.client.SMS.Send)
	b.compare(sends, "nginx, caching POSTs by path", o.finalLedger())
}
