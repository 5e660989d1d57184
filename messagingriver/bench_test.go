package messagingriver_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
)

// BenchmarkOutbox measures how many messages a second the outbox takes in and sends, beside the prototype. One operation is
// 10,000 messages through both:
//
//	examples/outbox/with-postgres go -C messagingriver test -run '^$' -bench Outbox -benchtime 5x
func BenchmarkOutbox(b *testing.B) {
	for _, bb := range databases() {
		b.Run(bb.name, func(b *testing.B) {
			const messages, each = 10_000, 1_000
			took := map[string]time.Duration{}
			measure := func(what string, f func()) {
				began := time.Now()
				f()
				took[what] += time.Since(began)
			}
			for b.Loop() {
				service, client := connected(b)
				r := bb.newRig(b, client, messagingriver.Options{Workers: 500})
				p, err := newPrototype(b.Context(), r.pool(), client, bb.name == "PostgreSQL")
				require.NoError(b, err)
				measure("prototype-in/s", func() {
					for batch := range slices.Chunk(samples("prototype", messages), each) {
						require.NoError(b, p.insert(b.Context(), batch))
					}
				})
				measure("prototype-sent/s", func() { require.NoError(b, p.run(b.Context())) })
				require.Len(b, service.Sent(), messages)
				measure("outbox-in/s", func() {
					for batch := range slices.Chunk(samples("outbox", messages), each) {
						messages := make([]messagingriver.Message, len(batch))
						for i, m := range batch {
							messages[i] = m
						}
						insert(b, r, messages...)
					}
				})
				measure("outbox-sent/s", func() {
					stop := r.start(b)
					for began := time.Now(); service.Requests() < 2*messages; time.Sleep(20 * time.Millisecond) {
						require.Less(b, time.Since(began), time.Minute)
					}
					stop() // when all is recorded
				})
			}
			for what, d := range took {
				b.ReportMetric(float64(b.N)*messages/d.Seconds(), what)
			}
		})
	}
}

func samples(prefix string, n int) []sms.Message {
	all := make([]sms.Message, n)
	for i := range all {
		all[i] = sms.Message{From: "ACME", To: number, Text: "Your order is ready", ReferenceID: fmt.Sprintf("%s-%d", prefix, i)}
	}
	return all
}
