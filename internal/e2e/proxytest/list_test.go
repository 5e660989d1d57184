package proxytest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/sms"
)

// TestListThroughProxies lists through each proxy in each scenario. A listing is complete, or ends with an error.
func TestListThroughProxies(t *testing.T) {
	t.Parallel()
	for _, front := range proxies() {
		if front.protocol == tls1 {
			continue
		}
		for _, s := range scenarios {
			name := fmt.Sprintf("%v, %s", front, s.name)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				o := newOrigin(t, s.origin)
				p := newProxy(t, front.kind, front.protocol, o.config.Address, true)
				b := newBooks(t, p.url, p.options...)
				var complete, failed, wrong atomic.Int64
				var work sync.WaitGroup
				for range 4 {
					work.Go(func() {
						for range 6 {
							switch rows, err := list(b); {
							case err != nil:
								failed.Add(1)
							case isComplete(rows):
								complete.Add(1)
							default:
								wrong.Add(1)
							}
						}
					})
				}
				if s.disturb != nil {
					for range 3 {
						s.disturb(p, o)
					}
				}
				work.Wait()
				assert.Zero(t, wrong.Load(), "a listing ended without an error, and is not complete")
				results.add(listings, front.String(), 24, int(complete.Load()), int(failed.Load()), int(wrong.Load()))
			})
		}
	}
}

// list returns the references of all rows.
func list(b *books) (references []string, err error) {
	for row, err := range b.client.SMS.List(b.t.Context(), sms.ListOptions{PageSize: 100}) {
		if err != nil {
			return nil, err
		}
		references = append(references, row.ReferenceID)
	}
	return references, nil
}

// isComplete reports whether the rows are the rows of the origin, each once and in order.
func isComplete(references []string) bool {
	for i, reference := range references {
		if reference != fmt.Sprintf("row-%d", i+1) {
			return false
		}
	}
	return len(references) == rowsListed
}
