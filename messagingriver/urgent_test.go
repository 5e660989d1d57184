package messagingriver_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// TestUrgentBesideACampaign: two processes send a campaign of 10,000, and codes go before it. It runs with -whole.
func TestUrgentBesideACampaign(t *testing.T) {
	needsPostgres(t)
	if !*whole {
		t.Skip("-whole runs this")
	}
	const messages, codes = 10_000, 60
	for _, rate := range []float64{20, 200} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			service := messagingtest.NewServer(t)
			service.InjectRandomly(1, 1, messagingtest.FaultSlow(100*time.Millisecond))
			pool, schema := postgresPool(t, 10)
			r := rigOn(t, pool, schema, newClient(t, service), messagingriver.Options{})
			bulk := messagingriver.InsertOptions{Priority: messagingriver.Bulk, Campaign: "spring"}
			r.insert(t, bulk, texts("bulk", messages)...)
			p := program{Database: os.Getenv("OUTBOX_POSTGRES"), Schema: schema, Service: service.URL, Token: service.Token, Rate: rate / 2}
			for range 2 {
				p.begin(t)
			}
			require.Eventually(t, func() bool { return len(service.Sent()) > int(rate) }, patience, 20*time.Millisecond)
			inserted := map[string]time.Time{}
			for i := range codes {
				reference := fmt.Sprint("code", i)
				r.insert(t, messagingriver.InsertOptions{Priority: messagingriver.Urgent, Expire: 5 * time.Minute}, text(reference))
				inserted[reference] = time.Now()
				time.Sleep(300 * time.Millisecond)
			}
			var waits []time.Duration
			require.Eventually(t, func() bool {
				waits = nil
				for _, m := range service.Sent() {
					if strings.HasPrefix(m.ReferenceID, "code") {
						waits = append(waits, m.At.Sub(inserted[m.ReferenceID]))
					}
				}
				return len(waits) == codes
			}, patience, 100*time.Millisecond)
			slices.Sort(waits)
			p95 := waits[codes*95/100]
			t.Logf("%v a second: p50 %v, p95 %v, longest %v", rate, waits[codes/2], p95, waits[codes-1])
			require.LessOrEqual(t, p95, 3*time.Second)
		})
	}
}
