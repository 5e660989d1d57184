package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// BenchmarkWorkers measures the messages sent per second, from the first request to the last. Each worker is a process; the engine and the
// service share this one.
func BenchmarkWorkers(b *testing.B) {
	for _, latency := range []time.Duration{100 * time.Millisecond, 0} {
		for _, workers := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("latency=%v/workers=%d", latency, workers), func(b *testing.B) {
				c := newCampaign(b, engine.Setup{AckWait: 30 * time.Second}, startedEngine(b).URL())
				c.workers = asTest(newLauncher(&c.settings, c.service))
				c.service.Inject(messagingtest.Slow(latency), 2*b.N)
				c.load(b.N, smsMessage)
				for range workers {
					c.start()
				}
				require.NoError(b, c.outbox.Watch(b.Context(), 200*time.Millisecond, func(s outbox.Status) bool { return s.Final() < s.Total }))
				sent := c.service.Sent()
				require.Len(b, sent, b.N)
				b.ReportMetric(float64(b.N)/sent[b.N-1].At.Sub(sent[0].At).Seconds(), "messages/s")
			})
		}
	}
}
