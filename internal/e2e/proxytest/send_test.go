package proxytest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

const (
	messages = 300
	senders  = 8
	// clientTimeout is how long a client waits for one response.
	clientTimeout = 600 * time.Millisecond
)

// A scenario is what an origin does, and what happens to it and to the proxy while clients call.
type scenario struct {
	name   string
	origin behaviour
	// disturb is called three times, spread over the scenario; nil does nothing.
	disturb func(p *proxy, o *origin)
}

// scenarios are run through every proxy.
var scenarios = []scenario{
	{name: "nothing happens"},
	{name: "reloaded", disturb: func(p *proxy, _ *origin) { p.reload() }},
	{name: "killed and started", disturb: func(p *proxy, _ *origin) {
		p.kill()
		p.start()
	}},
	{name: "stopped for a second", disturb: func(p *proxy, _ *origin) {
		p.signal(syscall.SIGSTOP)
		time.Sleep(time.Second)
		p.signal(syscall.SIGCONT)
	}},
	{name: "origin killed and started", disturb: func(_ *proxy, o *origin) {
		o.kill()
		time.Sleep(100 * time.Millisecond)
		o.start()
	}},
	{name: "origin stopped for longer than the proxy waits", disturb: func(_ *proxy, o *origin) {
		o.signal(syscall.SIGSTOP)
		time.Sleep(1500 * time.Millisecond)
		o.signal(syscall.SIGCONT)
	}},
	{name: "origin closes after processing", origin: behaviour{DropEvery: 5}},
	{name: "origin resets after processing", origin: behaviour{ResetEvery: 5}},
	{name: "origin says 500 after processing", origin: behaviour{BrokenEvery: 5, Broken: 500}},
	{name: "origin cuts responses", origin: behaviour{CutEvery: 5}},
	{name: "origin hangs and fails", origin: behaviour{HangEvery: 23, Hang: 1500 * time.Millisecond, FailEvery: 7}},
	{name: "origin closes each connection after three requests", origin: behaviour{PerConnection: 3}},
}

// A front is a kind of proxy, and the protocol between the client and it.
type front struct {
	kind     string
	protocol protocol
}

func (f front) String() string { return fmt.Sprintf("%s, %v", f.kind, f.protocol) }

var fronts = []front{
	{"nginx", plain}, {"nginx", tls1}, {"nginx", tls2}, {"haproxy", plain}, {"haproxy", tls1}, {"haproxy", tls2}, {"squid", plain},
}

// TestSendThroughProxies sends through each proxy in each scenario, and compares the verdicts with the origin's ledger, message by message.
func TestSendThroughProxies(t *testing.T) {
	t.Parallel()
	for _, front := range proxies() {
		for _, s := range scenarios {
			name := fmt.Sprintf("%v, %s", front, s.name)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				o := newOrigin(t, s.origin)
				p := newProxy(t, front.kind, front.protocol, o.config.Address, true)
				b := newBooks(t, p.url, p.options...)
				b.sendAll(func() {
					if s.disturb != nil {
						s.disturb(p, o)
					}
				}, b.client.SMS.Send)
				b.compare(sends, front.String(), o.finalLedger())
			})
		}
	}
}

// proxies returns the proxies that this run has.
func proxies() []front {
	if !*withProxies {
		return nil
	}
	return fronts
}

