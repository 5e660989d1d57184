package main

import (
	"context"
	"time"

	"github.com/messaging-service/messaging-go/sms"
)

const (
	// slowPages is the length of the listing that the server has: enough that the first page, which nothing comes before, is
	// not what decides. The pages are of slowRows, so that it is their way that takes the time, and not reading them.
	slowPages = 50
	slowRows  = 100

	nameSequential = "messaging-go, page after page"
	nameOneAhead   = "messaging-go, one page ahead"
	nameFourAhead  = "messaging-go, four pages ahead"
)

// listAheadWorking lists from a slow service, and works on each page for as long as it takes to fetch one.
func listAheadWorking() work {
	prepare := func(ahead int) func(context.Context, service) (operation, error) {
		return func(ctx context.Context, at service) (operation, error) {
			client, err := newClient(at.Slow, nil)
			if err != nil {
				return nil, err
			}
			fetch := listOurs(client, sms.ListOptions{PageSize: slowRows}).expecting(slowPages * slowRows)
			one, err := measure(ctx, fetch, slowPages, 200*time.Millisecond)
			if err != nil {
				return nil, err
			}
			pause := time.Duration(one.Wall)
			return lister(func(ctx context.Context) (int, error) {
				rows := 0
				for page, err := range client.SMS.Pages(ctx, sms.ListOptions{PageSize: slowRows, PagesAhead: ahead}) {
					if err != nil {
						return 0, err
					}
					rows += len(page.Transactions)
					time.Sleep(pause) // as one who writes the rows into a database
				}
				return rows, nil
			}).expecting(slowPages * slowRows), nil
		}
	}
	return work{
		name:  "list-ahead-working",
		floor: nameSequential, longer: 3,
		ratios: []metric{wall, cpuTime}, figures: []figure{wallMillis},
		targets: []target{{
			what:      "A listing, 5 ms a page and as much work on it: time with one page ahead",
			contender: nameOneAhead, metric: wall, against: nameSequential, limit: 0.62,
			why: "the next page is decoded on a processor that the server and the work on the page before it use too",
		}},
		contenders: []contender{
			{name: nameSequential, prepare: prepare(0)},
			{name: nameOneAhead, prepare: prepare(1)},
			{name: nameFourAhead, prepare: prepare(4)},
		},
	}
}

// listAhead lists from a slow service and does nothing else.
func listAhead() work {
	prepare := func(ahead int) func(context.Context, service) (operation, error) {
		return func(_ context.Context, at service) (operation, error) {
			client, err := newClient(at.Slow, nil)
			if err != nil {
				return nil, err
			}
			return listOurs(client, sms.ListOptions{PageSize: slowRows, PagesAhead: ahead}).expecting(slowPages * slowRows), nil
		}
	}
	return work{
		name:  "list-ahead",
		floor: nameSequential, longer: 3,
		ratios: []metric{wall, cpuTime}, figures: []figure{wallMillis},
		targets: []target{{
			what:      "A listing, 5 ms a page and no work on it: time with four pages ahead",
			contender: nameFourAhead, metric: wall, against: nameSequential, limit: 0.30,
			why: "the pages are decoded on processors that the server uses too",
		}},
		contenders: []contender{
			{name: nameLoopByHand, prepare: func(_ context.Context, at service) (operation, error) {
				return listByHand(way{}.client(), at.Slow, decodePage, nil).expecting(slowPages * slowRows), nil
			}},
			{name: nameSequential, prepare: prepare(0)},
			{name: nameOneAhead, prepare: prepare(1)},
			{name: nameFourAhead, prepare: prepare(4)},
		},
	}
}
