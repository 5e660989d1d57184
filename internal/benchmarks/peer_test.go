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

// peer is a client library of another service, with the call of it that is most like sending a message. Each gets the
// response of its own service, and is used as its documentation shows, with its defaults.
type peer struct {
	name  string
	route route
	id    string // what the call must find in the response
	// connect makes a client at base. In memory it gets a transport; otherwise it has its own.
	connect func(tb testing.TB, base string, transport http.RoundTripper) call
	// decoded makes the type that the client decodes the response into.
	decoded func() any
}

// calling makes a call of a send that returns the ID in the response.
func calling(send func(context.Context) (id string, err error)) call {
	return func(ctx context.Context, _ sms.Message) (messaging.Receipt, error) {
		id, err := send(ctx)
		return messaging.Receipt{ID: id}, err
	}
}

// peers are those that are measured sending.
func peers() []peer {
	return []peer{
		twilioPeer(), awsPeer(), linePeer(), slackPeer(), resendPeer(), githubPeer(), openaiPeer(), stripePeer(),
	}
}

// httpClient is for a client that takes one: nil for its own.
func httpClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		return nil
	}
	// Without a Timeout, whatever the client's own has: over a round tripper that is not net/http's it would cost two
	// goroutines a call, which it does not cost over a connection.
	return &http.Client{Transport: transport}
}

func (p peer) inMemory(tb testing.TB) operation {
	tb.Helper()
	return p.connect(tb, unreachable, inMemory(p.route.response)).expecting(p.id)
}

// byHand makes the same request through net/http alone, and reads the same response.
func (p peer) byHand(tb testing.TB) operation {
	tb.Helper()
	transport := &recorder{next: inMemory(p.route.response)}
	require.NoError(tb, p.connect(tb, unreachable, transport).expecting(p.id)(tb.Context(), 1))
	return transport.replay(tb, inMemory(p.route.response), p.decoded)
}

// listingPeer is a client library of another service that lists, with pages as its service writes them.
type listingPeer struct {
	name string
	row  string
	// page returns a page with %s in place of its rows, and the header. The last page has no next one.
	page func(number int, last bool) (format string, header http.Header)
	list func(tb testing.TB, over http.RoundTripper) lister
	// decoded makes the type that the client decodes a page into.
	decoded func() any
}

func listingPeers() []listingPeer {
	return []listingPeer{twilioListing(), githubListing(), openaiListing(), stripeListing()}
}

func (p listingPeer) responses() *inTurn {
	t := &inTurn{}
	for number := 1; number <= pagesInMemory; number++ {
		format, header := p.page(number, number == pagesInMemory)
		if header == nil {
			header = http.Header{}
		}
		header.Set("Content-Type", jsonType)
		t.responses = append(t.responses, response{header, fmt.Appendf(nil, format, rowsOf(p.row, number*rowsPerPage, rowsPerPage))})
	}
	return t
}

func (p listingPeer) inMemory(tb testing.TB) operation {
	tb.Helper()
	return p.list(tb, p.responses()).expecting(pagesInMemory * rowsPerPage)
}

// byHand makes the same requests through net/http alone, and reads the same pages.
func (p listingPeer) byHand(tb testing.TB) operation {
	tb.Helper()
	transport := &recorder{next: p.responses()}
	require.NoError(tb, p.list(tb, transport).expecting(pagesInMemory*rowsPerPage)(tb.Context(), 1))
	return transport.replay(tb, p.responses(), p.decoded)
}
