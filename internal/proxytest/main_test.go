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
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if code == 0 && *tablePage != "" {
			if err := results.write(*tablePage); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// results are the rows of the table, from all scenarios.
var results table

type table struct {
	mu   sync.Mutex
	rows map[string][]string // by section
}

const (
	sends    = "sends"
	listings = "listings"
	settling = "settling"
	webhooks = "webhooks"
)

// heads are the heads of the sections, in the order of the page.
var heads = []struct{ section, title, columns string }{
	{sends, "Sends", "scenario | sends | accepted | refused | not sent | unknown, of which processed | twice"},
	{listings, "Listings", "scenario | listings | complete | failed with an error | short or wrong"},
	{settling, "SendOnce", "scenario | sends | accepted | refused | not sent | unknown, of which processed | twice"},
	{webhooks, "Webhooks", "scenario | events | calls | lost | handled twice | responses with a body"},
}

func (t *table) add(section string, cells ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows == nil {
		t.rows = map[string][]string{}
	}
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = fmt.Sprint(cell)
	}
	t.rows[section] = append(t.rows[section], strings.Join(texts, " | "))
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
		rows := t.rows[head.section]
		slices.Sort(rows)
		columns := strings.Count(head.columns, "|") + 1
		fmt.Fprintf(&b, "\n**%s**, %d scenarios:\n\n| %s |\n|%s\n", head.title, len(rows), head.columns, strings.Repeat("---|", columns))
		for _, row := range rows {
			fmt.Fprintf(&b, "| %s |\n", row)
		}
	}
	b.WriteString("\n" + end)
	b.Write(after)
	return os.WriteFile(page, b.Bytes(), 0o644) //nolint:gosec // a page of the documentation
}
