// Package proxytest tests the library through proxies: nginx, haproxy and squid, which are reloaded, killed and stopped, and
// toxiproxy. The origin behind them keeps a ledger of its own. The package has only tests.
//
//	go test . -count=1             through toxiproxy, which needs nothing installed
//	go test . -count=1 -proxies    through all of them; nginx, haproxy and squid must be installed
//
// The script .ci/proxies installs them from Debian's packages, and prints the counts.
package proxytest
