package inbox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// event is the call by which the service brings the event of a number, of whichever kind.
func event(number int) string {
	text, at := fmt.Sprint("event ", number), time.Unix(1791038663+int64(number), 0)
	hook := func(path string) string { return path + "?key=" + secret }
	var r *http.Request
	switch number % 4 {
	case 0:
		r = messagingtest.SMSRequest(hook(inbox.SMSPath), messagingtest.InboundSMS{ID: fmt.Sprint("in-", number), From: "639171234567", Text: text})
	case 1: // without an ID: the parameters with the time are what it is known by
		r = messagingtest.SMSRequest(hook(inbox.SMSPath), messagingtest.InboundSMS{From: "639171234567", Text: text, ReceivedAt: at})
	case 2:
		r = messagingtest.ChatApp2Request(hook(inbox.ChatApp2Path), messagingtest.InboundChatApp{ID: fmt.Sprint("in-", number), From: "639171234567", Text: text})
	default:
		r = messagingtest.DeliveryRequest(hook(inbox.DeliveryPath), messagingtest.DeliveryReport{ID: fmt.Sprint("out-", number), ReferenceID: text, Status: "delivered"})
	}
	return r.URL.RequestURI()
}

// textOf gives the text by which event tells events apart.
func textOf(e inbox.Event) string {
	switch m := e.Message.(type) {
	case webhook.SMSMessage:
		return m.Text
	case webhook.ChatApp2Message:
		return m.Content.(webhook.Text).Body
	default:
		return m.(webhook.DeliveryReport).ReferenceID
	}
}

// Each event comes twice, often at once, over two receivers behind one address; one of them is killed and started again.
func TestEachEventIsStoredOnceThoughAReceiverIsKilled(t *testing.T) {
	t.Parallel()
	events, connections, kills := 400, 16, 1
	if *whole {
		events, connections, kills = 10_000, 64, 8
	}
	const lease = 2 * time.Second // of what the killed one had begun with
	s, c := startEngine(t)
	processes := []*process{startProcess(t, s.URL(), lease), startProcess(t, s.URL(), lease)}
	behind := newBalancer(t, connections, processes...)

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	calls, killNow := make(chan string), make(chan struct{}, kills)
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for target := range calls {
				if !assert.NoError(t, behind.bring(ctx, target)) {
					cancel()
				}
				if taken.Add(1)%int64(2*events/(kills+1)) == 0 {
					select {
					case killNow <- struct{}{}:
					default: // the last of all
					}
				}
			}
		})
	}
	wg.Go(func() {
		defer close(calls)
		for _, number := range twice(events) {
			select {
			case calls <- event(number):
			case <-ctx.Done():
				return
			}
		}
	})
	for i := range kills {
		select {
		case <-killNow:
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
		which := i % len(processes)
		processes[which].kill(t)
		processes[which] = startProcess(t, s.URL(), lease)
		behind.addresses[which].Store(&processes[which].address)
	}
	wg.Wait()
	require.NoError(t, ctx.Err())

	t.Logf("%d events, each brought twice; %d calls had to be made again", events, behind.again.Load())
	assert.Equal(t, events, stored(t, c))
	times := make(map[string]int)
	for _, e := range read(t, c, events, inbox.ReadOptions{Name: "test"}) {
		times[textOf(e)]++
	}
	for number := range events {
		if n := times[fmt.Sprint("event ", number)]; n != 1 {
			assert.Equal(t, 1, n, "event %d", number)
		}
	}
}

// twice gives each number twice, the second time soon after the first.
func twice(n int) []int {
	const near = 50
	random := rand.New(rand.NewPCG(1, 2))
	var numbers []int
	for from := 0; from < n; from += near {
		var block []int
		for number := from; number < min(from+near, n); number++ {
			block = append(block, number, number)
		}
		random.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
		numbers = append(numbers, block...)
	}
	return numbers
}
