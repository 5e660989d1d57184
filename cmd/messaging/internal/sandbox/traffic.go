package sandbox

import (
	"net/http"
	"slices"
	"strconv"
)

type trafficView struct {
	Only, Query string
	Filters     []filterView
	Exchanges   []exchangeRow
	Older       string
	Selected    *Exchange
	Curl        string
	Page        string
}

// An exchangeRow is what the list shows of an exchange.
type exchangeRow struct {
	Exchange
	Link    string
	Current bool
}

func (s *Sandbox) pageTraffic(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := &trafficView{Only: q.Get("only"), Query: clip(q.Get("q"), 200), Page: s.root + "page/traffic"}
	for _, only := range []string{"", "request", "callback", "failed"} {
		name := map[string]string{"": "All", "request": "Requests", "callback": "Callbacks", "failed": "Failed"}[only]
		v.Filters = append(v.Filters, filterView{name, pageURL(v.Page, "only", only, "q", v.Query), v.Only == only})
	}
	wanted := newSearch(v.Query, "")
	before, _ := strconv.Atoi(q.Get("before"))
	chosen, _ := strconv.Atoi(q.Get("exchange"))
	s.mu.Lock()
	for _, x := range slices.Backward(s.traffic.all) {
		if before > 0 && x.ID >= before || v.Only != "" && x.Direction != v.Only && (v.Only != "failed" || !x.isFailure()) {
			continue
		}
		if shown := s.shown(x); wanted.matches(&shown) {
			if len(v.Exchanges) == shownEntries {
				v.Older = pageURL(v.Page, "only", v.Only, "q", v.Query, "before", itoa(v.Exchanges[shownEntries-1].ID))
				break
			}
			link := pageURL(v.Page, "only", v.Only, "q", v.Query, "exchange", itoa(x.ID)) + "#exchange"
			v.Exchanges = append(v.Exchanges, exchangeRow{shown, link, x.ID == chosen})
		}
	}
	if x := s.traffic.byID[chosen]; x != nil {
		shown := s.shown(x)
		v.Selected = &shown
	}
	s.mu.Unlock()
	if v.Selected != nil {
		v.Curl = v.Selected.curl("http://" + r.Host)
	}
	s.render(w, r, http.StatusOK, "traffic", "Traffic", v)
}
