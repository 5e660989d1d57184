package proxytest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

var (
	withProxies = flag.Bool("proxies", false, "run the scenarios that need nginx, haproxy and squid")
	tablePage   = flag.String("table", "", "the page whose table of counts is to be written")
)

func TestMain(m *testing.M) {
	if config := os.Getenv(originVariable); config != "" {
		fmt.Fprintln(os.Stderr, serveOrigin(config))
		os.Exit(1)
	}
	flag.Parse()
	// The scenarios mostly wait for timeouts, so more of them than processors can run at once.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	before := sockets()
	zerolog.SetGlobalLevel(zerolog.Disabled)
	// toxiproxy leaves the goroutine of a connection behind that ended with unread data.
	toxiproxys := goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run")
	goleak.VerifyTestMain(m, toxiproxys, goleak.Cleanup(func(code int) {
		if after := sockets(); code == 0 && after > before {
			fmt.Fprintf(os.Stderr, "%d sockets are left open\n", after-before)
			code = 1
		}
		if code == 0 && *tablePage != "" {
			if err := results.write(*tablePage); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// results are the counts of all scenarios.
var results table

// table counts by section and by what stood in between.
type table struct {
	mu   sync.Mutex
	rows map[[2]string][]int
}

const (
	sends    = "Sends"
	listings = "Listings"
	settling = "SendOnce"
	webhooks = "Webhooks"
)

// heads are the heads of the sections, in the order of the page.
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
		t.rows = map[[2]string][]int{}
	}
	key := [2]string{section, through}
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

const (
	begin = "<!-- proxies: written by .ci/proxies -->\n"
	end   = "<!-- proxies: end -->\n"
)

// write replaces the tables of a page.
func (t *table) write(page string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return fmt.Errorf("%s: no place for the table: want a line %q and a line %q", page, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(begin)
	for _, head := range heads {
		columns := strings.Count(head.columns, "|") + 1
		fmt.Fprintf(&b, "\n**%s**\n\n| %s |\n|%s\n", head.section, head.columns, strings.Repeat("---|", columns))
		var lines []string
		for key, sums := range t.rows {
			if key[0] == head.section {
				lines = append(lines, fmt.Sprintf("| %s | %s |\n", key[1], strings.ReplaceAll(strings.Trim(fmt.Sprint(sums), "[]"), " ", " | ")))
			}
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
	}
	b.WriteString("\n" + end)
	b.Write(after)
	return os.WriteFile(page, b.Bytes(), 0o644)
}
