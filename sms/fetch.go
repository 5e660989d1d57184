package sms

import (
	"context"
	"iter"
	"sync"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// fetched is one page that was asked for.
type fetched struct {
	at   wire.Position
	page wire.Page
	err  error
}

// fetch asks for page after page, ahead of them at once where it may, and gives them in order. It ends with the last page
// or the first error. Nothing of it runs on when the loop has ended.
func (s *Service) fetch(ctx context.Context, query wire.Query, ahead int) iter.Seq[fetched] {
	if ahead > 0 && len(query.Problems) == 0 && ctx != nil {
		return s.fetchAhead(ctx, query, ahead)
	}
	return func(yield func(fetched) bool) {
		for {
			result := s.fetchOne(ctx, query)
			if !yield(result) || result.err != nil || result.page.Last {
				return
			}
			query.At, query.Reuse = result.page.Next, result.page.Records
		}
	}
}

func (s *Service) fetchOne(ctx context.Context, query wire.Query) fetched {
	page, err := s.doer.List(ctx, query)
	return fetched{query.At, page, err}
}

func (s *Service) fetchAhead(ctx context.Context, query wire.Query, ahead int) iter.Seq[fetched] {
	return func(yield func(fetched) bool) {
		within, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		var under []chan fetched // way, in order
		begin := func() {
			result := make(chan fetched, 1)
			under = append(under, result)
			q := query
			running.Go(func() { result <- s.fetchOne(within, q) })
			query.At, _ = s.doer.Ahead(query.Op, query.At)
		}
		pages := 0 // how many there are, where a page said so
		begun := 0 // up to which of them
		if first, _ := s.doer.Ahead(query.Op, wire.Position{}); query.At.Set {
			begun = query.At.Number - (first.Number - 1)
		}
		for {
			for len(under) <= ahead && (pages == 0 || begun < pages || len(under) == 0) {
				begin()
				begun++
			}
			result := <-under[0]
			under = under[1:]
			if !yield(result) || result.err != nil || result.page.Last {
				return
			}
			pages = max(pages, result.page.TotalPages)
		}
	}
}
