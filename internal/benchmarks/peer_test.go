package main

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// A peer is a client library of another service, with the call that is most like sending a message. It gets the response of its
// own service, and is used as its documentation shows, with its defaults.
type peer struct {
	name  string
	route route
	id    string // in the response
	// connect returns a call of a new client. In memory the client gets a transport; nil means its own.
	connect func(tb testing.TB, base string, transport http.RoundTripper) call
	// newResult returns a pointer to the type into which the client decodes the response.
	newResult func() any
}

// sendCall returns a call of a function that sends and returns the ID in the response.
func sendCall(send func(context.Context) (id string, err error)) call {
	return func(ctx context.Context, _ sms.Message) (messaging.Receipt, error) {
		id, err := send(ctx)
		return messaging.Receipt{ID: id}, err
	}
}

// peers returns the libraries that send.
func peers() []peer {
	return []peer{
		twilioPeer(), awsPeer(), linePeer(), slackPeer(), resendPeer(), githubPeer(), openaiPeer(), stripePeer(),
	}
}

// httpClient returns an http.Client for a client that takes one, or nil without a transport.
func httpClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		return nil
	}
	// It has no Timeout, even if the client's own has one. Over a round tripper that is not net/http's, a Timeout costs two
	// goroutines for each call. Over a connection it does not.
	return &http.Client{Transport: transport}
}

// inMemory prepares calls of the library.
func (p peer) inMemory(tb testing.TB) operation {
	tb.Helper()
	return p.connect(tb, unreachable, inMemory(p.route.response)).requireID(p.id)
}

// byHand prepares its floor: the same request by net/http alone, and the same response.
func (p peer) byHand(tb testing.TB) operation {
	tb.Helper()
	transport := &recorder{next: inMemory(p.route.response)}
	require.NoError(tb, p.connect(tb, unreachable, transport).requireID(p.id)(tb.Context(), 1))
	return transport.replay(tb, inMemory(p.route.response), p.newResult)
}

// A listingPeer is a client library of another service that lists, with pages as its service writes them.
type listingPeer struct {
	name string
	row  string
	// page returns the format of a page with %s for its rows, and the header. The last page names no next one.
	page func(number int, last bool) (format string, header http.Header)
	list func(tb testing.TB, over http.RoundTripper) lister
	// newResult returns a pointer to the type into which the client decodes a page.
	newResult func() any
}

// listingPeers returns the libraries that list.
func listingPeers() []listingPeer {
	return []listingPeer{twilioListing(), githubListing(), openaiListing(), stripeListing()}
}

// responses returns the pages of the service.
func (p listingPeer) responses() *pageSequence {
	pages := &pageSequence{}
	for number := 1; number <= pagesInMemory; number++ {
		format, header := p.page(number, number == pagesInMemory)
		if header == nil {
			header = http.Header{}
		}
		header.Set("Content-Type", jsonType)
		pages.responses = append(pages.responses, response{header, fmt.Appendf(nil, format, rowsOf(p.row, number*rowsPerPage, rowsPerPage))})
	}
	return pages
}

// inMemory prepares listings of the library.
func (p listingPeer) inMemory(tb testing.TB) operation {
	tb.Helper()
	return p.list(tb, p.responses()).requireRows(pagesInMemory * rowsPerPage)
}

// byHand prepares their floor: the same requests by net/http alone, and the same pages.
func (p listingPeer) byHand(tb testing.TB) operation {
	tb.Helper()
	transport := &recorder{next: p.responses()}
	require.NoError(tb, p.list(tb, transport).requireRows(pagesInMemory*rowsPerPage)(tb.Context(), 1))
	return transport.replay(tb, p.responses(), p.newResult)
}
