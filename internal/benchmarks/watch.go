package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"

	"github.com/messaging-service/messaging-go/sms"
)

// observed is what was seen of one client. Sizes are in bytes.
type observed struct {
	// Points are those of a long run.
	Points []heapPoint `json:",omitempty"`
	// Kept is what it takes to keep some rows, by contender.
	Kept map[string]int64 `json:",omitempty"`
	// Page is the size of the pages that the rows came in, and KeptRows how many were kept.
	Page, KeptRows int64 `json:",omitempty"`
	// Storms are those with the circuit breaker and without.
	Storms []storm `json:",omitempty"`
}

// heapPoint is the state after a number of messages.
type heapPoint struct {
	Messages   int
	Heap       int64
	Goroutines int
}

// liveHeap collects what is garbage, pools included, and says what is left.
func liveHeap() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

const (
	millionMessages    = 1_000_000
	millionConcurrency = 64
	millionSamples     = 10
)

// observeMillion sends a million messages in memory and looks at the live heap as they go.
func observeMillion(ctx context.Context, short bool) (observed, error) {
	total := millionMessages
	if short {
		total = 10_000
	}
	client, err := newClient(unreachable, responding(smsRoute()))
	if err != nil {
		return observed{}, err
	}
	point := func(n int) heapPoint { return heapPoint{n, liveHeap(), runtime.NumGoroutine()} }
	points := []heapPoint{point(0)}
	done := 0
	for out := range client.SMS.SendAll(ctx, messages(total), millionConcurrency) {
		if out.Err != nil {
			return observed{}, out.Err
		}
		if done++; done%(total/millionSamples) == 0 {
			points = append(points, point(done))
		}
	}
	if done != total {
		return observed{}, fmt.Errorf("%d outcomes for %d messages", done, total)
	}
	return observed{Points: append(points, point(done))}, nil
}

// keptPages is how many pages a row is kept of.
const keptPages = 50

// enough reports an error unless the rows that were to be kept are there, and keeps them alive until then.
func enough[T any](kept []T) error {
	if len(kept) != keptPages {
		return fmt.Errorf("%d rows were kept, of %d pages", len(kept), keptPages)
	}
	runtime.KeepAlive(kept)
	return nil
}

// observeKeptRows lists fifty pages and keeps one row of each: what then lives is those rows, or the pages as well.
func observeKeptRows(ctx context.Context, _ bool) (observed, error) {
	pages := smsPages(keptPages, rowsPerPage)
	seen := observed{Kept: map[string]int64{}, Page: int64(len(pages[0])), KeptRows: keptPages}
	growth := func(list func() error) (int64, error) {
		before := liveHeap()
		if err := list(); err != nil {
			return 0, err
		}
		return liveHeap() - before, nil
	}
	hand := func(decode func(io.Reader, *plainPage) error) (int64, error) {
		client := &http.Client{Transport: pagesInTurn(pages)}
		var kept []plainRow
		n := 0
		size, err := growth(func() error {
			_, err := listByHand(client, unreachable, decode, func(row *plainRow) {
				if n++; n%rowsPerPage == 0 {
					kept = append(kept, *row)
				}
			})(ctx)
			return err
		})
		runtime.KeepAlive(client)
		return size, errors.Join(err, enough(kept))
	}
	ours := func() (int64, error) {
		client, err := newClient(unreachable, pagesInTurn(pages))
		if err != nil {
			return 0, err
		}
		var kept []sms.Transaction
		n := 0
		size, err := growth(func() error {
			for tx, err := range client.SMS.List(ctx, sms.ListOptions{PageSize: rowsPerPage}) {
				if err != nil {
					return err
				}
				if n++; n%rowsPerPage == 0 {
					kept = append(kept, tx)
				}
			}
			return nil
		})
		runtime.KeepAlive(client)
		return size, errors.Join(err, enough(kept))
	}
	for _, one := range []struct {
		name string
		keep func() (int64, error)
	}{
		{nameByHand, func() (int64, error) { return hand(decodePage) }},
		{nameListDecoder, func() (int64, error) { return hand(buffered(decodePageByHand)) }},
		{nameOurs, ours},
	} {
		size, err := one.keep()
		if err != nil {
			return observed{}, err
		}
		seen.Kept[one.name] = size
	}
	return seen, nil
}