// TestSendThroughToxiproxy sends through connections that are slow, cut, reset or silent.
func TestSendThroughToxiproxy(t *testing.T) {
	t.Parallel()
	for name, toxics := range map[string]string{
		"late and unsteady":          `{"type": "latency", "attributes": {"latency": 60, "jitter": 50}}`,
		"requests late":              `{"type": "latency", "stream": "upstream", "attributes": {"latency": 500, "jitter": 400}}`,
		"reset while responding":     `{"type": "reset_peer", "attributes": {"timeout": 150}}`,
		"reset while sending":        `{"type": "reset_peer", "stream": "upstream", "attributes": {"timeout": 150}}`,
		"responses cut":              `{"type": "limit_data", "attributes": {"bytes": 700}}`,
		"requests cut":               `{"type": "limit_data", "stream": "upstream", "attributes": {"bytes": 1500}}`,
		"silent, then closed":        `{"type": "timeout", "attributes": {"timeout": 900}, "toxicity": 0.3}`,
		"requests lost, then closed": `{"type": "timeout", "stream": "upstream", "attributes": {"timeout": 900}, "toxicity": 0.3}`,
		"slowly closed":              `{"type": "slow_close", "attributes": {"delay": 200}}`,
		"narrow":                     `{"type": "bandwidth", "attributes": {"rate": 6}}`,
		"in slices":                  `{"type": "slicer", "attributes": {"average_size": 20, "size_variation": 10, "delay": 200}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t, behaviour{})
			x := newToxic(t, o.config.Address)
			b := newBooks(t, "http://"+x.proxy.Listen)
			b.sendAll(func() {
				x.add(toxics)
				time.Sleep(700 * time.Millisecond)
				x.remove()
			}, b.client.SMS.Send)
			b.compare(sends, "toxiproxy", o.finalLedger())
		})
	}
	t.Run("away for a while", func(t *testing.T) {
		t.Parallel()
		o := newOrigin(t, behaviour{})
		x := newToxic(t, o.config.Address)
		b := newBooks(t, "http://"+x.proxy.Listen)
		b.sendAll(func() { x.restart(300 * time.Millisecond) }, b.client.SMS.Send)
		b.compare(sends, "toxiproxy", o.finalLedger())
	})
}

// books are a client's verdicts, by reference.
type books struct {
	t        *testing.T
	client   *messaging.Client
	mu       sync.Mutex
	verdicts map[string]messaging.Verdict
}

func newBooks(t *testing.T, url string, options ...messaging.Option) *books {
	t.Helper()
	client, err := messaging.NewClient(url, append([]messaging.Option{
		messaging.WithToken("token"), messaging.WithTimeout(clientTimeout),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 3, MinWait: 20 * time.Millisecond, MaxWait: 300 * time.Millisecond}),
	}, options...)...)
	require.NoError(t, err)
	return &books{t: t, client: client, verdicts: map[string]messaging.Verdict{}}
}

// sendAll sends messages from several goroutines, and disturbs them at a quarter, a half and three quarters.
func (b *books) sendAll(disturb func(), send func(context.Context, sms.Message) (messaging.Receipt, error)) {
	var next atomic.Int64
	var work sync.WaitGroup
	for range senders {
		work.Go(func() {
			for number := next.Add(1); number <= messages; number = next.Add(1) {
				reference := fmt.Sprintf("m-%d", number)
				_, err := send(b.t.Context(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: reference})
				b.mu.Lock()
				b.verdicts[reference] = messaging.VerdictOf(err)
				b.mu.Unlock()
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	for quarter := range 3 {
		for next.Load() < int64(messages*(quarter+1)/4) {
			time.Sleep(2 * time.Millisecond)
		}
		disturb()
	}
	work.Wait()
}

// compare compares the verdicts with the ledger, and adds the counts to a table.
func (b *books) compare(section, through string, ledger map[string]int) {
	b.t.Helper()
	repeated := b.compareVerdicts(section, through, ledger)
	assert.Zero(b.t, repeated, "messages that were processed twice")
}

// compareVerdicts is like compare where a proxy may repeat requests. It returns how many messages were processed more than once.
func (b *books) compareVerdicts(section, through string, ledger map[string]int) (repeated int) {
	b.t.Helper()
	counts := map[messaging.Verdict]int{}
	processed := 0
	for reference, verdict := range b.verdicts {
		counts[verdict]++
		times := ledger[reference]
		if times > 1 {
			repeated++
		}
		switch verdict {
		case messaging.Accepted:
			assert.Positive(b.t, times, "%s is accepted", reference)
		case messaging.Unknown:
			processed += min(times, 1)
		default:
			assert.Zero(b.t, times, "%s is %v", reference, verdict)
		}
	}
	assert.Len(b.t, b.verdicts, messages)
	assert.Positive(b.t, counts[messaging.Accepted], "nothing was accepted, so nothing was shown")
	results.add(section, through, messages, counts[messaging.Accepted], counts[messaging.Refused], counts[messaging.NotSent],
		counts[messaging.Unknown], processed, repeated)
	b.t.Logf("%v, of the unknown %d processed", counts, processed)
	return repeated
}
