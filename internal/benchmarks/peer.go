package main

import (
	"context"
	"net/http"
	"runtime/debug"
)

// peer is a client library of another service, with the call of it that is most like sending a message. Each gets the
// response of its own service, and is as its documentation shows it: what it does by default it does here.
type peer struct {
	name   string
	module string // the path, to tell the version
	does   string // the call
	route  route
	id     string // what the call must find in the response
	// connect makes a client at base. In memory it is given a transport; else it has the one that it takes by itself, with
	// as many idle connections as that keeps.
	connect func(base string, transport http.RoundTripper) (call, error)
	// decoded makes the type that the client decodes the response into.
	decoded func() any
}

// peers are those that are measured sending.
func peers() []peer {
	return []peer{
		twilioPeer(), awsPeer(), linePeer(), slackPeer(), resendPeer(), githubPeer(), openaiPeer(), stripePeer(),
	}
}

// httpClient is for a client that takes one: nil stands for its own.
func httpClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		return nil
	}
	// Without a Timeout, whatever the client's own has: over a round tripper that is not net/http's it would cost two
	// goroutines a call, which it does not cost over a connection.
	return &http.Client{Transport: transport}
}

// matchedName is the name of the contender that does by hand what a peer does.
func matchedName(name string) string { return name + ", the same by hand" }

// inMemory returns the peer, and beside it the same request and response through net/http alone.
func (p peer) inMemory() []contender {
	return []contender{
		{name: p.name, matched: matchedName(p.name), prepare: func(context.Context, service) (operation, error) {
			send, err := p.connect(unreachable, responding(p.route))
			if err != nil {
				return nil, err
			}
			return send.expecting(p.id), nil
		}},
		{name: matchedName(p.name), hidden: true, prepare: func(ctx context.Context, _ service) (operation, error) {
			transport := &recorder{next: responding(p.route)}
			send, err := p.connect(unreachable, transport)
			if err != nil {
				return nil, err
			}
			if err := send.expecting(p.id)(ctx, 1); err != nil {
				return nil, err
			}
			return transport.replay(responding(p.route), p.decoded), nil
		}},
	}
}

func (p peer) overLoopback() contender {
	return contender{name: p.name, prepare: func(_ context.Context, at service) (operation, error) {
		send, err := p.connect(at.Plain, nil)
		if err != nil {
			return nil, err
		}
		return send.expecting(p.id), nil
	}}
}

// versions returns the version of each module that this program was built with.
func versions() map[string]string {
	all := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			all[m.Path] = m.Version
		}
	}
	return all
}
