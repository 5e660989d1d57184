package main

import (
	"bytes"
	"context"
	"net/http"
)

// listingPeer is a client library of another service that lists, with pages as its service writes them.
type listingPeer struct {
	name string
	row  func(n int) string
	// page puts rows between what stands around them. The last has no next one.
	page func(number, pages int, rows []byte) response
	list func(over http.RoundTripper) (lister, error)
	// decoded makes the type that the client decodes a page into.
	decoded func() any
}

func listingPeers() []listingPeer {
	return []listingPeer{twilioListing(), githubListing(), openaiListing(), stripeListing()}
}

func (p listingPeer) responses() *inTurn {
	t := &inTurn{}
	for number := 1; number <= pagesInMemory; number++ {
		var rows bytes.Buffer
		for i := range rowsPerPage {
			if i > 0 {
				rows.WriteByte(',')
			}
			rows.WriteString(p.row(number*rowsPerPage + i))
		}
		page := p.page(number, pagesInMemory, rows.Bytes())
		if page.header == nil {
			page.header = http.Header{}
		}
		page.header.Set("Content-Type", jsonType)
		t.responses = append(t.responses, page)
	}
	return t
}

func (p listingPeer) contenders() []contender {
	const all = pagesInMemory * rowsPerPage
	return []contender{
		{name: p.name, matched: matchedName(p.name), prepare: func(context.Context, service) (operation, error) {
			list, err := p.list(p.responses())
			if err != nil {
				return nil, err
			}
			return list.expecting(all), nil
		}},
		{name: matchedName(p.name), hidden: true, prepare: func(ctx context.Context, _ service) (operation, error) {
			transport := &recorder{next: p.responses()}
			list, err := p.list(transport)
			if err != nil {
				return nil, err
			}
			if err := list.expecting(all)(ctx, 1); err != nil {
				return nil, err
			}
			return transport.replay(p.responses(), p.decoded), nil
		}},
	}
}
