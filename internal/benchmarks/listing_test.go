package main

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/messaging-service/messaging-go/sms"
)

const (
	listPath    = "/api/sms"
	rowsPerPage = 1000
	// pagesInMemory is large enough that the first and the last page do not dominate the result.
	pagesInMemory = 5
	// The slow server has slowPages pages of slowRows rows: few, so that waiting for them takes longer than reading them.
	slowPages, slowRows = 50, 100

	nameListByHand = "hand-written net/http, with a decoder for this row"
	nameListPlain  = "hand-written net/http, with json.Decoder"
	nameList       = "messaging-go, List"
)

// A lister lists everything and returns the number of rows with an ID.
type lister func(ctx context.Context) (rows int, err error)

// requireRows returns an operation that fails unless there are so many rows.
func (l lister) requireRows(rows int) operation {
	return func(ctx context.Context, n int) error {
		for range n {
			got, err := l(ctx)
			if err != nil {
				return err
			}
			if got != rows {
				return fmt.Errorf("%d rows were listed, of %d", got, rows)
			}
		}
		return nil
	}
}

// listOurs returns a lister of this library.
func listOurs(tb testing.TB, base string, transport http.RoundTripper, options sms.ListOptions) lister {
	tb.Helper()
	client := newClient(tb, base, transport)
	return func(ctx context.Context) (int, error) {
		rows := 0
		for tx, err := range client.SMS.List(ctx, options) {
			if err != nil {
				return 0, err
			}
			if tx.ID != "" {
				rows++
			}
		}
		return rows, nil
	}
}

// listRows compares the cost of a row.
func listRows() comparison {
	const all = pagesInMemory * rowsPerPage
	pages := func() *pageSequence { return newPageSequence(smsPages(pagesInMemory, rowsPerPage)) }
	floor := func(testing.TB) operation {
		return listByHand(&http.Client{Transport: pages()}, unreachable, buffered(decodePageByHand), true).requireRows(all)
	}
	w := comparison{units: all, contenders: []contender{
		{name: nameListByHand, prepare: floor},
		{name: nameListPlain, floor: floor, prepare: func(testing.TB) operation {
			return listByHand(&http.Client{Transport: pages()}, unreachable, decodePage, false).requireRows(all)
		}},
		{name: nameList, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return listOurs(tb, unreachable, pages(), sms.ListOptions{PageSize: rowsPerPage}).requireRows(all)
		}},
	}}
	for _, p := range listingPeers() {
		w.contenders = append(w.contenders, contender{name: p.name, prepare: p.inMemory, floor: p.byHand})
	}
	return w
}

// listPages compares the time of a listing from the slow server.
func listPages() comparison {
	floor := func(testing.TB) operation {
		return listByHand(pooled(), server().Slow, buffered(decodePageByHand), true).requireRows(slowPages * slowRows)
	}
	return comparison{contenders: []contender{
		{name: nameListByHand, prepare: floor},
		{name: nameList, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return listOurs(tb, server().Slow, nil, sms.ListOptions{PageSize: slowRows}).requireRows(slowPages * slowRows)
		}},
	}}
}
