package inbox_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
)

// BenchmarkReceivers measures the events stored per second. Each receiver is a process; the engine and the callers share this one.
func BenchmarkReceivers(b *testing.B) {
	const connections = 64
	for _, receivers := range []int{1, 2} {
		b.Run(fmt.Sprint(receivers), func(b *testing.B) {
			s, c := startEngine(b)
			var processes []*process
			for range receivers {
				processes = append(processes, startProcess(b, s.URL(), inbox.DefaultLease))
			}
			proxy := newBalancer(b, connections, processes...)
			calls := make(chan string)
			var wg sync.WaitGroup
			b.ResetTimer()
			for range connections {
				wg.Go(func() {
					for target := range calls {
						if err := proxy.deliver(b.Context(), target); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for number := range b.N {
				calls <- event(number)
			}
			close(calls)
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			require.Equal(b, b.N, stored(b, c))
		})
	}
}
