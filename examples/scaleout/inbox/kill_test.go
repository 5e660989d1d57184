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

// event returns the request target with which the service sends event number, of one of four kinds.
func event(number int) string {
	text, at := fmt.Sprint("event ", number), time.Unix(1791038663+60*int64(number), 0) // never second 0, which can mean a time without seconds
	hook := func(path string) string { return path + "?key=" + secret }
	var r *http.Request
	switch number % 4 {
	case 0:
		r = messagingtest.SMSRequest(hook(inbox.SMSPath), messagingtest.InboundSMS{ID: fmt.Sprint("in-", number), From: "639171234567", Text: text})
	case 1: // without an ID: identified by its parameters and time
		r = messagingtest.SMSRequest(hook(inbox.SMSPath), messagingtest.InboundSMS{From: "639171234567", Text: text, ReceivedAt: at})
	case 2:
		r = messagingtest.ChatAppRequest(hook(inbox.ChatApp2Path), messagingtest.InboundChatApp{Channel: messagingtest.ChannelChatApp2, ID: fmt.Sprint("in-", number), From: "639171234567", Text: text})
	default:
		r = messagingtest.DeliveryRequest(hook(inbox.DeliveryPath), messagingtest.DeliveryReport{ID: fmt.Sprint("out-", number), ReferenceID: text, Status: "delivered"})
	}
	return r.URL.RequestURI()
}

// textOf returns the text that event made from the number.
func textOf(e inbox.Event) string {
	switch m := e.Message.(type) {
	case webhook.SMSMessage:
		return m.Text
	case webhook.ChatMessage:
		return m.Content.(webhook.Text).Body
	default:
		return m.(webhook.DeliveryReport).ReferenceID
	}
}

// Each event is sent twice, often at once, to two receivers proxy one address. One of them is killed and restarted.
func TestReceiversStoreEventsOnceAfterKill(t *testing.T) {
	t.Parallel()
	events, connections, kills := 400, 16, 1
	if *whole {
		events, connections, kills = 10_000, 64, 8
	}
	const lease = 2 * time.Second // how long the killed receiver holds its events
	s, c := startEngine(t)
	processes := []*process{startProcess(t, s.URL(), lease), startProcess(t, s.URL(), lease)}
	proxy := newBalancer(t, connections, processes...)

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	calls, killNow := make(chan string), make(chan struct{}, kills)
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for target := range calls {
				if !assert.NoError(t, proxy.deliver(ctx, target)) {
					cancel()
				}
				if taken.Add(1)%int64(2*events/(kills+1)) == 0 {
					select {
					case killNow <- struct{}{}:
					default: // all kills are done
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
		proxy.addresses[which].Store(&processes[which].address)
	}
	wg.Wait()
	require.NoError(t, ctx.Err())

	t.Logf("%d events, each sent twice; %d calls were repeated", events, proxy.retries.Load())
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

// twice returns each number below n twice, the second time soon after the first.
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
