// Package proxytest holds the library against proxies that nobody here wrote: nginx, haproxy and squid, reloaded, killed and
// stopped, and toxiproxy, in front of an origin that keeps a ledger of its own. It has only tests.
//
//	go test ./... -count=1             through toxiproxy, which needs nothing installed
//	go test ./... -count=1 -proxies    all of it; nginx, haproxy and squid must be installed
//
// The script .ci/proxies installs them from Debian's packages, and prints the counts.
package proxytest
