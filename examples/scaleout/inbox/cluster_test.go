package inbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func TestClusterStoresEventsOnceAfterNodeLoss(t *testing.T) {
	nodes, err := embedded.StartCluster(t.TempDir(), 3)
	require.NoError(t, err)
	var urls []string
	for _, n := range nodes {
		t.Cleanup(n.Close)
		urls = append(urls, n.URL())
	}
	connections := []*engine.Connection{connect(t, strings.Join(urls, ",")), connect(t, strings.Join(urls[1:], ","))}
	require.NoError(t, connections[0].Prepare(t.Context(), engine.Setup{Replicas: 3}))
	assertOneWins(t, 16, newStore(t, connections[0], long), newStore(t, connections[1], long))

	one, other := newStore(t, connections[0], time.Second), newStore(t, connections[1], long)
	first := requireClaim(t, one, "sms.lease")
	second := requireClaimAfterLease(t, other, "sms.lease")
	first.release(t)
	assertInProgress(t, one, "sms.lease")
	second.release(t)
	requireClaim(t, one, "sms.lease")

	receivers := []*served{serve(t, connections[0], inbox.Config{}), serve(t, connections[1], inbox.Config{})}
	events := 60
	if *whole {
		events = 500
	}
	lose := make(chan struct{})
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := worker; i < 2*events; i += 16 {
				if i == events {
					close(lose)
				}
				m := messagingtest.InboundSMS{ID: fmt.Sprint("in-", i/2), From: "639171234567", Text: "Hi"}
				for deadline := time.Now().Add(2 * time.Minute); call(t, receivers[i%2].sms(m)) != http.StatusOK; {
					if !assert.True(t, time.Now().Before(deadline), "event %d was not accepted", i) {
						return
					}
				}
			}
		})
	}
	<-lose
	nodes[0].Close()
	wg.Wait()
	times := make(map[string]int)
	for _, e := range read(t, connections[1], events, inbox.ReadOptions{Name: "test"}) {
		times[e.Key]++
	}
	assert.Len(t, times, events)
	for key, n := range times {
		assert.Equal(t, 1, n, key)
	}
	assert.Equal(t, events, stored(t, connections[1]))
}
