package proxytest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// TestSendThroughALimit sends through an nginx that takes 50 requests a second, evenly spaced, and responds with a page to each that comes
// too soon.
func TestSendThroughALimit(t *testing.T) {
	if !*withProxies {
		return
	}
	const length = 12 * time.Second
	o := newOrigin(t, behaviour{Delay: 100 * time.Millisecond})
	p := &proxy{t: t, name: "nginx", address: freeAddress(t)}
	p.outside = "limit_req_zone $binary_remote_addr zone=all:1m rate=50r/s;"
	p.within = "limit_req zone=all; limit_req_status 429;"
	p.nginx(plain, o.config.Address)
	p.start()
	t.Cleanup(p.kill)
	client, err := messaging.NewClient("http://"+p.address, messaging.WithToken("token"))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	messages := func(yield func(sms.Message) bool) {
		for i := 0; ; i++ {
			to := fmt.Sprintf("+6391712345%02d", i%100)
			if !yield(sms.Message{From: "ACME", To: to, Text: "Hi", ReferenceID: fmt.Sprint("m-", i)}) {
				return
			}
		}
	}
	counts := map[messaging.Verdict]int{}
	for out := range client.SMS.SendAll(ctx, messages, 16) {
		counts[messaging.VerdictOf(out.Err)]++
	}
	processed := len(o.finalLedger())
	t.Log(counts, processed, client.Breaker(messaging.ChannelSMS))
	assert.GreaterOrEqual(t, processed, 1)
	assert.LessOrEqual(t, counts[messaging.Unknown]-15, 60, "without those that the end of the context cut")
}
