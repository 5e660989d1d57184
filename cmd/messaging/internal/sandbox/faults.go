package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

type faultsView struct {
	Kinds    []faultKind
	Rules    []ruleView
	Settings Settings
	Recent   []Exchange
	Messages int
	To       string // the recipient that the next fault is for
}

type ruleView struct {
	ID                   int
	Names, Amount, Scope string
}

func (s *Sandbox) pageFaults(w http.ResponseWriter, r *http.Request) {
	v := faultsView{Kinds: faultKinds(), To: clip(r.URL.Query().Get("to"), maxName)}
	s.mu.Lock()
	now := time.Now()
	s.faults.expire(now)
	for _, rule := range s.faults.rules {
		v.Rules = append(v.Rules, ruleView{rule.ID, strings.Join(rule.Faults, " or "), rule.Amount(now), rule.Scope()})
	}
	v.Settings = s.settings()
	for _, x := range slices.Backward(s.traffic.all) {
		if x.Fault != "" && len(v.Recent) < 20 {
			v.Recent = append(v.Recent, s.shown(x))
		}
	}
	v.Messages = len(s.book.byID)
	s.mu.Unlock()
	s.render(w, r, "faults", "Faults", v)
}
