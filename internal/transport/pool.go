package transport

import (
	"cmp"
	"net"
	"net/http"
	"time"
)

// NewBase returns the round tripper of a client that was given none.
//
// It speaks HTTP/1.1 only: over HTTP/2 a server that restarts, or that closes a connection after its thousandth
// request, leaves the sends under way on it in doubt, and net/http can tell them from processed ones by an error text
// alone. It keeps idle connections enough for a burst of many senders, where net/http keeps two, and drops them
// before the servers that are quickest to drop theirs do: a request that meets a closing connection is in doubt too.
func NewBase(idle time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        cmp.Or(idle, 4*time.Second),
		MaxResponseHeaderBytes: 64 << 10,
		Protocols:              protocols,
	}
}
