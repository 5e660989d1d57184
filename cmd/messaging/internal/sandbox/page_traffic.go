package sandbox

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
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

// An exchangeRow is a line of the list.
type exchangeRow struct {
	Exchange
	Link    string
	Current bool
}

func (s *Sandbox) pageTraffic(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := &trafficView{Only: q.Get("only"), Query: clip(q.Get("q"), maxQuery), Page: s.root + "page/traffic"}
	for _, filter := range []struct{ only, name string }{{"", "All"}, {"request", "Requests"}, {"callback", "Callbacks"}, {"failed", "Failed"}} {
		link := pageURL(v.Page, "only", filter.only, "q", v.Query)
		v.Filters = append(v.Filters, filterView{Name: filter.name, URL: link, Current: v.Only == filter.only})
	}
	before, _ := strconv.Atoi(q.Get("before"))
	chosen, _ := strconv.Atoi(q.Get("exchange"))
	st := s.lock()
	st.listExchanges(v, before, chosen)
	if x := st.traffic.byID[chosen]; x != nil {
		exchange := st.withMessage(x)
		v.Selected = &exchange
	}
	st.unlock()
	if v.Selected != nil {
		v.Curl = s.curl(v.Selected, "http://"+r.Host)
	}
	s.render(w, http.StatusOK, "traffic", "Traffic", v)
}

// listExchanges fills in a page of exchanges, the newest first.
func (st *sandboxState) listExchanges(v *trafficView, before, chosen int) {
	words := searchWords(v.Query)
	for _, x := range slices.Backward(st.traffic.all) {
		if before > 0 && x.ID >= before || !v.includes(x) {
			continue
		}
		exchange := st.withMessage(x)
		if !exchange.matches(words) {
			continue
		}
		if len(v.Exchanges) == shownEntries {
			last := v.Exchanges[shownEntries-1].ID
			v.Older = pageURL(v.Page, "only", v.Only, "q", v.Query, "before", itoa(last))
			return
		}
		link := pageURL(v.Page, "only", v.Only, "q", v.Query, "exchange", itoa(x.ID)) + "#exchange"
		v.Exchanges = append(v.Exchanges, exchangeRow{Exchange: exchange, Link: link, Current: x.ID == chosen})
	}
}

// includes reports whether an exchange passes the filter.
func (v *trafficView) includes(x *Exchange) bool {
	switch v.Only {
	case "":
		return true
	case "failed":
		return x.isFailure()
	}
	return x.Direction == v.Only
}

// matches reports whether an exchange has all words, which are in lower case.
func (x *Exchange) matches(words []string) bool {
	text := strings.ToLower(strings.Join([]string{
		x.Method, x.URL, x.RequestBody, x.ResponseBody, x.To, x.Text, x.About, x.Fault, x.Reason, x.Message, x.requestID(), x.Operation,
		itoa(x.Status),
	}, "\n"))
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

type filterView struct {
	Name, URL string
	Current   bool
}
