package proxytest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// TestSendOnceThroughProxies settles unknown outcomes through a proxy. The window is longer than any disturbance, as SettlePolicy asks.
func TestSendOnceThroughProxies(t *testing.T) {
	t.Parallel()
	for _, front := range proxies() {
		if front.protocol != plain {
			continue
		}
		for _, s := range scenarios {
			unsettled := []string{
				"killed and started", "stopped for a second", "origin killed and started", "origin closes after processing",
				"origin hangs and fails",
			}
			if !slices.Contains(unsettled, s.name) {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s", front.kind, s.name), func(t *testing.T) {
				t.Parallel()
				o := newOrigin(t, s.origin)
				p := newProxy(t, front.kind, front.protocol, o.config.Address, true)
				b := newBooks(t, p.url, append(p.options, messaging.WithSettle(messaging.SettlePolicy{
					Window: 4 * time.Second, Interval: 300 * time.Millisecond,
				}))...)
				b.sendAll(func() {
					if s.disturb != nil {
						s.disturb(p, o)
					}
				}, b.client.SMS.SendOnce)
				b.compare(settling, front.String(), o.finalLedger())
			})
		}
	}
}
