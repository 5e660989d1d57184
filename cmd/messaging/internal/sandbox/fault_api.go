package sandbox

import (
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// faultFor returns the fault that a request meets, and records it in the exchange.
func (s *Sandbox) faultFor(x *Exchange) messagingtest.Fault {
	st := s.lock()
	defer st.unlock()
	rule := st.faults.choose(x.Operation, x.To, time.Now())
	if rule.Fault == "" {
		return messagingtest.Fault{}
	}
	x.Fault = rule.Fault
	x.isUnprocessed = !rule.kind.InLedger
	x.Verdict = rule.verdict()
	s.live.notify("")
	return rule.fault()
}

func (s *Sandbox) getFaults(*request) (any, error) {
	st := s.lock()
	defer st.unlock()
	return map[string]any{"faults": faultKinds(), "rules": append([]faultRule{}, st.faults.active(time.Now())...)}, nil
}

// postFaults adds a rule and returns it.
func (s *Sandbox) postFaults(_ *request, rule faultRule) (any, error) {
	if err := rule.compile(time.Now()); err != nil {
		return nil, err
	}
	if err := s.addFault(&rule); err != nil {
		return nil, err
	}
	s.live.notify("")
	return rule, nil
}

// addFault adds a rule and sets its ID.
func (s *Sandbox) addFault(rule *faultRule) error {
	st := s.lock()
	defer st.unlock()
	if len(st.faults.active(time.Now())) >= maxFaultRules {
		return fmt.Errorf("%d faults are in force: clear them first", maxFaultRules)
	}
	st.faults.add(rule)
	return nil
}

// deleteFaults removes all rules.
func (s *Sandbox) deleteFaults(r *request) (any, error) {
	st := s.lock()
	st.faults.rules = nil
	st.unlock()
	s.live.notify("")
	return s.getFaults(r)
}

// deleteFault removes one rule.
func (s *Sandbox) deleteFault(r *request) (any, error) {
	st := s.lock()
	isKnown := st.faults.remove(r.PathValue("id"))
	st.unlock()
	if !isKnown {
		return nil, errNoSuchFault
	}
	s.live.notify("")
	return s.getFaults(r)
}
