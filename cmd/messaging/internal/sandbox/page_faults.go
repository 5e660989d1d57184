package sandbox

import (
	"net/http"
	"slices"
	"time"
)

// A faultsView is the page of faults.
type faultsView struct {
	Kinds    []FaultKind
	Rules    []faultRule
	Settings Settings
	Recent   []Exchange
	To       string // the recipient that the next fault is for
}

func (s *Sandbox) pageFaults(w http.ResponseWriter, r *http.Request) {
	v := faultsView{Kinds: faultKinds(), To: clip(r.URL.Query().Get("to"), maxName)}
	st := s.lock()
	v.Rules = slices.Clone(st.faults.active(time.Now()))
	v.Settings = st.maskedSettings()
	for _, x := range slices.Backward(st.traffic.all) {
		if x.Fault != "" && len(v.Recent) < 20 {
			v.Recent = append(v.Recent, st.withMessage(x))
		}
	}
	st.unlock()
	s.render(w, http.StatusOK, "faults", "Faults", v)
}
