package sandbox

import (
	"math/rand/v2"
	"slices"
	"time"
)

// faultRules are the rules in force, in the order in which they were made.
type faultRules struct {
	rules  []faultRule
	lastID int
}

// add adds a rule and sets its ID.
func (f *faultRules) add(rule *faultRule) {
	f.lastID++
	rule.ID = f.lastID
	f.rules = append(f.rules, *rule)
}

// remove removes the rule with an ID and reports whether there was one.
func (f *faultRules) remove(id string) bool {
	before := len(f.rules)
	f.rules = slices.DeleteFunc(f.rules, func(rule faultRule) bool { return itoa(rule.ID) == id })
	return len(f.rules) < before
}

// active removes the rules that are over, and returns the others.
func (f *faultRules) active(now time.Time) []faultRule {
	f.rules = slices.DeleteFunc(f.rules, func(rule faultRule) bool { return rule.isOver(now) })
	return f.rules
}

// choose returns the rule for a request, or a rule without a fault. Rules for the next requests come first.
func (f *faultRules) choose(operation, to string, now time.Time) faultRule {
	f.active(now)
	isNext := func(rule *faultRule) bool { return rule.Left > 0 && rule.matches(operation, to) }
	isLasting := func(rule *faultRule) bool { return rule.Left <= 0 && rule.matches(operation, to) }
	if rule := f.take(isNext, now); rule != nil {
		return *rule
	}
	if rule := f.take(isLasting, now); rule != nil {
		return *rule
	}
	return faultRule{}
}

// take returns the first candidate that the request meets, or nil.
func (f *faultRules) take(isCandidate func(*faultRule) bool, now time.Time) *faultRule {
	for i := range f.rules {
		rule := &f.rules[i]
		if isCandidate(rule) && rule.take(now) {
			return rule
		}
	}
	return nil
}

// matches reports whether a request is in the scope of a rule.
func (f *faultRule) matches(operation, to string) bool {
	isOperation := f.Operation == "" || f.Operation == operation
	isRecipient := f.To == "" || recipientKeyOf(f.To) == recipientKeyOf(to)
	return isOperation && isRecipient
}

// take reports whether a request in the scope meets the fault. It counts the request.
func (f *faultRule) take(now time.Time) bool {
	switch {
	case f.Skip > 0:
		f.Skip--
		if f.Skip == 0 {
			f.begin(now)
		}
		return false
	case f.Left > 0:
		f.Left--
		return true
	case f.Share > 0:
		return rand.Float64() < f.Share //nolint:gosec // not for cryptography
	}
	return true
}

// begin starts the duration, if the rule has one.
func (f *faultRule) begin(now time.Time) {
	if f.duration > 0 {
		f.until = now.Add(f.duration)
	}
}

// isOver reports whether no request can meet the fault any more.
func (f *faultRule) isOver(now time.Time) bool {
	switch {
	case !f.until.IsZero():
		return !now.Before(f.until)
	case f.duration > 0:
		return false // it has not begun
	}
	return f.Left == 0 && f.Share == 0
}
