package doctor

import (
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spot is a check of a report.
type spot struct{ section, name string }

// TestNothingIsFalselyOK examines a service by the overlay that fits it: every check is ok. Then the service breaks one promise at a time, as
// services do that ignore what they do not know, and the check of that promise is not ok.
func TestNothingIsFalselyOK(t *testing.T) {
	t.Parallel()
	rows := func(change func(row object, m fakeMessage)) func(*fake) {
		return func(f *fake) {
			whole := f.row
			f.row = func(m fakeMessage) any {
				row := whole(m).(object)
				change(row, m)
				return row
			}
		}
	}
	lenient := func() *fake { // it ignores unknown parameters, and its times name their zone
		f := offsetFake()
		f.isStrict = false
		rows(func(row object, m fakeMessage) {
			row["createTime"], row["networkName"] = m.created.UTC().Format(time.RFC3339), "51502"
		})(f)
		f.seed()
		return f
	}
	examined := func(t *testing.T, f *fake) map[spot]Result {
		t.Helper()
		server := httptest.NewServer(f)
		t.Cleanup(server.Close)
		r := newRig(t, server.URL, "secret-token-1")
		r.overlayFile(f.truth)
		results := map[spot]Result{}
		for _, c := range r.report().Checks {
			results[spot{c.Section, c.Name}] = c.Result
		}
		return results
	}
	ignores := func(filter string) func(*fake) { return func(f *fake) { delete(f.filters, filter) } }
	cases := []struct {
		name   string
		breaks func(f *fake)
		notOK  spot
	}{
		{"a filter by ID that is ignored", ignores("msgId"), spot{"filters", "id"}},
		{"a filter by recipient that is ignored", ignores("msisdn"), spot{"filters", "to"}},
		{"a filter by sender that is ignored", ignores("senderName"), spot{"filters", "from"}},
		{"a filter by reference that is ignored", ignores("externalId"), spot{"filters", "reference that does not"}},
		{"a filter by recipient that compares a prefix", func(f *fake) {
			f.filters["msisdn"] = func(m fakeMessage, v string) bool { return strings.HasPrefix("+"+m.to, v[:min(len(v), 6)]) }
		}, spot{"filters", "to"}},
		{"a filter by recipient that finds nothing", func(f *fake) {
			f.filters["msisdn"] = func(fakeMessage, string) bool { return false }
		}, spot{"filters", "to"}},
		{"a filter by recipient that is ignored for a whole number that nobody has", func(f *fake) {
			f.filters["msisdn"] = func(m fakeMessage, v string) bool {
				isIt := func(m fakeMessage) bool { return "+"+m.to == v }
				return isIt(m) || len(v) > len(m.to) && !slices.ContainsFunc(f.messages, isIt)
			}
		}, spot{"filters", "to"}},
		{"an order that is ignored", func(f *fake) { f.sort = nil }, spot{"sorting", "created"}},
		{"an order of which the direction is ignored", func(f *fake) {
			sorted := f.sort
			f.sort = func(q url.Values, rows []fakeMessage) {
				q.Set("direction", "asc")
				sorted(q, rows)
			}
		}, spot{"sorting", "created"}},
		{"a second page of the same rows", func(f *fake) { f.offset = "" }, spot{"paging", "second page"}},
		{"a page size that is ignored", func(f *fake) { f.size = "" }, spot{"paging", "page size"}},
		{"a lower bound that is ignored", ignores("dateFrom"), spot{"filters", "createdAfter"}},
		{"an upper bound that is ignored", ignores("dateTo"), spot{"filters", "createdBefore"}},
		{"a time that no layout reads", rows(func(row object, _ fakeMessage) { row["createTime"] = "the day before yesterday" }), spot{"times", "created"}},
		{"a total that is not that of the rows", func(f *fake) {
			page := f.page
			f.page = func(rows []any, p fakePage) any { p.total = 3; return page(rows, p) }
		}, spot{"page", "total"}},
		{"an ID that rows share", rows(func(row object, _ fakeMessage) { row["msgId"] = 7_000_001 }), spot{"listing", "id"}},
		{"a filter by reference that compares the beginning", func(f *fake) {
			f.filters["externalId"] = func(m fakeMessage, v string) bool { return strings.HasPrefix(m.ref, v) }
		}, spot{"filters", "reference that is cut"}},
		{"a filter by reference that compares the end", func(f *fake) {
			f.filters["externalId"] = func(m fakeMessage, v string) bool { return strings.HasSuffix(m.ref, v) }
		}, spot{"filters", "reference that is cut"}},
		{"a filter by sender that compares a part", func(f *fake) {
			f.filters["senderName"] = func(m fakeMessage, v string) bool { return strings.Contains(m.from, v) }
		}, spot{"filters", "from"}},
		{"a price that is a number of a person", rows(func(row object, _ fakeMessage) { row["fee"] = "639170000001" }), spot{"listing", "price"}},
		{"an operator who is a person", rows(func(row object, _ fakeMessage) { row["networkName"] = "john.smith" }), spot{"listing", "operator"}},
		{"a country that is none", rows(func(row object, _ fakeMessage) { row["countryIso"] = "of origin" }), spot{"listing", "country"}},
		{"a status that is a link", rows(func(row object, _ fakeMessage) { row["state"] = "https://x.example/dlr" }), spot{"listing", "deliveryStatus"}},
	}

	whole := examined(t, lenient())
	for _, tt := range cases {
		require.Equal(t, OK, whole[tt.notOK], "%s: %v", tt.name, whole)
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := lenient()
			tt.breaks(f)
			results := examined(t, f)
			assert.NotEqual(t, OK, results[tt.notOK], "%v", results)
		})
	}
}
