// Package proxytest tests the library through proxies: nginx, haproxy and squid, which are reloaded, killed and stopped, and
// toxiproxy. The origin behind them keeps a ledger of its own. The package has only tests.
//
//	go test . -count=1             through toxiproxy, which needs nothing installed
//	go test . -count=1 -proxies    through all of them; nginx, haproxy and squid must be installed
//
// The script .ci/proxies installs them from Debian's packages, and prints the counts.
//
// Start with send_test.go, which has the scenarios and compares verdicts with the ledger. The other files:
//
//   - origin_test.go: the origin, a process that plays the service and misbehaves. proxy_test.go: the proxies
//   - once_test.go, list_test.go, trouble_test.go, limit_test.go: SendOnce, listings, proxies that repeat or cache, and a rate limit
//   - receiver_test.go, webhook_test.go: a process that receives webhooks, and calls of it through proxies
//   - main_test.go: the flag -proxies, and the counts that it prints
package proxytest
