package proxytest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

var withProxies = flag.Bool("proxies", false, "run the scenarios that need nginx, haproxy and squid, and print their counts")

func TestMain(m *testing.M) {
	if config := os.Getenv(originVariable); config != "" {
		fmt.Fprintln(os.Stderr, serveOrigin(config))
		os.Exit(1)
	}
	if address := os.Getenv(receiverVariable); address != "" {
		if err := serveReceiver(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	// The scenarios mostly wait for timeouts, so more of them than processors can run at once.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	before := sockets()
	zerolog.SetGlobalLevel(zerolog.Disabled)
	// toxiproxy leaves the goroutine of a connection behind that ended with unread data.
	ofToxiproxy := goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run")
	goleak.VerifyTestMain(m, ofToxiproxy, goleak.Cleanup(func(code int) {
		if left := socketsLeft(before); code == 0 && left > 0 {
			fmt.Fprintf(os.Stderr, "%d sockets are left open\n", left)
			code = 1
		}
		if *withProxies {
			results.print()
		}
		os.Exit(code)
	}))
}

// socketsLeft returns how many more sockets than before are open. It gives them ten seconds to close.
func socketsLeft(before int) int {
	deadline := time.Now().Add(10 * time.Second)
	for sockets() > before && time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
	}
	return sockets() - before
}

// results has the counts of all scenarios.
var results table

// A table sums the counts of scenarios by section and by proxy.
type table struct {
	mu   sync.Mutex
	rows map[rowKey][]int
}

type rowKey struct{ section, through string }

const (
	sends    = "Sends"
	listings = "Listings"
	settling = "SendOnce"
	webhooks = "Webhooks"
)

// heads has the heads of the sections, in order.
var heads = []struct{ section, columns string }{
	{sends, "through | scenarios | sends | accepted | refused | not sent | unknown | of these processed | twice"},
	{listings, "through | scenarios | listings | complete | failed with an error | short or wrong"},
	{settling, "through | scenarios | sends | accepted | refused | not sent | unknown | of these processed | twice"},
	{webhooks, "through | scenarios | events | calls | lost | handled twice | responses with a body"},
}

// add adds the counts of a scenario.
func (t *table) add(section, through string, counts ...int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows == nil {
		t.rows = map[rowKey][]int{}
	}
	key := rowKey{section: section, through: through}
	sums := t.rows[key]
	if sums == nil {
		sums = make([]int, len(counts)+1)
		t.rows[key] = sums
	}
	sums[0]++
	for i, count := range counts {
		sums[i+1] += count
	}
}

// print prints a table for each section.
func (t *table) print() {
	for _, head := range heads {
		columns := strings.Count(head.columns, "|") + 1
		fmt.Printf("\n**%s**\n\n| %s |\n|%s\n", head.section, head.columns, strings.Repeat("---|", columns))
		var lines []string
		for key, sums := range t.rows {
			if key.section == head.section {
				lines = append(lines, fmt.Sprintf("| %s | %s |\n", key.through, strings.ReplaceAll(strings.Trim(fmt.Sprint(sums), "[]"), " ", " | ")))
			}
		}
		slices.Sort(lines)
		fmt.Print(strings.Join(lines, ""))
	}
}
