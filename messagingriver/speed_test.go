package messagingriver_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
)

// rounds is how often TestSpeed measures; it is skipped without the flag, because other tests would disturb it:
//
//	examples/outbox/with-postgres go -C messagingriver test -run TestSpeed -speed 5 -v
var rounds = flag.Int("speed", 0, "rounds of TestSpeed")

// TestSpeed compares the outbox with the prototype, in turns, and by medians.
func TestSpeed(t *testing.T) {
	if *rounds == 0 {
		t.Skip("run it alone, with -speed 5")
	}
	for _, tt := range []struct {
		name   string
		newRig func(testing.TB, *messaging.Client, messagingriver.Options) rig
	}{{"SQLite", sqliteRig}, {"PostgreSQL", postgresRig}} {
		t.Run(tt.name, func(t *testing.T) {
			const messages, each = 10_000, 1_000
			figures := map[string][]float64{}
			perSecond := func(what string, began time.Time) {
				figures[what] = append(figures[what], messages/time.Since(began).Seconds())
			}
			for range *rounds {
				service, client := connected(t)
				r := tt.newRig(t, client, messagingriver.Options{Workers: 500})
				p, err := newPrototype(t.Context(), r.pool(), client, tt.name == "PostgreSQL")
				require.NoError(t, err)

				began := time.Now()
				for batch := range slices.Chunk(samples("prototype", messages), each) {
					require.NoError(t, p.insert(t.Context(), batch))
				}
				perSecond("prototype takes in", began)
				began = time.Now()
				require.NoError(t, p.run(t.Context()))
				perSecond("prototype sends", began)
				require.Len(t, service.Sent(), messages)

				began = time.Now()
				for batch := range slices.Chunk(samples("outbox", messages), each) {
					messages := make([]messagingriver.Message, len(batch))
					for i, m := range batch {
						messages[i] = m
					}
					insert(t, r, messages...)
				}
				perSecond("outbox takes in", began)
				began = time.Now()
				stop := r.start(t)
				for service.Requests() < 2*messages {
					require.Less(t, time.Since(began), time.Minute)
					time.Sleep(20 * time.Millisecond)
				}
				stop() // when all is recorded
				perSecond("outbox sends", began)
			}
			median := map[string]float64{}
			for what, all := range figures {
				slices.Sort(all)
				median[what] = all[len(all)/2]
				t.Logf("%-18s %6.0f a second (%.0f to %.0f)", what, median[what], all[0], all[len(all)-1])
			}
			for _, what := range []string{"takes in", "sends"} {
				ratio := median["outbox "+what] / median["prototype "+what]
				t.Logf("the outbox %s %.2f times as many as the prototype", what, ratio)
				assert.GreaterOrEqual(t, ratio, 0.5)
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
